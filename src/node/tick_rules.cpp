#include "node/tick_rules.hpp"

#include <chrono>
#include <string>

#include "smc/record.hpp"

namespace tutti {

Result<void> check_ticks(const GroupOptions& group) {
  using std::chrono::nanoseconds;
  const nanoseconds every = group.tick_every;
  if (every == nanoseconds{0}) return {};
  if (every < std::chrono::milliseconds(1) || every > std::chrono::days(1)) {
    return fail(ErrorCode::invalid_argument, "tick_every is " + std::to_string(every.count()) +
                                                 " ns; legal: 1 ms .. 1 day, or 0 for no ticks");
  }
  if (group.order == Order::none) {
    return fail(ErrorCode::invalid_argument,
                "tick_every is for groups with an order: without one members deliver a tick at "
                "different places; choose another order, or 0");
  }
  if (group.message_max_bytes < kTickBytes) {
    return fail(ErrorCode::invalid_argument,
                "message_max_bytes is " + std::to_string(group.message_max_bytes) +
                    ", less than the " + std::to_string(kTickBytes) + " bytes of a tick; raise it");
  }
  return {};
}

}  // namespace tutti
