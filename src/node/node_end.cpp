// What a node says to calls from the wrong place, and how it ends when its Node goes.
#include <exception>
#include <utility>

#include "base/assert.hpp"
#include "node/node_core.hpp"

namespace tutti {
namespace {

// A callback that takes as long while its node is destroyed is named.
constexpr std::chrono::nanoseconds kLongForACallback = std::chrono::milliseconds(100);

}  // namespace

std::optional<Error> NodeCore::refusal_here(std::string_view call) const {
  const std::string* callback = callbacks_.running_here();
  if (callback == nullptr) return {};
  return Error{ErrorCode::in_callback,
               std::string(call) + " was called inside " + *callback + " of node '" +
                   options_.name +
                   "', on a thread that it would wait for; nothing was done. Call it from another "
                   "thread, outside the callbacks"};
}

// Of calls that can return no error, the first is told.
bool NodeCore::refuses_turn(std::string_view call) {
  if (callbacks_.running_here() == nullptr) return false;
  if (!turn_refused_.exchange(true)) log(LogLevel::warning, refusal_here(call)->message);
  return true;
}

std::optional<Error> NodeCore::why_over() const {
  if (std::optional<Error> failure = this->failure()) return failure;
  if (destroyed_.load(std::memory_order_acquire)) {
    return Error{ErrorCode::stopped, "node '" + options_.name +
                                         "' was destroyed; its groups take and deliver nothing "
                                         "more"};
  }
  if (ends()) {
    return Error{ErrorCode::stopped, "node '" + options_.name +
                                         "' has stopped; its groups take and deliver nothing "
                                         "more"};
  }
  return {};
}

void NodeCore::log(LogLevel level, std::string_view text) const {
  if (options_.log) options_.log(level, text);
}

void NodeCore::end(std::shared_ptr<NodeCore> core) noexcept {
  const std::string* callback = core->callbacks_.running_here();
  if (callback == nullptr) return core->shut_down();
  const Error error{ErrorCode::in_callback,
                    "node '" + core->options_.name + "' was destroyed inside " + *callback +
                        ": nothing more is delivered, it ends once that has returned, and the "
                        "others see a lost member. Destroy a node outside its callbacks"};
  if (!core->fail_with(error)) core->log(LogLevel::error, error.message);
  core->callbacks_.mute();
  try {
    std::thread([core] { core->shut_down(); }).detach();
  } catch (const std::exception&) {  // no thread, or no memory
    core->kept_ = core;  // it has failed, and so leaves the others; only its memory stays
  }
}

void NodeCore::shut_down() {
  destroyed_.store(true, std::memory_order_release);
  end_begun_start();
  // Inside a callback it may still be starting: that ends soon, for it has failed.
  {
    const std::lock_guard started(starting_);
  }
  if (!close(Deadline(kLongForACallback))) {
    log(LogLevel::warning, "node '" + options_.name + "' is destroyed: that waits for " +
                               what_still_runs() + ", which must return");
    static_cast<void>(close(Deadline(kForever)));
  }
  halt_groups();  // also of a node that never was in a view: who waits for a descriptor hears of it
  keep_for_claims();
  callbacks_.mute();
  callbacks_.drop();
}

void NodeCore::keep_for_claims() {
  // Claims end while they are counted, and while the application is told of them.
  constexpr std::uint64_t kStillCounting = std::uint64_t{1} << 63;
  TUTTI_ASSERT(!life_.is_open() && destroyed_.load(std::memory_order_relaxed),
               static_cast<int>(life_.phase()));
  kept_ = shared_from_this();
  late_claims_.store(kStillCounting, std::memory_order_release);
  for (const auto& group : cores()) {
    const std::uint64_t open = group->count_late_claims();
    if (open == 0) continue;
    late_claims_.fetch_add(open, std::memory_order_acq_rel);
    log(LogLevel::warning, "group '" + group->options().name + "' of node '" + options_.name +
                               "': claims outlive the node: " + std::to_string(open) +
                               "; its memory is kept until they end. Commit or drop claims before "
                               "the node is destroyed");
  }
  if (late_claims_.fetch_sub(kStillCounting, std::memory_order_acq_rel) == kStillCounting) {
    kept_ = nullptr;
  }
}

void NodeCore::late_claim_ended() noexcept {
  const std::uint64_t left = late_claims_.fetch_sub(1, std::memory_order_acq_rel);
  TUTTI_ASSERT(left != 0);  // C1: it was counted
  if (left == 1) std::exchange(kept_, nullptr);
}

}  // namespace tutti
