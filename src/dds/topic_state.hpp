/// \file topic_state.hpp
/// One topic of a bundle as this participant has it: its definition, and the samples that are kept
/// for its readers that take.
///
/// Threads: the delivery thread of the bundle adds samples, readers' threads take them: what
/// `mutex` guards is marked. Lock order: ParticipantCore, Bundle, TopicState.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "dds/definition.hpp"
#include "dds/sample_store.hpp"

namespace tutti::dds {

/// The limits that the topic's options mean.
[[nodiscard]] StoreLimits store_limits(const Definition& definition);

struct TopicState {
  TopicState(std::uint32_t topic_id, Definition topic)
      : id(topic_id), definition(std::move(topic)), limits(store_limits(definition)) {
    if (definition.options.service == Service::volatile_storage) {
      store = std::make_unique<SampleStore>(limits);
    }
  }

  /// A delivery that waits for room looks again.
  void wake_delivery() {
    {
      const std::lock_guard lock(mutex);  // it has seen the change, or waits by now
    }
    room.notify_all();
  }

  const std::uint32_t id;
  const Definition definition;
  const StoreLimits limits;
  // The position of its definition; 0 in a bundle without order. Settled before others see it.
  std::uint64_t defined_at = 0;
  std::atomic<bool> deleted{false};
  std::atomic<std::uint64_t> deleted_at{~std::uint64_t{0}};  // where no samples are any more

  std::mutex mutex;
  std::condition_variable room;        // for a delivery that waits for readers (keep_all)
  std::unique_ptr<SampleStore> store;  // `mutex`; null: nobody takes, and nobody has yet
  std::uint32_t takers = 0;            // `mutex`: readers that take
  bool begun = false;  // `mutex`: the store has all that is delivered from its low_position() on
  std::uint64_t waits = 0;  // `mutex`: of deliveries for readers

  // The delivery thread's own.
  std::uint64_t delivered = 0;  // samples: the position of an unordered one
  bool touched = false;         // samples of this batch are in the store
};

}  // namespace tutti::dds
