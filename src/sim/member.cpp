#include "sim/member.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/crc32c.hpp"
#include "history/make_event.hpp"
#include "sim/log_watch.hpp"
#include "sst/memory.hpp"

namespace tutti::sim {
namespace {

using history::EventKind;

history::StopReason told(StopReason reason) {
  switch (reason) {
    case StopReason::left:
      return history::StopReason::left;
    case StopReason::minority:
      return history::StopReason::minority;
    default:
      return history::StopReason::failure;
  }
}

history::WedgeReason told(WedgeReason reason) {
  switch (reason) {
    case WedgeReason::suspicion:
      return history::WedgeReason::suspicion;
    case WedgeReason::leave:
      return history::WedgeReason::leave;
    case WedgeReason::join:
      return history::WedgeReason::join;
    case WedgeReason::groups:
      return history::WedgeReason::groups;
    default:
      return history::WedgeReason::told;
  }
}

// Small, so that a state takes many pieces.
constexpr std::size_t kStateRingBytes = 256;

}  // namespace

std::string name_of(std::uint32_t slot) { return "n" + std::to_string(slot); }

Plan make_plan(std::uint32_t nodes, std::vector<GroupOptions> groups, bool litmus,
               std::size_t request_max_bytes, std::uint32_t spaces) {
  std::vector<std::string> names;
  for (std::uint32_t slot = 0; slot < nodes; ++slot) names.push_back(name_of(slot));
  for (GroupOptions& group : groups) {
    if (group.members.empty()) group.members = names;
    if (group.senders.empty()) group.senders = group.members;
  }
  GroupSpaces of_groups;
  const auto first = static_cast<std::uint32_t>(groups.size() - spaces);
  const std::uint32_t second = first + (spaces + 1) / 2;
  for (std::uint32_t g = first; g < groups.size(); ++g) {
    of_groups.all.push_back({g, g < second ? first : second});
  }
  return {.rows = RowPlan(std::move(names), std::move(groups), kStateRingBytes, litmus,
                          request_max_bytes, std::move(of_groups))};
}

bool has_state(const Plan& plan, std::size_t group) {
  const GroupOptions& options = plan.rows.groups[group];
  const bool all = options.members.size() == plan.rows.nodes();
  if (is_space(plan, group)) return false;
  return !plan.stateless && options.level != Level::unordered && all;
}

Member::Member(const Plan& plan, ViewMember self, bool may_create, Net& net, std::uint64_t seed)
    : plan_(plan),
      self_(self),
      net_(net),
      random_(seed),
      wishing_(seed),
      recorder_(history::Recorder::in_memory({.name = plan.rows.names[self.slot],
                                              .node = static_cast<std::uint16_t>(self.slot.value),
                                              .incarnation = self.incarnation})),
      row_(plan.rows.row_bytes()),
      fabric_(net.fabric(number(), row_.data())),
      seats_(plan.rows.groups.size()),
      jobs_(std::make_unique<StateJobs>(group_states(), plan.rows.states.piece_bytes())),
      lost_ns_(plan.rows.nodes()) {
  std::vector<DeliveryCallback> deliveries;
  for (std::uint16_t g = 0; g < seats_.size(); ++g) {
    take_seat(g);
    if (plan.handler_one_in != 0) take_handlers(g);
    deliveries.push_back(
        seats_[g].is_member
            ? DeliveryCallback([this, g](std::span<const Message> batch) { deliver(g, batch); })
            : DeliveryCallback());
  }
  const EngineOptions options{
      .membership = {.self = self.slot,
                     .incarnation = self.incarnation,
                     .nodes = plan.rows.names,
                     .heartbeat_ns = plan.heartbeat_ns,
                     .suspect_after_ns = plan.suspect_after_ns,
                     .look_every_ns = plan.look_every_ns,
                     .founders = plan.founders,
                     .may_create = may_create && founds(plan, self.slot),
                     .create_after_ns = plan.create_after_ns,
                     .log = take_view_log(),
                     .restarts = founds(plan, self.slot) ? plan.restarts : std::nullopt},
      .patience_ns = 2 * plan.suspect_after_ns,
      .litmus_rounds = plan.litmus_rounds};
  EngineEvents& events = *this;
  engine_ = std::make_unique<Engine<Memory>>(
      options,
      EngineContext{
          .plan = plan.rows,
          .own_row = row_.data(),
          .fabric = *fabric_,
          .row_of = [&net, own = number()](Slot slot) { return net.row(own, slot.value); },
          .jobs = *jobs_,
          .deliveries = std::move(deliveries),
          .logs = take_logs(),
          .clock = nullptr,
          .time_of_day = [this, skew = plan.skew_ns * (self.incarnation % 5) /
                                       4] { return net_.now_ns() + skew; },
          .requests = take_requests()},
      events, Memory{&net, number()});
}

history::Event Member::event(EventKind kind) const {
  return history::make_event(kind, {.view = view_id(), .time_ns = net_.now_ns()});
}

void Member::record(const history::Event& event) {
  recorder_->append(event);
  const history::Event& kept = recorder_->events().back();
  hash_ =
      (hash_ << 5 | hash_ >> 59) ^ crc32c({reinterpret_cast<const std::byte*>(&kept), sizeof kept});
}

std::size_t Member::pass() {
  if (ended()) return 0;
  const std::size_t jobs = work_on_states() ? 1 : 0;
  view_before_ = view_id();
  const bool calls = net_.now_ns() >= stuck_until_ns_ && !stopped() && !in_callback_;
  const std::size_t work =
      jobs + engine_->pass(net_.now_ns(), calls ? Calls::allowed : Calls::forbidden);
  if (died_) return 0;
  if (engine_->states().taking() == Taking::failed) no_state(engine_->states().error());
  if (is_frozen()) check_frozen();
  if (plan_.one_host) check_stable();
  check_violations();
  if (plan_.tokens != nullptr) check_tokens();
  if (plan_.logs != nullptr) check_disks();
  if (NativeMemory::load(row_.data() + ViewWords::kLeaving) == 0) {
    asked_ns_.reset();
  } else if (!asked_ns_) {
    asked_ns_ = net_.now_ns();
  }
  if (!on_trial_.empty()) heed_trials();
  if (!claims_.empty()) end_claims();
  if (plan_.openings != nullptr) change_groups();
  for (std::uint16_t g = 0; g < seats_.size(); ++g) pass_barriers(g);
  if (work != 0) wake_handlers(false);
  note_writes();
  if (!stopped() || rests_) follow_end();
  follow_requests();
  return work;
}

// What it has posted counts, whatever becomes of it in the callbacks that follow.
bool Member::stepped() {
  if (changing() || view_before_ != view_id()) note_accepted(view_before_);
  for (std::uint16_t g = 0; g < seats_.size(); ++g) note_rounds(g);
  if (changing()) note_pieces();
  return false;
}

// F1. The application may be behind the view that the source is not in.
void Member::note_writes() {
  for (const LetGo::Write& write : net_.take_writes(number())) {
    record(history::make_write(
        EventKind::write_landed, {.view = view_id(), .time_ns = net_.now_ns()},
        {.source = ref(write.source), .epoch = write.epoch, .offset = write.offset, .length = 8}));
  }
}

void Member::heed_trials() {
  std::erase_if(on_trial_, [this](const Connection& trial) {
    const auto ready = NativeMemory::load(row_.data() + ViewWords::ready(trial.to.slot));
    if (ready != trial.to.incarnation) return false;
    connections_.push_back({trial.to, net_.now_ns()});
    return true;
  });
}

void Member::no_state(const Error& why) {
  if (finding_.empty()) finding_ = "M9: " + name() + " cannot take the state: " + why.message;
}

bool Member::was_removed(std::uint64_t incarnation) const {
  return engine_->membership().was_removed(incarnation);
}

void Member::note_data_posts(std::uint64_t count) {
  recorder_->append(history::make_count(history::EventKind::data_pushes, told_at(0), count));
}

std::optional<StopReason> Member::stopped() const { return engine_->membership().stopped(); }

void Member::leave() {
  record(event(EventKind::leave));
  engine_->membership().leave();
}

void Member::get_stuck(std::uint64_t until_ns, bool on_own_threads) {
  (on_own_threads ? threads_stuck_until_ns_ : stuck_until_ns_) = until_ns;
}

void Member::believe_lost(std::uint32_t node) {
  engine_->membership().set_time(net_.now_ns());
  engine_->membership().lost(Slot{node});
}

// What it has posted still lands, unless the connection was closed before.
void Member::let_go(Slot slot) {
  net_.close(number(), slot.value, ~std::size_t{0});
  net_.part(number(), slot.value);
}

void Member::silent(Slot slot) {
  if (!plan_.harmless || !finding_.empty()) return;
  finding_ = "P4: " + name() + " let " + plan_.rows.names[slot] + " go for nothing";
}

void Member::distrusted(Slot slot, const std::string& what) {
  distrusts_ = true;
  if (net_.is_disordered(slot.value, number()) || !finding_.empty()) return;
  finding_ = "LI1: " + name() + " distrusts the path from " + plan_.rows.names[slot] +
             " for nothing: " + what;
}

void Member::connected(std::uint32_t node, std::uint64_t incarnation) {
  engine_->membership().set_time(net_.now_ns());
  // With trials it is known to the membership later, see heed_trials().
  (plan_.litmus_rounds == 0 ? connections_ : on_trial_)
      .push_back({{Slot{node}, incarnation}, net_.now_ns()});
  engine_->connected(Slot{node}, incarnation);
}

std::optional<std::uint64_t> Member::connected_ns(const ViewMember& other) const {
  const auto found = std::ranges::find(connections_ | std::views::reverse, other, &Connection::to);
  if (found == connections_.rend()) return {};
  return found->at_ns;
}

// From its row, as the others see it.
Progress Member::progress() {
  const std::byte* block = row_.data() + plan_.rows.words.block(view_id());
  const std::byte* state = row_.data() + plan_.rows.states.offset;
  Progress out{.view = view_id(),
               .connections = connections_.size(),
               .suspicions = suspicions_.size(),
               .wedged = changing(),
               .settled = NativeMemory::load(block + ViewWords::kSettled),
               .ballot = NativeMemory::load(block + ViewWords::kAccepted) / 2,
               .decided = view_id() != 0 && engine_->membership().has_decided(),
               .told = told_.id};
  out.leads = out.ballot == 1 + view().rank_of(self_.slot).value_or(Rank{}).value;
  if (engine_->states().gives()) out.given = NativeMemory::load(state + StateWords::kSent);
  if (engine_->states().taking() == Taking::under_way) {
    out.taken = NativeMemory::load(state + StateWords::kTaken[0]) +
                NativeMemory::load(state + StateWords::kTaken[1]);
  }
  return out;
}

void Member::suspected(const ViewMember& member) {
  suspicions_.push_back({member, view_id(), net_.now_ns(), changing(),
                         engine_->membership().has_decided(),
                         std::max(wedged_ns_, lost_ns_[member.slot])});
  record(history::make_suspect({.view = view_id(), .time_ns = net_.now_ns()}, ref(member),
                               history::SuspectReason::told));
}

void Member::wedged(WedgeReason reason, const ViewMember& joiner) {
  wedged_ns_ = net_.now_ns();
  note_frozen();
  record(history::make_wedge({.view = view_id(), .time_ns = net_.now_ns()}, told(reason),
                             ref(joiner)));
}

void Member::decided(const Proposal& proposal) {
  ++decisions_;
  next_size_ = proposal.next.members.size();
  if (view_id() == 0) return;  // a joiner: it has no part in how the last view ends
  entries_.back().decided_ns = net_.now_ns();
  history::Event decide = event(EventKind::decide);
  decide.number = digest_of(proposal);
  record(decide);
}

void Member::stopped(StopReason reason) {
  rests_ = reason != StopReason::left && view_id() != 0 && engine_->is_through();
  ended_then_ = ending() != Ending::none;
  if (!rests_) wake_handlers(true);
  if (rests_) return;  // as NodeCore::ended: it has lost nothing with the others
  if (reason == StopReason::evicted) record(event(EventKind::evicted));
  // A member that leaves in order and got to the cut, or is alone, knows that what it has not
  // delivered never will be; but not one that has yet to get the state that it joined for.
  const auto groups = std::views::iota(std::size_t{0}, seats_.size());
  const bool lacks_state = std::ranges::any_of(
      groups, [this](std::size_t g) { return engine_->subgroup(g).lacks_state(); });
  const bool alone = !lacks_state && (view_id() == 0 || view().members.size() == 1);
  const bool knows =
      reason == StopReason::left &&
      (alone || (engine_->membership().has_decided() && delivered_all() && delivered_up_to_cut()));
  if (knows && plan_.logs != nullptr) plan_.logs->stop(self_);
  for (std::uint16_t g = 0; g < seats_.size() && knows; ++g) {
    for (const std::uint64_t ticket : seats_[g].waiting) {
      record(history::make_send_fail(told_at(g), Ticket{ticket}, history::FailReason::stopped));
    }
  }
  record(history::make_stopped(
      {.view = view_id(), .time_ns = net_.now_ns()},
      reason == StopReason::left && !knows ? history::StopReason::failure : told(reason)));
}

}  // namespace tutti::sim
