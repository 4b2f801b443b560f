/// \file membership.hpp
/// The membership of one node: suspects, wedges, agrees with the others on the next view and on
/// where the old one ends, and installs it.
///
/// In view k, every word below is in the node's own row, read by all others:
///      A member keeps a suspicion until the view ends, and others take it over (J1, J9,
///      suspicion.hpp).
///  J2  A member that suspects another, or sees one wedge that it does not suspect, wedges: its
///      words of the groups stay as they are (Stability, I5).
///      The members agree on what comes next, under one leader (J3 to J5, agreement.hpp).
///  J6  Members that may not go on (quorum.hpp: a minority) decide nothing and stop.
///  J7  A group begins with view 0: all nodes, by slot; after a restart, the members of the view
///      that was agreed on (RestartView), which is then the first one. View 0 ends like any other,
///      once enough nodes are connected to each other; they suspect the rest. A node that comes
///      later, or is started again, finds the group and joins it. A node that only joins says of
///      itself that it is suspected, so the founders do not wait for it. In view 0 a node accepts
///      only proposals with itself in them; once it has accepted one, no later incarnation of it
///      creates a group.
///  J8  A member that leaves in order reads our rows until it has come to the cut. The others
///      remove it, and use space again, only once it is gone or has had suspect_after_ns for that.
/// Hence one view follows each, with one cut, whichever leaders die on the way.
/// Threads: the predicate thread. Time comes by set_time().
/// Sources: [Spindle, 2.1]; docs/protocol.md, "Views".
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fabric/slot.hpp"
#include "membership/agreement.hpp"
#include "membership/group_seat.hpp"
#include "membership/group_wishes.hpp"
#include "membership/membership_events.hpp"
#include "membership/proposal.hpp"
#include "membership/quorum.hpp"
#include "membership/suspicion.hpp"
#include "membership/view_log.hpp"
#include "membership/view_rows.hpp"
#include "multicast/subgroup.hpp"
#include "predicates/predicate_loop.hpp"
#include "tutti/indexed_by.hpp"

namespace tutti {

struct MembershipOptions {
  Slot self{};
  std::uint64_t incarnation = 0;
  IndexedBy<Slot, std::string> nodes{};  ///< names
  std::uint64_t heartbeat_ns = 20'000'000;
  std::uint64_t suspect_after_ns = 500'000'000;
  /// While nothing changes, this member looks at the others' words so often.
  std::uint64_t look_every_ns = 0;
  /// So many nodes create the group, more than half of all; 0: all of them.
  std::uint32_t founders = 0;
  /// False: it joins an existing group, and never creates one.
  bool may_create = true;
  /// Once so many founders are connected, they wait for the others so long after the last arrival.
  std::uint64_t create_after_ns = 500'000'000;
  /// What this member keeps on disk of its views; null: nothing. It outlives the membership.
  ViewLog* log = nullptr;
  /// It founds this view with just these nodes, in the place of the first one.
  std::optional<RestartView> restarts{};
  /// Which members may go on. The rule outlives the membership.
  const Quorum* quorum = &kPrimaryQuorum;
};

template <class Memory>
class Membership final : public Stepped, private AgreementQuestions {
 public:
  struct Group {
    GroupSeat seat;
    Subgroup<Memory>* subgroup = nullptr;
  };
  /// Gives the group with that index, a space, a new subgroup, which has not entered a view.
  /// `open`: the group that this member is in there from now on; null: it leaves one.
  using Renew = std::function<Subgroup<Memory>*(std::size_t group, const OpenGroup* open,
                                                const GroupSeat::Seated& seated)>;

  /// `groups` are in the same order at all nodes. In view 0: it creates a group, or joins one.
  /// `spaces`: those of them that are joined at run time; it outlives this. `renew`: null without.
  Membership(MembershipOptions options, const ViewWords& words, std::vector<Group> groups,
             std::byte* own_row, RowOf row_of, MembershipEvents& events, Memory memory,
             const GroupSpaces& spaces, Renew renew);

  void set_time(std::uint64_t now_ns) { now_ns_ = now_ns; }
  /// The next step looks at the others' words, however short ago the last one did.
  void look_at_once() { next_look_ns_ = 0; }

  /// The fabric lost the node in that slot.
  void lost(Slot slot);

  /// A node that is not in our view is connected to us, and we to it; 0: no more.
  void ready(Slot slot, std::uint64_t incarnation);

  /// Before its first view: while it is held back, no member admits this node.
  void hold_back(bool held);

  /// That incarnation was in a view and was removed: only a new one may join (M6).
  [[nodiscard]] bool was_removed(std::uint64_t incarnation) const;

  /// No post to the members that removed() named waits on this side any more: the space that they
  /// could have read may be used again.
  void let_space_go();

  /// Asks to leave in order, as soon as no other member needs this one.
  void leave();

  /// Suspects the node in that slot although it answers, if it is in the view: it delivers nothing.
  void expel(Slot slot);

  // Groups at run time (membership_groups.cpp).
  enum class Wished : std::uint8_t { yes, already, too_many };
  /// This member is to be in the group from one of the next views on. `already`: it wishes that, or
  /// is in a group of that name still. `too_many`: it wishes to be in as many as there are spaces.
  Wished wish(const GroupWish& wish);
  /// It is to be in the group no more: nothing more of it is handed to the application. False: its
  /// ring is not closed, or not all that it sent is delivered everywhere, or the application is in
  /// a callback or holds a batch; ask again (GR4).
  bool withdraw(std::string_view name);
  /// What the members wish, as read last.
  [[nodiscard]] const GroupWishes<Memory>& wishes() const { return wishes_; }

  bool step(Effects& effects) override;
  bool deliver() override { return false; }
  /// Its id is 0 before the first.
  [[nodiscard]] const View& view() const { return rows_.view(); }
  [[nodiscard]] bool suspects(Rank rank) const { return suspicion_.of(rank); }
  /// The rule that all members of the group follow.
  [[nodiscard]] const Quorum& quorum() const { return *options_.quorum; }
  /// The next view is decided, and not entered yet.
  [[nodiscard]] bool has_decided() const { return agreement_.decision().has_value(); }
  [[nodiscard]] bool changing() const { return wedged_; }
  /// How many members left in order and still read our row (J8).
  [[nodiscard]] std::size_t leavers() const { return leavers_.size(); }
  [[nodiscard]] bool is_leaver(Slot slot) const;
  /// A node that is connected to us is in a view.
  [[nodiscard]] bool group_exists() const;
  /// It may have helped to create a group: later incarnations of this start only join (J7).
  [[nodiscard]] bool may_have_created() const {
    return view().id != 0 || agreement_.has_accepted();
  }
  [[nodiscard]] std::optional<StopReason> stopped() const { return stopped_; }
  /// When it wants to be stepped next although nothing happens: never, once stopped.
  [[nodiscard]] std::uint64_t next_step_ns() const { return stopped_ ? ~0ULL : next_beat_ns_; }

 private:
  static constexpr std::size_t kRemovedKept = 1024;

  // The course of a view.
  void follow_course(Effects& effects);
  [[nodiscard]] bool beat();
  void suspect(Rank rank);
  struct Wedge {
    WedgeReason reason = WedgeReason::told;
    ViewMember joiner{};
  };
  [[nodiscard]] Wedge reason_to_wedge();
  [[nodiscard]] bool others_wedge() const;
  void wedge(const Wedge& why);
  void fill_gaps(Effects& effects);
  void settle();
  void stop(StopReason reason);
  void publish(Effects& effects);
  void decided(const Proposal& proposal) override;

  // How a group begins, and how a member leaves it.
  void begin(Effects& effects);
  [[nodiscard]] bool is_founder(Rank rank) const;
  [[nodiscard]] bool time_to_create() const;
  void greet(Effects& effects);
  void ask_to_leave();
  void leave_alone();

  // What is proposed.
  [[nodiscard]] std::optional<Proposal> propose() override;
  [[nodiscard]] bool is_sensible(const Proposal& proposal, std::uint64_t follows) const override;
  [[nodiscard]] bool is_sensible_first(const Proposal& proposal) const;
  [[nodiscard]] bool is_kept(const Proposal& proposal, Rank ballot) override;
  /// Of the view that follows view 0, if this node founds it.
  [[nodiscard]] std::uint64_t first_view() const;
  [[nodiscard]] bool joins_in(const View& next) const;
  [[nodiscard]] std::uint64_t first_seq_in(const Proposal& decision, std::size_t group) const;
  [[nodiscard]] bool is_install_kept(const Proposal& decision) const;
  void tell_confirmed();
  [[nodiscard]] std::optional<Proposal> first_proposal();
  [[nodiscard]] std::optional<Proposal> next_proposal();
  [[nodiscard]] std::vector<ViewMember> joiners() const;
  [[nodiscard]] OpenGroups groups_of(const std::vector<Slot>& stay) const;
  [[nodiscard]] bool wishes_differ();
  [[nodiscard]] bool takes_from_us(const View& next) const;
  [[nodiscard]] bool has_parted(const Group& group) const;
  [[nodiscard]] bool renew(std::size_t group, const View& before, const View& next);

  // What is decided, and installed.
  void hear_decision();
  [[nodiscard]] bool is_left_behind() const;
  [[nodiscard]] bool is_evicted_by(const Proposal& decision) const;
  void await_cut();
  [[nodiscard]] bool is_orphaned();
  [[nodiscard]] bool apply_decision(Effects& effects);
  void enter(const Proposal& decision, Effects& effects);
  void see_off(std::optional<Slot> lost);
  void clear_next(Effects& effects) override;
  void clear_blocks(std::uint64_t id, const IndexedBy<Rank, ViewMember>& members, Effects& effects);

  struct Leaver {
    ViewMember member;
    std::uint64_t until_ns;
  };

  const MembershipOptions options_;
  std::vector<Group> groups_;
  const GroupSpaces& spaces_;
  const Renew renew_;
  MembershipEvents& events_;
  IndexedBy<Slot, std::uint64_t> ready_;  // the incarnation that is connected, 0 if none
  ViewRows<Memory> rows_;
  Suspicion<Memory> suspicion_;
  Agreement<Memory> agreement_;
  GroupWishes<Memory> wishes_;
  struct {
    std::uint64_t view = 0;
    std::uint64_t wishes = 0;
  } met_;  // the groups of that view are those that followed from these

  bool leaves_ = false;
  bool wedged_ = false;
  bool filled_ = false;  // a group posted in this step what a suspected member sent
  bool decision_shown_ = false;
  bool confirmed_ = false;  // the view is, and was told to the log
  bool held_ = false;
  std::optional<StopReason> stopped_;
  std::vector<Slot> greeted_;  // came, and have not been told all yet
  std::uint64_t last_came_ns_ = 0;
  std::vector<Leaver> leavers_;
  bool space_held_ = false;  // for those of them, and of the removed, that may still read it
  std::vector<Slot> lost_;   // of members of this view
  std::optional<std::uint64_t> orphaned_since_ns_;
  std::deque<std::uint64_t> removed_;  // incarnations, the newest kRemovedKept
  std::vector<Slot> told_;             // scratch: the nodes that are told of our words
  std::uint64_t now_ns_ = 0;
  std::uint64_t next_beat_ns_ = 0;
  std::uint64_t next_look_ns_ = 0;
  std::uint64_t heartbeat_ = 0;
};

}  // namespace tutti
