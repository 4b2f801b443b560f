/// \file pages.hpp
/// Visits the events of a history in order, and releases the pages of a mapped file behind it.
#pragma once
#include <algorithm>
#include <cstdint>

#include "history/history.hpp"
#include "history/reader.hpp"

namespace tutti::history {

template <class Do>
void for_each_event(const History& history, Do act) {
  constexpr std::size_t kBlock = 1U << 17;  // 8 MiB
  const std::size_t count = history.events.size();
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t end = std::min(count, begin + kBlock);
    for (std::size_t i = begin; i < end; ++i) act(history.events[i], std::uint64_t{i});
    if (history.mapped) release_pages(history.events.subspan(begin, end - begin));
  }
}

}  // namespace tutti::history
