/// \file state_jobs.hpp
/// What the state transfer asks of the application, done in order by another than the predicate
/// thread: a bounded queue of jobs, and the snapshots that they read.
///
/// Two use it. The asker fills free() and hands it over with ask(), later finds it, in the order of
/// asking, in done(), and gives it back with take(). The worker does one at a time with work(); the
/// application's callbacks run there and nowhere else. Invariant: a job belongs to one of the two
/// at any time; `asked_` and `done_` hand it over. It has no thread: the node has one for it, the
/// simulator does the work in virtual time.
/// Threads: the asker's (the predicate thread) and the worker's, as marked.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "membership/state_words.hpp"
#include "tutti/error.hpp"
#include "tutti/state.hpp"

namespace tutti {

/// What a node has, or wants, of a group's state. The callbacks must not throw.
struct GroupState {
  std::string name{};       ///< of the group
  TakeSnapshot snapshot{};  ///< at most one of these two
  SaveState save{};
  LoadState load{};  ///< empty: the group has no state
  /// Told, by the worker, why the state cannot be given, once for each time that it was to be
  /// saved: the message begins with which callback it was. May be empty.
  std::function<void(const Error&)> cannot_give{};
};

struct StateJob {
  enum class Kind : std::uint8_t {
    save,  ///< take the group's snapshot for `view`
    read,  ///< fill `bytes` from that snapshot
    drop,  ///< forget the snapshots of `view`
    load,  ///< hand `bytes` to the application
  };
  Kind kind = Kind::save;
  std::uint64_t view = 0;
  PieceAt at{};                           ///< which group, which piece of its state
  std::size_t size = 0;                   ///< so many of `bytes` count
  bool last = false;                      ///< the group's state ends with this piece
  std::array<std::uint64_t, 3> header{};  ///< of the frame around what was read
  std::vector<std::byte> bytes{};         ///< a piece, and room to pad it
  Result<void> result{};                  ///< what the application said
};

class StateJobs {
 public:
  static constexpr std::size_t kJobs = 16;

  /// `wake` is called after each ask(), on the asker's thread.
  StateJobs(std::vector<GroupState> groups, std::size_t piece_bytes,
            std::function<void()> wake = {});

  [[nodiscard]] const std::vector<GroupState>& groups() const { return groups_; }
  [[nodiscard]] std::size_t piece_bytes() const { return piece_bytes_; }

  // The asker.
  /// Null if as many jobs are under way as may be.
  [[nodiscard]] StateJob* free();
  void ask();
  /// The oldest that was asked for, once it is done; else null.
  [[nodiscard]] StateJob* done();
  void take() {
    TUTTI_ASSERT(done() != nullptr, taken_);
    ++taken_;
  }

  // The worker.
  /// Something is asked for and not done.
  [[nodiscard]] bool waits() const;
  /// The oldest of those, also while work() is at it; only if there is one.
  [[nodiscard]] const StateJob& next() const;
  /// Does the oldest of those. False if there is none.
  bool work();
  /// Drops all snapshots; no work follows.
  void forget() { snapshots_.clear(); }

 private:
  struct Snapshot {
    std::uint64_t view = 0;
    std::uint64_t group = 0;
    ReadSnapshot read;
    bool ended = false;             // it has said where
    std::uint64_t end = 0;          // then
    std::optional<Error> failed{};  // reading did: it is read no more
  };
  // The one that a save for that view and group took; null if there is none.
  [[nodiscard]] Snapshot* held(const StateJob& job);
  void work_on(StateJob& job);
  void lack_memory(StateJob& job) noexcept;
  void save(StateJob& job);
  // The error that it could not, of `callback`; tells it.
  [[nodiscard]] std::unexpected<Error> cannot_give(std::uint64_t group, const std::string& callback,
                                                   const Error& error) const;
  [[nodiscard]] Result<std::size_t> read_on(Snapshot& from, std::uint64_t offset,
                                            std::span<std::byte> into);
  void read(StateJob& job);
  void load(StateJob& job);

  const std::vector<GroupState> groups_;
  const std::size_t piece_bytes_;
  const std::function<void()> wake_;
  std::array<StateJob, kJobs> jobs_;
  std::uint64_t taken_ = 0;  // the asker's
  std::atomic<std::uint64_t> asked_{0};
  std::atomic<std::uint64_t> done_{0};
  std::deque<Snapshot> snapshots_;  // the worker's
  bool refused_ = false;            // a piece was; the worker's
};

}  // namespace tutti
