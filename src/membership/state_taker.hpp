/// \file state_taker.hpp
/// The side of a state transfer that takes: reads the pieces of the first giver that lives, in
/// order, and has them loaded; from another giver it goes on in the middle.
///
/// What is new of it begins with the last piece that was taken, once more: if that is the same, so
/// is what came before, as far as the application keeps its word (state.hpp); if not, or if nothing
/// is promised, the group's state begins again. Groups that are whole stay as they are: all givers
/// gave the state of one cut.
/// A giver whose application is stuck while the other one's is not is left for good, as if it were
/// lost: what it has of our words must not hold up others that take from it.
/// Invariants: L7, see state_words. What is copied out of the ring is checked, then used.
/// Threads: the predicate thread.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fabric/slot.hpp"
#include "membership/group_seat.hpp"
#include "membership/state_jobs.hpp"
#include "membership/state_words.hpp"
#include "membership/view.hpp"
#include "predicates/effects.hpp"
#include "tutti/error.hpp"

namespace tutti {

enum class Taking : std::uint8_t {
  nothing,
  under_way,
  done,
  lost,    ///< all givers are gone: another start may find others
  failed,  ///< see error()
};

template <class Memory>
class StateTaker {
 public:
  /// A giver that has put nothing into its ring for `patience_ns` is left for one that is ready.
  StateTaker(const StateWords& words, StateJobs& jobs, std::byte* own_row, RowOf row_of,
             std::uint64_t patience_ns, Memory memory);

  void set_time(std::uint64_t now_ns) { now_ns_ = now_ns; }

  void begin(const View& view, std::size_t givers);
  /// The node in that slot gives nothing more.
  void gone(Slot slot);
  [[nodiscard]] Taking taking() const { return taking_; }
  [[nodiscard]] const Error& error() const { return error_; }
  /// The one that is taken from; nothing if it is gone and no more is needed of it.
  /// Only while under way.
  [[nodiscard]] std::optional<Slot> giver() const { return givers_[giver_]; }
  bool step(Effects& effects);
  /// A piece is loaded.
  void finished(const StateJob& job);

 private:
  // So many pieces wait to be loaded, at most.
  static constexpr std::size_t kLoads = 4;
  // A look at the giver counts at most this part of our patience, however long ago the last was.
  static constexpr std::uint64_t kLooks = 8;
  // What must be the same in a piece that comes again.
  struct Taken {
    PieceAt at;
    std::uint64_t crc;
  };

  [[nodiscard]] bool another_is_ready() const;
  bool receive(Effects& effects);
  [[nodiscard]] bool accept_frame(std::uint64_t sent, StateJob& job, Effects& effects);
  void use(StateJob& job, std::uint64_t crc, bool steady, Effects& effects);
  void want(const PieceAt& at, Effects& effects);
  void leave_giver(Effects& effects);
  void say(StateWords::Word column, std::uint64_t value, Effects& effects);
  void say(Slot slot, StateWords::Word column, std::uint64_t value, Effects& effects);
  void copy_out(std::uint64_t at, std::byte* into, std::uint64_t size) const;
  [[nodiscard]] bool takes_from_one() const {
    return giver_ < givers_.size() && givers_[giver_].has_value();
  }
  [[nodiscard]] bool has_state(std::uint64_t group) const;
  [[nodiscard]] PieceAt begin_from(std::uint64_t group) const;
  void fail(ErrorCode code, std::string message);
  [[nodiscard]] std::uint64_t load(StateWords::Word word) const {
    return memory_.load(row_of_(*givers_[giver_]) + words_.offset + word);
  }

  const StateWords words_;
  StateJobs& jobs_;
  std::byte* own_row_;
  RowOf row_of_;
  Memory memory_;
  const std::uint64_t patience_ns_;

  std::uint64_t now_ns_ = 0;
  bool awaits_ = false;  // the giver: all that it has given so far is taken
  std::uint64_t waited_ns_ = 0;
  std::uint64_t looked_ns_ = 0;
  bool left_one_ = false;  // that may yet have given it
  Taking taking_ = Taking::nothing;
  Error error_{};
  std::uint64_t view_ = 0;
  std::vector<std::optional<Slot>> givers_;  // nothing: gone
  std::size_t giver_ = 0;                    // the one that is taken from
  std::uint64_t taken_ = 0;                  // bytes of its ring
  bool asked_ = false;                       // it was told where to begin
  PieceAt next_{};                           // to be loaded
  bool steady_ = false;                      // what came last is the same at every giver
  std::optional<Taken> last_;                // of this state
  bool compares_ = false;                    // nothing is used before the last piece came again
  bool has_all_ = false;                     // every piece has come; some are yet to be loaded
  std::size_t loads_ = 0;                    // under way
};

}  // namespace tutti
