#include "sim/let_go.hpp"

#include <algorithm>

#include "membership/view_words.hpp"
#include "sst/memory.hpp"

namespace tutti::sim {

void LetGo::add(std::uint32_t reader, std::uint32_t of, const std::byte* row,
                std::uint64_t now_ns) {
  remove(reader, row);
  rows_[reader].push_back({.begin = row, .of = {.slot = Slot{of}}, .at_ns = now_ns});
}

void LetGo::remove_member(std::uint32_t reader, const ViewMember& of, std::uint64_t epoch,
                          const std::byte* row, std::uint64_t now_ns) {
  rows_[reader].push_back(
      {.begin = row, .of = of, .at_ns = now_ns, .epoch = epoch, .was = {row, row + row_bytes_}});
}

void LetGo::remove(std::uint32_t reader, const std::byte* row) {
  std::erase_if(rows_[reader], [row](const Gone& gone) { return gone.begin == row; });
}

void LetGo::search(std::uint32_t reader, const std::byte* cell, std::uint64_t now_ns) {
  const auto found = std::ranges::find_if(rows_[reader], [&](const Gone& gone) {
    return static_cast<std::size_t>(cell - gone.begin) < row_bytes_;
  });
  if (found == rows_[reader].end()) return;
  if (!found->was.empty()) {
    const auto offset = static_cast<std::size_t>(cell - found->begin) / 8 * 8;
    const bool for_life = (offset >= ViewWords::kInstalled.offset && offset < life_end_) ||
                          std::ranges::find(lasting_, offset) != lasting_.end();
    const std::uint64_t was = NativeMemory::load(&found->was[offset]);
    if (for_life || NativeMemory::load(found->begin + offset) == was) return;
    if (!std::exchange(found->noted, true)) {
      writes_[reader].push_back({found->of, found->epoch, offset});
    }
    return;
  }
  if (!finding_.empty()) return;
  finding_ = "P1: n" + std::to_string(reader) + " reads at " + std::to_string(now_ns) +
             " ns the row of n" + std::to_string(found->of.slot.value) + ", which it let go at " +
             std::to_string(found->at_ns) + " ns";
}

}  // namespace tutti::sim
