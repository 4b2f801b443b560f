/// \file segment.hpp
/// Reads one segment: which of its batches count, and what lies behind them.
///
/// Invariant SG1: batches count from the first one on, up to the first byte that is not as a writer
/// leaves it, the *break*. If a valid commit lies behind the break and says that what is at the
/// break was synced (LF2), then something has changed it since: that is damage, and never cut off
/// as a torn tail.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "log/format.hpp"

namespace tutti::log {

/// Where a log is not as it was written.
struct Damage {
  std::string file{};        ///< its path
  std::uint64_t offset = 0;  ///< in it
  std::uint64_t seq = 0;     ///< the number of the first record that is lost with it
  std::string what{};
};

/// What a reader does with each record of the batches that count, in order. False: enough.
using Visit = std::function<bool(const Record& record, std::uint64_t offset)>;

/// What is behind the last batch that counts.
enum class Tail : std::uint8_t {
  clean,    ///< nothing that was ever valid here, as far as anybody can tell
  torn,     ///< a part of one batch: its writer stopped before that was synced
  broken,   ///< a whole batch with its commit, but something in it is wrong: torn, or changed later
  damaged,  ///< SG1
};

struct SegmentContent {
  std::uint64_t next = 0;      ///< the number behind the last record that counts
  std::uint64_t digest = 0;    ///< of the log up to there
  std::uint64_t end = 0;       ///< the offset behind the last batch, or mark, that counts
  std::uint64_t synced = 0;    ///< the same, without a mark behind the last batch (LF2)
  std::uint64_t last = 0;      ///< the offset of the last batch, with the mark before it, if any
  std::uint64_t broken = 0;    ///< the offset of the break, of a tail that is not clean
  std::uint64_t tail_end = 0;  ///< the offset behind what is left of a batch there
  std::uint64_t batches = 0;   ///< that have records
  std::uint64_t view = 0;      ///< of the last record that counts, 0 if there is none
  bool marked = false;         ///< a mark ends it: all that counts was synced
  bool goes_on = false;        ///< ... which says that another segment follows
  Tail tail = Tail::clean;
  std::string what{};  ///< of a break: what is wrong there, else empty
};

inline constexpr std::uint64_t kNoLimit = ~0ULL;

/// `file` is the content of the whole file, whose header is that segment. Batches that go beyond
/// the number `until` do not count.
[[nodiscard]] SegmentContent read_segment(const Segment& segment, std::span<const std::byte> file,
                                          const Visit& visit = {}, std::uint64_t until = kNoLimit);

}  // namespace tutti::log
