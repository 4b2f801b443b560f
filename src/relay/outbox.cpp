#include "relay/outbox.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tutti::relay {
namespace {

constexpr std::size_t kFewWaiting = 64;

}  // namespace

Posting Outbox::post(std::uint32_t size, const Write& write, Sent sent) {
  std::unique_lock lock(mutex_);
  if (waiting_.empty()) {
    Claim claim = group_.try_claim(size);
    if (claim) {
      write(claim.bytes());
      const Ticket ticket = group_.commit(std::move(claim));
      lock.unlock();
      if (sent) sent(ticket);
      return {};
    }
    if (claim.outcome() != ClaimOutcome::full) return {Posted::stopped};
  }
  auto record = std::make_shared<Queued>(size);
  write(record->bytes);
  forget_ownerless();
  waiting_.push_back({record, sent ? record : nullptr, std::move(sent)});
  if (!asked_ && !ask()) {
    waiting_.pop_back();
    return {Posted::stopped};
  }
  return {Posted::waits, std::move(record)};
}

// With the mutex, as the functions below it. False: the group has stopped.
bool Outbox::ask() {
  while (!waiting_.empty()) {
    std::shared_ptr<Queued> first = waiting_.front().record.lock();
    if (first == nullptr) {
      waiting_.pop_front();
      continue;
    }
    const auto size = static_cast<std::uint32_t>(first->bytes.size());
    // The handler owns the record, too: what was asked for is what is used then (OX2).
    const Result<void> asked =
        group_.on_space(size, [self = shared_from_this(), first = std::move(first)](
                                  Result<Claim> space) { self->given(first, std::move(space)); });
    return asked_ = asked.has_value();
  }
  return true;
}

Outbox::Told Outbox::commit_first(const std::shared_ptr<Queued>& record, Claim space) {
  std::memcpy(space.data(), record->bytes.data(), record->bytes.size());
  Told told{std::move(waiting_.front().sent), group_.commit(std::move(space))};
  waiting_.pop_front();
  record->state.store(Posted::posted, std::memory_order_release);
  return told;
}

void Outbox::send_waiting(std::vector<Told>& told) {
  while (!waiting_.empty()) {
    const std::shared_ptr<Queued> next = waiting_.front().record.lock();
    if (next == nullptr) {
      waiting_.pop_front();
      continue;
    }
    Claim space = group_.try_claim(static_cast<std::uint32_t>(next->bytes.size()));
    if (!space) break;
    told.push_back(commit_first(next, std::move(space)));
  }
  if (!ask()) stop(told);
}

void Outbox::stop(std::vector<Told>& told) {
  for (Waiting& one : waiting_) {
    if (const std::shared_ptr<Queued> record = one.record.lock()) {
      record->state.store(Posted::stopped, std::memory_order_release);
    }
    told.push_back({std::move(one.sent), std::nullopt});
  }
  waiting_.clear();
}

// OX3. Each look doubles what may wait before the next one, so that looking costs little.
void Outbox::forget_ownerless() {
  if (waiting_.size() < look_at_) return;
  std::erase_if(waiting_, [](const Waiting& one) { return one.record.expired(); });
  look_at_ = std::max(2 * waiting_.size(), kFewWaiting);
}

void Outbox::given(const std::shared_ptr<Queued>& first, Result<Claim> space) {
  std::vector<Told> told;
  {
    const std::scoped_lock lock(mutex_);
    asked_ = false;
    if (space) {
      told.push_back(commit_first(first, std::move(*space)));
      send_waiting(told);
    } else {
      stop(told);
    }
  }
  for (const Told& one : told) {
    if (one.sent) one.sent(one.ticket);
  }
  on_posted_();
}

}  // namespace tutti::relay
