/// \file row_header.hpp
/// The first cache line of every row: what the fabric itself needs of a member.
///
/// `asleep` is odd while the member sleeps, and grows by one at each change: a peer rings once per
/// odd value it sees, however many posts it makes meanwhile.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tutti {

struct RowHeader {
  std::atomic<std::uint64_t> asleep;
};

inline constexpr std::size_t kRowHeaderBytes = 64;
static_assert(sizeof(RowHeader) <= kRowHeaderBytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace tutti
