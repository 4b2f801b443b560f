/// \file state_transfer.hpp
/// Hands the groups' states to members that join, through the table: the first two survivors of a
/// view give, those who joined it take from the first of them that lives.
///
/// Both givers take the state at the cut (M9), before they deliver anything in the view; then it
/// goes piece by piece through a ring in the giver's row, as fast as the slowest taker frees it.
/// Only the one that is taken from is read: the other keeps its snapshot, and goes on where the
/// first one ended if that is lost. A giver that goes on to another view still gives the state of
/// the one before to those who have not gone on.
///
/// The application's callbacks run elsewhere (StateJobs); what is under way of a state is bounded
/// by the ring and by the jobs, whatever its size.
///
/// A giver that suspects a taker goes on in its ring without it: what it posted to that one before
/// then lands with other bytes (F-data). So damage is taken for the loss of the giver.
/// Threads: the predicate thread.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/slot.hpp"
#include "membership/state_giver.hpp"
#include "membership/state_taker.hpp"
#include "predicates/predicate_loop.hpp"

namespace tutti {

template <class Memory>
class StateTransfer final : public Stepped {
 public:
  /// `jobs` outlives this, which asks for all that is done there. A taker leaves a giver that
  /// has given nothing for `patience_ns`, if another one is ready.
  StateTransfer(const StateWords& words, StateJobs& jobs, std::byte* own_row, const RowOf& row_of,
                std::uint64_t patience_ns, Memory memory = {})
      : jobs_(jobs),
        giver_(words, jobs, own_row, row_of, memory),
        taker_(words, jobs, own_row, row_of, patience_ns, memory) {}

  void set_time(std::uint64_t now_ns) { taker_.set_time(now_ns); }

  /// The view is in force: begin() follows once its turn has come.
  void expect(const View& view, Slot slot) { expected_ += gives_in(view, slot) ? 1 : 0; }

  /// All that comes before the view has been delivered here, and nothing in it: gives to those who
  /// joined it, or takes, as befits the rank of this node's slot. True if it takes.
  bool begin(const View& view, Slot slot);

  /// The node in that slot is gone: it gives and takes nothing more.
  void gone(Slot slot) {
    giver_.gone(slot);
    taker_.gone(slot);
  }

  /// The application must not be told of the view that begins, nor be delivered anything in it: a
  /// state has yet to be saved, or to come.
  [[nodiscard]] bool holds() const {
    return giver_.holds() || (takes_ && taking() != Taking::done);
  }
  [[nodiscard]] bool gives() const { return giver_.gives(); }
  /// It gives, or is yet to give: if this node leaves, some may be left without their state. One
  /// that lost its own givers has none to give.
  [[nodiscard]] bool is_needed() const {
    return taking() != Taking::lost && (gives() || expected_ != 0);
  }
  /// Those that have yet to take some of what it gives.
  [[nodiscard]] std::vector<Slot> takers() const { return giver_.takers(); }
  [[nodiscard]] Taking taking() const { return taker_.taking(); }
  [[nodiscard]] std::optional<Slot> giver() const { return taker_.giver(); }
  [[nodiscard]] const Error& error() const { return taker_.error(); }

  bool step(Effects& effects) override;
  bool deliver() override { return false; }

 private:
  static constexpr std::size_t kGivers = 2;

  [[nodiscard]] bool has_joiners(const View& view) const;
  [[nodiscard]] bool gives_in(const View& view, Slot slot) const {
    return has_joiners(view) && view.rank_of(slot)->value < givers_in(view);
  }
  [[nodiscard]] static std::size_t givers_in(const View& view) {
    return std::min<std::size_t>(kGivers, view.survivors);
  }

  StateJobs& jobs_;
  StateGiver<Memory> giver_;
  StateTaker<Memory> taker_;
  bool takes_ = false;
  std::size_t expected_ = 0;  // views that it is to give in and that have not begun
};

}  // namespace tutti
