/// \file completion_queue.hpp
/// Where a provider says which signalled writes have landed; reading it makes all progress there
/// is: also what peers write lands by it.
///
/// Connected endpoints share one. A datagram endpoint has its own, for providers leave in a queue
/// that outlives the endpoint what only the endpoint can answer.
/// Threads: the predicate thread only.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/unique_fd.hpp"
#include "fabric/ofi/provider.hpp"

namespace tutti::ofi {

/// A signalled write that ended. `error` is empty if it landed.
struct Completion {
  std::uint64_t attachment = 0;
  std::string error{};
};

class CompletionQueue {
 public:
  /// Signalled writes under way to one peer, which the queue has room for.
  static constexpr std::size_t kSignalledMax = 16;

  [[nodiscard]] static Result<CompletionQueue> open(Provider& provider, std::size_t peers);

  [[nodiscard]] fid_cq& get() const { return *queue_; }

  /// Those that ended; valid until the next call. There may be more.
  [[nodiscard]] std::span<const Completion> progress();

  /// Whether there is a descriptor to sleep on; else peers must ring.
  [[nodiscard]] bool can_wait() const { return can_wait_; }
  /// A copy of it.
  [[nodiscard]] Result<UniqueFd> wait_fd() const;
  /// Whether it becomes readable when something is there that is not there now.
  [[nodiscard]] bool may_sleep() const;

 private:
  CompletionQueue() = default;
  void read_error();

  fid_fabric* fabric_ = nullptr;
  Owned<fid_cq> queue_;
  bool can_wait_ = true;
  std::array<Completion, 2 * kSignalledMax> ended_;
  std::size_t ended_count_ = 0;
};

/// A copy of the descriptor that a queue of libfabric's can be waited for with.
[[nodiscard]] Result<UniqueFd> wait_fd_of(fid& object);

}  // namespace tutti::ofi
