#include <algorithm>
#include <ranges>
#include <utility>

#include "restart/participant.hpp"

namespace tutti::restart {

constexpr std::uint32_t kPatienceMost = 1024;  // ticks
// A member may have been silent for another reason, and a proposal may be lost without a word.
constexpr std::uint32_t kMeasuredMost = 60;

// Z4, Z5. Begins a restart if this node leads, or drops one that cannot go on. Without `now` it
// begins only if all members are back: there is nobody to wait for.
void Participant::consider(bool now) {
  if (ended() || decided_) return;
  const std::vector<ViewRecord> chain = chain_of(told_);
  const ViewRecord& view = chain.back();
  std::set<std::uint32_t> back;
  for (const std::uint32_t slot : view.members) {
    if (told_.contains(slot)) back.insert(slot);
  }
  // Once it has proposed, the others need nothing more of nodes that only counted for the quorum.
  const bool enough = (lead_ && lead_->proposal) || awaited(chain, told_).empty();
  const bool leads = back.contains(slot_) && *back.begin() == slot_ && enough;
  if (lead_) {
    const bool stays = leads && lead_->chain.back() == view &&
                       std::ranges::includes(back, lead_->asked) &&
                       (lead_->proposal || lead_->asked == back);
    if (stays) return;
    lead_.reset();
    return consider(now);
  }
  const bool all = back.size() == view.members.size() && !holds_back_;
  if (leads && (now || all)) begin(chain, std::move(back));
}

// A member that compares a long log says nothing meanwhile, not even a promise, and compares it
// again for each proposal. So a proposal rests for longer each time that this node begins again,
// and for three times as long as the promises took: the other side compares as much, perhaps twice.
bool Participant::waits_in_vain() {
  if (!lead_->proposal) ++unpromised_;
  if (std::exchange(moved_, false)) {
    lead_->ticks = 0;
    return false;
  }
  if (!lead_->proposal) return true;
  if (++lead_->ticks < patience_) return false;
  patience_ = std::min(2 * patience_, kPatienceMost);
  return true;
}

// Z6: above all ballots that anybody who is back has heard of.
void Participant::begin(const std::vector<ViewRecord>& chain, std::set<std::uint32_t> asked) {
  std::uint64_t highest = 0;
  for (const std::uint32_t slot : asked) {
    const Views& views = told_.at(slot).views;
    if (views.promised.view == chain.back().id) {
      highest = std::max(highest, views.promised.ballot);
    }
    if (views.accepted && views.accepted->proposal.follows == chain.back().id) {
      highest = std::max(highest, views.accepted->ballot);
    }
  }
  const std::uint64_t ballot = restart_ballot(highest / kRunningBallots + 1, slot_);
  lead_ = Lead{.ballot = ballot, .chain = chain, .asked = asked};
  for (const std::uint32_t slot : asked) post(slot, Prepare{ballot, chain});
}

void Participant::on(std::uint32_t from, Promise& message) {
  if (!keep(from, std::move(message.told))) return;
  if (!lead_ || message.ballot != lead_->ballot || !lead_->asked.contains(from)) return;
  moved_ = true;
  lead_->promised.insert(from);
  if (lead_->promised == lead_->asked && !lead_->proposal) propose();
}

void Participant::on(std::uint32_t from, Refuse& message) {
  if (!keep(from, std::move(message.told))) return;
  if (lead_ && message.ballot == lead_->ballot) {
    trouble_ = name_of(from, options_.names) + ": " + message.why;
    lead_.reset();
    holds_back_ = true;
  }
}

// Z7, Z8.
void Participant::propose() {
  const std::vector<ViewRecord> chain = chain_of(told_);
  if (chain.back() != lead_->chain.back() || !awaited(chain, told_).empty()) {
    lead_.reset();
    return;
  }
  const ViewRecord& view = chain.back();
  const std::optional<Proposed> adopted = may_be_decided(view, told_);
  Propose message{.ballot = lead_->ballot};
  Result<std::vector<GroupPlan>> plans;
  if (adopted) {
    message.proposal = *adopted;
    if (adopted->restart) plans = plan_logs(chain, told_, options_.names, &adopted->next);
  } else {
    plans = plan_logs(chain, told_, options_.names);
    message.proposal = {.follows = view.id, .next = {.id = restart_id(view.id)}, .restart = true};
  }
  if (!plans) {
    trouble_ = plans.error().message;
    lead_.reset();
    holds_back_ = true;
    return;
  }
  if (!adopted) {
    for (const std::uint32_t slot : view.members) {
      if (lead_->asked.contains(slot)) message.proposal.next.members.push_back(slot);
    }
    for (const GroupPlan& plan : *plans) {
      message.proposal.next.first.push_back({plan.base.group, plan.cut});
    }
  }
  message.plans = std::move(*plans);
  lead_->chain = chain;
  lead_->adopted = adopted.has_value();
  lead_->proposal = message.proposal;
  patience_ = std::max(patience_, std::min(3 * std::exchange(unpromised_, 0), kMeasuredMost));
  for (const std::uint32_t slot : lead_->asked) post(slot, message);
}

void Participant::on(std::uint32_t from, const Progress& message) {
  if (lead_ && message.ballot == lead_->ballot && lead_->asked.contains(from)) moved_ = true;
}

void Participant::on(std::uint32_t from, const Accept& message) {
  if (!lead_ || message.ballot != lead_->ballot || !lead_->asked.contains(from)) return;
  moved_ = true;
  lead_->accepted.insert(from);
  if (!is_majority(lead_->accepted.size(), lead_->chain.back())) return;
  // All of a view that a restart has made begin it together. They are those that were asked.
  if (!lead_->adopted && lead_->accepted != lead_->asked) return;
  decide();
}

// The leader is the first that says that it is in the view: as one that has accepted it.
void Participant::decide() {
  const Decided message{.proposal = *lead_->proposal, .chain = lead_->chain};
  const bool adopted = lead_->adopted;
  lead_.reset();
  follow_.reset();
  if (!adopted) {
    on(slot_, message);
    if (decided_) post_all(message);
    return;
  }
  // Z7: the restart begins anew from it.
  Views views = mine().views;
  std::vector<ViewRecord> chain = message.chain;
  chain.push_back(message.proposal.next);
  if (message.proposal.restart) confirm(chain, message.proposal.next.id);  // Z10
  install(views, chain);
  if (!save(views)) return;
  tell();
  consider(false);
}

}  // namespace tutti::restart
