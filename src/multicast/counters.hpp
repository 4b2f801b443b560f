/// \file counters.hpp
/// What a group's predicates count, over all its views.
#pragma once
#include "base/counter.hpp"

namespace tutti {

struct MulticastCounters {
  Counter sent_messages, sent_bytes, received_messages, nulls_sent, null_pushes;
  Counter token_visits, token_rests, frames_handed_on, bytes_handed_on;
  BatchCounter send, receive;
};

}  // namespace tutti
