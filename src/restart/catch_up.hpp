/// \file catch_up.hpp
/// A node that joins a group that runs fetches what its logs lack from members, before it asks to
/// be admitted and after it was: the group does not stop for that.
///
/// Invariants:
///  CU1  A log is cut where it leaves the sequence of a member's log before anything is appended
///       (Z11); what is cut stays in a file beside it.
///  CU2  A log is whole once it has exactly what comes before the number with which the group
///       begins for this node.
///  CU3  What the log had before is compared with the log of a member of the newest view that this
///       node has heard of, before anything is appended and before the log is whole. Members of
///       older views may have records that a later cut has left out.
///  CU4  A log that lacks what members have released, or that nothing can be compared with, begins
///       anew at the number of a member's snapshot, before anything is appended and before the log
///       is whole.
///  CU5  A member whose log is not whole takes records of nodes that only join, too: those that
///       had them may all have crashed. These are right as far as this member's chain says that
///       they count, if the node has installed a view of that chain: it had the sequence there.
/// Threads: one. Each call may block for as long as the disk does.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "restart/message.hpp"
#include "restart/node_logs.hpp"
#include "restart/snapshot_fetch.hpp"

namespace tutti::restart {

class CatchUp {
 public:
  /// The logs, which others own, are this one's until each is whole.
  explicit CatchUp(NodeLogs& logs) : logs_(logs), state_(logs.size()) {}

  /// The logs are what a restart has made them: no member need confirm that (CU3).
  void trust();
  /// A member says what it has.
  [[nodiscard]] Result<void> hear(std::uint32_t slot, const Told& told);
  /// A node that joins says what it has, to a member with that chain (CU5).
  void hear_joiner(std::uint32_t slot, const Told& told, const std::vector<ViewRecord>& chain);
  void down(std::uint32_t slot);
  /// Some time has gone by: who does not answer is asked again later, and others before.
  void tick();

  /// The group begins for this node with that number (CU2).
  void begin(std::size_t log, std::uint64_t seq);

  /// What to ask next, and whom. Nothing: it waits for an answer, or for members to tell more.
  struct Question {
    std::uint32_t slot = 0;
    RestartMessage message{};
  };
  [[nodiscard]] Result<std::optional<Question>> next();
  [[nodiscard]] Result<void> take(std::uint32_t slot, const Records& records);
  [[nodiscard]] Result<void> take(std::uint32_t slot, const SnapshotPiece& piece);

  /// A round fetches what members have at its beginning: they may log as fast as this node fetches,
  /// and say so all the time.
  void begin_round();
  [[nodiscard]] bool is_round_over();
  /// The log has what members said last that they have.
  [[nodiscard]] bool has_all_told();
  /// CU3 holds for all logs, for a node that is to enter that view.
  [[nodiscard]] bool is_checked(std::uint64_t view) const;
  /// So many bytes of log, or of a snapshot, were appended since that was forgotten last.
  [[nodiscard]] std::uint64_t appended() const { return appended_; }
  void forget_appended() { appended_ = 0; }
  [[nodiscard]] bool is_whole(std::size_t log) const;
  /// A member has sent records that cannot be; why, for people. Others are asked.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  struct Of {  // one log
    std::optional<std::uint64_t> begins{};
    bool whole = false;
    bool checked = false;                        // CU3, for newest_
    std::optional<std::uint64_t> goal{};         // of the round
    std::map<std::uint32_t, LogSummary> told{};  // by the members that run
  };
  [[nodiscard]] const LogSummary* best(std::size_t log, std::uint32_t& slot) const;
  [[nodiscard]] Result<void> cut_to(std::size_t log, std::uint64_t seq);
  [[nodiscard]] Result<void> compare(std::size_t log, const LogSummary& other);
  [[nodiscard]] Result<void> finish(std::size_t log);
  [[nodiscard]] bool is_apart_from(std::size_t log, const LogSummary& other) const;
  [[nodiscard]] bool lacks_beginning(std::size_t log, const LogSummary& other) const;
  [[nodiscard]] Question ask_for_piece();
  template <class Until>
  [[nodiscard]] bool each_has(const Until& until);

  NodeLogs& logs_;
  std::vector<Of> state_;
  std::set<std::uint32_t> joiners_{};  // CU5
  std::uint64_t newest_ = 0;           // the newest view that a member has told of
  std::uint64_t origin_ = 0;           // of the group
  bool trusted_ = false;
  struct Awaited {
    std::uint32_t slot = 0;
    std::size_t log = 0;
    std::uint32_t ticks = 0;
  };
  static constexpr std::uint32_t kPatienceMost = 96;
  std::uint32_t patience_ = 3;  // so many ticks an answer may take
  std::optional<Awaited> awaited_{};
  std::optional<SnapshotFetch> fetch_{};  // of a snapshot, under way
  std::uint64_t appended_ = 0;
  std::string trouble_{};
};

}  // namespace tutti::restart
