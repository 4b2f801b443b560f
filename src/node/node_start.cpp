// How a node is put together at start: memory, members, fabrics, subgroups, thread.
#include <algorithm>
#include <utility>

#include "fabric/row_header.hpp"
#include "fabric/shm/shm_fabric.hpp"
#include "fabric/tcp/tcp_fabric.hpp"
#include "node/bootstrap/bootstrap.hpp"
#include "node/node_core.hpp"
#include "smc/record.hpp"
#include "sst/row_layout.hpp"

namespace tutti {

Result<void> NodeCore::start() {
  if (state_ != State::created || row_) {
    return fail(ErrorCode::invalid_argument, "a node is started once; create a new one");
  }
  self_ = index_of(options_.name);
  std::vector<GroupOptions> groups;
  groups.reserve(groups_.size());
  for (const auto& group : groups_) groups.push_back(group->options());

  const RowLayout layout(options_.name, groups);
  Result<Segment> row = Segment::create(layout.row_bytes());
  if (!row) return std::unexpected(row.error());
  row_.emplace(std::move(*row));
  Result<std::unique_ptr<Sleeper>> sleeper = Sleeper::create();
  if (!sleeper) return std::unexpected(sleeper.error());
  sleeper_ = std::move(*sleeper);

  Result<Cluster> cluster = meet({.node = options_,
                                  .groups = groups,
                                  .own_row = *row_,
                                  .doorbell_fd = sleeper_->doorbell_fd()});
  if (!cluster) return std::unexpected(cluster.error());
  return build(std::move(*cluster));
}

Result<void> NodeCore::build(Cluster cluster) {
  if (Result<void> built = build_fabric(cluster); !built) return built;
  loop_ = std::make_unique<PredicateLoop>(*fabric_);
  for (const auto& group : groups_) {
    if (Result<void> opened = open_group(*group, cluster); !opened) return opened;
  }
  state_ = State::running;
  if (options_.drive == Drive::own_thread) thread_ = std::thread([this] { run(); });
  return {};
}

Result<void> NodeCore::build_fabric(Cluster& cluster) {
  // What a peer says of its row's size is input: what its groups need is what counts.
  const auto check_row = [&](Rank peer, std::size_t& bytes) -> Result<void> {
    const std::string& name = options_.members[peer.value].name;
    const std::size_t expected = RowLayout(name, cluster.groups[peer.value]).row_bytes();
    if (expected <= bytes) {
      bytes = expected;
      return {};
    }
    return fail(ErrorCode::mismatch, "member '" + name + "' has a row of " + std::to_string(bytes) +
                                         " bytes where its groups need " +
                                         std::to_string(expected) +
                                         "; run the same version at all members");
  };
  std::vector<std::unique_ptr<Fabric>> fabrics;
  std::vector<std::pair<Rank, Fabric*>> routes;
  std::size_t row_bytes_max = 1;
  const auto attach = [&](auto& fabric, auto connection) -> Result<void> {
    const Rank peer = connection.peer;
    if (Result<void> row = check_row(peer, connection.row_bytes); !row) return row;
    row_bytes_max = std::max(row_bytes_max, connection.row_bytes);
    routes.emplace_back(peer, &fabric);
    return fabric.attach(std::move(connection));
  };
  if (!cluster.shm.empty()) {
    auto shm = ShmFabric::create(*sleeper_, *row_);
    if (!shm) return std::unexpected(shm.error());
    for (ShmConnection& peer : cluster.shm) {
      if (Result<void> attached = attach(**shm, std::move(peer)); !attached) return attached;
    }
    fabrics.push_back(std::move(*shm));
  }
  if (!cluster.tcp.empty()) {
    auto tcp = TcpFabric::create(*sleeper_, row_->data(), row_->size());
    if (!tcp) return std::unexpected(tcp.error());
    for (TcpConnection& peer : cluster.tcp) {
      peer.epoch = cluster.epoch;
      if (Result<void> attached = attach(**tcp, std::move(peer)); !attached) return attached;
    }
    fabrics.push_back(std::move(*tcp));
  }
  auto fabric = RoutedFabric::create(row_->data(), options_.members.size(), row_bytes_max,
                                     std::move(fabrics));
  if (!fabric) return std::unexpected(fabric.error());
  fabric_ = std::move(*fabric);
  for (const auto& [peer, through] : routes) fabric_->route(peer, *through);
  return {};
}

Result<void> NodeCore::open_group(GroupCore& group, const Cluster& cluster) {
  const GroupOptions& options = group.options();
  const auto row_of = [&](std::uint32_t member) -> const std::byte* {
    return member == self_ ? row_->data() : fabric_->row(Rank{member});
  };
  GroupShape shape;
  SubgroupPlace place;
  shape.self = group.rank().value;
  shape.level = options.level;
  shape.message_max_bytes = options.message_max_bytes;
  shape.window_records = options.window_messages;
  shape.ring_granules = static_cast<std::uint32_t>(ring_bytes(options.window_bytes) / kGranule);
  shape.sender_ranks.resize(options.senders.size());
  shape.sender_rings.resize(options.senders.size());

  for (std::uint32_t rank = 0; rank < options.members.size(); ++rank) {
    const std::uint32_t member = index_of(options.members[rank]);
    const RowLayout layout(options.members[rank], cluster.groups[member]);
    const GroupPlace there = layout.place(options.name);
    shape.member_controls.push_back(row_of(member) + there.control[0]);
    const auto sender = std::ranges::find(options.senders, options.members[rank]);
    const auto index = static_cast<std::uint32_t>(sender - options.senders.begin());
    if (sender != options.senders.end()) {
      shape.sender_ranks[index] = rank;
      shape.sender_rings[index] = row_of(member) + there.ring;
    }
    if (member != self_) {
      place.peers.push_back(Rank{member});
      continue;
    }
    place.control_offset = there.control[0];
    place.ring_offset = there.ring;
    shape.own_control = row_->data() + there.control[0];
    if (sender != options.senders.end()) {
      shape.own_sender = index;
      shape.own_ring = row_->data() + there.ring;
    }
  }
  place.own_delivery_thread = options.delivery == DeliveryThread::own;
  group.open(std::make_unique<Subgroup<NativeMemory>>(shape, std::move(place), options.on_delivery),
             reinterpret_cast<const RowHeader*>(row_->data())->asleep);
  loop_->add(*group.subgroup());
  return {};
}

std::uint32_t NodeCore::index_of(const std::string& member) const {
  return static_cast<std::uint32_t>(
      std::ranges::find(options_.members, member, &MemberAddress::name) - options_.members.begin());
}

}  // namespace tutti
