/// \file group.hpp
/// One group (a "subgroup" of the node's members): send to it, learn what became of a message.
///
/// A Group is a light handle. It may outlive its Node: then it takes no messages and says that the
/// node was destroyed; the last handle frees the memory of the node's row. Any number of threads
/// may claim, commit and send at once, without locks [Spindle, 3.1, 3.4]. With Drive::caller a call
/// that waits runs the predicate loop itself, so only the thread that calls Node::poll may make it.
/// Inside a callback of the same node no call waits: see node.hpp.
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

#include "tutti/batch.hpp"
#include "tutti/error.hpp"
#include "tutti/export.hpp"
#include "tutti/indexed_by.hpp"
#include "tutti/statistics.hpp"
#include "tutti/types.hpp"

namespace tutti {

class GroupCore;

/// The number of views that Group::view_of remembers: the newest one, and earlier ones in which
/// this member delivered messages of its own.
inline constexpr std::size_t kViewsRemembered = 1024;

/// The outcome of a claim.
enum class ClaimOutcome : std::uint8_t {
  ok,
  full,        ///< no space: not every member has delivered enough yet. Try again later.
  too_large,   ///< larger than GroupOptions::message_max_bytes
  not_sender,  ///< this member is not among the group's senders
  stopped,     ///< before start, after finish, or after a member was lost
};

/// Space for one message in this member's ring buffer: fill it, then commit it. A claim that is
/// destroyed without a commit is abandoned: it becomes a null, for which nothing is delivered.
/// Commit soon: what this member claimed later waits for it. Destroy claims before their Node: the
/// log reports one that outlives it, and what is written to it or committed then is lost.
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
  /// The space, aligned to 8 bytes; it holds old bytes.
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

  /// The same, but waits for space until the time-out.
  [[nodiscard]] Result<Claim> claim(std::uint32_t size, Timeout timeout);

  /// Commits the message: every member delivers it, in the group's order. Never blocks. The claim
  /// is empty afterwards. A claim on another group, or with a service that the group does not offer
  /// (may_ask_for), is abandoned, and a warning in the log says why; then, and for an empty claim,
  /// the ticket is 0.
  Ticket commit(Claim&& claim) noexcept;
  Ticket commit(Claim&& claim, Service service) noexcept;

  /// Copies `bytes` into claimed space and commits.
  [[nodiscard]] Result<Ticket> send(std::span<const std::byte> bytes, Timeout timeout,
                                    Service service = Service::of_level);
  [[nodiscard]] Result<Ticket> send(std::string_view text, Timeout timeout,
                                    Service service = Service::of_level);

  /// Has `build(std::span<std::byte>)` write the message in place, then commits.
  template <class Build>
    requires std::is_invocable_v<Build, std::span<std::byte>>
  [[nodiscard]] Result<Ticket> send(std::uint32_t size, Build&& build, Timeout timeout,
                                    Service service = Service::of_level) {
    if (Result<void> may = may_ask_for(service); !may) {
      return std::unexpected(std::move(may.error()));
    }
    Result<Claim> space = claim(size, timeout);
    if (!space) return std::unexpected(std::move(space.error()));
    std::forward<Build>(build)(space->bytes());
    return commit(std::move(*space), service);
  }

  /// An error, which says what to change, if the group's messages cannot be sent with that service.
  [[nodiscard]] Result<void> may_ask_for(Service service) const;

  /// True once this member has delivered the message to its own callback; at Level::atomic, and of
  /// a message of Service::safe, every member has received it then. Never blocks. Ticket 0 names no
  /// message: always false.
  [[nodiscard]] bool delivered(Ticket ticket) const noexcept;

  /// Waits for delivered(ticket), also across changes of view: a message that the old view did not
  /// deliver is sent again in the next one. An error other than a time-out says why the message
  /// will never be delivered, or that the others may have delivered it: a member that was cut off
  /// cannot know.
  [[nodiscard]] Result<void> wait(Ticket ticket, Timeout timeout);

  /// The view in which this member delivered the message; empty if it has not, or does not remember
  /// the view (kViewsRemembered).
  [[nodiscard]] std::optional<std::uint64_t> view_of(Ticket ticket) const;

  /// For delivery callbacks: true if the bytes that the callback has read so far are those that
  /// were sent. It turns false once members on this host, whose memory the callback reads, have
  /// gone on without this member and used the space again. They may do so if this process was
  /// stopped during the callback for longer than NodeOptions::suspect_after, if the callback took
  /// NodeOptions::remove_after, or if it ran for suspect_after more once its node had left or ended
  /// (Node::stop); this node then stops soon, or has stopped. A callback that acts on the world
  /// outside the node should ask after it has read and before it acts. Elsewhere this is true and
  /// means nothing.
  [[nodiscard]] bool intact() const noexcept;

  /// With DeliveryThread::application: takes the next messages in the group's order, at most `max`
  /// and about 64 KiB of them. Never blocks; the batch is empty if there is nothing to take now.
  /// One thread takes at a time, and one batch is held at a time: release it before the next take.
  /// Go on taking while the node runs: it is told of a view once all before that view was taken.
  /// The error is ErrorCode::complete once complete(), which the next view may end: a node that
  /// joins may send. It says why the node has ended if it has; what was not taken by then is not
  /// delivered here.
  [[nodiscard]] Result<Batch> take(std::size_t max = kDeliveryBatchMax);
  /// The same, but waits until there is something, the end, or the time-out, which is an error; not
  /// before start(), and not inside a callback of the node.
  [[nodiscard]] Result<Batch> take(std::size_t max, Timeout timeout);

  /// A descriptor to wait for with poll, epoll, Asio or libuv. It is readable (level-triggered)
  /// while there may be something to take; so it is once nothing comes any more, like a socket at
  /// its end. It becomes unreadable when a take finds nothing. Do not read from it or close it; it
  /// lasts as long as the node or a Group. While a batch is held it may be readable: look at it
  /// again after the release. With Drive::caller only calls that drive the node make it readable.
  [[nodiscard]] Result<int> event_fd();

  /// For code that sends and then waits: an error where this node refuses calls that wait, as it
  /// does inside a callback. It has ErrorCode::in_callback and names `call` and the callback.
  [[nodiscard]] Result<void> may_wait(std::string_view call) const;

  /// This member sends no more; the others go on without waiting for it. Idempotent. A member that
  /// calls it before start() sends nothing at all.
  void finish() noexcept;

  /// True once all senders finished and every member has delivered everything.
  [[nodiscard]] bool complete() const noexcept;

  /// Waits for complete().
  [[nodiscard]] Result<void> wait_complete(Timeout timeout);

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] const IndexedBy<MemberIndex, std::string>& members() const;  ///< as given to join
  /// This member's index in members(), or the number of members if it is not one of them.
  [[nodiscard]] MemberIndex own_index() const;
  /// The name of the member with that index, such as Message::sender. Empty beyond the last one.
  [[nodiscard]] std::string_view name_of(MemberIndex member) const;
  [[nodiscard]] GroupStatistics statistics() const;
  /// How far each member of the view is behind, in rank order, this one included; at most 0.1 s
  /// old. Empty before the first view.
  [[nodiscard]] std::vector<MemberLag> lags() const;

 private:
  friend class Node;
  friend class HoldsDeliveries;
  explicit Group(std::shared_ptr<GroupCore> core) : core_(std::move(core)) {}
  std::shared_ptr<GroupCore> core_;  // never null; keeps the row alive
};

/// While this object exists, its thread counts as being inside a callback of the group's node, so
/// the node refuses calls that wait there. Use it in code that deliveries wait for, such as code
/// that holds a lock which the delivery callback takes: a call that waits for a delivery would
/// never return there. Destroy it on the thread that made it; of several, in any order.
class TUTTI_API HoldsDeliveries {
 public:
  /// Errors say that the call was inside of `what`. Both arguments must outlive this object.
  HoldsDeliveries(const Group& group, const std::string& what);
  ~HoldsDeliveries();
  HoldsDeliveries(const HoldsDeliveries&) = delete;
  HoldsDeliveries& operator=(const HoldsDeliveries&) = delete;

 private:
  alignas(void*) std::byte mark_[3 * sizeof(void*)];  // the library's own
};

}  // namespace tutti
