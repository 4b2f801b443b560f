/// \file row.hpp
/// Zeroed memory for a row or a replica of one, at a page as in a node.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::sim {

class Row {
 public:
  explicit Row(std::size_t bytes) : pages_((bytes + sizeof(Page) - 1) / sizeof(Page)) {}
  [[nodiscard]] std::byte* data() { return reinterpret_cast<std::byte*>(pages_.data()); }
  [[nodiscard]] std::size_t size() const { return pages_.size() * sizeof(Page); }

 private:
  struct alignas(4096) Page {
    std::uint64_t words[512] = {};
  };
  std::vector<Page> pages_;
};

}  // namespace tutti::sim
