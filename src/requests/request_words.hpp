/// \file request_words.hpp
/// Where requests and replies are in a row: for each other node a line of words, and two lanes.
///
///     a line for each other node:  session | sent requests | sent replies | taken requests | ...
///     two lanes for each of them:  requests for that node | replies for it
///
/// All of it is for that node alone, and is pushed to no other. A *lane* is a ring buffer of frames
/// (request_frame.hpp), in granules of 8 bytes.
///
/// Invariants:
///  RQ1  kSession names the two incarnations that the other words are of (session_of), 0: none. Its
///       owner takes it away before it changes them for another session, and before it writes to
///       the lanes in that one. So a reader that finds its own session before it reads, and again
///       after it, has read words and bytes of that session.
///  RQ2  In a session `sent` and `taken` only grow. `sent` guards the bytes of its lane;
///       each of the others tells by itself what it tells. So they may land in any order.
///  RQ3  A member writes no more than a lane's length beyond what the reader has `taken`.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/prng.hpp"
#include "fabric/slot.hpp"
#include "membership/view.hpp"
#include "requests/request_frame.hpp"
#include "sst/column.hpp"

namespace tutti {

enum class Lane : std::uint8_t { requests, replies };

struct RequestWords {
  std::size_t offset = 0;     ///< in the row, on a cache line
  std::size_t bytes_max = 0;  ///< of a request or a reply; 0: there are none
  std::uint32_t nodes = 0;

  using Word = Column<RequestWords>;
  static constexpr Word kSession{0};
  /// Granules that the owner has written to its lane for this node.
  static constexpr ColumnArray<RequestWords> kSent{8};
  /// Granules that it has taken from the lane of this node for it.
  static constexpr ColumnArray<RequestWords> kTaken{24};
  static constexpr std::size_t kWordsBytes = 40;
  static constexpr std::size_t kLine = 64;

  /// Four frames of the largest size: one of any size, and what is left empty before it, fit into
  /// a lane of which nothing is in use.
  [[nodiscard]] std::size_t lane_bytes() const {
    const std::size_t frame = 8 * RequestFrame::granules(bytes_max);
    return std::bit_ceil(std::max<std::size_t>(4 * frame, 4096));
  }
  [[nodiscard]] std::uint64_t lane_granules() const { return lane_bytes() / 8; }
  [[nodiscard]] std::size_t bytes() const {
    return bytes_max == 0 ? 0 : (nodes - 1) * (kLine + 2 * lane_bytes());
  }
  /// Where in the row of `owner` the words for `peer` are.
  [[nodiscard]] std::size_t words(Slot owner, Slot peer) const {
    return offset + index(owner, peer) * kLine;
  }
  [[nodiscard]] std::size_t lane(Slot owner, Slot peer, Lane lane) const {
    const std::size_t before = 2 * index(owner, peer) + static_cast<std::size_t>(lane);
    return offset + (nodes - 1) * kLine + before * lane_bytes();
  }

 private:
  [[nodiscard]] static std::size_t index(Slot owner, Slot peer) {
    return peer < owner ? peer.value : peer.value - 1;
  }
};

/// The number of what these two say to each other, the same at both; never 0.
[[nodiscard]] constexpr std::uint64_t session_of(const ViewMember& one, const ViewMember& other) {
  const bool in_order = one.slot < other.slot;
  std::uint64_t state = in_order ? one.incarnation : other.incarnation;
  state = splitmix64(state) + (in_order ? other.incarnation : one.incarnation);
  return std::max<std::uint64_t>(splitmix64(state), 1);
}

}  // namespace tutti
