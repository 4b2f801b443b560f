/// \file handlers.hpp
/// What a simulated application has asked one group for with handlers, and the thread that calls
/// them: the library's CompletionQueue, with a thread that takes its turns in virtual time.
///
/// It checks that each handler is called once, with what is true then, not before it is due and at
/// the latest when the group is over (CP1), that space is claimed for the handler that is called
/// just then (CP2), in the order of asking (CP3), and that nothing wakes the thread while nothing
/// is asked for (CP4). Threads: one.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "engine/completion_queue.hpp"
#include "smc/send_ring.hpp"

namespace tutti::sim {

class Handlers {
 public:
  /// Space that was claimed for a handler, and the look at the queue in which it was.
  struct Claimed {
    SendRing::Space space;
    std::uint64_t look = 0;
  };
  /// What the group and the application say, and what a handler does with its space.
  struct Group {
    std::function<bool(Ticket)> delivered;
    std::function<bool(Ticket)> was_handed;  ///< the message, to the application
    std::function<std::optional<Result<SendRing::Space>>(std::uint32_t size)> claim;
    std::function<std::optional<Error>()> why_over;
    std::function<bool()> is_closed;  ///< there will be no space any more
    std::function<void(std::uint32_t size, const SendRing::Space& space)> fill;
  };

  explicit Handlers(Group group) : group_(std::move(group)) {}

  /// The application asks; nothing happens once the group is over.
  void ask(Ticket ticket);
  void ask(std::uint32_t size);
  [[nodiscard]] std::size_t open() const { return open_.size(); }

  /// Something was delivered, or space is free.
  void moved();
  /// The group is over: the thread hears it, wherever it waits.
  void over() { waits_ = CompletionTurn::again; }
  /// The thread looks once, unless it waits, or is in a handler until then. A handler that it calls
  /// takes `handler_ns`. False if it waits.
  bool turn(std::uint64_t now_ns, std::uint64_t handler_ns);
  /// The node ends: none is accepted any more, and the thread makes its last calls.
  void end();

  /// What is wrong; empty if nothing.
  [[nodiscard]] const std::string& finding() const { return finding_; }

 private:
  struct OnDelivered {
    std::uint64_t id = 0;
    Ticket ticket{};
  };
  struct OnSpace {
    std::uint64_t id = 0;
    std::uint32_t size = 0;
  };
  using Queue = CompletionQueue<OnDelivered, OnSpace, Claimed>;

  [[nodiscard]] bool accepts() const { return !queue_.is_closed() && !group_.why_over(); }
  [[nodiscard]] CompletionTurn look();
  void call(const Queue::Delivered& due);
  void call(const Queue::Given& due);
  void note_call(std::uint64_t id, bool failed);
  void find(const std::string& what);

  const Group group_;
  Queue queue_;
  std::uint64_t ids_ = 0;
  std::set<std::uint64_t> open_;           // accepted, and not called so far
  std::deque<std::uint64_t> asked_space_;  // of them, those for space, in order
  std::uint64_t looks_ = 0;
  std::uint64_t busy_until_ns_ = 0;
  CompletionTurn waits_ = CompletionTurn::once_asked;  // again: it is awake
  std::string finding_;
};

}  // namespace tutti::sim
