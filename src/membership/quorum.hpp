/// \file quorum.hpp
/// The rule by which members go on: which nodes may create a group, which members may enter a next
/// view, when that view is decided, and how many may leave.
///
/// Suspicion, agreement, membership and engine ask the rule and count no majority themselves. All
/// nodes follow one rule, chosen once (MembershipOptions::quorum). A rule has no state. Each
/// function says what the protocol relies on: a second rule, such as one by which each part of a
/// view goes on by itself, is a second class that keeps these promises.
///
/// Threads: any. Source: [Spindle, 2.1].
#pragma once
#include <cstddef>
#include <cstdint>

#include "membership/view.hpp"
#include "tutti/indexed_by.hpp"

namespace tutti {

class Quorum {
 public:
  /// `here` of `nodes` are connected to each other and know of no group: they may create one, with
  /// `founders` of the options (0: all nodes). True whenever all nodes are here.
  [[nodiscard]] virtual bool may_create(std::size_t here, std::size_t nodes,
                                        std::size_t founders) const = 0;

  /// `trusted` of the `members` of a view, the asking member among them, may go on to a next view.
  /// If so, more of them may as well. A member stops once those that it trusts may not (J6, J9),
  /// and ignores the suspicions of a member that should have stopped (J1).
  [[nodiscard]] virtual bool may_go_on(std::size_t trusted, std::size_t members) const = 0;

  /// The members `accepted` of `view` accepted the view `next` from one leader: it is
  /// decided. Any trusted members that may_go_on() and have a member in `next` include one that
  /// accepted: a later leader, which hears all that it trusts, proposes the same again (J4, J5).
  [[nodiscard]] virtual bool is_decided(const IndexedBy<Rank, bool>& accepted, const View& view,
                                        const View& next) const = 0;

  /// `leavers` of the trusted members ask to leave: how many of them may leave in this change. The
  /// trusted members that stay may go on in a view without these leavers (M4).
  [[nodiscard]] virtual std::size_t may_leave(std::size_t leavers, std::size_t trusted,
                                              std::size_t members) const = 0;

 protected:
  ~Quorum() = default;  // no pointer to a Quorum owns it
};

/// A majority of the last view goes on; half of it or less stops. Any two majorities have a member
/// in common, so one sequence of views follows from the first, which has founders_min() or more.
class PrimaryQuorum final : public Quorum {
 public:
  [[nodiscard]] bool may_create(std::size_t here, std::size_t nodes,
                                std::size_t founders) const override;
  [[nodiscard]] bool may_go_on(std::size_t trusted, std::size_t members) const override;
  [[nodiscard]] bool is_decided(const IndexedBy<Rank, bool>& accepted, const View& view,
                                const View& next) const override;
  [[nodiscard]] std::size_t may_leave(std::size_t leavers, std::size_t trusted,
                                      std::size_t members) const override;
  /// The least that `founders` may be: two sets of so many nodes have one in common (J7).
  [[nodiscard]] static constexpr std::uint32_t founders_min(std::uint32_t nodes) {
    return nodes / 2 + 1;
  }
};

/// It has no state, so all members can share it.
inline constexpr PrimaryQuorum kPrimaryQuorum{};

}  // namespace tutti
