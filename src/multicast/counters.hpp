/// \file counters.hpp
/// What a group's predicates count, over all its views.
#pragma once
#include "base/counter.hpp"

namespace tutti {

struct MulticastCounters {
  std::uint64_t (*clock)() = nullptr;  ///< for durations, in ns; null: they are not counted
  Counter sent_messages, sent_bytes, received_messages, nulls_sent, null_pushes;
  Counter token_visits, token_rests, token_held_ns, frames_handed_on, bytes_handed_on;
  DurationCounter token_parked;
  BatchCounter send, receive, pending;

  [[nodiscard]] std::uint64_t now_ns() const { return clock == nullptr ? 0 : clock(); }
};

}  // namespace tutti
