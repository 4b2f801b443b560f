/// \file world.hpp
/// Nodes with simulated disks, some in a restart (src/restart, the real thing), some in a running
/// group (as plain as models/restart.pml has it, but with logs and `views` files on disk), and all
/// that may happen to them, chosen by a seed. After each step the properties of
/// docs/restart-model.md are checked.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "log/writer.hpp"
#include "restart/participant.hpp"
#include "support/sim_disk.hpp"

namespace tutti::restart::testing {

/// What the running group does wrong; names as in models/restart.pml.
enum class Mistake : std::uint8_t {
  none,
  accepts_unsynced,
  persisted_unsynced,
  keeps_tail,
  installed_unsynced,
  confirms_received,
  logs_unstable,
  lost_disk_votes,
};

/// Of one group: for each number the view of its record. What a record is follows from these.
using Sequence = std::vector<std::uint64_t>;
using Sequences = std::map<std::string, Sequence>;

class World {
 public:
  /// `traces`: story() has the messages, too.
  World(std::uint64_t seed, Mistake mistake, bool traces = false);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// All of it: the steps, then all nodes are started and nothing fails any more.
  void run();
  /// The first property that did not hold, with what was seen; empty if all did.
  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  [[nodiscard]] std::size_t views_decided() const { return decided_.size(); }
  [[nodiscard]] std::size_t restarts() const { return restarts_; }
  [[nodiscard]] std::size_t joins() const { return joins_; }
  [[nodiscard]] std::size_t adoptions() const { return adoptions_; }
  [[nodiscard]] std::size_t records_sent() const { return records_sent_; }
  /// What happened, newest last.
  [[nodiscard]] std::string story() const;

 private:
  struct Crash {};  // thrown out of an operation of the disk
  class Wire;
  enum class State : std::uint8_t { down, outside, back, runs };

  struct Node {
    std::uint32_t slot = 0;
    State state = State::down;
    std::unique_ptr<tutti::testing::SimDisk> disk{};
    std::unique_ptr<ViewsFile> file{};
    std::map<std::string, std::unique_ptr<log::Writer>> writers{};
    std::unique_ptr<NodeLogs> logs{};
    std::unique_ptr<Participant> participant{};
    std::vector<ViewRecord> installed{};         // of which the checks do not know yet
    std::optional<std::uint64_t> crash_after{};  // so many operations
    // In a running group.
    Views views{};
    ViewRecord view{};
    Sequences has{};  // what it has received
    std::map<std::string, std::uint64_t> written{};
    std::optional<std::uint32_t> boss{};  // it has promised to that leader, and is wedged
    std::uint64_t vow = 0;                // the ballot
    bool shown = false;                   // its acceptance in that ballot
    std::optional<Proposed> proposed{};   // as a leader
  };
  struct Weights {
    std::uint64_t all_stop = 0, crash = 0, crash_at_disk = 0, lose_disk = 0, start = 0, connect = 0,
                  disconnect = 0, tick = 0, deliver = 0, run = 0, join = 0;
  };
  struct Known {  // a proposal of members that ran
    Proposed proposal{};
    Sequences cut{};
    std::vector<ViewRecord> chain{};
  };

  // world.cpp
  void holds(bool property, const char* name, const std::string& what);
  void note(const std::string& what);
  [[nodiscard]] Weights some_weights();
  void step();
  void open(Node& node);
  void start(Node& node);
  void stop(Node& node);
  void leave_restart(Node& node);
  void crash(Node& node);
  void lose_disk(Node& node);
  void connect(std::uint32_t one, std::uint32_t other);
  void disconnect(std::uint32_t one, std::uint32_t other);
  bool deliver_one();
  template <class Do>
  void at(Node& node, Do&& what);
  [[nodiscard]] Node& some_node() { return nodes_[random_.below(nodes_.size())]; }

  // world_checks.cpp
  void look_at(Node& node);
  void decide(const Proposed& proposal, const Sequences& cut);
  [[nodiscard]] const Sequences* cut_of(std::uint64_t view) const;
  [[nodiscard]] const Node& acceptor(const Proposed& proposal, const Node& node) const;
  void settle();
  [[nodiscard]] Sequence read_log(const Node& node, const std::string& group);

  // world_runs.cpp
  void found();
  void run_step(Node& node);
  void receive(Node& node);
  void write(Node& node);
  void confirm_view(Node& node);
  void change(Node& node);
  void accept(Node& node);
  void try_decide(Node& node);
  void hear(Node& node);
  void join(Node& node);
  void enter(Node& node, const ViewRecord& view, const Sequences& cut);
  void see(const ViewRecord& view);
  [[nodiscard]] std::vector<Node*> together(const Node& node);
  [[nodiscard]] const Known* known(const Proposed& proposal) const;
  [[nodiscard]] bool may_enter(const Node& node, const ViewRecord& view) const;

  Prng random_;
  Weights weights_{};
  const Mistake mistake_;
  const bool traces_;
  std::vector<std::string> groups_{};
  std::vector<Node> nodes_{};
  Names names_{};
  std::set<std::pair<std::uint32_t, std::uint32_t>> links_{};
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::vector<std::byte>>> wire_{};
  std::unique_ptr<Wire> wires_[5];
  const Editions editions_{};  // no directory is put back here: recovery_world.hpp
  std::vector<Known> proposals_{};
  std::vector<Proposed> accepted_{};  // by anybody, of participants
  std::vector<Proposed> decided_{};
  std::vector<Sequences> cuts_{};  // of decided_
  std::set<std::pair<std::uint64_t, std::uint32_t>> entered_{};
  Sequences durable_{};
  std::uint64_t losses_ = 0;
  std::uint64_t salt_ = 0;
  std::size_t restarts_ = 0;
  std::size_t adoptions_ = 0;
  std::size_t joins_ = 0;
  std::size_t records_sent_ = 0;
  std::set<std::uint32_t> slow_{};  // these seldom write
  std::set<std::uint32_t> away_{};  // these are not started
  bool calm_ = false;
  std::vector<std::string> notes_{};
  std::string wrong_{};
};

// Calls of a node end where its disk, in which it may be, loses its power.
template <class Do>
void World::at(Node& node, Do&& what) {
  try {
    what();
  } catch (const Crash&) {
    note(names_[node.slot] + " crashes at its disk");
    crash(node);
    return;
  }
  if (node.state == State::back) look_at(node);
}

/// The record of that group, number and view.
[[nodiscard]] OwnedRecord record_of(const std::string& group, std::uint64_t seq,
                                    std::uint64_t view);
[[nodiscard]] bool is_prefix(const Sequence& one, const Sequence& other);
/// Of the sequences of two groups each.
[[nodiscard]] bool are_prefixes(const Sequences& one, const Sequences& other);

}  // namespace tutti::restart::testing
