/// \file replicated.hpp
/// A state machine of which every member of a group has a copy: all members apply commands in the
/// same order, queries read the local copy, and joiners take over the state.
///
/// Header-only, above Group: an application can do the same with a Group's callbacks alone.
/// Threads: the thread that delivers applies commands. Queries run concurrently with each other,
/// and hold up this member's deliveries while they run, so they should be short (held_up()). A
/// delivery that waits goes before all later queries, so any number of them cannot delay it for
/// long; only queries made inside a query of another machine go first. A slow apply() is a slow
/// delivery callback.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/error.hpp"
#include "tutti/group.hpp"
#include "tutti/message_copies.hpp"
#include "tutti/node.hpp"
#include "tutti/options.hpp"
#include "tutti/replicated_locks.hpp"
#include "tutti/state.hpp"
#include "tutti/state_machine.hpp"

namespace tutti {

template <StateMachine T>
class Replicated {
 public:
  using Command = typename T::Command;
  using Reply = typename T::Reply;
  using Timeout = std::chrono::nanoseconds;

  /// Joins the group with `machine` as the initial state; before Node::start. This sets the
  /// callbacks and `stateful` of the options.
  [[nodiscard]] static Result<Replicated> join(Node& node, GroupOptions options, T machine = {}) {
    if (options.delivery == DeliveryThread::application) {
      return fail(ErrorCode::invalid_argument,
                  "group '" + options.name + "': set delivery to predicate or own");
    }
    auto core = std::make_shared<Core>(std::move(machine));
    options.on_delivery = [core](std::span<const Message> batch) { core->deliver(batch); };
    options.stateful = true;
    if constexpr (GivesSnapshots<T>) {
      options.snapshot = [core] { return core->snapshot(); };
    } else {
      options.save_state = [core](const StateSink& write) { return core->save(write); };
    }
    options.load_state = [core](const StatePiece& piece) { return core->load(piece); };
    Result<Group> group = node.join(std::move(options));
    if (!group) return std::unexpected(std::move(group.error()));
    core->query_name = "a query of group '" + group->name() + "'";
    core->group.emplace(*group);
    return Replicated(std::move(core), *group);
  }

  /// Applies the command at all members; returns the reply of the local copy. Blocks until the
  /// command is applied here, or until a failure or the time-out; it may still be applied after
  /// that. Any thread; inside a callback of the node (apply() is one) or query() it sends nothing:
  /// ErrorCode::in_callback.
  [[nodiscard]] Result<Reply> execute(const Command& command, Timeout timeout) {
    const std::chrono::steady_clock::time_point deadline = deadline_in(timeout);
    if (Result<void> may = group_.may_wait("Replicated::execute"); !may) {
      return std::unexpected(std::move(may.error()));
    }
    std::vector<std::byte> bytes(sizeof(std::uint64_t));
    command.encode(bytes);
    Pending pending(*core_);
    const std::uint64_t number = pending.number();
    std::memcpy(bytes.data(), &number, sizeof number);
    if (time_until(deadline) == Timeout(0)) {
      return fail(ErrorCode::timed_out,
                  "group '" + group_.name() + "': time was over before anything was sent");
    }
    const Result<Ticket> ticket =
        group_.send(std::span<const std::byte>(bytes), time_until(deadline));
    if (!ticket) return std::unexpected(ticket.error());
    if (Result<void> applied = group_.wait(*ticket, time_until(deadline)); !applied) {
      return std::unexpected(std::move(applied.error()));
    }
    return pending.take_reply();
  }

  /// Reads the local copy, which may be behind the others'. Any thread. It waits for an apply(),
  /// load or save that runs or is about to; inside one of these, or inside query(), it does not
  /// wait. `read` counts as a callback of the node, which refuses calls that wait. Queries of
  /// several machines may be nested in any order (with libstdc++ on glibc), but the apply() of
  /// machines must not query each other in a circle: on several threads they would deadlock.
  template <std::invocable<const T&> Read>
  auto query(Read&& read) const {
    std::shared_lock lock(core_->machine_mutex, std::defer_lock);
    if (!detail::InUse::here(core_.get())) lock.lock();
    const detail::InUse use(core_.get());
    const HoldsDeliveries holds(group_, core_->query_name);
    return std::forward<Read>(read)(std::as_const(core_->machine));
  }

  /// The same, but never stale: it first waits until this copy has applied all that any member had
  /// when this was called (Group::barrier, which says for whom that works). At Level::durable that
  /// holds across a restart of all members, too: the log is applied before anything new.
  template <std::invocable<const T&> Read>
  [[nodiscard]] Result<std::invoke_result_t<Read, const T&>> query_latest(Read&& read,
                                                                          Timeout timeout) const {
    Result<void> latest = Group(group_).barrier(timeout);
    if (!latest) return std::unexpected(std::move(latest.error()));
    if (core_->overtaken.load(std::memory_order_acquire)) return core_->was_overtaken();
    if constexpr (std::is_void_v<std::invoke_result_t<Read, const T&>>) {
      return query(std::forward<Read>(read)), Result<void>();
    } else {
      return query(std::forward<Read>(read));
    }
  }

  /// Whether a delivery waits for queries to end at this moment. Any thread.
  [[nodiscard]] bool held_up() const { return core_->machine_mutex.held_up(); }

  [[nodiscard]] Group& group() { return group_; }

 private:
  struct Core {
    explicit Core(T initial) : machine(std::move(initial)) {}

    // What lies in a batch may be overwritten while it is read, if the others have removed this
    // member (Group::intact). So commands are copied and found intact before the machine sees them,
    // and a copy of the machine that is left behind is of a moment that there was.
    void deliver(std::span<const Message> batch) {
      const std::unique_lock lock(machine_mutex);
      const detail::InUse use(this);
      while (!batch.empty() && !overtaken.load(std::memory_order_relaxed)) {
        const std::size_t count = copies.take(batch);
        if (!group->intact()) return overtaken.store(true, std::memory_order_release);
        for (std::size_t i = 0; i < count; ++i) apply(copies.of(batch[i], i));
        batch = batch.subspan(count);
      }
    }
    void apply(const Message& message) {
      if (const std::optional<Tick> tick = message.tick()) {
        if constexpr (TakesTicks<T>) machine.on_tick(*tick);
        return;
      }
      std::uint64_t number = 0;
      if (message.size < sizeof number) return;  // not sent by execute()
      std::memcpy(&number, message.data, sizeof number);
      const std::optional<Command> command =
          Command::decode(message.bytes().subspan(sizeof number));
      if (!command) return;
      Reply reply = machine.apply(*command);
      if (message.ticket == Ticket{}) return;  // nobody waits here: another's, or of the log
      const std::lock_guard replies_lock(replies_mutex);
      if (const auto at = replies.find(number); at != replies.end()) {
        at->second = std::move(reply);
      }
    }
    [[nodiscard]] std::unexpected<Error> was_overtaken() const {
      return fail(ErrorCode::stopped,
                  "group '" + group->name() +
                      "': the others have gone on without this member "
                      "while it read what they had sent; start it again to join them");
    }
    Result<ReadSnapshot> snapshot() {
      const std::shared_lock lock(machine_mutex);
      const detail::InUse use(this);
      return std::as_const(machine).snapshot();
    }
    Result<void> save(const StateSink& write) {
      const std::shared_lock lock(machine_mutex);
      const detail::InUse use(this);
      return std::as_const(machine).save(write);
    }
    Result<void> load(const StatePiece& piece) {
      const std::unique_lock lock(machine_mutex);
      const detail::InUse use(this);
      return machine.load(piece);
    }

    std::string query_name;      // in errors
    std::optional<Group> group;  // its callbacks go with its node, and this with them
    detail::MessageCopies copies;
    std::atomic<bool> overtaken{false};  // and the machine stays as it is
    mutable detail::ReadersAndWriter machine_mutex;
    T machine;
    std::mutex replies_mutex;
    std::uint64_t numbers = 0;
    std::map<std::uint64_t, std::optional<Reply>> replies;  // by number, while execute() waits
  };

  // An execute() that waits for its reply.
  class Pending {
   public:
    explicit Pending(Core& core) : core_(core) {
      const std::lock_guard lock(core_.replies_mutex);
      number_ = ++core_.numbers;
      core_.replies[number_];
    }
    ~Pending() {
      const std::lock_guard lock(core_.replies_mutex);
      core_.replies.erase(number_);
    }
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;

    [[nodiscard]] std::uint64_t number() const { return number_; }
    [[nodiscard]] Result<Reply> take_reply() {
      const std::lock_guard lock(core_.replies_mutex);
      std::optional<Reply>& reply = core_.replies[number_];
      if (reply) return std::move(*reply);
      if (core_.overtaken.load(std::memory_order_acquire)) return core_.was_overtaken();
      return fail(ErrorCode::mismatch,
                  "Command::decode does not understand what Command::encode has written");
    }

   private:
    Core& core_;
    std::uint64_t number_ = 0;
  };

  // Any time-out is legal, including the largest and the smallest value.
  static std::chrono::steady_clock::time_point deadline_in(Timeout timeout) {
    const auto now = std::chrono::steady_clock::now();
    const Timeout longest = std::chrono::steady_clock::time_point::max() - now;
    return now + std::clamp(timeout, Timeout(0), longest);
  }
  static Timeout time_until(std::chrono::steady_clock::time_point deadline) {
    return std::max<Timeout>(deadline - std::chrono::steady_clock::now(), Timeout(0));
  }

  Replicated(std::shared_ptr<Core> core, const Group& group)
      : core_(std::move(core)), group_(group) {}

  std::shared_ptr<Core> core_;  // shared with the callbacks
  Group group_;
};

}  // namespace tutti
