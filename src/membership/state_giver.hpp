/// \file state_giver.hpp
/// The side of a state transfer that gives: has the groups' states saved at the cut, then puts them
/// piece by piece into the ring in our row, for the joiners of the view.
///
/// Nothing is read from a snapshot before there is room for it in the ring, so what is under way is
/// bounded, and a result never waits for a joiner. The ring begins at the earliest piece that a
/// joiner wants, and goes back if one wants an earlier one: frames say which piece they hold, so a
/// joiner skips what it has.
/// Invariants: M9 nothing is delivered while a state is saved (holds()); L7, see state_words.
/// Threads: the predicate thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "fabric/slot.hpp"
#include "membership/group_seat.hpp"
#include "membership/state_jobs.hpp"
#include "membership/state_words.hpp"
#include "membership/view.hpp"
#include "predicates/effects.hpp"

namespace tutti {

template <class Memory>
class StateGiver {
 public:
  StateGiver(const StateWords& words, StateJobs& jobs, std::byte* own_row, RowOf row_of,
             Memory memory);

  /// Gives to the joiners of the view, as its `giver`-th giver.
  void begin(const View& view, std::size_t giver);
  /// The node in that slot takes nothing more.
  void gone(Slot slot);
  /// A state is yet to be saved, or is being saved.
  [[nodiscard]] bool holds() const;
  [[nodiscard]] bool gives() const { return !offers_.empty(); }
  /// The joiners that have not taken all.
  [[nodiscard]] std::vector<Slot> takers() const;
  /// Only while it gives.
  bool step(Effects& effects);
  /// One of our jobs is done.
  void finished(const StateJob& job, Effects& effects);

 private:
  struct Taker {
    Slot slot{};
    std::uint64_t wanted = 0;  // its word, as it was looked at last
  };
  struct Offer {
    std::uint64_t view = 0;
    std::size_t giver = 0;  // which of the givers we are
    std::vector<Taker> takers;
    std::vector<std::uint64_t> unsaved;  // groups, in order
    std::size_t saving = 0;              // of them, the first: so many are asked for
    bool failed = false;
    bool begun = false;
    std::uint64_t sent = 0;
    std::optional<PieceAt> next;  // to be put into the ring; nothing: no joiner wants any
    PieceAt reading{};            // to be asked for
  };

  bool ask_to_save(Offer& offer);
  bool end_untaken();
  void open(Offer& offer, Effects& effects);
  bool look_at_wanted(Offer& offer);
  bool ask_to_read(Offer& offer);
  void put(Offer& offer, const StateJob& job, Effects& effects);
  void put_bytes(const Offer& offer, std::uint64_t at, std::span<const std::byte> bytes,
                 Effects& effects);
  void publish_words(const Offer& offer, Effects& effects);
  [[nodiscard]] std::uint64_t room(const Offer& offer) const;
  [[nodiscard]] bool has_state(std::uint64_t group) const;
  [[nodiscard]] PieceAt begin_of_next(std::uint64_t group) const;
  [[nodiscard]] std::uint64_t load(Slot slot, StateWords::Word word) const {
    return memory_.load(row_of_(slot) + words_.offset + word);
  }
  [[nodiscard]] std::byte* own(StateWords::Word word) const {
    return own_row_ + words_.offset + word;
  }

  const StateWords words_;
  StateJobs& jobs_;
  std::byte* own_row_;
  RowOf row_of_;
  Memory memory_;
  std::deque<Offer> offers_;  // the first one has the ring
  std::size_t reads_ = 0;     // under way
};

}  // namespace tutti
