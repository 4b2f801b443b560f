#include "unit/restart/recovery_world.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "unit/restart/told.hpp"

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
          .start = some(60),
          .connect = some(150),
          .disconnect = any(6),
          .tick = some(40),
          .deliver = some(400),
          .turn = some(500)};
}

void RecoveryWorld::step() {
  Node& node = some_node();
  const Weights& w = weights_;
  std::uint64_t kind =
      random_.below(w.all_stop + w.crash + w.crash_at_disk + w.lose_disk + w.start + w.connect +
                    w.disconnect + w.tick + w.deliver + w.turn);
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
  } else if (is(w.start)) {
    if (!node.recovery && !away_.contains(node.slot)) start(node);
  } else if (is(w.connect)) {
    connect(node.slot, some_node().slot);
  } else if (is(w.disconnect)) {
    disconnect(node.slot, some_node().slot);
  } else if (is(w.tick)) {
    if (node.recovery) at(node, [&] { node.recovery->tick(); });
  } else if (is(w.deliver)) {
    deliver_one();
  } else if (node.recovery) {
    turn(node);
  }
}

void RecoveryWorld::open(Node& node) {
  node.disk->on_operation([this, &node](const tutti::testing::DiskOperation& operation) {
    if (!calm_ && node.crash_after && operation.changes() && (*node.crash_after)-- == 0) {
      node.crash_after.reset();
      throw Crash{};
    }
    if (operation.step == tutti::testing::DiskStep::sync_directory && operation.path == kStateDir) {
      const auto views = decode_views_file(node.disk->contents(std::string(kStateDir) + "/views"));
      if (views) look_at_views(node, *views);
    }
    return tutti::testing::DiskFate::done;
  });
  (void)node.disk->make_directory(kStateDir);
  node.file = std::make_unique<ViewsFile>(*node.disk, kStateDir);
  std::vector<GroupLog> logs;
  for (const std::string& group : groups_) {
    log::WriterOptions options{.segment_bytes = 8192,
                               .salts = [this]() -> Result<std::uint64_t> { return ++salt_; }};
    auto writer =
        log::Writer::open(*node.disk, std::string(kStateDir) + "/" + group,
                          {.node = names_[node.slot], .group = group}, std::move(options));
    holds(writer.has_value(), "opens", writer ? "" : writer.error().message);
    if (!writer) return;
    node.writers[group] = std::move(*writer);
    log::Snapshots* const snapshots = open_snapshots(node, group);
    if (!wrong_.empty()) return;
    logs.push_back({group, node.writers.at(group).get(), snapshots});
  }
  node.logs = std::make_unique<NodeLogs>(*node.disk, std::move(logs));
  const Result<void> loaded = node.logs->load();
  holds(loaded.has_value(), "loads", loaded ? "" : loaded.error().message);
  for (const std::string& group : groups_) (void)read_log(node, group);
}

void RecoveryWorld::start(Node& node) {
  at(node, [&] {
    open(node);
    auto views = node.file->load();
    holds(views.has_value(), "loads", views ? "" : views.error().message);
    if (!wrong_.empty()) return;
    const ViewRecord& first = decided_.front().next;
    const auto founding = [&] {
      return Views{.node = names_[node.slot],
                   .nodes = names_,
                   .origin = 100 + ++origins_,
                   .since = 1,
                   .chain = {first}};
    };
    if (!*views && node.bootstraps) {
      note(names_[node.slot] + " is told that the group is new");
      *views = founding();
      holds(node.file->save(**views).has_value(), "saves", "the founding");
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
}

void RecoveryWorld::connect(std::uint32_t one, std::uint32_t other) {
  if (one > other) std::swap(one, other);
  if (one == other || !nodes_[one].recovery || !nodes_[other].recovery) return;
  if (!links_.insert({one, other}).second) return;
  at(nodes_[one], [&] { nodes_[one].recovery->up(other); });
  if (!links_.contains({one, other})) return;
  at(nodes_[other], [&] { nodes_[other].recovery->up(one); });
}

void RecoveryWorld::disconnect(std::uint32_t one, std::uint32_t other) {
  if (one > other) std::swap(one, other);
  if (links_.erase({one, other}) == 0) return;
  wire_[{one, other}].clear();
  wire_[{other, one}].clear();
  const auto lost = [&](Node& node, std::uint32_t peer) {
    if (node.recovery) at(node, [&] { node.recovery->down(peer); });
  };
  lost(nodes_[one], other);
  lost(nodes_[other], one);
}

// With that mistake, snapshots that a cut has removed are there again.
template <class Do>
void RecoveryWorld::around_cuts(Node& node, Do&& what) {
  if (mistake_ != RecoveryMistake::beyond_cut_kept) return what();
  std::map<std::string, std::vector<std::byte>> before;
  for (const auto& [group, files] : node.snapshots) {
    for (const log::Snapshot& one : files.all()) {
      before[files.path_of(one.seq)] = node.disk->contents(files.path_of(one.seq));
    }
  }
  what();
  for (const auto& [path, bytes] : before) {
    if (!node.disk->has(path)) node.disk->put(path, bytes);
  }
}

bool RecoveryWorld::deliver_one() {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> some;
  for (const auto& [way, queue] : wire_) {
    if (!queue.empty()) some.push_back(way);
  }
  if (some.empty()) return false;
  const auto way = some[random_.below(some.size())];
  std::vector<std::byte> bytes = std::move(wire_[way].front());
  wire_[way].pop_front();
  std::optional<RestartMessage> message = decode(bytes);
  holds(message.has_value() && encode(*message) == bytes, "decodes", "a message");
  if (!message) return true;
  if (const auto* const records = std::get_if<Records>(&*message)) {
    counts_.records_sent += records->records.size();
  }
  const auto* const piece = std::get_if<SnapshotPiece>(&*message);
  const bool ends = piece != nullptr && piece->offset + piece->bytes.size() == piece->total;
  if (ends) ++counts_.fetched;
  Node& node = nodes_[way.second];
  if (const auto* const promise = std::get_if<Promise>(&*message)) {
    const std::optional<Views> views = synced(nodes_[way.first]);
    const bool switched = views && views->origin != promise->told.views.origin;
    holds(switched || (views && views->promised.view >= promise->told.views.promised.view &&
                       (views->promised.view > promise->told.views.promised.view ||
                        views->promised.ballot >= promise->ballot)),
          "is_on_disk", names_[way.first] + " has promised what is not on its disk");
  }
  if (traces_) {
    note("  " + names_[way.first] + " to " + names_[way.second] + ": " + to_string(*message));
  }
  if (mistake_ != RecoveryMistake::none) {
    if (!spoil_message(nodes_[way.first], node, *message)) return true;
    bytes = encode(*message);
  }
  const auto receive = [&] {
    around_cuts(node, [&] { node.recovery->receive(way.first, bytes); });
    if (ends && mistake_ == RecoveryMistake::fetched_is_lost) {
      const log::Snapshots& files = node.snapshots.at(piece->group);
      node.disk->erase(files.path_of(piece->seq));
    }
  };
  at(node, [&] {
    if (std::holds_alternative<Prepare>(*message)) {
      return unsaved(node, RecoveryMistake::promises_unsaved, receive);
    }
    const bool joins = node.recovery->stage() == Recovery::Stage::joins;
    joins ? unsaved(node, RecoveryMistake::may_join_unsaved, receive) : receive();
  });
  return true;
}

}  // namespace tutti::restart::testing
