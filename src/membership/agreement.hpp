/// \file agreement.hpp
/// How the members of a view agree on what comes next.
///
/// Invariants:
///  J3  The leader of a member is the lowest rank that it does not suspect. A member accepts the
///      proposals of its leader only. So to suspect all lower ranks is a promise to a leader: the
///      member accepts nothing of those afterwards. Its row shows the promise after anything that
///      it accepted before.
///  J4  A leader proposes once all members that it does not suspect, who may go on (Quorum), have
///      wedged, promised, and settled for just those whom it suspects. If any of them has accepted
///      a proposal, the one of the highest rank is proposed again, else a new one. The rank is the
///      ballot; a leader proposes once.
///  J5  A proposal that enough members of the view accepted from one leader (Quorum: a majority) is
///      decided, and so is no other. It is installed once each group knows what comes before its
///      cut; delivery follows.
/// Threads: the predicate thread. Source: [Spindle, 2.1].
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/slot.hpp"
#include "membership/proposal.hpp"
#include "membership/quorum.hpp"
#include "membership/suspicion.hpp"
#include "membership/view_rows.hpp"
#include "predicates/effects.hpp"
#include "tutti/indexed_by.hpp"

namespace tutti {

/// What the agreement asks of the membership.
class AgreementQuestions {
 public:
  virtual ~AgreementQuestions() = default;
  /// This member leads: the view and the cuts that it proposes. Nothing: not yet.
  [[nodiscard]] virtual std::optional<Proposal> propose() = 0;
  /// Words of another member are input: a proposal may name only nodes, groups and senders that
  /// exist here. That it does not contradict itself is checked already, see decode(). `follows`:
  /// the view for which it was proposed.
  [[nodiscard]] virtual bool is_sensible(const Proposal& proposal, std::uint64_t follows) const = 0;
  /// All members that we do not suspect have wedged: our block for the next view can be cleared
  /// (L4).
  virtual void clear_next(Effects& effects) = 0;
  virtual void decided(const Proposal& proposal) = 0;
  /// What this member is about to accept is on disk, if it keeps that (ViewLog). False: not yet.
  [[nodiscard]] virtual bool is_kept(const Proposal& proposal, Rank ballot) = 0;
};

template <class Memory>
class Agreement {
 public:
  /// `nodes`: the incarnations that are connected to us, 0 for none.
  Agreement(ViewRows<Memory>& rows, const Suspicion<Memory>& suspicion, const Quorum& quorum,
            const IndexedBy<Slot, std::uint64_t>& nodes, AgreementQuestions& questions);

  /// Every member that we do not suspect has wedged.
  [[nodiscard]] bool all_wedged() const;
  /// This member awaits nothing more of the members that it suspects.
  void settle();
  [[nodiscard]] bool is_settled() const;

  /// One look at the others' words, as leader or as follower.
  void step(Effects& effects);
  /// Takes over a decision that another member shows.
  void hear_decision();
  /// A node in no view looks in all rows for a decided view that has it in it.
  void join_decided();

  [[nodiscard]] const std::optional<Proposal>& decision() const { return decision_; }
  [[nodiscard]] bool has_accepted() const { return accepted_ != 0; }
  /// What was decided is on disk here, as accepted: accept_decision() may follow.
  [[nodiscard]] bool has_kept_decision() const {
    return own_ == decision_ || questions_.is_kept(*decision_, decision_ballot_);
  }
  /// L6: accepts what was decided, if it has not. True if it has not: that must be published first.
  bool accept_decision(Effects& effects);
  /// To be called by a joiner once the view of the rows is the decided one. All members that
  /// decided may be lost before the other joiners hear of it. Those find the decision in our row as
  /// well, until we clear that block for a view to come (L4).
  void show_joined(const Proposal& decision, Effects& effects);

  /// The view of the rows is another one.
  void begin_view();

 private:
  [[nodiscard]] const View& view() const { return rows_.view(); }
  [[nodiscard]] std::uint64_t word(Rank rank, ViewWords::Word column) const {
    return rows_.word(rank, column);
  }
  [[nodiscard]] std::optional<Proposal> proposal_of(Slot slot, std::uint64_t view,
                                                    std::uint64_t accepted) const;
  [[nodiscard]] bool settled_as_we(Rank rank) const;
  [[nodiscard]] bool all_promised() const;
  void lead(Effects& effects);
  [[nodiscard]] std::optional<Proposal> to_propose() const;
  [[nodiscard]] bool adopt_accepted(Proposal& out) const;
  void follow(Effects& effects);
  void accept(const Proposal& proposal, Rank ballot, Effects& effects);
  void write_proposal(const Proposal& proposal, std::uint64_t view, std::uint64_t which,
                      Effects& effects);
  void count_votes();
  void adopt_decision(const Proposal& proposal, Rank ballot);

  ViewRows<Memory>& rows_;
  const Suspicion<Memory>& suspicion_;
  const Quorum& quorum_;
  const IndexedBy<Slot, std::uint64_t>& nodes_;
  AgreementQuestions& questions_;
  IndexedBy<Rank, bool> voters_;  // scratch: whose acceptances count_votes() found
  bool proposed_ = false;
  bool cleared_ = false;             // blocks of the next view
  std::uint64_t settled_ = 0;        // as published
  std::uint64_t accepted_ = 0;       // as published
  std::optional<Proposal> pending_;  // to be proposed, once it is on disk
  std::optional<Proposal> own_;      // the accepted one
  std::optional<Proposal> decision_;
  Rank decision_ballot_{};
};

}  // namespace tutti
