#include "engine/engine.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
Engine<Memory>::Engine(const EngineOptions& options, EngineContext context, EngineEvents& events,
                       Memory memory)
    : self_(options.membership.self),
      patience_ns_(options.patience_ns),
      own_row_(context.own_row),
      fabric_(context.fabric),
      row_of_(context.row_of),
      events_(events),
      memory_(memory),
      loop_(std::make_unique<PredicateLoop>(context.fabric)),
      clock_(context.clock),
      time_of_day_(context.time_of_day),
      connected_(context.plan.nodes()),
      outsiders_(context.plan.nodes(), options.patience_ns),
      renews_(!context.plan.spaces.all.empty()) {
  TUTTI_ASSERT(self_.value < context.plan.nodes() && own_row_ != nullptr, self_,
               context.plan.nodes());
  TUTTI_ASSERT(options.membership.incarnation != 0, self_);
  TUTTI_ASSERT(options.litmus_rounds == 0 || context.plan.litmus_offset != 0, options.litmus_rounds,
               context.plan.litmus_offset, self_);
  seat_groups(options, context, memory);
  states_ =
      std::make_unique<StateTransfer<Memory>>(context.plan.states, context.jobs, own_row_, row_of_,
                                              options.membership.suspect_after_ns, memory);
  if (options.litmus_rounds != 0) {
    litmus_ = std::make_unique<Litmus<Memory>>(
        ViewMember{self_, options.membership.incarnation}, context.plan.nodes(),
        options.litmus_rounds, own_row_, context.plan.litmus_offset, row_of_, memory);
    loop_->add(*litmus_);
  }
  loop_->add(*membership_);
  loop_->add(*states_);
  if (context.plan.requests.bytes_max != 0) {
    TUTTI_ASSERT(context.requests != nullptr, self_);
    requests_ = std::make_unique<Requests<Memory>>(
        ViewMember{self_, options.membership.incarnation}, context.plan.requests, own_row_, row_of_,
        *context.requests, memory);
    loop_->add(*requests_);
  }
  for (const auto& subgroup : subgroups_) loop_->add(*subgroup);
}

template <class Memory>
Engine<Memory>::~Engine() = default;

template <class Memory>
void Engine<Memory>::seat_groups(const EngineOptions& options, EngineContext& context,
                                 Memory memory) {
  const RowPlan& plan = context.plan;
  TUTTI_ASSERT(context.deliveries.size() == plan.groups.size(), context.deliveries.size(),
               plan.groups.size(), self_);
  TUTTI_ASSERT(context.logs.empty() || context.logs.size() == plan.groups.size(),
               context.logs.size(), plan.groups.size(), self_);
  std::vector<typename Membership<Memory>::Group> seated;
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    GroupSeat seat(
        plan.groups[g], self_, plan.names, plan.layouts, own_row_,
        [this](Slot slot) { return fabric_.replica(slot); },
        plan.spaces.find(static_cast<std::uint32_t>(g)) != nullptr
            ? std::optional(static_cast<std::uint32_t>(g))
            : std::nullopt);
    auto [shape, at] = seat.in(View{}, row_of_);
    subgroups_.push_back(std::make_shared<Subgroup<Memory>>(
        shape, std::move(at), std::move(context.deliveries[g]), memory, context.clock,
        context.logs.empty() ? nullptr : context.logs[g]));
    subgroups_.back()->allow(0);  // P3
    TUTTI_ASSERT(shape.tick_every_ns == 0 || time_of_day_, g, self_);
    if (shape.tick_every_ns != 0) tickers_.push_back({g, Ticker<Memory>(*subgroups_.back())});
    seated.push_back({std::move(seat), subgroups_.back().get()});
  }
  MembershipEvents& events = *this;
  membership_ = std::make_unique<Membership<Memory>>(
      options.membership, plan.words, std::move(seated), own_row_, row_of_, events, memory,
      plan.spaces, [this](std::size_t group, const OpenGroup* open, const GroupSeat::Seated& at) {
        return renew(group, open, at);
      });
}

// GR4. The old one is in no call of the application: it has nothing to deliver to, or is muted and
// was at rest since.
template <class Memory>
Subgroup<Memory>* Engine<Memory>::renew(std::size_t group, const OpenGroup* open,
                                        const GroupSeat::Seated& seated) {
  auto next = std::make_shared<Subgroup<Memory>>(
      seated.shape, seated.in_row,
      open == nullptr ? DeliveryCallback() : events_.joins(group, *open), memory_, clock_);
  next->allow(0);  // P3
  next->set_lacks_state(subgroups_[group]->lacks_state());
  loop_->replace(*subgroups_[group], *next);
  subgroups_[group] = std::move(next);
  return subgroups_[group].get();
}

template <class Memory>
std::size_t Engine<Memory>::pass(std::uint64_t now_ns, Calls calls) {
  TUTTI_ASSERT(now_ns >= now_ns_, now_ns, now_ns_, self_, view().id);
  now_ns_ = now_ns;
  idle_ = false;  // also if there is no memory to end this pass
  membership_->set_time(now_ns);
  states_->set_time(now_ns);
  std::size_t work = loop_->step();
  if (!tickers_.empty()) work += tick();
  for (const PeerLoss& loss : loop_->take_losses()) {
    lost(loss.peer, loss.reason);
    ++work;  // the next pass acts on it
  }
  if (!ended_.empty()) [[unlikely]]
    follow_ended();
  if (litmus_ != nullptr) follow_litmus();
  if (!to_hang_up_.empty()) [[unlikely]]
    hang_up_on_removed();
  if (!parting_.empty()) [[unlikely]]
    part_from_removed();
  if (now_ns >= next_outsiders_ns_) [[unlikely]]
    watch_outsiders();
  if (events_.stepped()) ++work;
  // Only from here on the application is called.
  if (calls == Calls::allowed) {
    if (!untold_.empty()) [[unlikely]]
      work += follow_views();
    work += loop_->deliver();
  }
  if (ending_ != Ending::none && follow_end()) [[unlikely]]
    ++work;  // the next pass acts on it
  idle_ = work == 0;
  return work;
}

// After the step, which has given space back: before anybody else takes it. The next pass sends it.
template <class Memory>
std::size_t Engine<Memory>::tick() {
  if (view().id == 0 || membership_->stopped()) return 0;
  std::size_t work = 0;
  for (auto& [group, ticker] : tickers_) {
    const std::optional<PutTick> put = ticker.pass(now_ns_, time_of_day_);
    if (!put) continue;
    events_.ticked(group, *put);
    ++work;
  }
  return work;
}

template <class Memory>
std::uint64_t Engine<Memory>::next_pass_ns() const {
  std::uint64_t next = membership_->next_step_ns();
  if (membership_->stopped()) return next;
  for (const GroupTicker& each : tickers_) next = std::min(next, each.ticker.next_pass_ns());
  return next;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Engine<NativeMemory>;
#endif

}  // namespace tutti
