// Below atomic, a member that does not go on from a view may deliver messages in it that no other
// member has. It must still deliver what the survivors delivered in that view in their order and
// without gaps, as far as it gets. Apart from that it may only deliver messages of other lost
// members that nobody else has, and all have what it delivers as safe (D6). Where a view ends with
// one number (token_ring), the first of those ends it for the survivors, and they send what they
// had numbered behind it again in the next view: the lost member may have delivered that, too.
#include <algorithm>
#include <optional>

#include "history/checker/families.hpp"

namespace tutti::history {
namespace {

using Tallies = std::span<const Tally>;  // of one view, by life

class Ahead {
 public:
  Ahead(Run& run, Trace& trace, const Group& group, const GroupTrace& traced, Tallies tallies)
      : run_(run),
        trace_(trace),
        group_(group),
        traced_(traced),
        tallies_(tallies),
        view_(tallies.front().view) {}

  void check() {
    if (!find_reference()) return;
    for (const Tally& tally : tallies_) {
      if (run_.lives[tally.life].gaps()) continue;
      if (run_.installation(tally.life, view_ + 1) == nullptr) check(tally);
    }
  }

 private:
  // Finds what the survivors delivered: ordinals from first_ to end_. False if none is known.
  [[nodiscard]] bool find_reference() {
    for (const std::uint32_t life : run_.survivors(view_)) {
      const ViewContent* content = run_.content_at(life, view_);
      if (run_.lives[life].gaps() || content == nullptr ||
          content->group_member(group_.id, run_.lives[life].who) == nullptr) {
        continue;
      }
      next_ = run_.content_at(life, view_ + 1);
      const auto own = std::ranges::lower_bound(tallies_, life, {}, &Tally::life);
      if (own == tallies_.end() || own->life != life) continue;
      first_ = own->end - own->count;
      end_ = own->end;
    }
    return next_ != nullptr;
  }

  void check(const Tally& lost) {
    const Installation* view = run_.installation(lost.life, view_);
    if (view == nullptr) return;
    at_ = first_;
    behind_hole_ = false;
    const bool strictly = !was_lost(run_.lives[lost.life].who);
    const std::span<const Event> events = run_.lives[lost.life].history->events;
    for (std::uint64_t i = view->index; i <= lost.last_index; ++i) {
      const Event& event = events[i];
      if (event.kind != EventKind::deliver || event.group != group_.id || event.view != view_)
        continue;
      if (!step(event, {lost.life, i}, strictly)) return;
    }
  }

  [[nodiscard]] bool was_lost(NodeRef who) const {
    return std::ranges::any_of(next_->lefts, [&](const ViewLeft& left) {
      return left.reason == LeftReason::suspected && left.who.node == who.node &&
             fold(left.who.incarnation) == fold(who.incarnation);
    });
  }
  [[nodiscard]] bool was_lost(const Event& sender) const {
    return std::ranges::any_of(next_->lefts, [&](const ViewLeft& left) {
      return left.reason == LeftReason::suspected && left.who.node == sender.peer &&
             fold(left.who.incarnation) == sender.peer_incarnation;
    });
  }

  // False: check no further.
  [[nodiscard]] bool step(const Event& event, EventRef ref, bool strictly) {
    const std::uint32_t sender =
        trace_.sender_number(Run::name_key(event.peer, event.peer_incarnation));
    const auto ticket = static_cast<std::uint32_t>(event.number);
    if (at_ < end_) {
      const Entry theirs = traced_.sequence.get(at_ - group_.first_ordinal);
      if (theirs.sender == 0) return false;  // reported as a gap, or in no history
      if (theirs.sender == sender && theirs.ticket == ticket &&
          (!is_safe(event) || event.position == at_)) {
        if ((theirs.safe != 0) != is_safe(event)) {
          run_.findings.add(Property::D14,
                            run_.name(ref.life) + " delivers as safe what others do not, or not",
                            {ref});
        }
        ++at_;
        return true;
      }
    }
    if (!strictly && !is_safe(event) && !is_known(sender, ticket)) {
      if (was_lost(event)) {
        behind_hole_ = true;
        return true;
      }
      if (behind_hole_ && at_ == end_ && group_.one_number) return true;
    }
    run_.findings.add(Property::D6,
                      run_.name(ref.life) + " does not go on from view " + std::to_string(view_) +
                          ", and delivers in it what the survivors do not, or later",
                      {ref});
    return false;
  }

  /// Whether the survivors have the message: of each sender they have all up to the last one.
  [[nodiscard]] bool is_known(std::uint32_t sender, std::uint32_t ticket) {
    if (!last_) {
      last_.emplace();
      for (std::uint64_t ordinal = first_; ordinal < end_; ++ordinal) {
        const Entry one = traced_.sequence.get(ordinal - group_.first_ordinal);
        (*last_)[one.sender] = one.ticket;
      }
    }
    const std::uint32_t* last = last_->find(sender);
    return last != nullptr && static_cast<std::int32_t>(ticket - *last) <= 0;
  }

  Run& run_;
  Trace& trace_;
  const Group& group_;
  const GroupTrace& traced_;
  const Tallies tallies_;
  const std::uint64_t view_;
  const ViewContent* next_ = nullptr;
  std::uint64_t first_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t at_ = 0;                          // what the lost member must deliver next
  bool behind_hole_ = false;                      // of a message that no survivor has
  std::optional<FlatMap<std::uint32_t>> last_{};  // ticket, by sender
};

}  // namespace

void check_ahead(Run& run, Trace& trace) {
  for (auto& [id, traced] : trace.groups) {
    const Group& group = run.groups.at(id);
    if (!group.ordered() || group.atomic()) continue;
    std::vector<Tally>& tallies = traced.tallies;
    std::ranges::sort(tallies, {}, [](const Tally& t) { return std::pair(t.view, t.life); });
    for (auto begin = tallies.begin(); begin != tallies.end();) {
      const auto end = std::ranges::find_if(
          begin, tallies.end(), [&](const Tally& tally) { return tally.view != begin->view; });
      Ahead(run, trace, group, traced, {begin, end}).check();
      begin = end;
    }
  }
}

}  // namespace tutti::history
