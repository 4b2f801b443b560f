#include "unit/restart/world.hpp"

#include <algorithm>
#include <utility>

#include "unit/restart/told.hpp"

namespace tutti::restart::testing {
namespace {

constexpr const char* kState = "/state";
constexpr std::uint64_t kSteps = 3000;
constexpr std::size_t kPieceBytes = 200;

}  // namespace

class World::Wire final : public RestartTransport {
 public:
  Wire(World& world, std::uint32_t from) : world_(world), from_(from) {}
  void send(std::uint32_t slot, std::vector<std::byte> bytes) override {
    world_.wire_[{from_, slot}].push_back(std::move(bytes));
  }

 private:
  World& world_;
  const std::uint32_t from_;
};

OwnedRecord record_of(const std::string& group, std::uint64_t seq, std::uint64_t view) {
  std::uint64_t state = seq * 1000003 + view * 7919 + group.size();
  const std::uint64_t hash = splitmix64(state);
  OwnedRecord record{.seq = seq,
                     .view = view,
                     .sender = static_cast<std::uint32_t>(hash % 3),
                     .tick = hash % 11 == 0};
  // Of a group with a long name they are long, so that its log has many segments.
  const std::uint64_t bytes = group.size() > 2 ? 900 + hash % 250 : hash % 60;
  for (std::uint64_t i = 0; i < bytes; ++i) {
    record.data.push_back(static_cast<std::byte>(hash >> (i % 8)));
  }
  return record;
}

bool is_prefix(const Sequence& one, const Sequence& other) {
  return one.size() <= other.size() && std::equal(one.begin(), one.end(), other.begin());
}

bool are_prefixes(const Sequences& one, const Sequences& other) {
  return std::ranges::all_of(one, [&](const auto& group) {
    const auto found = other.find(group.first);
    return group.second.empty() || (found != other.end() && is_prefix(group.second, found->second));
  });
}

World::World(std::uint64_t seed, Mistake mistake, bool traces)
    : random_(seed), mistake_(mistake), traces_(traces) {
  groups_ = random_.one_in(3) ? std::vector<std::string>{"a", "bb"} : std::vector<std::string>{"a"};
  nodes_.resize(3 + random_.below(3));
  for (std::uint32_t slot = 0; slot < nodes_.size(); ++slot) {
    names_.push_back(std::string(1, static_cast<char>('p' + slot)));
    nodes_[slot].slot = slot;
    nodes_[slot].disk = std::make_unique<tutti::testing::SimDisk>();
    wires_[slot] = std::make_unique<Wire>(*this, slot);
  }
  weights_ = some_weights();
  found();
}

World::~World() {
  for (Node& node : nodes_) stop(node);
}

void World::holds(bool property, const char* name, const std::string& what) {
  if (!property && wrong_.empty()) wrong_ = std::string(name) + ": " + what;
}

void World::note(const std::string& what) { notes_.push_back(what); }

std::string World::story() const {
  std::string out;
  for (const std::string& line : notes_) out += line + "\n";
  return out;
}

void World::run() {
  const auto steps = [&](std::uint64_t count) {
    for (std::uint64_t i = 0; i < count && wrong_.empty(); ++i) step();
  };
  if (random_.one_in(2)) {
    steps(kSteps);
  } else {
    // What takes several views and stops to go wrong is found in such rounds.
    for (int round = 0; round < 5; ++round) {
      weights_ = {.crash = 5, .crash_at_disk = 3, .start = 60, .run = 900, .join = 200};
      slow_.clear();
      for (const Node& each : nodes_) {
        if (random_.one_in(2)) slow_.insert(each.slot);
      }
      steps(30 + random_.below(400));
      for (Node& each : nodes_) crash(each);
      away_.clear();
      for (const Node& each : nodes_) {
        if (random_.one_in(3)) away_.insert(each.slot);
      }
      weights_ = {.crash_at_disk = random_.below(10),
                  .lose_disk = random_.below(3),
                  .start = 80,
                  .connect = 100,
                  .tick = 60,
                  .deliver = 500};
      steps(300);
      away_.clear();
    }
  }
  if (wrong_.empty()) settle();
}

// How often each kind of step is tried: of these times 0 to 4, so that seeds differ in what
// happens. Of those that a run cannot do without, at least once.
World::Weights World::some_weights() {
  const auto any = [&](std::uint64_t usual) { return usual * random_.below(5) / 2; };
  const auto some = [&](std::uint64_t usual) { return usual * (1 + random_.below(4)) / 2; };
  return {.all_stop = any(3),
          .crash = any(4),
          .crash_at_disk = any(10),
          .lose_disk = any(2),
          .start = some(60),
          .connect = some(100),
          .disconnect = any(4),
          .tick = some(40),
          .deliver = some(300),
          .run = some(500),
          .join = any(80)};
}

void World::step() {
  Node& node = some_node();
  const Weights& w = weights_;
  std::uint64_t kind =
      random_.below(w.all_stop + w.crash + w.crash_at_disk + w.lose_disk + w.start + w.connect +
                    w.disconnect + w.tick + w.deliver + w.run + w.join);
  const auto is = [&](std::uint64_t weight) {
    const bool chosen = kind < weight;
    kind -= chosen ? 0 : weight;
    return chosen;
  };
  if (is(w.all_stop)) {
    note("all stop");
    for (Node& each : nodes_) crash(each);
  } else if (is(w.crash)) {
    crash(node);
  } else if (is(w.crash_at_disk)) {
    if (node.file && !node.crash_after) node.crash_after = random_.below(16);
  } else if (is(w.lose_disk)) {
    if (node.state == State::down && losses_ < (nodes_.size() - 1) / 2) lose_disk(node);
  } else if (is(w.start)) {
    if (node.state == State::down) start(node);
  } else if (is(w.connect)) {
    connect(node.slot, some_node().slot);
  } else if (is(w.disconnect)) {
    disconnect(node.slot, some_node().slot);
  } else if (is(w.tick)) {
    if (node.state == State::back) at(node, [&] { node.participant->tick(); });
  } else if (is(w.deliver)) {
    deliver_one();
  } else if (is(w.run)) {
    if (node.state == State::runs) run_step(node);
  } else if (node.state == State::back || node.state == State::outside) {
    join(node);
  }
}

void World::open(Node& node) {
  node.disk->on_operation([this, &node](const tutti::testing::DiskOperation& operation) {
    if (!calm_ && node.crash_after && operation.changes() && (*node.crash_after)-- == 0) {
      node.crash_after.reset();
      throw Crash{};
    }
    if (operation.step == tutti::testing::DiskStep::sync_directory && operation.path == kState) {
      const auto views = decode_views_file(node.disk->contents(std::string(kState) + "/views"));
      if (views && views->accepted) accepted_.push_back(views->accepted->proposal);
      if (views && node.state == State::back) {
        const auto& chain = views->chain;
        std::ranges::copy(chain, std::back_inserter(node.installed));
      }
    }
    return tutti::testing::DiskFate::done;
  });
  (void)node.disk->make_directory(kState);
  node.file = std::make_unique<ViewsFile>(*node.disk, kState);
  for (const std::string& group : groups_) {
    log::WriterOptions options{.segment_bytes = 8192,
                               .salts = [this]() -> Result<std::uint64_t> { return ++salt_; }};
    auto writer =
        log::Writer::open(*node.disk, std::string(kState) + "/" + group,
                          {.node = names_[node.slot], .group = group}, std::move(options));
    holds(writer.has_value(), "opens", writer ? "" : writer.error().message);
    if (writer) node.writers[group] = std::move(*writer);
  }
}

void World::start(Node& node) {
  if (away_.contains(node.slot)) return;
  at(node, [&] {
    open(node);
    const auto views = node.file->load();
    holds(views.has_value(), "loads", views ? "" : views.error().message);
    if (!wrong_.empty()) return;
    if (!*views && mistake_ != Mistake::lost_disk_votes) {
      node.state = State::outside;
      note(names_[node.slot] + " starts without views");
      return;
    }
    Views mine = *views ? **views
                        : Views{.node = names_[node.slot],
                                .origin = 7,
                                .since = 1,
                                .chain = {decided_.front().next}};
    RestartOptions options{
        .slot = node.slot, .names = names_, .views = std::move(mine), .piece_bytes = kPieceBytes};
    std::vector<GroupLog> logs;
    for (const std::string& group : groups_) {
      logs.push_back({group, node.writers.at(group).get()});
    }
    node.logs = std::make_unique<NodeLogs>(*node.disk, std::move(logs));
    const Result<void> loaded = node.logs->load();
    holds(loaded.has_value(), "loads", loaded ? "" : loaded.error().message);
    if (!wrong_.empty()) return;
    note(names_[node.slot] + " starts, view " + std::to_string(options.views.installed().id));
    node.participant = std::make_unique<Participant>(*node.file, *node.logs, *wires_[node.slot],
                                                     editions_, std::move(options));
    node.state = State::back;
    node.installed = node.participant->views().chain;
    node.participant->start();
  });
}

void World::leave_restart(Node& node) {
  node.participant.reset();
  const auto links = links_;
  for (const auto& [one, other] : links) {
    if (one == node.slot || other == node.slot) disconnect(one, other);
  }
}

void World::stop(Node& node) {
  if (node.state == State::down && node.writers.empty()) return;
  node.state = State::down;
  leave_restart(node);
  node.writers.clear();
  node.file.reset();
  node.crash_after.reset();
  node.has.clear();
  node.written.clear();
  node.boss.reset();
  node.vow = 0;
  node.shown = false;
  node.proposed.reset();
}

void World::crash(Node& node) {
  if (node.state == State::down && node.writers.empty() && !node.file) return;
  note(names_[node.slot] + " crashes");
  auto left = node.disk->after_power_loss(random_.next());
  stop(node);
  node.disk = std::move(left);
}

void World::lose_disk(Node& node) {
  ++losses_;
  note(names_[node.slot] + " loses its disk");
  node.disk = std::make_unique<tutti::testing::SimDisk>();
}

void World::connect(std::uint32_t one, std::uint32_t other) {
  if (one > other) std::swap(one, other);
  // One that has decided in a restart still tells others, until its view changes.
  const auto speaks = [&](std::uint32_t slot) { return nodes_[slot].participant != nullptr; };
  const auto waits = [&](std::uint32_t slot) { return nodes_[slot].state == State::back; };
  if (one == other || !speaks(one) || !speaks(other) || (!waits(one) && !waits(other))) return;
  if (!links_.insert({one, other}).second) return;
  at(nodes_[one], [&] { nodes_[one].participant->up(other); });
  if (!links_.contains({one, other})) return;
  at(nodes_[other], [&] { nodes_[other].participant->up(one); });
}

void World::disconnect(std::uint32_t one, std::uint32_t other) {
  if (one > other) std::swap(one, other);
  if (links_.erase({one, other}) == 0) return;
  wire_[{one, other}].clear();
  wire_[{other, one}].clear();
  const auto lost = [&](Node& node, std::uint32_t peer) {
    if (node.participant) at(node, [&] { node.participant->down(peer); });
  };
  lost(nodes_[one], other);
  lost(nodes_[other], one);
}

bool World::deliver_one() {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> some;
  for (const auto& [way, queue] : wire_) {
    if (!queue.empty()) some.push_back(way);
  }
  if (some.empty()) return false;
  const auto way = some[random_.below(some.size())];
  const std::vector<std::byte> bytes = std::move(wire_[way].front());
  wire_[way].pop_front();
  const std::optional<RestartMessage> message = decode(bytes);
  holds(message.has_value() && encode(*message) == bytes, "decodes", "a message");
  if (message && std::holds_alternative<Records>(*message)) {
    records_sent_ += std::get<Records>(*message).records.size();
  }
  Node& node = nodes_[way.second];
  if (traces_ && message) {
    note("  " + names_[way.first] + " to " + names_[way.second] + ": " + to_string(*message));
  }
  if (node.participant) at(node, [&] { node.participant->receive(way.first, bytes); });
  return true;
}

}  // namespace tutti::restart::testing
