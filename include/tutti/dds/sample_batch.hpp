/// \file sample_batch.hpp
/// Samples of one topic that were delivered one after another, in place (on_samples): nothing is
/// copied, and what a listener does not ask for is not computed.
///
/// Threads: the delivery thread, during the call alone.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>

#include "tutti/dds/sample.hpp"
#include "tutti/dds/type_support.hpp"
#include "tutti/message.hpp"

namespace tutti::dds {

/// The samples as bytes: the payload of a trivially copyable type, or XCDR2.
class ByteBatch {
 public:
  [[nodiscard]] std::size_t size() const { return messages_.size(); }
  [[nodiscard]] bool empty() const { return messages_.empty(); }
  [[nodiscard]] const std::byte* data(std::size_t i) const {
    return messages_[i].data + payload_at_;
  }
  [[nodiscard]] std::span<const std::byte> bytes(std::size_t i) const {
    return {data(i), messages_[i].size - payload_at_};
  }
  [[nodiscard]] SampleInfo info(std::size_t i) const {
    const Message& message = messages_[i];
    SampleInfo info{.position = counts_ ? SeqNo{first_ + i} : message.seq,
                    .sender = message.sender,
                    .view = message.view};
    if (stamped_) {  // src/dds/record.hpp has the layout
      std::memcpy(&info.source_timestamp, message.data + kTimestampAt,
                  sizeof info.source_timestamp);
    }
    return info;
  }
  /// The reader was destroyed, or has ended, during the call: the rest is not for it.
  [[nodiscard]] bool is_over() const { return ended_->load(std::memory_order_acquire); }

 private:
  friend class Bundle;
  friend class ReaderCore;
  static constexpr std::size_t kTimestampAt = 8;

  ByteBatch(std::span<const Message> messages, std::uint32_t payload_at, bool stamped)
      : messages_(messages), payload_at_(payload_at), stamped_(stamped) {}
  void count_from(std::uint64_t first) {
    counts_ = true;
    first_ = first;
  }

  std::span<const Message> messages_;
  std::uint32_t payload_at_;
  bool stamped_;
  bool counts_ = false;      // of an unordered topic: positions are counted here,
  std::uint64_t first_ = 0;  // from this one on
  const std::atomic<bool>* ended_ = nullptr;
};

/// Samples that lie in memory as they were sent; of a T that is encoded there is none.
template <class T>
class SampleBatch {
 public:
  class Iterator;
  /// One of them.
  class InPlace {
   public:
    [[nodiscard]] const T& data() const {
      static_assert(TypeSupport<T>::kInPlace,
                    "on_samples hands over samples in place, and this type is encoded: take "
                    "on_sample");
      return *std::launder(reinterpret_cast<const T*>(batch_->data(at_)));
    }
    [[nodiscard]] SampleInfo info() const { return batch_->info(at_); }

   private:
    friend class SampleBatch;
    friend class Iterator;
    InPlace(const ByteBatch& batch, std::size_t at) : batch_(&batch), at_(at) {}
    const ByteBatch* batch_;
    std::size_t at_;
  };
  class Iterator {
   public:
    [[nodiscard]] InPlace operator*() const { return {*batch_, at_}; }
    Iterator& operator++() { return ++at_, *this; }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    friend class SampleBatch;
    Iterator(const ByteBatch& batch, std::size_t at) : batch_(&batch), at_(at) {}
    const ByteBatch* batch_;
    std::size_t at_;
  };

  explicit SampleBatch(const ByteBatch& batch) : batch_(&batch) {}
  [[nodiscard]] std::size_t size() const { return batch_->size(); }
  [[nodiscard]] InPlace operator[](std::size_t i) const { return {*batch_, i}; }
  [[nodiscard]] Iterator begin() const { return {*batch_, 0}; }
  [[nodiscard]] Iterator end() const { return {*batch_, size()}; }
  /// See ByteBatch::is_over: for a listener that may end its own reader.
  [[nodiscard]] bool is_over() const { return batch_->is_over(); }

 private:
  const ByteBatch* batch_;
};

}  // namespace tutti::dds
