/// \file reader.hpp
/// Reads the samples of a topic: called (on_sample, on_samples), or taking them when it likes.
///
/// All readers of one topic at one participant that take share one store, in which each has a
/// place: a sample is in memory once. Samples of a topic come in the bundle's order, the same at
/// all participants; of an unordered topic only each writer's samples come in its order.
/// Threads: any; of one reader one thread takes at a time, others wait for it. With Drive::caller
/// nothing comes while the thread that polls is in wait(): let another one wait, or poll and take.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "tutti/dds/listener.hpp"
#include "tutti/dds/options.hpp"
#include "tutti/dds/sample.hpp"
#include "tutti/dds/topic.hpp"
#include "tutti/dds/type_support.hpp"
#include "tutti/error.hpp"
#include "tutti/export.hpp"

namespace tutti::dds {

class ReaderCore;

class TUTTI_API UntypedReader {
 public:
  using Timeout = std::chrono::nanoseconds;

  /// Waits, and is refused, as UntypedTopic::create. It is given each sample from a moment on that
  /// lies before the others hear of it: so its listener may be called before this returns.
  [[nodiscard]] static Result<UntypedReader> create(const UntypedTopic& topic,
                                                    const ReaderOptions& options = {},
                                                    UntypedReaderListener listener = {});

  /// The next samples, at most `max`; none if there is nothing now. Does not wait for others, but
  /// of a logged topic, where it has to read the log, for the disk. Errors: the reader has
  /// on_sample or on_samples; the log is damaged or has no such sample any more; the participant or
  /// its node has ended (stopped), once all was taken.
  [[nodiscard]] Result<LoanedBytes> take(std::size_t max);
  /// Waits until there is something to take, or it has ended; timed_out. Refused inside callbacks.
  [[nodiscard]] Result<void> wait(Timeout timeout);
  /// A descriptor for an event loop: readable (level-triggered) while there may be something to
  /// take. A take that finds nothing makes it unreadable. Do not read from it or close it; it lasts
  /// as long as the reader.
  [[nodiscard]] Result<int> event_fd();
  /// How many samples this reader has missed, because it was slower than its topic keeps them.
  [[nodiscard]] std::uint64_t lost() const;
  /// For listeners that are handed samples in place (on_sample, on_samples): true if what they have
  /// read so far is what was sent, as Group::intact says. What take() gives always is.
  [[nodiscard]] bool intact() const;

  UntypedReader(UntypedReader&&) noexcept;
  UntypedReader& operator=(UntypedReader&&) noexcept;
  /// Waits for a callback of it that runs, but not inside a callback of the node.
  ~UntypedReader();

 private:
  friend class WaitSet;
  explicit UntypedReader(std::shared_ptr<ReaderCore> core);
  std::shared_ptr<ReaderCore> core_;
};

template <class T>
class DataReader {
 public:
  using Timeout = std::chrono::nanoseconds;
  using Support = TypeSupport<T>;

  /// See UntypedReader::create.
  [[nodiscard]] static Result<DataReader> create(const Topic<T>& topic,
                                                 const ReaderOptions& options = {},
                                                 ReaderListener<T> listener = {}) {
    UntypedReaderListener bytes;
    if (Result<void> good = check(topic, listener); !good) {
      return std::unexpected(std::move(good.error()));
    }
    if (listener.on_sample) bytes.on_samples = hand_each_to(std::move(listener.on_sample));
    if (listener.on_samples) bytes.on_samples = hand_to(std::move(listener.on_samples));
    bytes.on_data_available = std::move(listener.on_data_available);
    bytes.on_subscription_matched = std::move(listener.on_subscription_matched);
    bytes.on_sample_lost = std::move(listener.on_sample_lost);
    Result<UntypedReader> reader =
        UntypedReader::create(topic.untyped(), options, std::move(bytes));
    if (!reader) return std::unexpected(std::move(reader.error()));
    return DataReader(std::move(*reader));
  }

  /// See UntypedReader::take. What is not trivially copyable is decoded here, on this thread.
  [[nodiscard]] Result<LoanedSamples<T>> take(
      std::size_t max = std::numeric_limits<std::size_t>::max()) {
    Result<LoanedBytes> bytes = reader_.take(max);
    if (!bytes) return std::unexpected(std::move(bytes.error()));
    LoanedSamples<T> out;
    out.bytes_ = std::move(*bytes);
    if constexpr (!Support::kInPlace) {
      out.decoded_.resize(out.size());
      for (std::size_t i = 0; i < out.size(); ++i) {
        if (Support::decode(out.bytes_[i].bytes(), out.decoded_[i])) continue;
        out.decoded_[i] = T{};
        out.bytes_.mark_invalid(i);
      }
    }
    return out;
  }
  [[nodiscard]] Result<void> wait(Timeout timeout) { return reader_.wait(timeout); }
  [[nodiscard]] Result<int> event_fd() { return reader_.event_fd(); }
  [[nodiscard]] std::uint64_t lost() const { return reader_.lost(); }
  [[nodiscard]] bool intact() const { return reader_.intact(); }
  [[nodiscard]] UntypedReader& untyped() { return reader_; }

 private:
  explicit DataReader(UntypedReader reader) : reader_(std::move(reader)) {}

  using OnBatch = std::function<void(const ByteBatch&)>;
  using OnSample = std::function<void(const T&, const SampleInfo&)>;
  [[nodiscard]] static OnBatch hand_each_to(OnSample on_sample) {
    if constexpr (Support::kInPlace) {
      return [on_sample = std::move(on_sample)](const ByteBatch& batch) {
        for (std::size_t i = 0; i < batch.size() && !batch.is_over(); ++i) {
          on_sample(*std::launder(reinterpret_cast<const T*>(batch.data(i))), batch.info(i));
        }
      };
    } else {
      // The one before is decoded into again, so that strings and vectors keep their memory.
      return [on_sample = std::move(on_sample), sample = T{}](const ByteBatch& batch) mutable {
        for (std::size_t i = 0; i < batch.size() && !batch.is_over(); ++i) {
          SampleInfo info = batch.info(i);
          info.valid = Support::decode(batch.bytes(i), sample).has_value();
          if (!info.valid) sample = T{};
          on_sample(sample, info);
        }
      };
    }
  }
  [[nodiscard]] static OnBatch hand_to(std::function<void(const SampleBatch<T>&)> on_samples) {
    if constexpr (Support::kInPlace) {
      return [on_samples = std::move(on_samples)](const ByteBatch& batch) {
        on_samples(SampleBatch<T>(batch));
      };
    } else {
      return {};  // check() has refused it
    }
  }
  [[nodiscard]] static Result<void> check(const Topic<T>& topic,
                                          const ReaderListener<T>& listener) {
    if (!listener.on_samples || (Support::kInPlace && !listener.on_sample)) return {};
    const char* const why =
        Support::kInPlace ? "a reader has on_sample or on_samples; give it one of them"
                          : "on_samples hands over samples in place, and this type is encoded; "
                            "give the reader on_sample";
    return fail(ErrorCode::invalid_argument, "topic '" + topic.name() + "': " + why);
  }

  UntypedReader reader_;
};

}  // namespace tutti::dds
