/// How the nodes of a world are connected by RDMA.
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <cstdlib>
#include <string>
#include <utility>

#include "conformance/harness.hpp"
#include "fabric/verbs/meeting.hpp"

namespace tutti::testing {
namespace {

using verbs::Acquaintance;
using verbs::Device;
using verbs::Meeting;
using verbs::Pair;

constexpr int kLookEveryMs = 100;

/// A number that stands for the node's start.
std::uint64_t incarnation(const Node& node) { return 100 + node.rank.value; }

Acquaintance acquaintance(const Node& own, const Node& peer) {
  return {.slot = own.rank.value,
          .incarnation = incarnation(own),
          .peer_incarnation = incarnation(peer),
          .peer_row_bytes = peer.row.size()};
}

/// Both ends in one thread: the caller's, then the one of who is called.
Result<std::array<std::shared_ptr<Pair>, 2>> meet(Node& caller, Node& called) {
  auto call = Meeting::call(caller.device, acquaintance(caller, called), called.device->address());
  if (!call) return std::unexpected(call.error());
  std::unique_ptr<Meeting> answer;
  std::array<std::shared_ptr<Pair>, 2> pairs;
  const Deadline deadline;
  while (pairs[0] == nullptr || pairs[1] == nullptr) {
    if (deadline.passed()) return fail(ErrorCode::timed_out, "the two did not meet");
    // No descriptor (-1) at an end that is connected.
    int answer_fd = called.device->calls_fd();
    if (answer != nullptr && pairs[1] == nullptr) answer_fd = answer->fd();
    std::array<pollfd, 2> fds{};
    fds[0] = {.fd = pairs[0] == nullptr ? (*call)->fd() : -1, .events = POLLIN, .revents = 0};
    fds[1] = {.fd = pairs[1] == nullptr ? answer_fd : -1, .events = POLLIN, .revents = 0};
    ::poll(fds.data(), fds.size(), kLookEveryMs);
    if (answer == nullptr) {
      auto came = called.device->next_call();
      if (!came) return std::unexpected(came.error());
      if (*came) {
        auto begun =
            Meeting::answer(called.device, acquaintance(called, caller), std::move(**came));
        if (!begun) return std::unexpected(begun.error());
        answer = std::move(*begun);
      }
    }
    std::array<Meeting*, 2> meetings{call->get(), answer.get()};
    for (std::size_t side = 0; side < 2; ++side) {
      if (meetings[side] == nullptr || pairs[side] != nullptr) continue;
      auto pair = meetings[side]->step();
      if (!pair) return std::unexpected(pair.error());
      pairs[side] = std::move(*pair);
    }
  }
  return pairs;
}

Result<void> join_verbs(World& world, std::size_t a, std::size_t b) {
  auto pairs = meet(world[a], world[b]);
  if (!pairs) {
    ADD_FAILURE() << pairs.error().message;
    return std::unexpected(pairs.error());
  }
  Result<void> first = world[a].attach(VerbsConnection{
      .peer = world[b].rank, .pair = std::move((*pairs)[0]), .row_bytes = world[b].row.size()});
  if (!first) return first;
  return world[b].attach(VerbsConnection{
      .peer = world[a].rank, .pair = std::move((*pairs)[1]), .row_bytes = world[a].row.size()});
}

void open_verbs(Node& node, std::size_t nodes, const std::vector<std::string>& addresses) {
  const std::string& address = addresses[node.rank.value % addresses.size()];
  auto device = Device::open(address, "", {node.row.data(), node.row.size()});
  ASSERT_TRUE(device) << device.error().message;
  node.device = std::move(*device);
  auto fabric = VerbsFabric::create(*node.sleeper, node.device);
  ASSERT_TRUE(fabric) << fabric.error().message;
  node.verbs = fabric->get();
  std::vector<std::unique_ptr<Fabric>> fabrics;
  fabrics.push_back(std::move(*fabric));
  node.fabric =
      RoutedFabric::create(node.row.data(), nodes, node.row.size(), std::move(fabrics)).value();
}

FabricKind verbs_kind(std::string name, const std::vector<std::string>& addresses) {
  const auto open = [=](Node& node, std::size_t nodes) { open_verbs(node, nodes, addresses); };
  const auto connect = [=](World& world) {
    for (const auto& node : world.nodes) ASSERT_NO_FATAL_FAILURE(open(*node, world.size()));
    for (std::size_t a = 0; a < world.size(); ++a) {
      for (std::size_t b = a + 1; b < world.size(); ++b) ASSERT_TRUE(join_verbs(world, a, b));
    }
  };
  return {.name = std::move(name),
          .one_sided = true,
          .connect = connect,
          .open = open,
          .join = join_verbs};
}

}  // namespace

std::vector<std::string> rdma_addresses() {
  const char* const list = std::getenv("TUTTI_TEST_RDMA");
  std::vector<std::string> addresses;
  std::string rest = list == nullptr ? "" : list;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    addresses.push_back(rest.substr(0, comma));
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
  }
  return addresses;
}

std::vector<FabricKind> verbs_kinds() {
  const std::vector<std::string> addresses = rdma_addresses();
  if (addresses.empty()) return {};
  return {verbs_kind("verbs", addresses)};
}

}  // namespace tutti::testing
