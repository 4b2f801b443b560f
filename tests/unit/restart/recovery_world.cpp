#include "unit/restart/recovery_world.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tutti::restart::testing {
namespace {

constexpr const char* kStateDir = "/state";
constexpr std::uint64_t kStepsAtRandom = 2500;
constexpr std::size_t kRecordPiece = 200;

}  // namespace

class RecoveryWorld::Wire final : public RestartTransport {
 public:
  Wire(RecoveryWorld& world, std::uint32_t from) : world_(world), from_(from) {}
  void send(std::uint32_t slot, std::vector<std::byte> bytes) override {
    if (!world_.links_.contains(std::minmax(from_, slot))) return;
    world_.wire_[{from_, slot}].push_back(std::move(bytes));
  }

 private:
  RecoveryWorld& world_;
  const std::uint32_t from_;
};

RecoveryWorld::RecoveryWorld(std::uint64_t seed, RecoveryMistake mistake, bool traces,
                             bool snapshots)
    : random_(seed),
      faults_(~seed),
      disks_fail_(mistake == RecoveryMistake::none
                      ? faults_.one_in(4)
                      : mistake >= RecoveryMistake::ignores_failed_write),
      mistake_(mistake),
      traces_(traces),
      takes_snapshots_(snapshots),
      snapshot_random_(seed + 1) {
  groups_ = random_.one_in(3) ? std::vector<std::string>{"a", "bb"} : std::vector<std::string>{"a"};
  if (takes_snapshots_) groups_.front() = "aaa";
  nodes_.resize(3 + random_.below(3));
  Proposed first{.next = {.id = 1}};
  Sequences nothing;
  for (const std::string& group : groups_) {
    first.next.first.push_back({group, 0});
    nothing[group] = {};
  }
  for (std::uint32_t slot = 0; slot < nodes_.size(); ++slot) {
    Node& node = nodes_[slot];
    names_.push_back(std::string(1, static_cast<char>('p' + slot)));
    first.next.members.push_back(slot);
    node.world = this;
    node.groups = &groups_;
    node.slot = slot;
    node.disk = std::make_unique<tutti::testing::SimDisk>();
    wires_.push_back(std::make_unique<Wire>(*this, slot));
  }
  decided_.push_back(first);
  cuts_.push_back(nothing);
  some_node().bootstraps = true;
  if (random_.one_in(5)) some_node().bootstraps = true;
  weights_ = some_weights();
  if (takes_snapshots_) weights_.turn *= 2;  // their logs are to grow
}

RecoveryWorld::~RecoveryWorld() {
  for (Node& node : nodes_) stop(node);
}

void RecoveryWorld::holds(bool property, const char* name, const std::string& what) {
  if (!property && wrong_.empty()) wrong_ = std::string(name) + ": " + what;
}

std::string RecoveryWorld::story() const {
  std::string out;
  for (const std::string& line : notes_) out += line + "\n";
  return out;
}

RecoveryWorld::Counts RecoveryWorld::counts() const {
  Counts counts = counts_;
  counts.views = decided_.size();
  return counts;
}

void RecoveryWorld::run() {
  const auto steps = [&](std::uint64_t count) {
    for (std::uint64_t i = 0; i < count && wrong_.empty(); ++i) step();
  };
  if (random_.one_in(2)) {
    steps(kStepsAtRandom);
  } else {
    // What takes several views and stops to go wrong is found in such rounds.
    const Weights usual = weights_;
    steps(300);
    for (int round = 0; round < 4 && wrong_.empty(); ++round) {
      random_.one_in(3) ? settle(false) : steps(400);
      weights_ = {
          .crash = 5, .crash_at_disk = 3, .start = 40, .connect = 60, .deliver = 300, .turn = 900};
      slow_.clear();
      for (const Node& each : nodes_) {
        if (random_.one_in(2)) slow_.insert(each.slot);
      }
      steps(50 + random_.below(400));
      for (Node& each : nodes_) crash(each);
      away_.clear();
      for (const Node& each : nodes_) {
        if (random_.one_in(3)) away_.insert(each.slot);
      }
      weights_ = usual;
      weights_.all_stop = 0;
      weights_.lose_disk = random_.below(3);
      weights_.put_back = random_.below(30);
      steps(400);
      away_.clear();
    }
  }
  if (wrong_.empty()) settle(random_.one_in(2));
  if (wrong_.empty()) settle(true);
}

// How often each kind of step is tried: of these times 0 to 4, so that seeds differ in what
// happens. Of those that a run cannot do without, at least once.
RecoveryWorld::Weights RecoveryWorld::some_weights() {
  const auto any = [&](std::uint64_t usual) { return usual * random_.below(5) / 2; };
  const auto some = [&](std::uint64_t usual) { return usual * (1 + random_.below(4)) / 2; };
  return {.all_stop = any(2),
          .crash = any(4),
          .crash_at_disk = any(8),
          .lose_disk = any(2),
          .put_back = any(20),
          .start = some(60),
          .connect = some(150),
          .disconnect = any(6),
          .tick = some(40),
          .deliver = some(400),
          .turn = some(500)};
}

void RecoveryWorld::step() {
  if (disks_fail_ && faults_.one_in(40)) disk_fault(nodes_[faults_.below(nodes_.size())]);
  Node& node = some_node();
  const Weights& w = weights_;
  std::uint64_t kind =
      random_.below(w.all_stop + w.crash + w.crash_at_disk + w.lose_disk + w.put_back + w.start +
                    w.connect + w.disconnect + w.tick + w.deliver + w.turn);
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
    if (node.recovery && !node.crash_after) node.crash_after = random_.below(16);
  } else if (is(w.lose_disk)) {
    if (!node.recovery && losses_ < (nodes_.size() - 1) / 2) lose_disk(node);
  } else if (is(w.put_back)) {
    if (!node.recovery && losses_ < (nodes_.size() - 1) / 2) put_back(node);
  } else if (is(w.start)) {
    if (!node.recovery && !away_.contains(node.slot)) start(node);
  } else if (is(w.connect)) {
    connect(node.slot, some_node().slot);
  } else if (is(w.disconnect)) {
    disconnect(node.slot, some_node().slot);
  } else if (is(w.tick)) {
    if (node.recovery && !node.ends) at(node, [&] { node.recovery->tick(); });
  } else if (is(w.deliver)) {
    deliver_one();
  } else if (node.recovery) {
    turn(node);
  }
}

bool RecoveryWorld::open(Node& node) {
  node.disk->on_operation([this, &node](const tutti::testing::DiskOperation& operation) {
    if (!calm_ && node.crash_after && operation.changes() && (*node.crash_after)-- == 0) {
      node.crash_after.reset();
      throw Crash{};
    }
    const tutti::testing::DiskFate fate = fate_of(node, operation);
    if (fate == tutti::testing::DiskFate::done &&
        operation.step == tutti::testing::DiskStep::sync_directory && operation.path == kStateDir) {
      const auto views = decode_views_file(node.disk->contents(std::string(kStateDir) + "/views"));
      if (views) look_at_views(node, *views);
    }
    return fate;
  });
  (void)node.disk->make_directory(kStateDir);
  node.file = std::make_unique<ViewsFile>(*node.disk, kStateDir);
  std::vector<GroupLog> logs;
  for (const std::string& group : groups_) {
    LogSummary found{.group = group};
    log::WriterOptions options{.segment_bytes = 8192,
                               .repair = mistake_ == RecoveryMistake::cuts_at_damage,
                               .found = [&](const log::Record& record) { add(found, record); },
                               .salts = [this]() -> Result<std::uint64_t> { return ++salt_; }};
    auto writer =
        log::Writer::open(*node.disk, std::string(kStateDir) + "/" + group,
                          {.node = names_[node.slot], .group = group}, std::move(options));
    if (!writer) {
      holds(is_excused(node, writer.error()), "opens", writer.error().message);
      return false;
    }
    node.writers[group] = std::move(*writer);
    log::Snapshots* const snapshots = open_snapshots(node, group);
    if (!wrong_.empty()) return false;
    logs.push_back({group, node.writers.at(group).get(), snapshots, found});
  }
  node.logs = std::make_unique<NodeLogs>(*node.disk, std::move(logs));
  const Result<void> loaded = node.logs->load();
  holds(loaded.has_value(), "loads", loaded ? "" : loaded.error().message);
  for (const std::string& group : groups_) (void)read_log(node, group);
  return loaded.has_value();
}

void RecoveryWorld::start(Node& node) {
  at(node, [&] {
    const bool opened = open(node);
    auto views = node.file->load();
    if (!views) holds(is_excused(node, views.error()), "loads", views.error().message);
    if (!wrong_.empty()) return;
    if (!opened || !views) return replace_disk(node);
    const ViewRecord& first = decided_.front().next;
    const auto founding = [&] {
      return Views{.node = names_[node.slot],
                   .nodes = names_,
                   .origin = 100 + ++origins_,
                   .since = 1,
                   .chain = {first},
                   .edition = {.directory = ++directories_, .saves = 1}};
    };
    if (!*views && node.bootstraps) {
      note(names_[node.slot] + " is told that the group is new");
      *views = founding();
      if (const Result<void> saved = node.file->save(**views); !saved) {
        holds(is_excused(node, saved.error()), "saves", saved.error().message);
        return crash(node);
      }
      node.bootstraps = random_.one_in(5);
    }
    if (!*views && mistake_ == RecoveryMistake::lost_disk_votes) {
      for (const Node& other : nodes_) {
        const std::optional<Views> there = views_on(*other.disk);
        if (!there || there->installed().id == 1) continue;
        *views = founding();
        (**views).origin = there->origin;
      }
    }
    if (*views) spoil_views(**views);
    note(names_[node.slot] + " starts" +
         (*views ? ", view " + std::to_string((**views).installed().id) : " without views"));
    node.recovery = std::make_unique<Recovery>(*node.file, *node.logs, *wires_[node.slot], node,
                                               RecoveryOptions{.slot = node.slot,
                                                               .names = names_,
                                                               .views = std::move(*views),
                                                               .directory = ++directories_,
                                                               .piece_bytes = kRecordPiece});
    node.saved = node.recovery->views().chain;
    node.recovery->start();
    if (mistake_ != RecoveryMistake::adopts_while_away) return;
    for (const Node& other : nodes_) {
      if (other.recovery) continue;
      node.recovery->up(other.slot);
      node.recovery->receive(other.slot, encode(RestartMessage(Fresh{})));
    }
  });
}

// Its disk stays as it is.
void RecoveryWorld::stop(Node& node) {
  node.recovery.reset();
  const auto links = links_;
  for (const auto& [one, other] : links) {
    if (one == node.slot || other == node.slot) disconnect(one, other);
  }
  node.logs.reset();
  node.snapshots.clear();
  node.writers.clear();
  node.file.reset();
  node.saved.clear();
  node.crash_after.reset();
  node.fail_after.reset();
  node.failed = node.ends = false;
  node.incarnation.reset();
  node.vain = node.runs = node.shown = false;
  node.view = {};
  node.has.clear();
  node.logs_of.clear();
  node.boss.reset();
  node.vow = 0;
  node.accepted.reset();
  node.proposed.reset();
}

void RecoveryWorld::crash(Node& node) {
  if (!node.file) return;
  note(names_[node.slot] + " ends");
  auto left = node.disk->after_power_loss(random_.next());
  stop(node);
  node.disk = std::move(left);
  if (!node.put_back && random_.one_in(3)) {
    node.copy = node.disk->after_power_loss(tutti::testing::SimDisk::kAllKept);
  }
}

}  // namespace tutti::restart::testing
