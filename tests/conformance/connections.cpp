/// How the nodes of a world are connected, for each kind of fabric.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <utility>

#include "conformance/harness.hpp"
#include "fabric/connection.hpp"
#include "fabric/faulty.hpp"
#include "fabric/local/local_fabric.hpp"
#include "fabric/routed.hpp"
#include "fabric/shm/shm_fabric.hpp"
#if __has_include("fabric/tcp/tcp_fabric.hpp")
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "fabric/tcp/tcp_fabric.hpp"
#define TUTTI_CONFORMANCE_TCP 1
#endif

namespace tutti::testing {
namespace {

/// Each node's fabric goes behind a RoutedFabric, which keeps its RowHeader, as in a real node.
void route_all(Node& node, std::size_t nodes, std::unique_ptr<Fabric> fabric) {
  std::vector<std::unique_ptr<Fabric>> fabrics;
  fabrics.push_back(std::move(fabric));
  std::vector<std::size_t> route(nodes, 0);
  route[node.rank.value] = RoutedFabric::kNoFabric;
  node.fabric = std::make_unique<RoutedFabric>(node.row.data(), std::move(fabrics), route);
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
  world.on_kill = [cluster](Rank rank) { cluster->kill(rank); };
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

/// Adds the connections of one pair to the lists of both.
void pair_shm(World& world, std::size_t a, std::size_t b,
              std::vector<std::vector<ShmConnection>>& connections) {
  int sockets[2];
  const int type = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;
  ASSERT_EQ(::socketpair(AF_UNIX, type, 0, sockets), 0);
  connections[a].push_back(shm_connection(world[b], sockets[0]));
  connections[b].push_back(shm_connection(world[a], sockets[1]));
}

std::unique_ptr<Fabric> make_shm(Node& node, std::vector<ShmConnection> connections) {
  return ShmFabric::create(*node.sleeper, node.row, std::move(connections)).value();
}

void connect_shm(World& world) {
  std::vector<std::vector<ShmConnection>> connections(world.size());
  for (std::size_t a = 0; a < world.size(); ++a) {
    for (std::size_t b = a + 1; b < world.size(); ++b) pair_shm(world, a, b, connections);
  }
  for (std::size_t i = 0; i < world.size(); ++i) {
    route_all(world[i], world.size(), make_shm(world[i], std::move(connections[i])));
  }
}

#if defined(TUTTI_CONFORMANCE_TCP)
constexpr std::uint64_t kEpoch = 7;

TcpConnection tcp_connection(const Node& peer, int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
  return {.peer = peer.rank, .socket = UniqueFd(socket), .row_bytes = peer.row.size()};
}

void pair_tcp(World& world, std::size_t a, std::size_t b,
              std::vector<std::vector<TcpConnection>>& connections) {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t bytes = sizeof address;
  ASSERT_EQ(::bind(listener.get(), generic, bytes), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  ASSERT_EQ(::getsockname(listener.get(), generic, &bytes), 0);
  const int connected = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::connect(connected, generic, bytes), 0);
  const int accepted = ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC);
  ASSERT_GE(accepted, 0);
  connections[a].push_back(tcp_connection(world[b], connected));
  connections[b].push_back(tcp_connection(world[a], accepted));
}

std::unique_ptr<Fabric> make_tcp(Node& node, std::vector<TcpConnection> connections) {
  return TcpFabric::create(*node.sleeper, node.row.data(), node.row.size(), kEpoch,
                           std::move(connections))
      .value();
}

void connect_tcp(World& world) {
  std::vector<std::vector<TcpConnection>> connections(world.size());
  for (std::size_t a = 0; a < world.size(); ++a) {
    for (std::size_t b = a + 1; b < world.size(); ++b) pair_tcp(world, a, b, connections);
  }
  for (std::size_t i = 0; i < world.size(); ++i) {
    route_all(world[i], world.size(), make_tcp(world[i], std::move(connections[i])));
  }
}

/// Nodes 0 and 1 share memory, all other pairs use TCP.
void connect_mixed(World& world) {
  std::vector<std::vector<ShmConnection>> near(world.size());
  std::vector<std::vector<TcpConnection>> far(world.size());
  pair_shm(world, 0, 1, near);
  for (std::size_t a = 0; a < world.size(); ++a) {
    for (std::size_t b = std::max<std::size_t>(a + 1, 2); b < world.size(); ++b) {
      pair_tcp(world, a, b, far);
    }
  }
  for (std::size_t i = 0; i < world.size(); ++i) {
    std::vector<std::unique_ptr<Fabric>> fabrics;
    std::vector<std::size_t> route(world.size(), 1);
    if (i < 2) route[1 - i] = 0;
    route[i] = RoutedFabric::kNoFabric;
    fabrics.push_back(make_shm(world[i], std::move(near[i])));
    fabrics.push_back(make_tcp(world[i], std::move(far[i])));
    world[i].fabric =
        std::make_unique<RoutedFabric>(world[i].row.data(), std::move(fabrics), route);
  }
}
#endif

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
  kinds.push_back({.name = "shm", .shares_rows = true, .connect = connect_shm});
#if defined(TUTTI_CONFORMANCE_TCP)
  kinds.push_back({.name = "tcp", .connect = connect_tcp});
  kinds.push_back({.name = "shm_and_tcp", .shares_rows = true, .connect = connect_mixed});
#endif
  return kinds;
}

std::vector<FabricKind> replicating_kinds() {
  std::vector<FabricKind> kinds = fabric_kinds();
  std::erase_if(kinds, [](const FabricKind& kind) { return kind.shares_rows; });
  return kinds;
}

}  // namespace tutti::testing
