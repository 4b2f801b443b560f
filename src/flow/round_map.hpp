/// \file round_map.hpp
/// Which of one's own records are done, given the rounds that every member has delivered.
///
/// Own records take up consecutive rounds but where nulls were sent between two batches. The map
/// keeps one entry per such gap, oldest first; a batch without nulls before it adds none.
/// Invariant RM1: entries are bounded by the records not yet released, so a buffer of the window's
/// record count never overflows.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"

namespace tutti {

class RoundMap {
 public:
  explicit RoundMap(std::uint32_t window_records) : entries_(window_records + 1) {}

  /// Records from number `record` on take up rounds from `round` on.
  void add(std::uint64_t record, std::uint64_t round) {
    if (count_ != 0) {
      const Entry& last = entries_[(head_ + count_ - 1) % entries_.size()];
      if (round - last.round == record - last.record) return;
    }
    TUTTI_ASSERT(count_ < entries_.size(), count_);
    entries_[(head_ + count_) % entries_.size()] = {record, round};
    ++count_;
  }

  /// Number of own records in rounds before `rounds`, of the `taken` records sent so far. `rounds`
  /// must not decrease from call to call: entries that are done are forgotten.
  [[nodiscard]] std::uint64_t records_before(std::uint64_t rounds, std::uint64_t taken) {
    while (count_ > 1 && entries_[(head_ + 1) % entries_.size()].round < rounds) {
      head_ = (head_ + 1) % entries_.size();
      --count_;
    }
    if (count_ == 0) return 0;
    const Entry& now = entries_[head_];
    const std::uint64_t end = count_ > 1 ? entries_[(head_ + 1) % entries_.size()].record : taken;
    if (rounds <= now.round) return now.record;
    return std::min(end, now.record + (rounds - now.round));
  }

 private:
  struct Entry {
    std::uint64_t record = 0;
    std::uint64_t round = 0;
  };
  std::vector<Entry> entries_;
  std::size_t head_ = 0;
  std::size_t count_ = 0;
};

}  // namespace tutti
