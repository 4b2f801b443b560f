/// \file message_copies.hpp
/// Copies of messages, for callbacks that use them only once they are known to be what was sent
/// (Group::intact): what was copied does not change any more.
///
/// Threads: one at a time.
#pragma once
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "tutti/message.hpp"

namespace tutti::detail {

class MessageCopies {
 public:
  /// Copies messages from the front of the batch, at least one: as many as have 64 KiB together.
  /// Returns how many. What was copied before is gone.
  std::size_t take(std::span<const Message> batch) {
    std::size_t count = 0;
    std::size_t end = 0;
    places_.clear();
    do {
      places_.push_back(end);
      end = (end + batch[count].size + kAlignment - 1) / kAlignment * kAlignment;
      ++count;
    } while (count < batch.size() && end + batch[count].size <= kBytesMost);
    if (bytes_.size() < end) bytes_.resize(end);
    for (std::size_t i = 0; i < count; ++i) {
      if (batch[i].size > 0) std::memcpy(bytes_.data() + places_[i], batch[i].data, batch[i].size);
    }
    return count;
  }
  /// The message, which is the i-th that was copied, with its copy as data.
  [[nodiscard]] Message of(Message message, std::size_t i) const {
    message.data = bytes_.data() + places_[i];
    return message;
  }

 private:
  static constexpr std::size_t kBytesMost = 64 * 1024;
  static constexpr std::size_t kAlignment = alignof(std::max_align_t);

  std::vector<std::byte> bytes_;
  std::vector<std::size_t> places_;
};

}  // namespace tutti::detail
