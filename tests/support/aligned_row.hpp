/// \file aligned_row.hpp
/// Zeroed memory for a row or a ring, of exactly the size asked for, so that AddressSanitizer sees
/// every access beside it.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

namespace tutti::testing {

class AlignedRow {
 public:
  explicit AlignedRow(std::size_t bytes) : data_(new(kAlignment) std::byte[bytes]), bytes_(bytes) {
    std::memset(data_.get(), 0, bytes);
  }

  [[nodiscard]] std::byte* data() { return data_.get(); }
  [[nodiscard]] const std::byte* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return bytes_; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Delete {
    void operator()(std::byte* data) const { ::operator delete[](data, kAlignment); }
  };
  std::unique_ptr<std::byte[], Delete> data_;
  std::size_t bytes_;
};

}  // namespace tutti::testing
