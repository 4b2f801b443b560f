#include "support/world.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "support/payload.hpp"
#include "support/shared_fabric.hpp"

namespace tutti::testing {
namespace {

std::string node_name(std::uint32_t node) { return {static_cast<char>('a' + node)}; }

std::vector<std::string> names_of(const std::string& letters) {
  std::vector<std::string> names;
  for (const char letter : letters) names.emplace_back(1, letter);
  return names;
}

std::uint32_t index_in(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? kNobody : static_cast<std::uint32_t>(found - names.begin());
}

}  // namespace

GroupOptions small_group(const std::string& name, const std::string& members,
                         const std::string& senders, Level level) {
  GroupOptions group;
  group.name = name;
  group.members = names_of(members);
  group.senders = names_of(senders);
  group.order = level == Level::unordered ? Order::none : Order::round_robin;
  group.level = level;
  group.message_max_bytes = 1000;
  group.window_bytes = 4096;
  group.window_messages = 16;
  return group;
}

World::World(const WorldOptions& options)
    : options_(options), random_(options.seed), running_(options.nodes) {
  std::vector<std::size_t> row_bytes;
  for (std::uint32_t node = 0; node < nodes(); ++node) {
    row_bytes.push_back(layout(node).row_bytes());
    rows_.emplace_back(row_bytes.back());
  }
  make_fabrics(row_bytes);
  for (std::uint32_t node = 0; node < nodes(); ++node) {
    loops_.push_back(std::make_unique<PredicateLoop>(*fabrics_[node]));
  }
  for (std::uint32_t group = 0; group < options_.groups.size(); ++group) {
    const GroupOptions& wanted = options_.groups[group];
    const auto bytes = static_cast<std::uint32_t>(ring_bytes(wanted.window_bytes));
    logs_.push_back(std::make_unique<GroupLog>(wanted, bytes, group));
    for (std::uint32_t node = 0; node < nodes(); ++node) {
      if (index_in(wanted.members, node_name(node)) != kNobody) open_group(node, group);
    }
  }
}

void World::make_fabrics(const std::vector<std::size_t>& row_bytes) {
  if (options_.wires == Wires::landing) {
    net_ = std::make_unique<LandingNet>(
        row_bytes, LandingOptions{.seed = random_.next(), .guard_first = options_.guard_first});
  } else if (options_.wires == Wires::faulty) {
    cluster_ = std::make_unique<LocalCluster>(row_bytes);
  }
  for (std::uint32_t node = 0; node < nodes(); ++node) {
    const std::byte* own_row = rows_[node].data();
    switch (options_.wires) {
      case Wires::landing:
        fabrics_.push_back(net_->fabric(Rank{node}, own_row));
        break;
      case Wires::shared:
        fabrics_.push_back(std::make_unique<SharedFabric>(rows_));
        break;
      case Wires::faulty:
        auto faulty = std::make_unique<FaultyFabric>(
            cluster_->fabric(Rank{node}, own_row),
            FaultyOptions{.seed = random_.next(),
                          .delay_polls_max = static_cast<std::uint32_t>(random_.below(16)),
                          .pieces_max = static_cast<std::uint32_t>(1 + random_.below(16)),
                          .split_publish = !random_.one_in(4)});
        faulty_.push_back(faulty.get());
        fabrics_.push_back(std::move(faulty));
    }
  }
}

RowLayout World::layout(std::uint32_t node) const {
  std::vector<GroupOptions> joined;
  for (const GroupOptions& group : options_.groups) {
    if (index_in(group.members, node_name(node)) != kNobody) joined.push_back(group);
  }
  return {node_name(node), joined};
}

const std::byte* World::row_at(std::uint32_t reader, std::uint32_t node) const {
  return reader == node ? rows_[node].data() : fabrics_[reader]->row(Rank{node});
}

void World::open_group(std::uint32_t node, std::uint32_t number) {
  const GroupOptions& options = options_.groups[number];
  Part& part = parts_.emplace_back();
  part.node = node;
  part.group = number;
  part.member = index_in(options.members, node_name(node));
  part.sender = index_in(options.senders, node_name(node));
  part.own_thread = options.delivery == DeliveryThread::own;

  GroupShape shape;
  SubgroupPlace place;
  shape.self = part.member;
  shape.own_sender = part.sender;
  shape.level = options.level;
  shape.message_max_bytes = options.message_max_bytes;
  shape.window_records = options.window_messages;
  shape.ring_granules = static_cast<std::uint32_t>(ring_bytes(options.window_bytes) / kGranule);
  shape.sender_ranks.resize(options.senders.size());
  shape.sender_rings.resize(options.senders.size());
  shape.sender_reclaimed.resize(options.senders.size());
  for (std::uint32_t rank = 0; rank < options.members.size(); ++rank) {
    const auto member = static_cast<std::uint32_t>(options.members[rank][0] - 'a');
    const GroupPlace there = layout(member).place(options.name);
    shape.member_controls.push_back(row_at(node, member) + there.control[0]);
    const std::uint32_t sender = index_in(options.senders, options.members[rank]);
    if (sender != kNobody) {
      shape.sender_ranks[sender] = rank;
      shape.sender_rings[sender] = row_at(node, member) + there.ring;
      shape.sender_reclaimed[sender] = row_at(node, member) + there.reclaimed;
    }
    if (member != node) place.peers.push_back(Rank{member});
  }
  const GroupPlace here = layout(node).place(options.name);
  place.control_offset = here.control[0];
  place.ring_offset = here.ring;
  place.own_delivery_thread = part.own_thread;
  shape.sender_ids = shape.sender_ranks;
  shape.own_control = rows_[node].data() + here.control[0];
  if (part.sender != kNobody) shape.own_ring = rows_[node].data() + here.ring;

  logs_[number]->attach(part.member, shape.own_control, shape.sender_rings);
  auto callback = [this, &part](std::span<const Message> batch) { on_delivery(part, batch); };
  const bool native = options_.wires == Wires::faulty;
  part.machine = native ? make_native_group(shape, std::move(place), callback)
                        : make_landing_group(shape, std::move(place), callback,
                                             {native ? nullptr : this, Rank{node}});
  loops_[node]->add(*part.machine);
}

std::size_t World::pass(std::uint32_t node) {
  running_[node] = true;
  const std::size_t work = loops_[node]->pass();
  static_cast<void>(loops_[node]->take_losses());
  running_[node] = false;
  for (const Part& part : parts_) {
    if (part.node == node && part.sender != kNobody) logs_[part.group]->walk(part.sender);
  }
  return work;
}

bool World::deliver_here(Part& part) {
  running_[part.node] = true;
  const bool worked = part.machine->deliver_here();
  running_[part.node] = false;
  return worked;
}

void World::on_delivery(Part& part, std::span<const Message> batch) {
  if (options_.on_delivery) return options_.on_delivery(part.node, batch);
  GroupLog& log = *logs_[part.group];
  log.delivered(part.member, batch);
  if (options_.talkative && part.sender != kNobody && !part.finished && random_.one_in(2)) {
    const std::uint64_t max = options_.groups[part.group].message_max_bytes;
    send(part, static_cast<std::uint32_t>(random_.below(max + 1)));
  }
  if (options_.nested && random_.one_in(4)) run_others(1 + random_.below(20));
  log.still_there(part.member, batch);
}

void World::run_others(std::uint64_t passes) {
  constexpr std::ptrdiff_t kDepthMax = 3;
  if (std::ranges::count(running_, true) > kDepthMax) return;
  for (; passes > 0; --passes) {
    const auto node = static_cast<std::uint32_t>(random_.below(nodes()));
    if (!running_[node]) pass(node);
  }
}

void World::before_load(Rank reader) {
  if (net_) return net_->before_load(reader);
  if (options_.nested && random_.one_in(8)) run_others(1);
}

bool World::claim(Part& part, std::uint32_t size) {
  OpenClaim claim;
  claim.size = size;
  GroupLog& log = *logs_[part.group];
  if (part.machine->ring()->claim(size, claim.space) != SendRing::Outcome::ok) return false;
  if (claim.space.index != log.claims(part.sender)) log.report("B1: claims not in order");
  claim.seed = log.claimed(part.sender, size);
  part.open.push_back(claim);
  return true;
}

void World::commit(Part& part, std::size_t index, bool abandon) {
  const OpenClaim claim = part.open[index];
  part.open.erase(part.open.begin() + static_cast<std::ptrdiff_t>(index));
  fill_payload({claim.space.payload, claim.size}, claim.seed);
  logs_[part.group]->committed(part.sender, claim.space.index, abandon);
  SendRing& ring = *part.machine->ring();
  abandon ? ring.abandon(claim.space) : ring.commit(claim.space);
}

bool World::send(Part& part, std::uint32_t size) {
  if (!claim(part, size)) return false;
  commit(part, part.open.size() - 1);
  return true;
}

void World::finish(Part& part) {
  part.finished = true;
  if (part.sender != kNobody) part.machine->ring()->close();
}

bool World::settle(std::uint32_t passes) {
  std::uint32_t quiet = 0;
  for (std::uint32_t i = 0; i < passes; ++i) {
    std::size_t work = pass(i % nodes());
    for (Part& part : parts_) {
      if (part.own_thread && part.node == i % nodes()) work += deliver_here(part) ? 1 : 0;
    }
    quiet = work == 0 && drained() ? quiet + 1 : 0;
    if (quiet >= 2 * nodes()) return true;
  }
  return false;
}

bool World::complete() const {
  return std::ranges::all_of(parts_, [](const Part& part) { return part.machine->complete(); });
}

bool World::drained() const {
  return std::ranges::all_of(fabrics_, [](const auto& fabric) { return fabric->drained(); });
}

World::Part& World::part(std::uint32_t node, std::uint32_t group) {
  return *std::ranges::find_if(
      parts_, [&](const Part& part) { return part.node == node && part.group == group; });
}

void World::check_end() {
  for (const auto& log : logs_) log->check_end(complete());
}

std::string World::findings() const {
  std::string all;
  for (const auto& log : logs_) {
    for (const std::string& finding : log->findings()) all += finding + "\n";
  }
  for (const Part& part : parts_) {
    if (const auto violation = part.machine->violation()) {
      all += "node " + node_name(part.node) + " calls member " +
             std::to_string(violation->sender_rank) + " corrupt: " + violation->what + "\n";
    }
  }
  return all;
}

}  // namespace tutti::testing
