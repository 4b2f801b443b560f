/// \file batch.hpp
/// Messages that the application has taken from a group (Group::take), in place.
///
/// A batch is a loan. While it is held, its bytes stay where the senders put them; when it is
/// released, or destroyed, its messages count as delivered and their space may be used again.
/// Within a view a batch that is held long only holds up its own group: its senders run out of
/// window and wait. But a node tells of the next view, delivers in it, in all groups, and gives
/// states to joiners only once all batches of the view before are released. No member is removed
/// for it, unless NodeOptions::remove_after says so.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "tutti/export.hpp"
#include "tutti/message.hpp"

namespace tutti {

class GroupCore;

/// Use one batch from one thread at a time; another thread may release it. It may outlive its Group
/// and its Node, which does not wait for it when it stops: the batch keeps their memory, and its
/// bytes stay readable. Members on this host may then use the space again; intact() says so.
class TUTTI_API Batch {
 public:
  Batch() = default;  ///< empty
  Batch(Batch&& other) noexcept { swap(other); }
  Batch& operator=(Batch&& other) noexcept {
    Batch(std::move(other)).swap(*this);
    return *this;
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch() {
    if (core_ != nullptr) release();
  }

  /// In the group's order. Valid until the batch is released.
  [[nodiscard]] std::span<const Message> messages() const { return messages_; }
  [[nodiscard]] const Message* begin() const { return messages_.data(); }
  [[nodiscard]] const Message* end() const { return messages_.data() + messages_.size(); }
  [[nodiscard]] std::size_t size() const { return messages_.size(); }
  [[nodiscard]] bool empty() const { return messages_.empty(); }
  [[nodiscard]] const Message& operator[](std::size_t i) const { return messages_[i]; }

  /// The view in which all its messages are delivered; 0 if it is empty.
  [[nodiscard]] std::uint64_t view() const { return view_; }

  /// True if the bytes that were read so far are those that were sent. It turns false once members
  /// on this host, whose memory the batch shows, have gone on without this member and used the
  /// space again (see Group::intact). An application that acts on the world outside the node should
  /// ask after it has read and before it acts. Elsewhere this is true and means nothing.
  [[nodiscard]] bool intact() const noexcept;

  /// Ends the loan; the batch is empty afterwards. Never waits for others. Idempotent.
  void release() noexcept;

 private:
  friend class GroupCore;
  void swap(Batch& other) noexcept {
    std::swap(core_, other.core_);
    std::swap(messages_, other.messages_);
    std::swap(view_, other.view_);
  }

  std::shared_ptr<GroupCore> core_;
  std::span<const Message> messages_;
  std::uint64_t view_ = 0;
};

}  // namespace tutti
