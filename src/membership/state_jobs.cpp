#include "membership/state_jobs.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/assert.hpp"
#include "membership/saved_state.hpp"
#include "membership/state_frame.hpp"

namespace tutti {
StateJobs::StateJobs(std::vector<GroupState> groups, std::size_t piece_bytes,
                     std::function<void()> wake)
    : groups_(std::move(groups)), piece_bytes_(piece_bytes), wake_(std::move(wake)) {}

StateJob* StateJobs::free() {
  const std::uint64_t asked = asked_.load(std::memory_order_relaxed);
  return asked - taken_ < kJobs ? &jobs_[asked % kJobs] : nullptr;
}

// Release: what was written into the job; pairs with work().
void StateJobs::ask() {
  TUTTI_ASSERT(free() != nullptr, asked_.load(std::memory_order_relaxed), taken_);
  asked_.store(asked_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  if (wake_) wake_();
}

// Acquire: pairs with the end of work().
StateJob* StateJobs::done() {
  return taken_ != done_.load(std::memory_order_acquire) ? &jobs_[taken_ % kJobs] : nullptr;
}

bool StateJobs::waits() const {
  return done_.load(std::memory_order_relaxed) != asked_.load(std::memory_order_acquire);
}

const StateJob& StateJobs::next() const {
  TUTTI_ASSERT(waits(), done_.load(std::memory_order_relaxed));
  return jobs_[done_.load(std::memory_order_relaxed) % kJobs];
}

bool StateJobs::work() {
  if (!waits()) return false;
  const std::uint64_t now = done_.load(std::memory_order_relaxed);
  StateJob& job = jobs_[now % kJobs];
  const bool of_group = job.kind != StateJob::Kind::drop;
  TUTTI_ASSERT(!of_group || (job.at.group < groups_.size() && groups_[job.at.group].load),
               static_cast<int>(job.kind), job.at.group, job.view);
  job.result = {};
  try {
    work_on(job);
  } catch (const std::bad_alloc&) {
    lack_memory(job);
  }
  // Release: what the job brought, and what the callback did; pairs with done().
  done_.store(now + 1, std::memory_order_release);
  return true;
}

void StateJobs::work_on(StateJob& job) {
  switch (job.kind) {
    case StateJob::Kind::save:
      return save(job);
    case StateJob::Kind::read:
      return read(job);
    case StateJob::Kind::drop:
      std::erase_if(snapshots_, [&](const Snapshot& held) { return held.view == job.view; });
      return;
    case StateJob::Kind::load:
      return load(job);
  }
}

// Like a callback that fails: what would come after it is not read, or not loaded, either.
// The text of the error is so short that it takes no memory.
void StateJobs::lack_memory(StateJob& job) noexcept {
  static constexpr std::string_view kText = "no memory";
  static_assert(kText.size() <= 15);  // so many chars a std::string has inside of it
  const auto error = [] { return Error{ErrorCode::system, std::string(kText)}; };
  job.result = std::unexpected(error());
  if (job.kind == StateJob::Kind::drop) return;
  if (job.kind == StateJob::Kind::load) {
    refused_ = true;
    return;
  }
  if (Snapshot* const from = held(job)) from->failed = error();
  const bool saves = job.kind == StateJob::Kind::save;
  try {
    job.result = cannot_give(job.at.group, saves ? "what saves the state" : "what reads a snapshot",
                             error());
  } catch (const std::bad_alloc&) {  // then the error stays as short as it is
  }
}

StateJobs::Snapshot* StateJobs::held(const StateJob& job) {
  const auto found = std::ranges::find_if(snapshots_, [&](const Snapshot& snapshot) {
    return snapshot.view == job.view && snapshot.group == job.at.group;
  });
  return found != snapshots_.end() ? &*found : nullptr;
}

void StateJobs::save(StateJob& job) {
  TUTTI_ASSERT(held(job) == nullptr, job.view, job.at.group);  // M9: once, at the cut
  const GroupState& group = groups_[job.at.group];
  Result<ReadSnapshot> taken = take_state(group);
  if (taken) {
    snapshots_.push_back({job.view, job.at.group, std::move(*taken)});
  } else {
    job.result = cannot_give(job.at.group, std::string(saver_of(group)), taken.error());
  }
}

std::unexpected<Error> StateJobs::cannot_give(std::uint64_t group, const std::string& callback,
                                              const Error& error) const {
  Error named{error.code, callback + ": " + error.message};
  if (groups_[group].cannot_give) groups_[group].cannot_give(named);
  return std::unexpected(std::move(named));
}

// Pieces are asked for ahead: after a failure there are jobs that read the same snapshot.
Result<std::size_t> StateJobs::read_on(Snapshot& from, std::uint64_t offset,
                                       std::span<std::byte> into) {
  if (from.failed) return std::unexpected(*from.failed);
  if (from.ended && offset >= from.end) return 0;
  Result<std::size_t> size = from.read(offset, into);
  if (size && *size > into.size()) {
    size = fail(ErrorCode::invalid_argument, "it returned " + std::to_string(*size) +
                                                 " bytes, but only " + std::to_string(into.size()) +
                                                 " were asked for; fill no more than that");
  }
  if (!size) {
    from.failed = cannot_give(from.group, "what reads a snapshot", size.error()).error();
    return std::unexpected(*from.failed);
  }
  if (*size == 0) {
    from.ended = true;
    from.end = offset;
  }
  return size;
}

// A piece is full unless the state ends with it, however little the application returns at a time.
void StateJobs::read(StateJob& job) {
  Snapshot* const from = held(job);
  TUTTI_ASSERT(from != nullptr, job.view, job.at.group);
  job.bytes.resize(piece_bytes_);
  for (job.size = 0; job.size < piece_bytes_;) {
    const Result<std::size_t> size = read_on(*from, job.at.index * piece_bytes_ + job.size,
                                             std::span(job.bytes).subspan(job.size));
    if (!size) {
      job.result = std::unexpected(size.error());
      return;
    }
    if (*size == 0) break;
    job.size += *size;
    TUTTI_ASSERT(job.size <= piece_bytes_, job.size, piece_bytes_, job.view, job.at.group);
  }
  job.last = job.size < piece_bytes_;
  const StateFrame frame{.at = job.at,
                         .size = job.size,
                         .last = job.last,
                         .steady = groups_[job.at.group].snapshot != nullptr};
  job.header = frame.words(std::span(job.bytes).first(job.size));
}

// Of a piece that is refused there are no others: the start ends.
void StateJobs::load(StateJob& job) {
  if (refused_) return;
  TUTTI_ASSERT(job.size <= job.bytes.size(), job.size, job.bytes.size(), job.view, job.at.group);
  job.result = groups_[job.at.group].load({.bytes = std::span(job.bytes).first(job.size),
                                           .first = job.at.index == 0,
                                           .last = job.last});
  refused_ = !job.result;
}

}  // namespace tutti
