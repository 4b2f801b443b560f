/// \file column.hpp
/// A column of the table: one word that each member has in its row, at the same offset of a block.
///
/// A row is made of blocks. Each kind declares its columns in one struct, which is the `Block`
/// here, so that what reads one kind takes columns of that kind only. The struct says of each
/// column what it means and which word guards it. A reader that sees the guard knows that the words
/// it guards are there.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tutti {

template <class Block>
struct Column {
  std::size_t offset = 0;  ///< in the block

  /// The word in the block that begins there.
  friend constexpr std::byte* operator+(std::byte* block, Column column) {
    return block + column.offset;
  }
  friend constexpr const std::byte* operator+(const std::byte* block, Column column) {
    return block + column.offset;
  }
};

/// One word for each of something: senders, members, nodes. `Index` is a number, or a position that
/// has its number in `value`.
template <class Block, class Index = std::size_t>
struct ColumnArray {
  std::size_t offset = 0;  ///< of the first, in the block

  [[nodiscard]] constexpr Column<Block> operator[](Index index) const {
    if constexpr (requires { index.value; }) {
      return {offset + 8 * std::size_t{index.value}};
    } else {
      return {offset + 8 * index};
    }
  }
  /// Behind so many.
  [[nodiscard]] constexpr std::size_t end(std::size_t count) const { return offset + 8 * count; }
};

}  // namespace tutti
