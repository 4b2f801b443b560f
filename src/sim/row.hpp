/// \file row.hpp
/// Zeroed memory for a row or a replica of one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::sim {

class Row {
 public:
  explicit Row(std::size_t bytes) : lines_((bytes + sizeof(Line) - 1) / sizeof(Line)) {}
  [[nodiscard]] std::byte* data() { return reinterpret_cast<std::byte*>(lines_.data()); }
  [[nodiscard]] std::size_t size() const { return lines_.size() * sizeof(Line); }

 private:
  struct alignas(64) Line {
    std::uint64_t words[8] = {};
  };
  std::vector<Line> lines_;
};

}  // namespace tutti::sim
