/// \file chunked.hpp
/// A long array that allocates each chunk when it is first written; the rest reads as T{}.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace tutti::history {

template <class T>
class Chunked {
 public:
  /// The caller bounds `index`: this allocates its chunk, and 8 bytes for each chunk before it.
  T& operator[](std::uint64_t index) {
    const std::uint64_t chunk = index / kChunk;
    if (chunk >= chunks_.size()) chunks_.resize(chunk + 1);
    if (chunks_[chunk] == nullptr) chunks_[chunk] = std::make_unique<T[]>(kChunk);
    return chunks_[chunk][index % kChunk];
  }

  [[nodiscard]] T get(std::uint64_t index) const {
    const std::uint64_t chunk = index / kChunk;
    if (chunk >= chunks_.size() || chunks_[chunk] == nullptr) return T{};
    return chunks_[chunk][index % kChunk];
  }

 private:
  static constexpr std::uint64_t kChunk = 4096;
  std::vector<std::unique_ptr<T[]>> chunks_;
};

}  // namespace tutti::history
