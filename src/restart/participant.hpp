/// \file participant.hpp
/// One node in a restart of a group from its logs: a state machine without threads, sockets and
/// clocks. What nodes say and in which order: docs/restart.md; why: docs/restart-model.md.
///
/// Invariants:
///  PT1  What a message says that the node has done is on disk before it is sent (Z2, Z6, Z9).
///  PT2  The log is cut and appended to only for a proposal of the ballot promised last.
///  PT3  After an error of its disk the participant says and does nothing more.
///  PT4  The node enters a view at most once, and never one from which it has begun a restart (Z12,
///       Z13).
/// Threads: one. Each call may block for as long as the disk does.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "restart/editions.hpp"
#include "restart/message.hpp"
#include "restart/node_logs.hpp"
#include "restart/snapshot_fetch.hpp"
#include "restart/views_file.hpp"

namespace tutti::restart {

/// What a participant asks of its owner.
class RestartTransport {
 public:
  virtual ~RestartTransport() = default;
  /// To a node that is up. Messages arrive in order while both are up; else they are lost. It does
  /// not call the participant.
  virtual void send(std::uint32_t slot, std::vector<std::byte> bytes) = 0;
};

struct RestartOptions {
  std::uint32_t slot = 0;
  Names names{};  ///< of all nodes
  Views views{};  ///< as the file has them
  /// Records are sent in pieces of so many bytes, or of one record. At most a fourth of a segment,
  /// unless a record is larger.
  std::size_t piece_bytes = 1U << 20;
};

class Participant {
 public:
  /// File, logs, transport and editions outlive it. The first two belong to it until it is gone.
  /// The logs are loaded. Its owner leaves out what a node says whose directory is an older copy.
  Participant(ViewsFile& file, NodeLogs& logs, RestartTransport& transport,
              const Editions& editions, RestartOptions options);

  /// First of all calls.
  void start();
  /// A connection to that node is there, or gone. What was sent over an earlier one is lost.
  void up(std::uint32_t slot);
  void down(std::uint32_t slot);
  void receive(std::uint32_t slot, std::span<const std::byte> bytes);
  /// Some time has gone by, such as a second: a leader then goes on without those members that are
  /// not back, if the others are enough. It begins again if nothing has moved since the tick
  /// before; once all have promised, if nothing has moved for longer and longer: 1, 2, 4, ...
  /// ticks.
  void tick();

  /// This node is in that view of a restart, which is on disk: its owner founds it. A group's cut
  /// is ViewRecord::first. Then the participant only tells others that it is decided.
  [[nodiscard]] const std::optional<ViewRecord>& decided() const { return decided_; }
  /// Others have decided a view without this node, says that node: join them. If they are gone, the
  /// restart may go on.
  [[nodiscard]] std::optional<std::uint32_t> runs_elsewhere() const { return elsewhere_; }
  /// PT3.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  /// What is on disk.
  [[nodiscard]] const Views& views() const { return told_.at(slot_).views; }
  /// Whom it waits for and why, for people.
  [[nodiscard]] std::string why() const;

 private:
  // As the leader, from its first Prepare on.
  struct Lead {
    std::uint64_t ballot = 0;
    std::vector<ViewRecord> chain{};
    std::set<std::uint32_t> asked{};
    std::set<std::uint32_t> promised{};
    std::optional<Proposed> proposal{};
    bool adopted = false;
    std::set<std::uint32_t> accepted{};
    std::uint32_t ticks = 0;  // since anything has moved, with a proposal
  };
  // As a member that has promised.
  struct Follow {
    std::uint32_t leader = 0;
    std::uint64_t ballot = 0;
    std::optional<Propose> propose{};
    std::size_t group = 0;                    // the first whose log is not as it should be yet
    bool kept = false;                        // that log has nothing any more that does not count
    bool checked = false;                     // ... and what it has is what the base has
    std::uint32_t source = 0;                 // which was asked
    bool awaits = false;                      // its answer
    std::optional<SnapshotFetch> snapshot{};  // the log lacks what others have released
  };

  // participant.cpp
  void post(std::uint32_t slot, const RestartMessage& message);
  void post_all(const RestartMessage& message);
  void tell();
  void work_off();
  [[nodiscard]] bool ended() const { return error_.has_value(); }
  bool ok(const Result<void>& result);
  bool save(const Views& views);
  void install(Views& views, const std::vector<ViewRecord>& chain) const;
  [[nodiscard]] Told& mine() { return told_.at(slot_); }
  [[nodiscard]] bool keep(std::uint32_t slot, Told told);

  // participant_leads.cpp
  void consider(bool now);
  [[nodiscard]] bool waits_in_vain();
  void begin(const std::vector<ViewRecord>& chain, std::set<std::uint32_t> asked);
  void propose();
  void decide();
  void on(std::uint32_t from, Promise& message);
  void on(std::uint32_t from, Refuse& message);
  void on(std::uint32_t from, const Accept& message);
  void on(std::uint32_t from, const Progress& message);

  // participant_follows.cpp
  void on(std::uint32_t from, Hello& message);
  void on(std::uint32_t from, const Prepare& message);
  void on(std::uint32_t from, Propose& message);
  void on(std::uint32_t from, const Fetch& message);
  void on(std::uint32_t from, const Records& message);
  void on(std::uint32_t from, const Decided& message);
  void on(std::uint32_t from, const FetchSnapshot& message);
  void on(std::uint32_t from, const SnapshotPiece& message);
  // Its owner heeds these (recovery.hpp).
  void on(std::uint32_t /*from*/, const Fresh& /*message*/) {}
  void on(std::uint32_t /*from*/, const Runs& /*message*/) {}
  void refuse(std::uint32_t to, std::uint64_t ballot, std::string why);
  void follow();
  bool keep_what_counts(const GroupPlan& plan);
  bool fetch(const GroupPlan& plan);
  [[nodiscard]] bool fetches_snapshot(const GroupPlan& plan);
  void ask(const RestartMessage& message);
  bool append(const GroupPlan& plan, const std::vector<OwnedRecord>& records);
  void accept();

  ViewsFile& file_;
  NodeLogs& logs_;
  SnapshotPieces pieces_;
  RestartTransport& transport_;
  const Editions& editions_;
  const RestartOptions options_;
  const std::uint32_t slot_;
  Present told_{};  // of those that are up, and of this node what is on disk
  std::set<std::uint32_t> up_{};
  std::deque<std::pair<std::uint32_t, RestartMessage>> own_{};  // to itself
  std::optional<Lead> lead_{};
  std::optional<Follow> follow_{};
  bool moved_ = false;            // since the last tick
  std::uint32_t patience_ = 1;    // so many ticks a proposal may rest
  std::uint32_t unpromised_ = 0;  // so many ticks leads have waited since the last proposal
  bool holds_back_ = false;  // a restart that it led was refused: not again before the next tick
  std::string trouble_{};    // why it does not go on, if it is not that nodes are missing
  std::optional<Decided> last_{};  // with decided_: what others are told
  std::optional<ViewRecord> decided_{};
  std::optional<std::uint32_t> elsewhere_{};
  std::optional<Error> error_{};
};

}  // namespace tutti::restart
