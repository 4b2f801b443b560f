/// \file recovery_world.hpp
/// Nodes with simulated disks, each with a restart::Recovery (the real thing) from its start to its
/// end, and a running group as plain as that of world.hpp, which asks the recovery what a real node
/// asks. A seed chooses what happens. After each step the properties of docs/restart-model.md and
/// RY1 are checked.
///
/// A node has *incarnations*, one at a time: one that only joins, or one that founds the view that
/// a restart has decided. The incarnation that enters a view is the node's last.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.hpp"
#include "log/writer.hpp"
#include "restart/recovery.hpp"
#include "support/sim_disk.hpp"
#include "unit/restart/recovery_mistake.hpp"
#include "unit/restart/world.hpp"

namespace tutti::restart::testing {

class RecoveryWorld {
 public:
  /// `traces`: story() has the messages, too. `snapshots`: nodes take some, and release their logs.
  RecoveryWorld(std::uint64_t seed, RecoveryMistake mistake, bool traces = false,
                bool snapshots = false);
  ~RecoveryWorld();
  RecoveryWorld(const RecoveryWorld&) = delete;
  RecoveryWorld& operator=(const RecoveryWorld&) = delete;

  /// All of it: the steps, then all nodes are started and nothing fails any more.
  void run();
  /// The first property that did not hold, with what was seen; empty if all did.
  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  /// What happened, newest last.
  [[nodiscard]] std::string story() const;

  struct Counts {
    std::size_t views = 0, restarts = 0, adoptions = 0, joins = 0, records_sent = 0, vain = 0,
                foundings = 0, errors = 0, stuck = 0, put_back = 0, noticed = 0, failed_disks = 0,
                damaged = 0, snapshots = 0, released = 0, fetched = 0;
  };
  [[nodiscard]] Counts counts() const;

 private:
  struct Crash {};  // thrown out of an operation of the disk
  class Wire;
  struct Incarnation {
    std::uint64_t number = 0;
    std::optional<ViewRecord> founds{};
  };
  struct Log {  // of a group, of a member
    std::optional<std::uint64_t> begins{};
    bool told = false;    // begin() was called
    bool handed = false;  // whole() was
    std::uint64_t written = 0;
    std::uint64_t keep_from = ~0ULL;
    LogSummary summary{};
  };
  class Node final : public RecoveryOwner {
   public:
    LogSummary log_now(std::size_t log) override { return logs_of[groups->at(log)].summary; }
    void whole(std::size_t log, const LogSummary& summary) override;
    void keep_from(std::size_t log, std::uint64_t seq) override {
      logs_of[groups->at(log)].keep_from = seq;
    }

    RecoveryWorld* world = nullptr;
    const std::vector<std::string>* groups = nullptr;
    std::uint32_t slot = 0;
    bool bootstraps = false;  // it is started so, if its disk is new
    bool had_voted = false;   // with a disk that it has lost
    bool put_back = false;    // its disk is an older copy, and others know of a newer one
    std::unique_ptr<tutti::testing::SimDisk> disk{};
    std::unique_ptr<tutti::testing::SimDisk> copy{};  // as it was once when it was down
    std::unique_ptr<ViewsFile> file{};
    std::map<std::string, std::unique_ptr<log::Writer>> writers{};
    std::map<std::string, log::Snapshots> snapshots{};
    std::unique_ptr<NodeLogs> logs{};
    std::unique_ptr<Recovery> recovery{};
    std::vector<ViewRecord> saved{};             // views, of which the checks do not know yet
    std::optional<std::uint64_t> crash_after{};  // so many operations
    std::optional<std::uint64_t> fail_after{};   // then its disk fails once
    bool failed = false;                         // it has
    bool ends = false;                           // it knows, and does nothing more
    bool rotten = false;                         // a byte on its disk has changed
    std::optional<Incarnation> incarnation{};
    bool vain = false;  // the incarnation was told that it may never enter
    // In a view.
    bool runs = false;
    ViewRecord view{};
    Sequences has{};  // what it has received
    std::map<std::string, Log> logs_of{};
    std::optional<std::uint32_t> boss{};  // it has promised to that leader, and is wedged
    std::uint64_t vow = 0;                // the ballot
    bool shown = false;                   // its acceptance in that ballot
    std::optional<Accepted> accepted{};
    std::optional<Proposed> proposed{};  // as a leader
  };
  struct Weights {
    std::uint64_t all_stop = 0, crash = 0, crash_at_disk = 0, lose_disk = 0, put_back = 0,
                  start = 0, connect = 0, disconnect = 0, tick = 0, deliver = 0, turn = 0;
  };
  using Who = std::map<std::uint32_t, std::uint64_t>;  // incarnations, by slot
  struct Known {                                       // a proposal of members that ran
    Proposed proposal{};
    Sequences cut{};
    Who who{};
  };

  // recovery_world.cpp
  void holds(bool property, const char* name, const std::string& what);
  void note(const std::string& what) { notes_.push_back(what); }
  [[nodiscard]] Weights some_weights();
  void step();
  [[nodiscard]] bool open(Node& node);
  void start(Node& node);
  void stop(Node& node);
  void crash(Node& node);
  void lose_disk(Node& node);
  void put_back(Node& node);
  void connect(std::uint32_t one, std::uint32_t other);
  void disconnect(std::uint32_t one, std::uint32_t other);
  bool deliver_one();
  template <class Do>
  void at(Node& node, Do&& what);
  [[nodiscard]] Node& some_node() { return nodes_[random_.below(nodes_.size())]; }

  // recovery_world_disks.cpp
  void disk_fault(Node& node);
  void rot(Node& node);
  [[nodiscard]] tutti::testing::DiskFate fate_of(Node& node,
                                                 const tutti::testing::DiskOperation& operation);
  [[nodiscard]] bool is_excused(Node& node, const Error& error);
  void disk_failed(Node& node, const Error& error);
  void replace_disk(Node& node);
  void write_failed(Node& node, Log& of, const std::string& group, std::uint64_t until,
                    const LogSummary& summary);

  // recovery_mistakes.cpp
  void spoil_views(Views& views) const;
  [[nodiscard]] bool spoil_message(Node& from, Node& to, RestartMessage& message);
  template <class Do>
  void unsaved(Node& node, RecoveryMistake mistake, Do&& what);

  // recovery_world_checks.cpp
  void look_at(Node& node);
  void look_at_views(Node& node, const Views& views);
  void look_at_error(Node& node);
  void decide(const Proposed& proposal, const Sequences& cut);
  [[nodiscard]] const Sequences* cut_of(std::uint64_t view) const;
  [[nodiscard]] Sequences cut_at(const Proposed& proposal, const Node& node);
  [[nodiscard]] Sequence read_log(const Node& node, const std::string& group);
  void settle(bool all_stop);
  [[nodiscard]] bool is_settled();
  [[nodiscard]] std::string why() const;
  [[nodiscard]] std::optional<Views> synced(const Node& node) const;

  // recovery_world_snapshots.cpp
  [[nodiscard]] log::Snapshots* open_snapshots(Node& node, const std::string& group);
  [[nodiscard]] std::uint64_t durable_at_all(const Node& node, const std::string& group);
  void take_snapshot(Node& node, const std::string& group);
  void write_snapshot(Node& node, const std::string& group, std::uint64_t seq);
  void release(Node& node, const std::string& group);
  [[nodiscard]] Sequence read_beginning(const Node& node, const std::string& group,
                                        std::uint64_t whole_from);
  template <class Do>
  void around_cuts(Node& node, Do&& what);

  // recovery_world_nodes.cpp
  void turn(Node& node);
  void incarnate(Node& node);
  void found_together(Node& node);
  void come_in(Node& node);
  void install_first(Node& node, const ViewRecord& view);
  void enter(Node& node, const ViewRecord& view, const Sequences& cut);
  [[nodiscard]] bool named(const Node& node, std::uint64_t view) const;
  [[nodiscard]] bool is_admissible(const Node& node, const ViewRecord& view) const;

  // recovery_world_runs.cpp
  void run_step(Node& node, std::uint64_t kind);
  void begin_logs(Node& node);
  void receive(Node& node);
  void write(Node& node);
  void see(const ViewRecord& view);
  void confirm_view(Node& node);
  void change(Node& node);
  void propose(Node& node, const std::vector<Node*>& all, const std::vector<Node*>& joiners);
  void accept(Node& node);
  void try_decide(Node& node);
  void hear(Node& node);
  [[nodiscard]] std::vector<Node*> together(const ViewRecord& view);
  [[nodiscard]] const Known* known(const Proposed& proposal) const;

  Prng random_;
  Prng faults_;  // of its own, so that a world is the same with and without them
  const bool disks_fail_;
  Weights weights_{};
  const RecoveryMistake mistake_;
  const bool traces_;
  const bool takes_snapshots_;
  Prng snapshot_random_;
  std::vector<std::string> groups_{};
  std::deque<Node> nodes_{};
  Names names_{};
  std::set<std::pair<std::uint32_t, std::uint32_t>> links_{};
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::vector<std::byte>>> wire_{};
  std::vector<std::unique_ptr<Wire>> wires_{};
  std::vector<Known> proposals_{};
  std::vector<Proposed> accepted_{};  // by anybody
  std::vector<Proposed> decided_{};
  std::vector<Sequences> cuts_{};       // of decided_
  std::map<std::uint64_t, Who> who_{};  // of the views that were founded or decided by members
  Sequences durable_{};
  std::uint64_t losses_ = 0;
  std::uint64_t salt_ = 0;
  std::uint64_t directories_ = 0;
  std::uint64_t origins_ = 0;
  std::uint64_t incarnations_ = 0;
  std::set<std::uint32_t> slow_{};  // these seldom write
  std::set<std::uint32_t> away_{};  // these are not started
  bool calm_ = false;
  Counts counts_{};
  std::vector<std::string> notes_{};
  std::string wrong_{};
};

[[nodiscard]] std::optional<Views> views_on(const tutti::testing::SimDisk& disk);

}  // namespace tutti::restart::testing

#include "unit/restart/recovery_world_calls.hpp"  // IWYU pragma: keep: the templates
