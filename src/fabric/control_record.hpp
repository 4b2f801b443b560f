/// \file control_record.hpp
/// One publish() inside a frame of control words: where the words belong, then the words.
///
///     frame = records: { offset, bytes, the words themselves }, one after the other
///
/// The reader applies all records of a frame together, before it looks at the row again.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tutti {

/// Stands before the words of each record.
struct ControlRecord {
  std::uint64_t offset = 0;  ///< in the row, a multiple of 8
  std::uint64_t bytes = 0;   ///< of the words, a multiple of 8
};
inline constexpr std::size_t kControlRecordBytes = 16;
static_assert(sizeof(ControlRecord) == kControlRecordBytes);

/// The largest frame. 122 groups of 256 senders fit, or 41 at agreed
/// (node/group_rules.hpp).
inline constexpr std::size_t kControlBytesMax = 1024 * 1024;

}  // namespace tutti
