#include "node/incarnation.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "fabric/row_header.hpp"
#include "node/clock.hpp"

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

// A node that has just come may be slow to map the others' rows, and does not beat meanwhile. It is
// in no view, so nobody waits for it but another node of its name.
constexpr std::chrono::nanoseconds kLeastPatience = std::chrono::seconds(1);

}  // namespace

Incarnation::~Incarnation() = default;

const std::atomic<std::uint64_t>& Incarnation::asleep() const {
  return reinterpret_cast<const RowHeader*>(row_->data())->asleep;
}

const std::string& Incarnation::member(Rank rank) const {
  TUTTI_ASSERT(rank.value < view().members.size(), rank.value, view().members.size(), view().id);
  return plan_.names[view().members[rank].slot];
}

std::size_t Incarnation::pass(Calls calls) {
  if (bootstrap_->has_news()) [[unlikely]]
    take_arrivals();
  if (setup_.restart != nullptr && view().id == 0) [[unlikely]]
    engine_->membership().hold_back(!setup_.founds && !setup_.restart->may_join());
  passed_ns_ = now_ns();
  lags_.look(passed_ns_);
  return engine_->pass(passed_ns_, calls);
}

void Incarnation::take_arrivals() {
  for (Arrival& arrival : bootstrap_->take_arrivals()) {
    const Slot slot = arrival.slot;
    const std::uint64_t incarnation = arrival.incarnation;
    TUTTI_ASSERT(slot.value < plan_.nodes() && slot != self_, slot, self_, view().id);
    TUTTI_ASSERT(engine_->connected_to(slot) == 0, slot, self_, view().id);  // HS1
    if (Result<void> attached = attach(std::move(arrival)); !attached) {
      tell_unconnected(slot, attached.error());
      bootstrap_->release(slot);  // it calls again
      continue;
    }
    engine_->connected(slot, incarnation);
  }
}

void Incarnation::tell_unconnected(Slot slot, const Error& why) {
  const std::uint64_t times = unconnected_[slot].count(now_ns());
  if (times == 0) return;
  const std::string& name = plan_.names[slot];
  log(LogLevel::warning,
      "cannot connect to '" + name + "': " + why.message +
          (times > 1 ? " (and " + std::to_string(times - 1) + " more like it before)" : "") +
          "; until that works, '" + name + "' is in no group with this node");
}

// What a peer says of its row's size is input: what its groups need is what counts.
Result<void> Incarnation::attach(Arrival arrival) {
  const std::size_t needed = plan_.layouts[arrival.slot].row_bytes();
  if (needed > arrival.row_bytes) {
    return fail(ErrorCode::mismatch, "it has a row of " + std::to_string(arrival.row_bytes) +
                                         " bytes where its groups need " + std::to_string(needed) +
                                         "; run the same version at all members");
  }
  const Result<Fabric*> fabric = arrival.carrier->attach(*arrival.connection, needed);
  if (!fabric) return std::unexpected(fabric.error());
  fabric_->route(arrival.slot, **fabric);
  return {};
}

void Incarnation::detach(Slot peer) {
  fabric_->unroute(peer);
  for (const auto& carrier : carriers_) carrier->detach(peer);
}

// Connections first: the bootstrap's end may wait for a host name that does not resolve.
void Incarnation::hang_up(bool rows_stay) {
  for (const Slot slot : plan_.names.indices()) {
    if (engine_->connected_to(slot) == 0) continue;
    if (!rows_stay) {
      detach(slot);
      continue;
    }
    fabric_->hang_up(slot);  // what was said last is heard
    fabric_->part(slot);
  }
  bootstrap_.reset();
}

void Incarnation::quit_states() {
  if (state_thread_ != nullptr) state_thread_->quit();
}

bool Incarnation::have_states_ended() const {
  return state_thread_ == nullptr || state_thread_->has_ended();
}

std::vector<std::string> Incarnation::suspects() const {
  std::vector<std::string> names;
  for (const Rank rank : view().ranks()) {
    if (engine_->membership().suspects(rank)) names.push_back(member(rank));
  }
  return names;
}

std::string Incarnation::gives_state() const {
  const std::uint32_t giver = gives_state_.load(std::memory_order_relaxed);
  TUTTI_ASSERT(giver <= plan_.names.size(), giver, self_);
  return giver == 0 ? std::string() : plan_.names[Slot{giver - 1}];
}

std::vector<std::string> Incarnation::takes_state() const {
  std::vector<std::string> names;
  for (const Slot slot : engine_->states().takers()) {
    names.push_back(plan_.names[slot]);
  }
  return names;
}

// What a node that has stopped sees of the others is out of date: it must not name or remove them.
bool Incarnation::watch_lags() {
  next_lags_ns_ = passed_ns_ + kLagsEveryNs;
  if (view().id == 0) return false;
  const bool stopped = engine_->membership().stopped() || events_.failed() || events_.ends();
  if (stopped) {
    lags_.stop();
    return false;
  }
  if (view().groups != lagged_) forget_closed();
  bool tells = false;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const std::string* const name = shown_name(g);
    if (name == nullptr) continue;
    Subgroup<NativeMemory>& group = engine_->subgroup(g);
    tells |= group.note_course(lags_.watched_ns());
    const std::size_t members = view().members.size();
    lag_figures_.resize(members);
    positions_.resize(members);
    for (const Rank rank : view().ranks()) {
      const Lag lag = group.lag(rank);
      MemberLag& figures = lag_figures_[rank.value];
      figures.member = member(rank);
      figures.messages = lag.messages;
      figures.bytes = lag.bytes;
      figures.behind = std::chrono::nanoseconds(lag.ns);
      figures.holds_window = group.holds_window(rank);
      positions_[rank.value] = group.position_of(rank);
    }
    lags_.take(*name, lag_figures_, positions_);
    if (node_.remove_after.count() != 0) remove_the_still(groups_[g], *name);
    if (groups_[g].level == Level::durable) watch_disks(g);
    tell_durable(g);
  }
  return tells;
}

void Incarnation::forget_closed() {
  for (const OpenGroup& group : lagged_) {
    if (find_name(view().groups, group.name) == nullptr) lags_.forget(group.name);
  }
  lagged_ = view().groups;
}

// Null: nobody is in the group.
const std::string* Incarnation::shown_name(std::size_t group) const {
  const auto space = static_cast<std::uint32_t>(group);
  if (plan_.spaces.find(space) == nullptr) return &groups_[group].name;
  const OpenGroup* const open = find_space(view().groups, space);
  return open != nullptr ? &open->name : nullptr;
}

void Incarnation::watch_disks(std::size_t group) {
  marks_.clear();
  for (const Rank rank : view().ranks()) {
    marks_.push_back({member(rank), engine_->subgroup(group).persisted_of(rank)});
  }
  disks_.take(lags_.watched_ns(), groups_[group].name, marks_, groups_[group].durable_quorum);
}

// What all members have on disk no later cut leaves out, also one of a restart (SC1).
void Incarnation::tell_durable(std::size_t group) {
  DiskLog* const log = setup_.disk_logs != nullptr ? setup_.disk_logs->log(group) : nullptr;
  if (log == nullptr || log->snapshots() == nullptr) return;
  std::uint64_t least = ~0ULL;
  for (const Rank rank : view().ranks()) {
    least = std::min(least, engine_->subgroup(group).persisted_of(rank));
  }
  log->snapshots()->set_durable_to(least);
}

// Along a chain the position of a member is told each time that the member looks at lags itself.
void Incarnation::remove_the_still(const GroupOptions& group, const std::string& name) {
  const std::chrono::nanoseconds late(group.order == Order::lcr ? 2 * kLagsEveryNs : 0);
  const std::vector<std::chrono::nanoseconds> all = lags_.still(name);
  for (const Rank rank : view().ranks()) {
    const Slot slot = view().members[rank].slot;
    const std::chrono::nanoseconds still = all[rank.value];
    if (slot == self_ || engine_->membership().suspects(rank) || still < node_.remove_after + late)
      continue;
    log(LogLevel::warning, "member '" + plan_.names[slot] +
                               "' is to be removed: it has delivered " + "nothing of group '" +
                               name + "' for " + in_seconds(still) + " s, and remove_after is " +
                               in_seconds(node_.remove_after) + " s");
    engine_->membership().expel(slot);
  }
}

std::chrono::nanoseconds Incarnation::patience_with_outsiders() const {
  return std::max(node_.suspect_after, kLeastPatience);
}

void Incarnation::log(LogLevel level, const std::string& text) const {
  if (node_.log) node_.log(level, text);
}

Incarnation::Incarnation(const NodeOptions& node, const std::vector<GroupOptions>& groups,
                         IncarnationEvents& events, RequestEvents& requests, IncarnationSetup setup)
    : node_(node),
      groups_(groups),
      events_(events),
      requests_(requests),
      setup_(std::move(setup)),
      plan_(names_of(node.members), groups,
            std::ranges::any_of(groups, &GroupOptions::stateful) ? kStateRingBytes : 0,
            node.litmus_rounds != 0, node.request_max_bytes, setup_.spaces),
      self_{static_cast<std::uint32_t>(std::ranges::find(plan_.names, node.name) -
                                       plan_.names.begin())},
      calls_(groups.size()),
      state_calls_(groups.size()),
      lags_(node.name, node.suspect_after, node.slow_after, node.log),
      disks_(node.name, node.slow_after, node.log),
      unconnected_(plan_.nodes()),
      told_lost_(plan_.nodes()) {
  TUTTI_ASSERT(self_.value < plan_.nodes(), self_, plan_.nodes());
}

}  // namespace tutti
