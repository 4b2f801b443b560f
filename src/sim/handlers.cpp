#include "sim/handlers.hpp"

#include <utility>
#include <variant>

namespace tutti::sim {

void Handlers::ask(Ticket ticket) {
  if (!accepts()) return;
  open_.insert(++ids_);
  queue_.add(ticket, OnDelivered{.id = ids_, .ticket = ticket});
  waits_ = CompletionTurn::again;
}

void Handlers::ask(std::uint32_t size) {
  if (!accepts()) return;
  open_.insert(++ids_);
  asked_space_.push_back(ids_);
  queue_.add(size, OnSpace{.id = ids_, .size = size});
  waits_ = CompletionTurn::again;
}

void Handlers::moved() {
  if (waits_ != CompletionTurn::once_moved) return;
  if (open_.empty()) find("CP4: a pass wakes the thread of handlers, though nothing is asked for");
  waits_ = CompletionTurn::again;
}

bool Handlers::turn(std::uint64_t now_ns, std::uint64_t handler_ns) {
  if (now_ns < busy_until_ns_) return true;
  if (waits_ != CompletionTurn::again) return false;
  waits_ = look();
  if (waits_ == CompletionTurn::again) busy_until_ns_ = now_ns + handler_ns;
  return waits_ == CompletionTurn::again;
}

void Handlers::end() {
  queue_.close();
  for (CompletionTurn last = CompletionTurn::again; last == CompletionTurn::again;) last = look();
  if (!open_.empty()) find("CP1: a node has ended and has not called all of its handlers");
}

CompletionTurn Handlers::look() {
  struct Now {
    [[nodiscard]] bool delivered(Ticket ticket) const { return group.delivered(ticket); }
    [[nodiscard]] std::optional<Result<Claimed>> claim_if_any(std::uint32_t size) const {
      const std::optional<Result<SendRing::Space>> space = group.claim(size);
      if (!space) return {};
      if (!*space) return std::unexpected(space->error());
      return Claimed{.space = **space, .look = look};
    }
    const Group& group;
    std::uint64_t look;
  };
  const Now now{.group = group_, .look = ++looks_};
  const std::optional<Error> over = group_.why_over();
  std::optional<Queue::Due> due = over ? queue_.refuse(now, *over) : queue_.take(now);
  if (!due) return over ? CompletionTurn::never : queue_.waits_for();
  std::visit([this](const auto& one) { call(one); }, *due);
  return CompletionTurn::again;
}

void Handlers::call(const Queue::Delivered& due) {
  note_call(due.handler.id, !due.outcome);
  if (due.outcome && !group_.was_handed(due.handler.ticket)) {
    find("CP1: a handler is called for message " + std::to_string(due.handler.ticket.value) +
         ", which is not delivered");
  }
}

void Handlers::call(const Queue::Given& due) {
  note_call(due.handler.id, !due.outcome && !group_.is_closed());
  if (asked_space_.empty() || asked_space_.front() != due.handler.id) {
    find("CP3: a handler is given space before one that asked for space earlier");
  }
  std::erase(asked_space_, due.handler.id);
  if (!due.outcome) return;
  if (due.outcome->look != looks_) find("CP2: space was claimed before its handler was called");
  group_.fill(due.handler.size, due.outcome->space);
}

void Handlers::note_call(std::uint64_t id, bool failed) {
  if (open_.erase(id) == 0) find("CP1: a handler is called twice");
  if (failed && !group_.why_over()) find("CP1: a handler is told of an error by a group that runs");
}

void Handlers::find(const std::string& what) {
  if (finding_.empty()) finding_ = what;
}

}  // namespace tutti::sim
