#include "node/incarnation.hpp"

#include <algorithm>
#include <utility>

#include "fabric/row_header.hpp"
#include "node/clock.hpp"
#include "node/text.hpp"

namespace tutti {
namespace {

// What of a state is under way at most.
constexpr std::size_t kStateRingBytes = 256 * 1024;

// How often members are compared with each other, while there are passes.
constexpr std::uint64_t kLagsEveryNs = 50'000'000;

std::vector<std::string> names_of(const std::vector<MemberAddress>& members) {
  std::vector<std::string> names;
  names.reserve(members.size());
  for (const MemberAddress& member : members) names.push_back(member.name);
  return names;
}

}  // namespace

Incarnation::~Incarnation() = default;

const std::atomic<std::uint64_t>& Incarnation::asleep() const {
  return reinterpret_cast<const RowHeader*>(row_->data())->asleep;
}

const std::string& Incarnation::member(std::uint32_t rank) const {
  return names_[view().members[rank].slot];
}

// A pass that must not call the application leaves the deliveries to the next one that may. It does
// all else before the calls: they may take long.
std::size_t Incarnation::pass(Calls calls) {
  if (lobby_->has_news()) [[unlikely]]
    take_arrivals();
  passed_ns_ = now_ns();
  lags_.look(passed_ns_);
  membership_->set_time(passed_ns_);
  states_->set_time(passed_ns_);
  std::size_t work = loop_->step();
  for (const PeerLoss& loss : loop_->take_losses()) {
    lost(loss);
    ++work;  // the next pass acts on it
  }
  if (litmus_ != nullptr) follow_litmus();
  if (!parting_.empty()) [[unlikely]]
    part_from_removed();
  if (passed_ns_ >= next_lags_ns_) [[unlikely]]
    watch_lags();
  if (passed_ns_ >= next_outsiders_ns_) [[unlikely]]
    watch_outsiders();
  if (view().id == 0) [[unlikely]]
    sees_group_.store(membership_->group_exists(), std::memory_order_relaxed);
  // Only from here on the application is called.
  if (calls == Calls::forbidden) return work;
  if (!untold_.empty()) [[unlikely]]
    work += follow_views();
  return work + loop_->deliver();
}

void Incarnation::take_arrivals() {
  for (Arrival& arrival : lobby_->take_arrivals()) {
    const std::uint32_t slot = arrival.slot;
    const std::uint64_t incarnation = arrival.incarnation;
    if (Result<void> attached = attach(std::move(arrival)); !attached) {
      tell_unconnected(slot, attached.error());
      lobby_->release(slot);  // it calls again
      continue;
    }
    attached_[slot] = incarnation;
    outsiders_.watch(slot);
    if (litmus_ != nullptr) {
      litmus_->begin(slot, incarnation);
    } else {
      membership_->ready(slot, incarnation);
    }
  }
}

void Incarnation::tell_unconnected(std::uint32_t slot, const Error& why) {
  const std::uint64_t times = unconnected_[slot].count(now_ns());
  if (times == 0) return;
  const std::string& name = names_[slot];
  log(LogLevel::warning,
      "cannot connect to '" + name + "': " + why.message +
          (times > 1 ? " (and " + std::to_string(times - 1) + " more like it before)" : "") +
          "; until that works, '" + name + "' is in no group with this node");
}

// What a peer says of its row's size is input: what its groups need is what counts.
Result<void> Incarnation::attach(Arrival arrival) {
  const Rank peer{arrival.slot};
  const auto check_row = [&](std::size_t& bytes) -> Result<void> {
    const std::size_t needed = layouts_[peer.value].row_bytes();
    if (needed > bytes) {
      return fail(ErrorCode::mismatch,
                  "it has a row of " + std::to_string(bytes) + " bytes where its groups need " +
                      std::to_string(needed) + "; run the same version at all members");
    }
    bytes = needed;
    return {};
  };
  return std::visit(
      [&](auto& connection) -> Result<void> {
        if (Result<void> row = check_row(connection.row_bytes); !row) return row;
        auto& fabric = fabric_for(connection);
        Result<void> attached = fabric.attach(std::move(connection));
        if (attached) fabric_->route(peer, fabric);
        return attached;
      },
      arrival.connection);
}

void Incarnation::part_from_removed() {
  std::erase_if(parting_, [this](const Parting& gone) {
    if (!delivered_before(gone.view)) return false;
    part(gone.slot);
    return true;
  });
}

// P1: nothing points into its row any more.
void Incarnation::part(std::uint32_t slot) {
  if (std::exchange(attached_[slot], 0) == 0) return;
  states_->gone(slot);
  if (litmus_ != nullptr) litmus_->end(slot);
  detach(Rank{slot});
  lobby_->release(slot);
}

void Incarnation::detach(Rank peer) {
  fabric_->unroute(peer);
  shm_->detach(peer);
  tcp_->detach(peer);
  if (ofi_ != nullptr) ofi_->detach(peer);
  if (verbs_ != nullptr) verbs_->detach(peer);
}

void Incarnation::lost(const PeerLoss& loss) {
  const std::uint32_t slot = loss.peer.value;
  if (attached_[slot] == 0) return;
  if (!in_view(slot)) return lost_outsider(slot);
  states_->gone(slot);
  if (is_done(slot)) return;  // P2
  const bool let_go =
      membership_->has_decided() && decided_->leaves_in_order({slot, attached_[slot]});
  if (!let_go && !events_.ends())
    log(LogLevel::warning, "member '" + names_[slot] + "' was lost: " + loss.reason);
  membership_->lost(slot);
}

void Incarnation::hang_up() {
  lobby_.reset();
  for (std::uint32_t slot = 0; slot < attached_.size(); ++slot) {
    if (std::exchange(attached_[slot], 0) != 0) detach(Rank{slot});
  }
}

void Incarnation::quit_states() {
  if (state_thread_ != nullptr) state_thread_->quit();
}

bool Incarnation::have_states_ended() const {
  return state_thread_ == nullptr || state_thread_->has_ended();
}

std::vector<std::string> Incarnation::suspected() const {
  std::vector<std::string> names;
  for (std::uint32_t rank = 0; rank < view().members.size(); ++rank) {
    if (membership_->suspects(rank)) names.push_back(member(rank));
  }
  return names;
}

bool Incarnation::in_view(std::uint32_t slot) const {
  return view().id != 0 && view().contains({slot, attached_[slot]});
}

bool Incarnation::is_done(std::uint32_t slot) const {
  const std::uint32_t rank = *view().rank_of(slot);
  return std::ranges::all_of(subgroups_,
                             [rank](const auto& subgroup) { return subgroup->complete_at(rank); });
}

void Incarnation::removed(const ViewMember& member) {
  lobby_->refuse(member.incarnation);
  states_->gone(member.slot);
  if (attached_[member.slot] != member.incarnation) return;
  const bool entering = decided_ && decided_->next.id == view().id + 1;
  parting_.push_back({member.slot, entering ? view().id + 1 : view().id});
}

void Incarnation::installed(const View& view, const View& before) {
  ViewChange change{.view = view.id, .rank = {*view.rank_of(self_)}};
  for (std::uint32_t rank = 0; rank < view.members.size(); ++rank) {
    const std::string& name = names_[view.members[rank].slot];
    change.members.push_back(name);
    change.incarnations.push_back(view.members[rank].incarnation);
    if (rank >= view.survivors) change.joined.push_back(name);
  }
  for (const ViewMember& member : decided_->left) {
    change.left.push_back(
        {names_[member.slot], member.incarnation,
         decided_->leaves_in_order(member) ? LeftReason::left : LeftReason::suspected});
  }
  next_lags_ns_ = 0;  // the course in a view is known from its beginning
  if (before.id == 0) lobby_->set_running();
  show(told_any_ ? NodeState::in_view : NodeState::joining, change);
  states_->expect(view, self_);
  untold_.push_back({.view = view, .change = std::move(change)});
}

bool Incarnation::delivered_before(std::uint64_t view) const {
  return std::ranges::all_of(
      subgroups_, [view](const auto& subgroup) { return subgroup->delivered_before(view); });
}

// P3. Returns of how many views it told.
std::size_t Incarnation::follow_views() {
  std::size_t told = 0;
  while (!untold_.empty() && !membership_->stopped() && !events_.ends()) {
    Untold& next = untold_.front();
    if (!delivered_before(next.view.id)) break;
    if (!std::exchange(next.begun, true)) begin_states(next.view);
    if (states_->holds()) {  // M9
      if (next.awaits) follow_taking();
      break;
    }
    gives_state_.store(0, std::memory_order_relaxed);
    for (const auto& subgroup : subgroups_) subgroup->set_lacks_state(false);
    const ViewChange change = std::move(next.change);
    if (!std::exchange(told_any_, true)) {
      show(NodeState::in_view, untold_.size() == 1 ? change : untold_.back().change);
    }
    untold_.pop_front();
    events_.installed(change);
    for (const auto& subgroup : subgroups_) subgroup->allow(change.view);
    ++told;
  }
  return told;
}

// Some of its members may be gone by now: who joined takes nothing, who was there gives nothing.
void Incarnation::begin_states(const View& view) {
  untold_.front().awaits = states_->begin(view, self_);
  for (const auto& subgroup : subgroups_) subgroup->set_lacks_state(untold_.front().awaits);
  for (const ViewMember& member : view.members) {
    const View& now = this->view();
    const bool here = now.contains(member) && !membership_->suspects(*now.rank_of(member.slot));
    if (!here) states_->gone(member.slot);
  }
}

// The state that we joined for is yet to come; if it cannot be had, the node hears so.
void Incarnation::follow_taking() {
  switch (states_->taking()) {
    case Taking::under_way:
      if (const auto giver = states_->giver()) {
        gives_state_.store(1 + *giver, std::memory_order_relaxed);
      }
      break;
    case Taking::lost:
      // The others may need its vote to go on without those givers, so it leaves in order.
      gives_state_.store(0, std::memory_order_relaxed);
      if (!std::exchange(leaves_, true)) membership_->leave();
      break;
    case Taking::failed:
      untold_.clear();
      events_.no_state(states_->error());
      break;
    default:
      break;
  }
}

std::string Incarnation::gives_state() const {
  const std::uint32_t giver = gives_state_.load(std::memory_order_relaxed);
  return giver == 0 ? std::string() : names_[giver - 1];
}

std::vector<std::string> Incarnation::takes_state() const {
  std::vector<std::string> names;
  for (const std::uint32_t slot : states_->takers()) names.push_back(names_[slot]);
  return names;
}

// What a node that has stopped sees of the others is out of date: it must not name or remove them.
void Incarnation::watch_lags() {
  next_lags_ns_ = passed_ns_ + kLagsEveryNs;
  if (view().id == 0) return;
  if (membership_->stopped() || events_.failed() || events_.ends()) return lags_.stop();
  for (std::size_t g = 0; g < subgroups_.size(); ++g) {
    Subgroup<NativeMemory>& group = *subgroups_[g];
    group.note_course(lags_.watched_ns());
    const std::size_t members = view().members.size();
    lag_figures_.resize(members);
    places_.resize(members);
    for (std::uint32_t rank = 0; rank < members; ++rank) {
      const Lag lag = group.lag(rank);
      MemberLag& figures = lag_figures_[rank];
      figures.member = member(rank);
      figures.messages = lag.messages;
      figures.bytes = lag.bytes;
      figures.behind = std::chrono::nanoseconds(lag.ns);
      figures.holds_window = group.holds_window(rank);
      places_[rank] = group.place_of(rank);
    }
    lags_.take(groups_[g].name, lag_figures_, places_);
    if (node_.remove_after.count() != 0) remove_the_still(groups_[g].name);
  }
}

void Incarnation::remove_the_still(const std::string& group) {
  for (std::uint32_t rank = 0; rank < view().members.size(); ++rank) {
    const std::uint32_t slot = view().members[rank].slot;
    const std::chrono::nanoseconds still = lags_.still(group, names_[slot]);
    if (slot == self_ || membership_->suspects(rank) || still < node_.remove_after) continue;
    log(LogLevel::warning, "member '" + names_[slot] + "' is to be removed: it has delivered " +
                               "nothing of group '" + group + "' for " + in_seconds(still) +
                               " s, and remove_after is " + in_seconds(node_.remove_after) + " s");
    membership_->expel(slot);
  }
}

void Incarnation::show(NodeState state, const ViewChange& change) {
  lobby_->show({.state = state,
                .view = change.view,
                .members = change.members,
                .incarnations = change.incarnations});
}

void Incarnation::log(LogLevel level, const std::string& text) const {
  if (node_.log) node_.log(level, text);
}

Incarnation::Incarnation(const NodeOptions& node, const std::vector<GroupOptions>& groups,
                         IncarnationEvents& events, bool may_found)
    : node_(node),
      groups_(groups),
      events_(events),
      may_found_(may_found),
      names_(names_of(node.members)),
      self_(static_cast<std::uint32_t>(std::ranges::find(names_, node.name) - names_.begin())),
      words_(static_cast<std::uint32_t>(names_.size()),
             [&] {
               std::vector<std::uint32_t> senders;
               for (const GroupOptions& group : groups) {
                 senders.push_back(static_cast<std::uint32_t>(group.senders.size()));
               }
               return proposal_words(names_.size(), senders);
             }()),
      calls_(groups.size()),
      state_calls_(groups.size()),
      lags_(node.name, node.suspect_after, node.slow_after, node.log),
      attached_(names_.size()),
      unconnected_(names_.size()),
      outsiders_(static_cast<std::uint32_t>(names_.size()),
                 static_cast<std::uint64_t>(patience_with_outsiders().count())) {
  const auto on_line = [](std::size_t bytes) { return (bytes + 63) / 64 * 64; };
  std::size_t bytes = on_line(words_.bytes());
  if (std::ranges::any_of(groups, &GroupOptions::stateful)) {
    state_words_ = {.offset = kMembershipOffset + bytes, .ring_bytes = kStateRingBytes};
    bytes += state_words_.bytes();
  }
  if (node.litmus_rounds != 0) {
    litmus_offset_ = kMembershipOffset + bytes;
    bytes += Litmus::bytes(names_.size());
  }
  for (const std::string& name : names_) layouts_.emplace_back(name, groups, bytes);
}

}  // namespace tutti
