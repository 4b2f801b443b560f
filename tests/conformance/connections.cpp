/// How the nodes of a world are connected, for each kind of fabric.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <sstream>
#include <utility>

#include "conformance/harness.hpp"
#include "fabric/connection.hpp"
#include "support/faulty_fabric.hpp"
#include "support/local_fabric.hpp"

namespace tutti::testing {
namespace {

/// Each node's fabrics go behind a RoutedFabric, which keeps its RowHeader, as in a real node.
void route(Node& node, std::size_t nodes, std::vector<std::unique_ptr<Fabric>> fabrics) {
  node.fabric =
      RoutedFabric::create(node.row.data(), nodes, node.row.size(), std::move(fabrics)).value();
}

void route_all(Node& node, std::size_t nodes, std::unique_ptr<Fabric> fabric) {
  Fabric& only = *fabric;
  std::vector<std::unique_ptr<Fabric>> fabrics;
  fabrics.push_back(std::move(fabric));
  route(node, nodes, std::move(fabrics));
  for (std::uint32_t peer = 0; peer < nodes; ++peer) {
    if (peer != node.rank.value) node.fabric->route(Slot{peer}, only);
  }
}

void connect_local(World& world, const FaultyOptions* faults) {
  std::vector<std::size_t> row_bytes;
  row_bytes.reserve(world.size());
  for (const auto& node : world.nodes) row_bytes.push_back(node->row.size());
  auto cluster = std::make_shared<LocalCluster>(std::move(row_bytes));
  for (const auto& node : world.nodes) {
    Sleeper* sleeper = node->sleeper.get();
    auto fabric = cluster->fabric(node->rank, node->row.data(), [sleeper] { sleeper->wake(); });
    if (faults != nullptr) {
      FaultyOptions options = *faults;
      options.seed = options.seed * 1000 + node->rank.value;
      fabric = std::make_unique<FaultyFabric>(std::move(fabric), options);
    }
    route_all(*node, world.size(), std::move(fabric));
  }
  world.on_kill = [cluster](Slot slot) { cluster->kill(slot); };
}

FabricKind faulty_kind(std::string name, const FaultyOptions& options) {
  return {.name = std::move(name), .shares_rows = false, .connect = [options](World& world) {
            connect_local(world, &options);
          }};
}

UniqueFd duplicate(int fd) { return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

ShmConnection shm_connection(const Node& peer, int socket) {
  return {.peer = peer.rank,
          .socket = UniqueFd(socket),
          .row_fd = duplicate(peer.row.read_only_fd().get()),
          .doorbell = duplicate(peer.sleeper->doorbell_fd()),
          .row_bytes = peer.row.size()};
}

Result<void> join_shm(World& world, std::size_t a, std::size_t b) {
  int sockets[2] = {-1, -1};
  const int type = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;
  EXPECT_EQ(::socketpair(AF_UNIX, type, 0, sockets), 0);
  ShmConnection to_a = shm_connection(world[a], sockets[1]);
  if (Result<void> first = world[a].attach(shm_connection(world[b], sockets[0])); !first) {
    return first;
  }
  return world[b].attach(std::move(to_a));
}

/// Two ends of a connection over the loopback.
std::array<UniqueFd, 2> tcp_pair() {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t bytes = sizeof address;
  EXPECT_EQ(::bind(listener.get(), generic, bytes), 0);
  EXPECT_EQ(::listen(listener.get(), 1), 0);
  EXPECT_EQ(::getsockname(listener.get(), generic, &bytes), 0);
  UniqueFd connected(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(connected.get(), generic, bytes), 0);
  UniqueFd accepted(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  EXPECT_TRUE(accepted);
  const int on = 1;
  for (const int socket : {connected.get(), accepted.get()}) {
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
  }
  return {std::move(connected), std::move(accepted)};
}

/// Of a kind that takes over a TCP connection.
template <class Connection>
Result<void> join_by_tcp(World& world, std::size_t a, std::size_t b) {
  std::array<UniqueFd, 2> ends = tcp_pair();
  const std::uint64_t epoch = ++world.last_epoch;
  const auto to = [&](const Node& peer, UniqueFd& end) {
    return Connection{
        .peer = peer.rank, .socket = std::move(end), .row_bytes = peer.row.size(), .epoch = epoch};
  };
  Connection to_a = to(world[a], ends[1]);
  if (Result<void> first = world[a].attach(to(world[b], ends[0])); !first) return first;
  return world[b].attach(std::move(to_a));
}

constexpr auto join_tcp = join_by_tcp<TcpConnection>;

/// Libfabric's connections are made by polls of both. Tests that count on one side alone, as when
/// it wakes the other, begin after that.
Result<void> join_ofi(World& world, std::size_t a, std::size_t b) {
  if (Result<void> joined = join_by_tcp<OfiConnection>(world, a, b); !joined) return joined;
  const Deadline deadline;
  while (!world[a].ofi->is_open(world[b].rank) || !world[b].ofi->is_open(world[a].rank)) {
    if (deadline.passed()) return fail(ErrorCode::timed_out, "the connection is not made");
    world[a].poll();
    world[b].poll();
  }
  return {};
}

/// Nodes 0 and 1 share memory, all other pairs use TCP.
Result<void> join_mixed(World& world, std::size_t a, std::size_t b) {
  return a < 2 && b < 2 ? join_shm(world, a, b) : join_tcp(world, a, b);
}

void open_fabrics(Node& node, std::size_t nodes, bool with_shm, bool with_tcp) {
  std::vector<std::unique_ptr<Fabric>> fabrics;
  if (with_shm) {
    auto shm = ShmFabric::create(*node.sleeper, node.row).value();
    node.shm = shm.get();
    fabrics.push_back(std::move(shm));
  }
  if (with_tcp) {
    auto tcp = TcpFabric::create(*node.sleeper, node.row.data(), node.row.size()).value();
    node.tcp = tcp.get();
    fabrics.push_back(std::move(tcp));
  }
  route(node, nodes, std::move(fabrics));
}

FabricKind attaching_kind(std::string name, bool shares_rows,
                          std::function<void(Node&, std::size_t)> open,
                          Result<void> (*join)(World&, std::size_t, std::size_t)) {
  const auto connect = [=](World& world) {
    for (const auto& node : world.nodes) open(*node, world.size());
    for (std::size_t a = 0; a < world.size(); ++a) {
      for (std::size_t b = a + 1; b < world.size(); ++b) ASSERT_TRUE(join(world, a, b));
    }
  };
  return {.name = std::move(name),
          .shares_rows = shares_rows,
          .connect = connect,
          .open = std::move(open),
          .join = join};
}

FabricKind shm_and_tcp_kind(std::string name, bool with_shm, bool with_tcp,
                            Result<void> (*join)(World&, std::size_t, std::size_t)) {
  const auto open = [=](Node& node, std::size_t nodes) {
    open_fabrics(node, nodes, with_shm, with_tcp);
  };
  return attaching_kind(std::move(name), with_shm, open, join);
}

/// `hosts`: each node takes the next one.
FabricKind ofi_kind(std::string name, const std::string& provider,
                    const std::vector<std::string>& hosts = {"127.0.0.1"},
                    Ordering most = Ordering::writes) {
  const auto open = [=](Node& node, std::size_t nodes) {
    const std::span<const std::byte> row(node.row.data(), node.row.size());
    const std::string& host = hosts[node.rank.value % hosts.size()];
    auto ofi = OfiFabric::create(*node.sleeper, row, provider, host, most).value();
    node.ofi = ofi.get();
    std::vector<std::unique_ptr<Fabric>> fabrics;
    fabrics.push_back(std::move(ofi));
    route(node, nodes, std::move(fabrics));
  };
  FabricKind kind = attaching_kind(std::move(name), false, open, join_ofi);
  kind.lands_by_polling = true;
  return kind;
}

#ifdef __SANITIZE_THREAD__
// The others poll so much in libfabric, which is not instrumented, that tests take longer than
// their deadlines and say nothing more of our own code.
constexpr const char* kProviders = "tcp";
#else
constexpr const char* kProviders = "tcp tcp;ofi_rxm shm";
#endif

/// libfabric's providers that go everywhere, and those that the environment names besides:
/// TUTTI_TEST_OFI="net verbs".
std::vector<FabricKind> ofi_kinds() {
  const char* const named = std::getenv("TUTTI_TEST_OFI");
  std::istringstream providers(std::string(kProviders) + " " + (named == nullptr ? "" : named));
  std::vector<FabricKind> kinds;
  for (std::string provider; providers >> provider;) {
    std::string name = "ofi_" + provider;
    std::ranges::replace_if(name, [](char c) { return c == ';'; }, '_');
    kinds.push_back(ofi_kind(name, provider));
  }
  kinds.push_back(ofi_kind("ofi_tcp_without_order", "tcp", {"127.0.0.1"}, Ordering::none));
  const std::vector<std::string> rdma = rdma_addresses();
  if (!rdma.empty()) kinds.push_back(ofi_kind("ofi_verbs", "verbs", rdma));
  return kinds;
}

}  // namespace

std::vector<FabricKind> fabric_kinds() {
  std::vector<FabricKind> kinds;
  kinds.push_back(
      {.name = "local", .connect = [](World& world) { connect_local(world, nullptr); }});
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    FaultyOptions options;
    options.seed = seed;
    kinds.push_back(faulty_kind("faulty_" + std::to_string(seed), options));
  }
  kinds.push_back(faulty_kind(
      "faulty_whole", {.seed = 5, .delay_polls_max = 40, .pieces_max = 1, .split_publish = false}));
  std::ranges::move(attaching_kinds(), std::back_inserter(kinds));
  return kinds;
}

std::vector<FabricKind> attaching_kinds() {
  std::vector<FabricKind> kinds;
  kinds.push_back(shm_and_tcp_kind("shm", true, false, join_shm));
  kinds.push_back(shm_and_tcp_kind("tcp", false, true, join_tcp));
  kinds.push_back(shm_and_tcp_kind("shm_and_tcp", true, true, join_mixed));
  std::ranges::move(ofi_kinds(), std::back_inserter(kinds));
  std::ranges::move(verbs_kinds(), std::back_inserter(kinds));
  return kinds;
}

std::vector<FabricKind> replicating_kinds() {
  std::vector<FabricKind> kinds = fabric_kinds();
  std::erase_if(kinds, [](const FabricKind& kind) { return kind.shares_rows; });
  return kinds;
}

std::vector<FabricKind> remote_kinds() {
  std::vector<FabricKind> kinds = attaching_kinds();
  std::erase_if(kinds, [](const FabricKind& kind) { return kind.shares_rows; });
  return kinds;
}

}  // namespace tutti::testing
