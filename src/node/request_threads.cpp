// The threads that call the application for requests: with those of the others, and with replies.
#include <algorithm>
#include <new>

#include "base/text.hpp"
#include "node/clock.hpp"
#include "node/node_core.hpp"
#include "node/requests_core.hpp"

namespace tutti {
namespace {

// What is said next wakes earlier.
constexpr std::chrono::nanoseconds kLongestRest = std::chrono::seconds(100);

// No more than so many bytes, and no part of a character.
std::string_view cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most != 0 && (static_cast<unsigned char>(text[most]) & 0xc0U) == 0x80U) --most;
  return text.substr(0, most);
}

}  // namespace

void RequestsCore::serve_all() {
  while (!node_.why_over()) {
    const std::uint32_t seen = to_serve_.prepare();
    std::optional<Arrived> next;
    {
      const std::lock_guard lock(mutex_);
      if (!arrived_.empty()) {
        next = std::move(arrived_.front());
        arrived_.pop_front();
      }
    }
    if (next || node_.why_over()) {
      to_serve_.cancel();
    } else {
      to_serve_.wait(seen, kLongestRest);
    }
    if (next) serve(*next);
  }
  serving_ended_.store(true, std::memory_order_release);
  node_.calls_ended();
}

void RequestsCore::serve(const Arrived& one) {
  if (give_up(one)) return;
  try {
    send_answer(one, answer_to(one));
  } catch (const std::bad_alloc&) {  // the node fails, so its caller hears that it is lost
    node_.callbacks().call(serving_name_, [] { throw; });
  }
}

// RC2. The caller began to count its time-out before the request arrived here.
bool RequestsCore::give_up(const Arrived& one) {
  if (one.until_ns == 0 || now_ns() < one.until_ns) return false;
  {
    const std::lock_guard lock(mutex_);
    if (sessions_[one.from] == one.session) lanes_->release(one.from, one.session);
  }
  node_.notify_work();
  return true;
}

Result<std::vector<std::byte>> RequestsCore::answer_to(const Arrived& one) {
  if (!options_.on_request) {
    return fail(ErrorCode::refused, "member '" + options_.name +
                                        "' answers no requests: it has no on_request; set that "
                                        "there, or ask another member");
  }
  std::optional<Result<std::vector<std::byte>>> answer;
  serving_call_.begin();
  node_.callbacks().call(serving_name_, [&] {
    answer = options_.on_request(Request{.from = name_of(one.from), .bytes = one.bytes});
  });
  serving_call_.end();
  if (!answer) return fail(ErrorCode::refused, "the request callback threw");
  if (*answer && (*answer)->size() > options_.request_max_bytes) {
    return fail(ErrorCode::refused,
                "the request callback of member '" + options_.name + "' returned a reply of " +
                    std::to_string((*answer)->size()) + " bytes; legal: 0 .. " +
                    std::to_string(options_.request_max_bytes) + " (request_max_bytes)");
  }
  return std::move(*answer);
}

// RC2. Replies are taken at once where they arrive, so space comes soon, or the session ends.
void RequestsCore::send_answer(const Arrived& one, const Result<std::vector<std::byte>>& answer) {
  for (;;) {
    const std::uint32_t seen = moved_.prepare();
    auto written = Lanes::Written::gone;
    {
      const std::lock_guard lock(mutex_);
      if (sessions_[one.from] == one.session) {
        std::span<const std::byte> bytes;
        if (answer) {
          bytes = *answer;
        } else {
          bytes = std::as_bytes(
              std::span(cut(answer.error().message, lanes_->bytes_max(FrameKind::failed))));
        }
        written = lanes_->write(one.from, one.session,
                                answer ? FrameKind::reply : FrameKind::failed, one.id, bytes);
        if (written == Lanes::Written::ok) lanes_->release(one.from, one.session);
      }
    }
    if (written != Lanes::Written::full || node_.why_over()) {
      moved_.cancel();
      break;
    }
    moved_.wait(seen, kLongestRest);
  }
  node_.notify_work();
}

// What is due; else when the next call is late, or whether there will be none any more.
std::optional<RequestsCore::Due> RequestsCore::next_due(std::uint64_t now, bool& over,
                                                        std::uint64_t& next) {
  const std::lock_guard lock(mutex_);
  if (const std::optional<Error> why = node_.why_over()) {
    over = true;
    finish_handled(*why);
  } else {
    finish_late(now);
  }
  if (!limits_.empty()) next = limits_.begin()->first;
  if (due_.empty()) return {};
  std::optional<Due> due = std::move(due_.front());
  due_.pop_front();
  due_bytes_ -= due->bytes();
  return due;
}

// What a handler refers to goes with it, while it counts as running.
void RequestsCore::tell_all() {
  for (;;) {
    const std::uint32_t seen = to_tell_.prepare();
    const std::uint64_t now = now_ns();
    bool over = false;
    std::uint64_t next = now + static_cast<std::uint64_t>(kLongestRest.count());
    std::optional<Due> due;
    try {
      due = next_due(now, over, next);
    } catch (const std::bad_alloc&) {  // nothing is lost: what is next is looked at again
      to_tell_.cancel();
      node_.callbacks().call(telling_name_, [] { throw; });
      continue;
    }
    if (due) {
      to_tell_.cancel();
      telling_call_.begin();
      node_.callbacks().call(telling_name_,
                             [&] { std::exchange(due->handler, {})(std::move(due->outcome)); });
      telling_call_.end();
      continue;
    }
    if (over) {
      to_tell_.cancel();
      break;
    }
    to_tell_.wait(seen, std::chrono::nanoseconds(next > now ? next - now : 0));
  }
  telling_ended_.store(true, std::memory_order_release);
  node_.calls_ended();
}

}  // namespace tutti
