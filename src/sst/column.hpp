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

/// One word for each of something: senders, members, nodes.
template <class Block>
struct ColumnArray {
  std::size_t offset = 0;  ///< of the first, in the block

  [[nodiscard]] constexpr Column<Block> operator[](std::size_t index) const {
    return {offset + 8 * index};
  }
};

}  // namespace tutti
