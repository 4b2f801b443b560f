/// \file arrivals.cpp
#include "node/bootstrap/arrivals.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace tutti {
namespace {

// Of those who are not there, so many are named: more would hide what else is said.
constexpr std::size_t kNamedMax = 8;

// Why a node founds no group, and what to do.
std::string why_not(Founding founding) {
  if (founding == Founding::join_only) {
    return "it was started with join_only (--join); if no group runs anywhere, start it without";
  }
  return "earlier in its start it agreed to found one, which may exist, and lost the others; if no "
         "member runs, start it again";
}

std::string and_more(std::size_t count) {
  return count > kNamedMax ? " and " + std::to_string(count - kNamedMax) + " more" : "";
}

}  // namespace

Arrivals::Arrivals(const NodeOptions& node, std::function<void()> wake)
    : node_(node), wake_(std::move(wake)), seats_(node.members.size()) {
  bool higher = false;
  for (const Slot slot : seats_.indices()) {
    seats_[slot].there = node.members[slot.value].name == node.name;
    higher = higher || seats_[slot].there;
    seats_[slot].trouble = higher ? "it never connected to us" : "no answer yet";
  }
}

std::vector<Arrival> Arrivals::take_arrivals() {
  const std::lock_guard lock(mutex_);
  news_.store(false, std::memory_order_relaxed);  // what it tells of is behind the mutex
  return std::exchange(arrivals_, {});
}

bool Arrivals::depart(Slot slot) {
  const std::lock_guard lock(mutex_);
  if (!seats_[slot].there) return false;
  if (std::ranges::find(arrivals_, slot, &Arrival::slot) != arrivals_.end()) return false;
  seats_[slot] = {.there = false, .trouble = "it was lost and has not come again"};
  return true;
}

void Arrivals::set_running() {
  const std::lock_guard lock(mutex_);
  running_ = true;
}

void Arrivals::set_ended(std::string why) {
  const std::lock_guard lock(mutex_);
  ended_ = std::move(why);
}

std::optional<std::string> Arrivals::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

void Arrivals::show(Status status) {
  const std::lock_guard lock(mutex_);
  status_ = std::move(status);
}

void Arrivals::show_stopped(std::string why) {
  const std::lock_guard lock(mutex_);
  status_.state = NodeState::stopped;
  status_.why = std::move(why);
}

Status Arrivals::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

bool Arrivals::running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

std::optional<Error> Arrivals::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

std::string Arrivals::awaited() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  std::size_t count = 0;
  for (const Slot slot : seats_.indices()) {
    if (seats_[slot].there || ++count > kNamedMax) continue;
    const MemberAddress& member = node_.members[slot.value];
    text += (text.empty() ? "" : ", ") + member.name + " (" + member.address + ": " +
            seats_[slot].trouble + ")";
  }
  return text + and_more(count);
}

std::string Arrivals::only_join() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  std::size_t count = 0;
  for (const Slot slot : seats_.indices()) {
    const Seat& seat = seats_[slot];
    if (!seat.there || seat.founding == Founding::founds || seat.founding == Founding::logged ||
        ++count > kNamedMax)
      continue;
    text += (text.empty() ? "" : "; ") + node_.members[slot.value].name +
            " is connected but founds no group: " + why_not(seat.founding);
  }
  return text + and_more(count);
}

std::string Arrivals::refused() const {
  const std::lock_guard lock(mutex_);
  if (refused_ == 0) return {};
  return std::to_string(refused_) + (refused_ == 1 ? " caller was" : " callers were") +
         " refused, the last because " + last_refused_;
}

void Arrivals::note_refused(std::string why) {
  const std::lock_guard lock(mutex_);
  ++refused_;
  last_refused_ = std::move(why);
}

void Arrivals::arrive(Arrival arrival) {
  {
    const std::lock_guard lock(mutex_);
    TUTTI_ASSERT(arrival.slot.value < seats_.size() && !seats_[arrival.slot].there,
                 arrival.slot);  // HS1
    const Slot slot = arrival.slot;
    arrivals_.push_back(std::move(arrival));  // first: there may be no memory
    seats_[slot].there = true;
  }
  tell();
}

void Arrivals::note(Slot slot, std::string trouble) {
  const std::lock_guard lock(mutex_);
  seats_[slot].trouble = std::move(trouble);
}

void Arrivals::note(Slot slot, Founding founding) {
  const std::lock_guard lock(mutex_);
  seats_[slot].founding = founding;
}

bool Arrivals::fail_start(const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    if (running_) return false;
    if (!failure_) failure_ = error;
  }
  failed_.store(true, std::memory_order_release);
  tell();
  return true;
}

void Arrivals::fail(const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = error;
  }
  failed_.store(true, std::memory_order_release);
  tell();
}

void Arrivals::tell() {
  news_.store(true, std::memory_order_release);  // pairs with the acquire in has_news()
  if (wake_) wake_();
}

}  // namespace tutti
