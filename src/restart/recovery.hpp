/// \file recovery.hpp
/// A node whose groups are logged, from its start to its end: how it comes back into a group, and
/// what it keeps on disk and tells others while it runs. A state machine without threads, sockets
/// and clocks. docs/restart.md tells the whole.
///
///            adopts                decided               entered
///     fresh ---------> back ---------------------> founds ----> runs
///       |                ^ |  <- begin_again() -----+             ^
///       |                | | somebody runs                        |
///       +-------------> joins ------------------------------------+
///       somebody runs                       is admitted
///
/// Invariants:
///  RY1  A node without `views` founds nothing and has no vote (Z1). It adopts the founding of a
///       group, which is view 1, from another node only while all nodes are connected to it and
///       none of them has anything beyond that view: then no disk can have been lost.
///  RY2  The Participant and CatchUp never have the logs at the same time.
///  RY3  A node enters one view by itself in its life: the one that it founds, or the first in
///       which it was admitted. Never one from which it began a restart (Z12).
///  RY4  What a member that runs has accepted and installed is on disk before accept() and
///       install() say so (Z2).
///  RY5  A node joins nobody who runs in a view before its own newest one: that is a minority which
///       was left behind, and its log may have records that a later cut has left out.
///  RY6  What a node says counts only if its state directory is not an older copy of one that this
///       node has heard of (editions.hpp). A node that hears that its own is one ends.
/// Threads: one. Each call may block for as long as the disk does.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "restart/catch_up.hpp"
#include "restart/editions.hpp"
#include "restart/message.hpp"
#include "restart/node_logs.hpp"
#include "restart/participant.hpp"
#include "restart/views_file.hpp"

namespace tutti::restart {

/// What a recovery asks of its owner, and tells it. No call comes back to the recovery.
class RecoveryOwner {
 public:
  virtual ~RecoveryOwner() = default;
  /// What the log has on disk now; whole() was called for it.
  [[nodiscard]] virtual LogSummary log_now(std::size_t log) = 0;
  /// The log has what comes before the number of begin(), and is the owner's from now on.
  virtual void whole(std::size_t log, const LogSummary& summary) = 0;
  /// No node is about to fetch what the log has before that number.
  virtual void keep_from(std::size_t log, std::uint64_t seq) = 0;
};

struct RecoveryOptions {
  std::uint32_t slot = 0;
  Names names{};                 ///< of all nodes
  std::optional<Views> views{};  ///< as the file has them; nothing: there is no file
  std::uint64_t directory = 0;   ///< random and not 0: of the state directory, if there is no file
  std::size_t piece_bytes = 1U << 20;
};

class Recovery {
 public:
  enum class Stage : std::uint8_t { fresh, back, founds, joins, runs };
  enum class Installed : std::uint8_t { yes, not_yet, never };

  /// All outlive it. The logs are loaded.
  Recovery(ViewsFile& file, NodeLogs& logs, RestartTransport& transport, RecoveryOwner& owner,
           RecoveryOptions options);

  /// First of all calls.
  void start();
  /// A connection to that node is there, or gone.
  void up(std::uint32_t slot);
  void down(std::uint32_t slot);
  void receive(std::uint32_t slot, std::span<const std::byte> bytes);
  /// Some time has gone by, such as a second.
  void tick();

  [[nodiscard]] Stage stage() const { return stage_; }
  /// Stage::founds: the view.
  [[nodiscard]] const std::optional<ViewRecord>& founds() const { return founds_; }
  /// Stage::founds: the view cannot begin any more, for one of its members has gone or has begun
  /// again: begin_again() is to come, once the node cannot enter it.
  [[nodiscard]] bool founds_in_vain() const { return in_vain_; }
  void begin_again();
  /// Stage::joins: the logs are near those of the members, so the node may ask to be admitted.
  [[nodiscard]] bool may_join() const { return may_join_; }
  /// It ended; nothing is said or done after that.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  /// Whom or what it waits for, for people.
  [[nodiscard]] std::string why() const;
  [[nodiscard]] const Views& views() const;

  // RY4. The node runs, or is about to.
  void accept(const Accepted& accepted);
  /// The next view, or the first.
  [[nodiscard]] Installed install(const ViewRecord& view);
  /// The view was confirmed (Z10).
  void confirm(std::uint64_t view);
  /// The group begins for this node with that number.
  void begin(std::size_t log, std::uint64_t seq);
  /// Logs that are the owner's have more.
  void logs_grew();
  /// Somebody waits for that.
  [[nodiscard]] bool awaits_logs() const { return !awaited_.empty(); }

 private:
  struct Heard {  // of a node that is up
    bool runs = false;
    std::optional<Told> told{};  // nothing: it is fresh
    bool founds = false;         // the newest view that it told of
  };
  void post(std::uint32_t slot, const RestartMessage& message);
  void greet(std::uint32_t slot);
  void greet_all();
  [[nodiscard]] Told told_now();
  [[nodiscard]] bool save(const Views& views);
  [[nodiscard]] bool save_what_was_heard();
  void fail_with(const Error& error);
  void look_at_participant();
  [[nodiscard]] bool has_given_up(std::uint32_t slot) const;
  [[nodiscard]] bool is_left_behind(const Told& told) const;
  void start_participant();
  // recovery_editions.cpp
  [[nodiscard]] Edition edition() const;
  [[nodiscard]] bool is_current(std::uint32_t slot, const Told& told);
  // recovery_found.cpp
  [[nodiscard]] bool is_founding(const Views& views, const std::vector<LogSummary>& logs) const;
  [[nodiscard]] bool fits(std::uint32_t slot, const Told& told);
  void consider_adopting();
  // recovery_join.cpp
  void join();
  [[nodiscard]] bool hear(std::uint32_t slot);
  void stop_joining();
  void ask_members();
  void go_on_catching_up();
  void look_at_round();
  void prepare_to_join();
  [[nodiscard]] bool somebody_runs() const;
  void answer(std::uint32_t slot, const Fetch& fetch);
  void answer(std::uint32_t slot, const FetchSnapshot& fetch);
  // recovery_readers.cpp
  void note_reader(std::uint32_t slot, const Told& told);
  void note_reader(std::uint32_t slot, const std::string& group, std::uint64_t seq);
  void forget_reader(std::uint32_t slot);
  void age_readers();
  void tell_readers();

  ViewsFile& file_;
  NodeLogs& logs_;
  RestartTransport& transport_;
  RecoveryOwner& owner_;
  const RecoveryOptions options_;
  const std::uint32_t slot_;
  Stage stage_ = Stage::fresh;
  std::optional<Views> views_;  // on disk; while there is a participant, it knows them
  std::map<std::uint32_t, std::optional<Heard>> up_{};  // nothing: it has not said anything yet
  Editions editions_;
  std::set<std::uint32_t> outdated_{};  // RY6: of those that are up
  std::optional<Participant> participant_{};
  std::optional<CatchUp> catch_up_{};
  std::optional<ViewRecord> founds_{};
  bool in_vain_ = false;
  bool may_join_ = false;
  std::uint64_t last_round_ = 0;  // bytes that it fetched in the last round before it may join
  bool in_round_ = false;
  std::vector<bool> handed_;  // the log is the owner's
  std::map<std::pair<std::uint32_t, std::string>, Fetch> awaited_{};
  SnapshotPieces snapshot_pieces_;
  struct Reader {  // of what this node's logs have
    std::map<std::size_t, std::uint64_t> from{};
    std::uint32_t ticks = 0;  // since it was heard
  };
  std::map<std::uint32_t, Reader> readers_{};
  std::string trouble_{};
  std::optional<Error> error_{};
};

}  // namespace tutti::restart
