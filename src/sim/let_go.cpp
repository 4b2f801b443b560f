#include "sim/let_go.hpp"

#include <algorithm>

namespace tutti::sim {

void LetGo::add(std::uint32_t reader, std::uint32_t of, const std::byte* row,
                std::uint64_t now_ns) {
  rows_[reader].push_back({row, of, now_ns});
}

void LetGo::remove(std::uint32_t reader, const std::byte* row) {
  std::erase_if(rows_[reader], [row](const Gone& gone) { return gone.begin == row; });
}

void LetGo::search(std::uint32_t reader, const std::byte* cell, std::uint64_t now_ns) {
  const auto found = std::ranges::find_if(rows_[reader], [&](const Gone& gone) {
    return static_cast<std::size_t>(cell - gone.begin) < row_bytes_;
  });
  if (found == rows_[reader].end() || !finding_.empty()) return;
  finding_ = "P1: n" + std::to_string(reader) + " reads at " + std::to_string(now_ns) +
             " ns the row of n" + std::to_string(found->of) + ", which it let go at " +
             std::to_string(found->at_ns) + " ns";
}

}  // namespace tutti::sim
