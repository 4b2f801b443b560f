// An application's handlers: what they ask for, and the turns of the threads that call them.
#include <algorithm>
#include <utility>

#include "sim/member.hpp"

namespace tutti::sim {

void Member::take_handlers(std::uint16_t group) {
  const auto ring = [this, group] { return engine_->subgroup(group).ring(); };
  seats_[group].handlers = std::make_unique<Handlers>(Handlers::Group{
      .delivered =
          [this, group](Ticket ticket) {
            return engine_->subgroup(group).own_records_delivered() >= ticket.value;
          },
      .was_handed =
          [this, group](Ticket ticket) {
            const std::deque<std::uint64_t>& waiting = seats_[group].waiting;
            return std::ranges::find(waiting, ticket.value) == waiting.end();
          },
      .claim = [this, ring](std::uint32_t size) -> std::optional<Result<SendRing::Space>> {
        if (!finished_ && !ring()->has_space_for(size)) return {};
        SendRing::Space space;
        switch (ring()->claim(size, space)) {
          case SendRing::Outcome::ok:
            return space;
          case SendRing::Outcome::full:
            return {};
          default:
            return fail(ErrorCode::stopped, "the group is finished");
        }
      },
      .why_over = [this]() -> std::optional<Error> {
        if ((!stopped() || rests_) && !ended()) return {};
        return Error{ErrorCode::stopped, "the node has ended"};
      },
      .is_closed = [this] { return finished_; },
      .fill =
          [this, group](std::uint32_t size, const SendRing::Space& space) {
            commit({.group = group, .size = size, .claimed = size, .space = space});
          }});
}

void Member::wake_handlers(bool over) {
  for (const Seat& seat : seats_) {
    if (seat.handlers) over ? seat.handlers->over() : seat.handlers->moved();
  }
}

bool Member::turn_handlers() {
  bool awake = false;
  for (const Seat& seat : seats_) {
    if (!seat.handlers || died_) continue;
    const std::uint64_t takes_ns = random_.below(plan_.handler_ns);
    awake |= seat.handlers->turn(net_.now_ns(), random_.one_in(4) ? takes_ns : 0);
    if (finding_.empty()) finding_ = seat.handlers->finding();
  }
  if (turn_requests()) awake = true;
  return awake;
}

void Member::end_handlers() {
  for (const Seat& seat : seats_) {
    if (!seat.handlers || died_) continue;
    seat.handlers->end();
    if (finding_.empty()) finding_ = seat.handlers->finding();
  }
}

std::string Member::unanswered() const {
  for (const Seat& seat : seats_) {
    if (!seat.barriers.empty()) return "V1: " + name() + " does not get past a barrier";
    if (seat.handlers && seat.handlers->open() != 0) {
      return "CP1: " + name() + " does not call a handler";
    }
  }
  const std::string waits = requests_ ? requests_->unanswered() : std::string();
  return waits.empty() ? waits : "D17: " + name() + " " + waits;
}

}  // namespace tutti::sim
