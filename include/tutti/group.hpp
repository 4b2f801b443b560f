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
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/batch.hpp"
#include "tutti/claim.hpp"
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

/// Called once by Group::on_delivered, Group::on_space: see there.
using DeliveredHandler = std::move_only_function<void(Result<void>)>;
using SpaceHandler = std::move_only_function<void(Result<Claim>)>;

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

  /// Commits the first `used` bytes of the claim as the message, for one whose size was not known
  /// before: claim the most that it may have. If nothing was claimed since, the rest is free at
  /// once; else with the message. Beyond the claim's size it is abandoned like a claim on another
  /// group.
  Ticket commit(Claim&& claim, std::uint32_t used, Service service = Service::of_level) noexcept;

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

  /// Constructs a T in place and commits it: Message::as<T> reads it, at members of the same
  /// architecture. T needs no more than the group's alignment.
  template <class T, class... Arguments>
    requires(std::is_trivially_copyable_v<T> && alignof(T) <= kAlignmentMax &&
             std::is_constructible_v<T, Arguments...>)
  [[nodiscard]] Result<Ticket> emplace(Timeout timeout, Arguments&&... arguments) {
    if constexpr (alignof(T) > 8) {
      if (Result<void> may = may_hold(alignof(T)); !may) {
        return std::unexpected(std::move(may.error()));
      }
    }
    Result<Claim> space = claim(sizeof(T), timeout);
    if (!space) return std::unexpected(std::move(space.error()));
    ::new (static_cast<void*>(space->data())) T(std::forward<Arguments>(arguments)...);
    return commit(std::move(*space));
  }

  /// An error, which says what to change, if the group's messages cannot be sent with that service.
  [[nodiscard]] Result<void> may_ask_for(Service service) const;
  /// The same if the group's messages are not aligned to so many bytes.
  [[nodiscard]] Result<void> may_hold(std::size_t alignment) const;

  /// True once this member has delivered the message to its own callback; at Level::atomic, and of
  /// a message of Service::safe, every member has received it then. Never blocks. Ticket 0 names no
  /// message: always false.
  [[nodiscard]] bool delivered(Ticket ticket) const noexcept;

  /// Waits for delivered(ticket), also across changes of view: a message that the old view did not
  /// deliver is sent again in the next one. An error other than a time-out says why the message
  /// will never be delivered, or that the others may have delivered it: a member that was cut off
  /// cannot know.
  [[nodiscard]] Result<void> wait(Ticket ticket, Timeout timeout);

  /// Calls `handler` once: when delivered(ticket) is true, or with the error that wait() would
  /// return, at the latest when the node ends. Never blocks. Handlers of a group run one at a time,
  /// on a thread of their own; a slow one holds up other handlers alone. Inside it the node refuses
  /// calls that wait. An error here means that it is not called; there is one once the node has
  /// ended, also if delivered(ticket). See async.hpp for futures and coroutines.
  [[nodiscard]] Result<void> on_delivered(Ticket ticket, DeliveredHandler handler);

  /// The same for a claim: calls `handler` with space for `size` bytes once there is some, in the
  /// order in which this was asked for. Commit the claim soon.
  [[nodiscard]] Result<void> on_space(std::uint32_t size, SpaceHandler handler);

  /// Waits until this member has delivered all that any member of the view had delivered when this
  /// was called: what is read here then is not stale. It costs one null in the sequence. For
  /// senders of a group at Level::atomic or durable: at other levels the others may have gone on
  /// without this member, and it would not know. At durable it waits for disks if messages come
  /// before the null that wait for them. Where the application takes messages, another thread must.
  [[nodiscard]] Result<void> barrier(Timeout timeout);

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

  /// With DeliveryThread::application: takes the next messages in the group's order, at most `max`;
  /// none more once they have 64 KiB, which the last ones may exceed by as much, or by one message
  /// of each sender. Never blocks; the batch is empty if there is nothing to take now. One thread
  /// takes at a time, and one batch is held at a time: release it before the next take. Take as
  /// long as the node runs: it is told of a view once all before that view was taken. The error is
  /// ErrorCode::complete once complete(), which the next view may end: a node that joins may send.
  /// It says why the node has ended if it has; what was not taken by then is not delivered here.
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

  /// Leaves a group that was joined after start; the others go on, and whoever is the last closes
  /// it. This member sends no more, as after finish(). Waits until every member has delivered all
  /// that this one sent, which this member does, too: take on meanwhile, end claims, release
  /// batches. Then until a view is without it. What others sent is delivered here up to some
  /// message, and none behind it; on_delivery is not called after this has returned. Handlers of
  /// on_delivered and on_space that wait still are told, and what the options refer to is let go of
  /// soon after, on a thread of the node. After a time-out the group is left as soon as that may
  /// be; call again to wait. Calls that send, take or wait say that it was left. A handle that is
  /// dropped does not leave. Any thread; not inside a callback of the node.
  [[nodiscard]] Result<void> leave(Timeout timeout);

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
  friend class GroupSends;
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
