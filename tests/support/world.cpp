#include "support/world.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/assert.hpp"
#include "support/payload.hpp"
#include "support/shared_fabric.hpp"

namespace tutti::testing {
namespace {

std::string node_name(std::uint32_t node) { return {static_cast<char>('a' + node)}; }

std::uint64_t incarnation(std::uint32_t node) { return 1 + node; }

std::vector<std::string> node_names(std::uint32_t nodes) {
  std::vector<std::string> names;
  for (std::uint32_t node = 0; node < nodes; ++node) names.push_back(node_name(node));
  return names;
}

std::vector<GroupOptions> sorted(std::vector<GroupOptions> groups) {
  std::ranges::sort(groups, {}, &GroupOptions::name);
  return groups;
}

std::vector<std::string> names_of(const std::string& letters) {
  std::vector<std::string> names;
  for (const char letter : letters) names.emplace_back(1, letter);
  return names;
}

std::uint32_t index_in(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? kNone : static_cast<std::uint32_t>(found - names.begin());
}

// Far less than any of the membership's times.
constexpr std::uint64_t kFoundMaxNs = 100'000;

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
    : options_(options),
      plan_(node_names(options.nodes), sorted(options.groups), 0, false, 0),
      random_(options.seed),
      running_(options.nodes) {
  std::vector<std::size_t> row_bytes;
  for (const RowLayout& layout : plan_.layouts) {
    row_bytes.push_back(layout.row_bytes());
    rows_.emplace_back(row_bytes.back());
  }
  make_fabrics(row_bytes);
  for (std::uint32_t group = 0; group < plan_.groups.size(); ++group) make_parts(group);
  for (std::uint32_t node = 0; node < nodes(); ++node) make_engine(node);
  found();
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
        fabrics_.push_back(net_->fabric(Slot{node}, own_row));
        break;
      case Wires::shared:
        fabrics_.push_back(std::make_unique<SharedFabric>(rows_));
        break;
      case Wires::faulty:
        auto faulty = std::make_unique<FaultyFabric>(
            cluster_->fabric(Slot{node}, own_row),
            FaultyOptions{.seed = random_.next(),
                          .delay_polls_max = static_cast<std::uint32_t>(random_.below(16)),
                          .pieces_max = static_cast<std::uint32_t>(1 + random_.below(16)),
                          .split_publish = !random_.one_in(4),
                          .tells_losses = false});
        faulty_.push_back(faulty.get());
        fabrics_.push_back(std::move(faulty));
    }
  }
}

void World::make_parts(std::uint32_t number) {
  // The view's senders are in the order of its members, however the options list them.
  GroupOptions of_view = plan_.groups[number];
  std::ranges::sort(of_view.senders);
  for (std::uint32_t node = 0; node < nodes(); ++node) {
    const std::uint32_t member = index_in(of_view.members, plan_.names[Slot{node}]);
    if (member == kNone) continue;
    Part& part = parts_.emplace_back();
    part.node = node;
    part.group = number;
    part.member = member;
    part.sender = index_in(of_view.senders, plan_.names[Slot{node}]);
    part.own_thread = of_view.delivery == DeliveryThread::own;
  }
  const auto bytes = static_cast<std::uint32_t>(ring_bytes(of_view.window_bytes));
  logs_.push_back(std::make_unique<GroupLog>(of_view, bytes, number));
}

void World::make_engine(std::uint32_t node) {
  std::vector<DeliveryCallback> deliveries(plan_.groups.size());
  for (Part& part : parts_) {
    if (part.node != node) continue;
    deliveries[part.group] = [this, &part](std::span<const Message> batch) {
      on_delivery(part, batch);
    };
  }
  const EngineOptions options{.membership = {.self = Slot{node},
                                             .incarnation = incarnation(node),
                                             .nodes = plan_.names,
                                             .look_every_ns = 1,
                                             .create_after_ns = 0}};
  jobs_.emplace_back(std::vector<GroupState>{}, 0);
  const auto row_of = [this, node](Slot slot) {
    return slot.value == node ? rows_[node].data() : fabrics_[node]->row(slot);
  };
  EngineEvents& events = *this;
  const bool between_loads = options_.wires != Wires::faulty;
  engines_.push_back(std::make_unique<Engine<LandingMemory>>(
      options,
      EngineContext{.plan = plan_,
                    .own_row = rows_[node].data(),
                    .fabric = *fabrics_[node],
                    .row_of = row_of,
                    .jobs = jobs_.back(),
                    .deliveries = std::move(deliveries)},
      events, LandingMemory{between_loads ? this : nullptr, Slot{node}}));
  for (Part& part : parts_) {
    if (part.node == node) part.machine = &engines_[node]->subgroup(part.group);
  }
  for (std::uint32_t group = 0; group < plan_.groups.size(); ++group) {
    const GroupOptions& wanted = plan_.groups[group];
    const bool own_thread = wanted.delivery == DeliveryThread::own;
    if (!own_thread || index_in(wanted.members, plan_.names[Slot{node}]) != kNone) continue;
    bystanders_.emplace_back(node, &engines_[node]->subgroup(group));
  }
}

// The clock goes on until all are in the view.
void World::found() {
  for (std::uint32_t node = 0; node < nodes(); ++node) {
    for (std::uint32_t other = 0; other < nodes(); ++other) {
      if (other != node) engines_[node]->connected(Slot{other}, incarnation(other));
    }
  }
  const auto is_in_view = [](const auto& engine) { return engine->view().id == 1; };
  while (!std::ranges::all_of(engines_, is_in_view)) {
    ++now_ns_;
    TUTTI_ASSERT(now_ns_ < kFoundMaxNs, now_ns_);
    for (std::uint32_t node = 0; node < nodes(); ++node) turn(node);
  }
  for (const Part& part : parts_) {
    const GroupShape& shape = part.machine->shape();
    TUTTI_ASSERT(shape.own_sender.value == part.sender, shape.own_sender, part.sender, part.node);
    logs_[part.group]->attach(part.member, shape.own_control, shape.sender_rings.all());
  }
  founded_ = true;
  const bool settled = settle();
  TUTTI_ASSERT(settled, now_ns_);
}

void World::entered(const Entry& entry) {
  if (entry.view.id != 1 || entry.view.members.size() != nodes()) {
    logs_.front()->report("view " + std::to_string(entry.view.id) + " was entered");
  }
}

void World::stopped(StopReason /*reason*/) { logs_.front()->report("a member stopped"); }

void World::let_go(Slot slot) {
  logs_.front()->report("node " + node_name(slot.value) + " was let go");
}

void World::no_state(const Error& why) { logs_.front()->report("M9: " + why.message); }

std::size_t World::pass(std::uint32_t node) {
  running_[node] = true;
  std::size_t work = turn(node);
  for (const auto& [at, bystander] : bystanders_) {
    if (at == node && bystander->deliver_here()) ++work;
  }
  running_[node] = false;
  note_sent(node);
  return work;
}

void World::note_sent(std::uint32_t node) {
  for (const Part& part : parts_) {
    if (part.node == node && part.sender != kNone) logs_[part.group]->walk(part.sender);
  }
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
  if (options_.talkative && part.sender != kNone && !part.finished && random_.one_in(2)) {
    const std::uint64_t max = plan_.groups[part.group].message_max_bytes;
    send(part, static_cast<std::uint32_t>(random_.below(max + 1)));
  }
  if (options_.nested && random_.one_in(4)) run_others(1 + random_.below(20), part.node);
  log.still_there(part.member, batch);
}

void World::run_others(std::uint64_t passes, std::uint32_t in_callback) {
  constexpr std::ptrdiff_t kDepthMax = 3;
  if (std::ranges::count(running_, true) > kDepthMax) return;
  for (; passes > 0; --passes) {
    const auto node = static_cast<std::uint32_t>(random_.below(nodes()));
    if (!running_[node]) {
      pass(node);
      for (Part& part : parts_) {
        if (part.own_thread && part.node == node && random_.one_in(2)) deliver_here(part);
      }
    } else if (node == in_callback) {
      engines_[node]->pass(now_ns_, Calls::forbidden);
      note_sent(node);
    }
  }
}

void World::before_load(Slot reader) {
  if (net_) return net_->before_load(reader);
  if (founded_ && options_.nested && random_.one_in(8)) run_others(1);
}

bool World::claim(Part& part, std::uint32_t size) {
  OpenClaim claim;
  claim.size = size;
  GroupLog& log = *logs_[part.group];
  if (part.machine->ring()->claim(size, claim.space) != SendRing::Outcome::ok) return false;
  if (claim.space.index != log.claims(part.sender)) log.report("SR1: claims not in order");
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
  if (part.sender != kNone) part.machine->ring()->close();
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
             std::to_string(violation->rank.value) + " corrupt: " + violation->what + "\n";
    }
  }
  return all;
}

}  // namespace tutti::testing
