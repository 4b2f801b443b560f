/// \file claim.hpp
/// Space for a message in this member's own ring buffer, to build it in place (Group::claim).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "tutti/export.hpp"

namespace tutti {

class GroupCore;

/// The outcome of a claim.
enum class ClaimOutcome : std::int32_t {
  ok,
  full,        ///< no space: not every member has delivered enough yet. Try again later.
  too_large,   ///< larger than GroupOptions::message_max_bytes
  not_sender,  ///< this member is not among the group's senders
  stopped,     ///< before start, after finish, or after a member was lost
};

/// Space for one message in this member's ring buffer: fill it, then commit it. A claim that is
/// destroyed without a commit is abandoned: it becomes a null, for which nothing is delivered.
/// Commit soon: what this member claimed later waits for it. Destroy claims before their Node: the
/// log reports one that outlives it, and what is written to it or committed then is lost.
class TUTTI_API Claim {
 public:
  Claim() = default;
  Claim(Claim&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        end_(other.end_),
        index_(other.index_),
        outcome_(std::exchange(other.outcome_, ClaimOutcome::stopped)) {}
  Claim& operator=(Claim&& other) noexcept {
    swap(other);
    return *this;
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  ~Claim() {
    if (core_ != nullptr) abandon();
  }

  [[nodiscard]] explicit operator bool() const { return core_ != nullptr; }
  [[nodiscard]] ClaimOutcome outcome() const { return outcome_; }
  /// The space, aligned to GroupOptions::alignment; it holds old bytes.
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }

 private:
  friend class Group;
  friend class GroupCore;
  friend struct ClaimLayout;
  void abandon() noexcept;
  void swap(Claim& other) noexcept {
    std::swap(core_, other.core_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(end_, other.end_);
    std::swap(index_, other.index_);
    std::swap(outcome_, other.outcome_);
  }

  // tutti_claim_t of the C interface has the same layout.
  GroupCore* core_ = nullptr;
  std::byte* data_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t end_ = 0;    // where the record ends in the ring, in granules
  std::uint64_t index_ = 0;  // which record of this sender it is
  ClaimOutcome outcome_ = ClaimOutcome::stopped;
};

}  // namespace tutti
