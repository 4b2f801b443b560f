#include "node/group_core.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "base/start_thread.hpp"
#include "node/group_sends.hpp"
#include "node/node_core.hpp"

namespace tutti {

GroupCore::GroupCore(NodeCore& node, GroupOptions options, MemberIndex own)
    : node_(node),
      options_(std::move(options)),
      members_(options_.members),
      own_index_(own),
      delivery_name_(Callbacks::delivery_name(options_.name)),
      completions_(node, *this, progress_) {}

GroupCore::~GroupCore() {
  halt();
  join_delivery();
}

// C1. Whoever drops a claim need not have a Group, so this holds the node itself, and before the
// claim ends: as long as it is open, its Node is there, or the node is kept for it.
void GroupCore::abandon(Claim& claim) noexcept {
  TUTTI_ASSERT(claim.core_ == this && ring_.load(std::memory_order_relaxed) != nullptr,
               claim.index_);
  const std::shared_ptr<const NodeCore> held = node_.weak_from_this().lock();
  const std::shared_ptr<const void> group = keeper_.lock();  // it may be left meanwhile
  ring_.load(std::memory_order_relaxed)->abandon(space_of(claim));
  claim.core_ = nullptr;
  notify_claim_ended(claim.index_);
}

void GroupCore::commit_safe(Claim& claim) noexcept {
  ring_.load(std::memory_order_relaxed)->commit_safe(space_of(claim));
  claim.core_ = nullptr;
  notify_claim_ended(claim.index_);
}

void GroupCore::refuse(Claim& claim, std::string_view why) noexcept {
  if (!claim) return;
  const bool own = claim.core_ == this;
  const std::string what =
      own ? std::string(why)
          : "on group '" + claim.core_->options_.name +
                "' was committed here; commit a claim to the Group that gave it";
  claim.core_->abandon(claim);
  node_.log(LogLevel::warning, "group '" + options_.name + "': a claim " + what +
                                   ". It is given up, nothing is delivered for it");
}

void GroupCore::shrink(Claim& claim, std::uint32_t bytes) noexcept {
  const SendRing::Space space =
      ring_.load(std::memory_order_relaxed)->shrink(space_of(claim), bytes);
  claim.size_ = bytes;
  if (std::exchange(claim.end_, space.end) != space.end) progress_.notify();  // others may fit now
}

void GroupCore::ring_doorbell() noexcept { node_.ring_own_doorbell(); }

// C1.
std::uint64_t GroupCore::count_late_claims() {
  const std::lock_guard lock(late_mutex_);
  over_.store(true, std::memory_order_relaxed);
  fence_.heavy();  // C1: pairs with the light one in notify_claim_ended()
  const SendRing* ring = ring_.load(std::memory_order_acquire);
  if (ring == nullptr) return 0;
  TUTTI_ASSERT(halted_.load(std::memory_order_relaxed) && late_.empty(), late_.size());
  late_ = ring->unfinished();
  return static_cast<std::uint64_t>(std::ranges::count(late_, true));
}

// C1: that it saw over_ does not say that it was counted.
void GroupCore::late_claim_ended(std::uint64_t index) noexcept {
  {
    const std::lock_guard lock(late_mutex_);
    const std::uint64_t first = ring_.load(std::memory_order_relaxed)->taken();
    if (index < first || index - first >= late_.size() || !late_[index - first]) return;
  }
  node_.late_claim_ended();
}

Error GroupCore::refusal(ClaimOutcome outcome, std::uint32_t size) const {
  switch (outcome) {
    case ClaimOutcome::too_large:
      return {ErrorCode::invalid_argument,
              "group '" + options_.name + "': a message of " + std::to_string(size) +
                  " bytes is over the maximum of " + std::to_string(options_.message_max_bytes) +
                  "; raise message_max_bytes at all members"};
    case ClaimOutcome::not_sender:
      return {ErrorCode::invalid_argument, "group '" + options_.name +
                                               "': this member is not among the senders; name "
                                               "it in the group's senders at all members"};
    default:
      break;
  }
  if (std::optional<Error> over = why_over()) return *over;
  return {ErrorCode::stopped,
          "group '" + options_.name + "' takes no messages: it is not started, or finished"};
}

// What a wait ended without: the groups are over, it was no place to wait, or time is up.
Error GroupCore::why_in_vain(std::string_view call, std::chrono::nanoseconds timeout,
                             std::string late) const {
  if (std::optional<Error> over = why_over()) return std::move(*over);
  if (timeout.count() > 0) {
    if (Result<void> may = may_wait(call); !may) return std::move(may.error());
  }
  return {ErrorCode::timed_out, "group '" + options_.name + "': " + std::move(late)};
}

Result<Claim> GroupCore::claim(Claim space, std::uint32_t size, std::chrono::nanoseconds timeout) {
  if (space.outcome() == ClaimOutcome::full) {
    const Deadline deadline(timeout);
    node_.wait_until(
        progress_,
        [&] {
          space = try_claim(size);
          return space.outcome() != ClaimOutcome::full;
        },
        deadline);
  }
  if (space) return space;
  if (space.outcome() != ClaimOutcome::full) {
    return std::unexpected(refusal(space.outcome(), size));
  }
  return std::unexpected(why_in_vain(
      "a claim that has to wait for space", timeout,
      "no space in the window before the deadline: a member delivers slowly or not at all; wait "
      "longer or look for the slow member"));
}

std::optional<Result<Claim>> GroupCore::claim_if_any(std::uint32_t size) {
  if (!waits_in_vain(size) && !ring_.load(std::memory_order_relaxed)->has_space_for(size)) {
    return {};
  }
  Claim claim = try_claim(size);
  if (claim) return claim;
  if (claim.outcome() == ClaimOutcome::full) return {};
  return std::unexpected(refusal(claim.outcome(), size));
}

bool GroupCore::waits_in_vain(std::uint32_t size) const noexcept {
  return ring_.load(std::memory_order_acquire) == nullptr || size > options_.message_max_bytes ||
         finished_.load(std::memory_order_acquire);
}

bool GroupCore::delivered(Ticket ticket) const noexcept {
  const Subgroup<NativeMemory>* subgroup = open_.load(std::memory_order_acquire);
  return subgroup != nullptr && ticket.value != 0 &&
         subgroup->own_records_delivered() >= ticket.value;
}

Barrier GroupCore::begin_barrier(Claim& claim) noexcept {
  const Barrier barrier(*ring_.load(std::memory_order_relaxed), space_of(claim));
  claim.core_ = nullptr;
  notify_claim_ended(claim.index_);
  return barrier;
}

Result<void> GroupCore::barrier(std::chrono::nanoseconds timeout) {
  if (!waits_for_all(options_.level)) {
    return fail(
        ErrorCode::invalid_argument,
        "group '" + options_.name +
            "': a barrier needs Level::atomic or durable: at its level others may have delivered "
            "what this member never hears of");
  }
  if (Result<void> may = may_wait("Group::barrier"); !may) return may;
  const Deadline deadline(timeout);
  Result<Claim> space = claim(try_claim(0), 0, timeout);
  if (!space) return std::unexpected(std::move(space.error()));
  const Barrier barrier = begin_barrier(*space);
  bool passed = false;
  const auto over = [&] {
    passed = barrier.passed(*subgroup());
    return passed || has_left();
  };
  static_cast<void>(node_.wait_until(progress_, over, deadline));
  if (passed) return {};
  return std::unexpected(why_in_vain(
      "Group::barrier", deadline.left(now_ns()),
      "the barrier was not passed before the deadline: a member delivers slowly or not at all, or "
      "nobody takes messages here"));
}

Error GroupCore::names_no_message() const {
  return {ErrorCode::invalid_argument, "group '" + options_.name +
                                           "': ticket 0 names no message: nothing was committed "
                                           "with it"};
}

Result<void> GroupCore::on_delivered(Ticket ticket, DeliveredHandler handler) {
  if (ticket.value == 0) return std::unexpected(names_no_message());
  const SendRing* ring = ring_.load(std::memory_order_acquire);
  if (ring == nullptr || ticket.value > ring->claimed()) {
    return fail(ErrorCode::invalid_argument,
                "group '" + options_.name + "': ticket " + std::to_string(ticket.value) +
                    " names no message of this member; pass one that commit or send returned");
  }
  return completions_.wait(ticket, std::move(handler));
}

Result<void> GroupCore::on_space(std::uint32_t size, SpaceHandler handler) {
  if (waits_in_vain(size)) {
    if (const Claim none = try_claim(size); !none) {
      return std::unexpected(refusal(none.outcome(), size));
    }
  }
  return completions_.claim(size, std::move(handler));
}

Result<void> GroupCore::wait(Ticket ticket, std::chrono::nanoseconds timeout) {
  if (ticket.value == 0) return std::unexpected(names_no_message());
  if (node_.wait_until(progress_, [&] { return delivered(ticket); }, Deadline(timeout))) return {};
  return std::unexpected(
      why_in_vain("Group::wait", timeout,
                  "message " + std::to_string(ticket.value) +
                      " was not delivered before the deadline; it may still be"));
}

Result<void> GroupCore::may_wait(std::string_view call) const {
  const std::optional<Error> refusal = node_.refusal_here(call);
  if (!refusal) return {};
  return fail(refusal->code, "group '" + options_.name + "': " + refusal->message);
}

const Callbacks& GroupCore::callbacks() const { return node_.callbacks(); }

Result<void> GroupCore::wait_complete(std::chrono::nanoseconds timeout) {
  bool complete = false;
  const auto over = [&] {
    pass_nulls();
    complete = subgroup() != nullptr && subgroup()->complete();
    return complete || has_left();
  };
  static_cast<void>(node_.wait_until(node_.changed(), over, Deadline(timeout)));
  if (complete) return {};
  return std::unexpected(why_in_vain("Group::wait_complete", timeout,
                                     "not every member had finished and delivered everything "
                                     "before the deadline; they may still"));
}

// Before the first view it is open() that closes the ring: either that sees finished_, or this sees
// open_.
void GroupCore::finish() noexcept {
  finished_.store(true, std::memory_order_seq_cst);
  Subgroup<NativeMemory>* subgroup = open_.load(std::memory_order_seq_cst);
  if (subgroup == nullptr || subgroup->ring() == nullptr) return;
  subgroup->ring()->close();
  notify_work();
  progress_.notify();  // handlers that wait for space
}

GroupStatistics GroupCore::statistics() const {
  const Subgroup<NativeMemory>* subgroup = open_.load(std::memory_order_acquire);
  if (subgroup == nullptr) return {};
  GroupStatistics out = subgroup->statistics();
  out.sender_waits = sender_waits_.load(std::memory_order_relaxed);
  if (log_ != nullptr) log_->add_to(out);
  out.replayed = replay_.replayed();
  return out;
}

std::vector<MemberLag> GroupCore::lags() const {
  if (subgroup() == nullptr || has_left()) return {};
  return node_.lags(*this);
}

void GroupCore::open(Subgroup<NativeMemory>& subgroup, const std::atomic<std::uint64_t>& asleep,
                     const DiskLog* log, FromLog first, CallMark& call) noexcept {
  TUTTI_ASSERT(open_.load(std::memory_order_relaxed) == nullptr && asleep_ == nullptr);
  asleep_ = &asleep;
  log_ = log;
  // M9. On the predicate thread nothing else happens meanwhile.
  const bool apart = options_.delivery != DeliveryThread::predicate;
  subgroup.pause().hold_views(options_.stateful && apart && first.replay != nullptr);
  replay_.open(std::move(first), call);
  open_.store(&subgroup, std::memory_order_seq_cst);
  if (halted_.load(std::memory_order_seq_cst)) subgroup.halt();
  if (finished_.load(std::memory_order_seq_cst)) finish();
  ring_.store(subgroup.ring(), std::memory_order_release);  // last: nobody claims before
}

Result<void> GroupCore::start_delivery() {
  TUTTI_ASSERT(subgroup() != nullptr && !delivery_thread_.joinable());
  if (options_.delivery != DeliveryThread::own) return {};
  delivery_ended_.store(false, std::memory_order_relaxed);
  struct NotStarted {  // also where there is no memory to say so
    ~NotStarted() {
      if (!group.delivery_thread_.joinable()) {
        group.delivery_ended_.store(true, std::memory_order_release);
      }
    }
    GroupCore& group;
  };
  const NotStarted otherwise{*this};
  Result<std::thread> thread = start_thread("the delivery thread of group '" + options_.name + "'",
                                            [this] { run_delivery(); });
  if (!thread) return std::unexpected(thread.error());
  delivery_thread_ = std::move(*thread);
  return {};
}

void GroupCore::entered(std::uint64_t view) {
  TUTTI_ASSERT(subgroup() != nullptr, view);
  const std::lock_guard lock(eras_mutex_);
  eras_.entered(view, subgroup()->own_records_delivered());
}

std::optional<std::uint64_t> GroupCore::view_of(Ticket ticket) const {
  if (ticket.value == 0 || !delivered(ticket)) return {};
  const std::lock_guard lock(eras_mutex_);
  return eras_.view_of(ticket.value);
}

// Wakes only those who have a reason to look: a node may have many groups where nothing moves.
void GroupCore::after_pass() {
  const bool may_have_more = subgroup()->may_have_more();
  const SendRing* const ring = subgroup()->ring();
  const Moved moved{.delivered = subgroup()->own_records_delivered(),
                    .released = ring == nullptr ? 0 : ring->released(),
                    .complete = subgroup()->complete()};
  if (std::exchange(moved_, moved) != moved || may_have_more) progress_.notify_fenced();
  if (may_have_more && options_.delivery == DeliveryThread::own) deliverable_.notify_fenced();
  if (readiness_.is_armed() && (may_have_more || moved.complete)) readiness_.rise();
}

void GroupCore::completed() {
  progress_.notify();  // who takes messages waits for the last one
  readiness_.rise();
}

void GroupCore::halt() {
  // Sequentially consistent: pairs with open(), one of the two sees the other.
  halted_.store(true, std::memory_order_seq_cst);
  if (Subgroup<NativeMemory>* open = open_.load(std::memory_order_seq_cst)) open->halt();
  progress_.notify();
  deliverable_.notify();
  readiness_.end();
}

void GroupCore::end_calls() {
  TUTTI_ASSERT(subgroup() != nullptr);  // the node is in a view
  subgroup()->mute();
  halted_.store(true, std::memory_order_seq_cst);
  deliverable_.notify();
  readiness_.end();
}

void GroupCore::wake_waiters() { progress_.notify(); }

void GroupCore::join_delivery() {
  if (delivery_thread_.joinable()) delivery_thread_.join();
}

void GroupCore::has_delivered() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);  // T3, and G1 for progress_
  notify_work();
  progress_.notify_fenced();
}

void GroupCore::run_delivery() {
  replay_here();
  views_may_follow();
  IdlePolicy policy(node_.options().idle);
  const auto deliver = [&] {
    if (!subgroup()->deliver_here()) return false;
    policy.worked();
    has_delivered();
    return true;
  };
  while (!halted_.load(std::memory_order_acquire)) {
    if (deliver()) continue;
    if (policy.next(now_ns()) != IdleAction::sleep) {
      sched_yield();
      continue;
    }
    const std::uint32_t seen = deliverable_.prepare();
    if (halted_.load(std::memory_order_acquire) || deliver()) {
      deliverable_.cancel();
    } else {
      deliverable_.wait(seen, std::chrono::seconds(1));
    }
  }
  TUTTI_ASSERT(!delivery_ended_.load(std::memory_order_relaxed));
  delivery_ended_.store(true, std::memory_order_release);
  node_.calls_ended();
  notify_work();
}

}  // namespace tutti
