/// \file listener.hpp
/// What the owner of a topic, a reader or a writer may be told of. All functions may be empty.
///
/// Threads: on_sample, on_samples and on_data_available are called on the delivery thread of the
/// topic's bundle (BundleOptions::delivery), on_sample_lost on the thread that takes, the others on
/// a thread of the participant's own, one call at a time. They are callbacks of the node: they must
/// not throw, and calls that wait are refused inside (tutti/node.hpp). on_sample and on_samples
/// read in place: one that acts on the world outside the node asks UntypedReader::intact before.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "tutti/dds/sample.hpp"
#include "tutti/dds/sample_batch.hpp"

namespace tutti::dds {

/// Somebody wanted a topic of this name that differs from ours: it was refused.
struct InconsistentTopic {
  std::string topic{};
  std::string participant{};  ///< who asked
  std::string ours{};         ///< the type, or the options, that the topic has
  std::string theirs{};       ///< and those that were asked for
};

struct TopicListener {
  /// The type differs.
  std::function<void(const InconsistentTopic&)> on_inconsistent_topic{};
  /// The type is the same, but TopicOptions differ.
  std::function<void(const InconsistentTopic&)> on_requested_incompatible_qos{};
};

/// How many of the others there are now, in the whole domain.
struct MatchedStatus {
  std::string participant{};  ///< whose number has changed
  std::uint32_t there = 0;    ///< what it has now
  std::uint32_t total = 0;    ///< what all have
};

struct SampleLostStatus {
  std::uint64_t lost = 0;   ///< since the last time
  std::uint64_t total = 0;  ///< since the reader was created
};

struct WriterListener {
  std::function<void(const MatchedStatus&)> on_publication_matched{};  ///< readers
};

/// Of a reader of bytes.
struct UntypedReaderListener {
  /// The payload is valid during the call alone.
  std::function<void(std::span<const std::byte>, const SampleInfo&)> on_sample{};
  /// The same for many at once, instead of on_sample.
  std::function<void(const ByteBatch&)> on_samples{};
  std::function<void()> on_data_available{};
  std::function<void(const MatchedStatus&)> on_subscription_matched{};  ///< writers
  std::function<void(const SampleLostStatus&)> on_sample_lost{};
};

template <class T>
struct ReaderListener {
  /// Handed each sample, in place if T is trivially copyable. The sample is valid during the call
  /// alone. A reader that has it takes nothing.
  std::function<void(const T&, const SampleInfo&)> on_sample{};
  /// Instead of on_sample, if T is trivially copyable: handed all samples that were delivered one
  /// after another, in place, at most kDeliveryBatchMax. The fastest way.
  std::function<void(const SampleBatch<T>&)> on_samples{};
  /// There is something to take: once for each batch of deliveries, not for what was there before.
  std::function<void()> on_data_available{};
  std::function<void(const MatchedStatus&)> on_subscription_matched{};  ///< writers
  std::function<void(const SampleLostStatus&)> on_sample_lost{};
};

}  // namespace tutti::dds
