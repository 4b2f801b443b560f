/// \file group.hpp
/// One group (a "subgroup" of the node's members): send to it, learn what became of a message.
///
/// A Group is a light handle. It may outlive its Node: then it takes no messages and says that the
/// node was destroyed; the memory of the node's row goes with the last handle. Claims, commits and
/// sends may be made by any number of threads at once, without locks [Spindle, 3.1, 3.4]. With
/// Drive::caller, waits turn the predicate loop themselves, so they belong to the thread that calls
/// Node::poll. Inside a callback of the same node nothing waits: see node.hpp.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/error.hpp"
#include "tutti/export.hpp"
#include "tutti/indexed_by.hpp"
#include "tutti/statistics.hpp"
#include "tutti/types.hpp"

namespace tutti {

class GroupCore;

/// Group::view_of knows of so many views: the newest one, and those before it in which this member
/// delivered messages of its own.
inline constexpr std::size_t kViewsRemembered = 1024;

/// What came of asking for space.
enum class ClaimOutcome : std::uint8_t {
  ok,
  full,        ///< no space: not every member has delivered enough yet. Try again later.
  too_large,   ///< larger than GroupOptions::message_max_bytes
  not_sender,  ///< this member is not among the group's senders
  stopped,     ///< before start, after finish, or after a member was lost
};

/// Space for one message in this member's ring buffer, to be filled and committed. A claim that is
/// dropped without commit becomes a null: nothing is delivered for it. Commit soon: what this
/// member claimed later waits for it. Claims end before their Node does: one that outlives it is
/// reported in the log, and what is written to it or committed then goes nowhere.
class TUTTI_API Claim {
 public:
  Claim() = default;
  Claim(Claim&& other) noexcept { swap(other); }
  Claim& operator=(Claim&& other) noexcept {
    swap(other);
    return *this;
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  ~Claim() {
    if (core_ != nullptr) abandon();
  }

  [[nodiscard]] explicit operator bool() const { return core_ != nullptr; }
  [[nodiscard]] ClaimOutcome outcome() const { return outcome_; }
  /// The space, aligned to 8 bytes, with whatever was there before.
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }

 private:
  friend class Group;
  friend class GroupCore;
  void abandon() noexcept;
  void swap(Claim& other) noexcept {
    std::swap(core_, other.core_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(end_, other.end_);
    std::swap(index_, other.index_);
    std::swap(outcome_, other.outcome_);
  }

  GroupCore* core_ = nullptr;
  std::byte* data_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t end_ = 0;    // where the record ends in the ring, in granules
  std::uint64_t index_ = 0;  // which record of this sender it is
  ClaimOutcome outcome_ = ClaimOutcome::stopped;
};

class TUTTI_API Group {
 public:
  using Timeout = std::chrono::nanoseconds;

  Group(const Group&) = default;  // a move copies: there is no empty handle
  Group& operator=(const Group&) = default;
  ~Group() = default;

  /// Asks for space for `size` bytes; never blocks. Claim::outcome says why there is none.
  [[nodiscard]] Claim try_claim(std::uint32_t size) noexcept;

  /// The same, waiting for space until the time-out.
  [[nodiscard]] Result<Claim> claim(std::uint32_t size, Timeout timeout);

  /// Hands the message over: every member delivers it, in the group's order. Never blocks.
  /// The claim is empty afterwards. A claim on another group is given up as if it were dropped: an
  /// error in the log names both groups, and the ticket is 0. So is that of an empty claim.
  Ticket commit(Claim&& claim) noexcept;

  /// Copies `bytes` into claimed space and commits.
  [[nodiscard]] Result<Ticket> send(std::span<const std::byte> bytes, Timeout timeout);
  [[nodiscard]] Result<Ticket> send(std::string_view text, Timeout timeout);

  /// Has `build(std::span<std::byte>)` write the message in place, then commits.
  template <class Build>
    requires std::is_invocable_v<Build, std::span<std::byte>>
  [[nodiscard]] Result<Ticket> send(std::uint32_t size, Build&& build, Timeout timeout) {
    Result<Claim> space = claim(size, timeout);
    if (!space) return std::unexpected(std::move(space.error()));
    std::forward<Build>(build)(space->bytes());
    return commit(std::move(*space));
  }

  /// True once this member has delivered the message to its own callback; at Level::atomic every
  /// member has it then. Never blocks. Ticket 0 names no message and is never delivered.
  [[nodiscard]] bool delivered(Ticket ticket) const noexcept;

  /// Waits for delivered(ticket), through changes of view: what was sent before one and not
  /// delivered is sent again after it. An error that is no time-out says why it never will be, or
  /// that it may have been: a member that was cut off cannot know what the others delivered.
  [[nodiscard]] Result<void> wait(Ticket ticket, Timeout timeout);

  /// The view in which this member delivered the message; nothing if it has not, or in a view that
  /// is forgotten (kViewsRemembered).
  [[nodiscard]] std::optional<std::uint64_t> view_of(Ticket ticket) const;

  /// For delivery callbacks: true if what they have read of their messages so far is what was sent.
  /// It turns false if this process was stopped during the callback for longer than
  /// NodeOptions::suspect_after, or the callback took NodeOptions::remove_after, or went on for
  /// suspect_after once its node had left or ended (Node::stop), and members on this host, whose
  /// memory it reads, went on without it and used the space again; the node is about to stop then,
  /// or has been stopped. To be asked after reading and before acting, by callbacks that
  /// act on the world outside the node; anywhere else it is true, and says nothing.
  [[nodiscard]] bool intact() const noexcept;

  /// For what sends and then waits: an error where this node's calls that wait are refused, as
  /// Group::wait is inside a callback. It has ErrorCode::in_callback and names `call` and the
  /// callback.
  [[nodiscard]] Result<void> may_wait(std::string_view call) const;

  /// This member sends no more; the others go on without waiting for it. Idempotent. It may be
  /// called before start(): then it sends nothing at all.
  void finish() noexcept;

  /// True once all senders finished and every member has delivered everything.
  [[nodiscard]] bool complete() const noexcept;

  /// Waits for complete().
  [[nodiscard]] Result<void> wait_complete(Timeout timeout);

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] const IndexedBy<MemberIndex, std::string>& members() const;  ///< as joined with
  /// This member's index among them; their number if it is not one of them.
  [[nodiscard]] MemberIndex own_index() const;
  /// The name of the member with that index, such as Message::sender. Empty beyond the last one.
  [[nodiscard]] std::string_view name_of(MemberIndex member) const;
  [[nodiscard]] GroupStatistics statistics() const;
  /// Of each member of the view, in rank order, this one included; at most 0.1 s old. Empty before
  /// the first view.
  [[nodiscard]] std::vector<MemberLag> lags() const;

 private:
  friend class Node;
  friend class HoldsDeliveries;
  explicit Group(std::shared_ptr<GroupCore> core) : core_(std::move(core)) {}
  std::shared_ptr<GroupCore> core_;  // never null; keeps what stands behind the node
};

/// While it lives, its thread counts as being inside a callback of the group's node: calls that
/// wait are refused there. For what deliveries wait for, such as whoever holds a lock that the
/// delivery callback takes: a call that waits for the delivery would never return there. It is
/// destroyed on its own thread; of several, any first.
class TUTTI_API HoldsDeliveries {
 public:
  /// `what` is what the errors say that the call was inside of. Both outlive this.
  HoldsDeliveries(const Group& group, const std::string& what);
  ~HoldsDeliveries();
  HoldsDeliveries(const HoldsDeliveries&) = delete;
  HoldsDeliveries& operator=(const HoldsDeliveries&) = delete;

 private:
  alignas(void*) std::byte mark_[3 * sizeof(void*)];  // the library's own
};

}  // namespace tutti
