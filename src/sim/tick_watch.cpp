#include "sim/tick_watch.hpp"

namespace tutti::sim {

void TickWatch::put(std::size_t group, const ViewMember& clock, const PutTick& tick, bool fresh) {
  puts_.insert_or_assign(key(group, clock, tick.time_ns), Put{tick.record, fresh});
}

TickWatch::Found TickWatch::deliver(std::size_t group, const ViewMember& clock,
                                    std::uint64_t time_ns, std::uint64_t now_ns,
                                    TicksSeen& seen) const {
  const auto put = puts_.find(key(group, clock, time_ns));
  if (put == puts_.end()) return {{}, "a tick that was not put so"};
  Found found{.record = put->second.record, .wrong = {}};
  // TI2, but for a clock that has seen none before.
  if (time_ns <= seen.time_ns && !(put->second.fresh && seen.clock != clock)) {
    found.wrong = "a tick of time " + std::to_string(time_ns) + " after one of time " +
                  std::to_string(seen.time_ns);
  }
  // TI1.
  if (seen.at_ns != 0 && seen.clock != clock) {
    seen.former.emplace(seen.clock.slot.value, seen.clock.incarnation);
  }
  if (seen.former.contains({clock.slot.value, clock.incarnation})) {
    found.wrong = "a tick of a clock behind those of a later one";
  }
  seen.time_ns = time_ns;
  seen.at_ns = now_ns;
  seen.clock = clock;
  return found;
}

}  // namespace tutti::sim
