/// \file completion_queue.hpp
/// What an application has asked a group for with handlers: which handler is due next, and what the
/// thread that calls them waits for. No thread, no lock: whoever owns it has both.
///
/// Invariants:
///  CP1  A handler that was accepted is taken out exactly once; with an error once the group is
///       over. Once refuse() has found none, none is accepted.
///  CP2  Space is claimed for the handler that is taken out, not before: what is committed behind a
///       claim waits for it. So take() gives one handler, which is called before the next take().
///  CP3  Space is claimed for handlers in the order in which they asked for it.
///  CP4  While nothing is asked for, the thread waits to be asked, and nothing else wakes it.
/// Threads: one at a time.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "tutti/error.hpp"
#include "tutti/types.hpp"

namespace tutti {

/// What the thread that calls handlers does after a look.
enum class CompletionTurn : std::uint8_t {
  again,       ///< it has called one; more may be due
  once_moved,  ///< handlers wait: it looks again once something was delivered, or space is free
  once_asked,  ///< it looks again once a handler is accepted, or the group is over
  never        ///< the group is over, and no handler is left
};

template <class OnDelivered, class OnSpace, class Space>
class CompletionQueue {
 public:
  struct Delivered {
    OnDelivered handler;
    Result<void> outcome;
  };
  struct Given {
    OnSpace handler;
    Result<Space> outcome;
  };
  /// A handler that was taken out, and what to call it with.
  using Due = std::variant<Delivered, Given>;

  void add(Ticket ticket, OnDelivered handler) {
    tickets_.emplace(ticket.value, std::move(handler));
  }
  void add(std::uint32_t size, OnSpace handler) {
    spaces_.push_back({.size = size, .handler = std::move(handler)});
  }

  /// None is accepted any more.
  void close() { closed_ = true; }
  [[nodiscard]] bool is_closed() const { return closed_; }

  /// One that is due, if any is. `group` says delivered(Ticket), and claim_if_any(size): nothing
  /// while there is no space, else a claim or why there will be none.
  template <class Group>
  [[nodiscard]] std::optional<Due> take(Group& group) {
    if (!tickets_.empty() && group.delivered(Ticket{tickets_.begin()->first})) {
      return Delivered{take_ticket(), {}};
    }
    if (spaces_.empty()) return {};
    std::optional<Result<Space>> space = group.claim_if_any(spaces_.front().size);
    if (!space) return {};
    return Given{take_space(), std::move(*space)};
  }

  /// The group is over, for `why`: one that can no longer be due. If there is none, none is
  /// accepted any more (CP1).
  template <class Group>
  [[nodiscard]] std::optional<Due> refuse(const Group& group, const Error& why) {
    if (!tickets_.empty()) {
      Result<void> outcome;
      if (!group.delivered(Ticket{tickets_.begin()->first})) outcome = std::unexpected(why);
      return Delivered{take_ticket(), std::move(outcome)};
    }
    if (!spaces_.empty()) {
      Result<Space> outcome = std::unexpected(why);  // may throw: before the handler is out
      return Given{take_space(), std::move(outcome)};
    }
    closed_ = true;
    return {};
  }

  /// After a look that found nothing due (CP4).
  [[nodiscard]] CompletionTurn waits_for() const {
    const bool pending = !tickets_.empty() || !spaces_.empty();
    return pending ? CompletionTurn::once_moved : CompletionTurn::once_asked;
  }

 private:
  struct Asked {
    std::uint32_t size = 0;
    OnSpace handler;
  };

  OnDelivered take_ticket() {
    OnDelivered handler = std::move(tickets_.begin()->second);
    tickets_.erase(tickets_.begin());
    return handler;
  }
  OnSpace take_space() {
    OnSpace handler = std::move(spaces_.front().handler);
    spaces_.pop_front();
    return handler;
  }

  std::multimap<std::uint64_t, OnDelivered> tickets_;
  std::deque<Asked> spaces_;
  bool closed_ = false;
};

}  // namespace tutti
