/// \file column.hpp
/// A column of the table: one word that each member has in its row, at the same place of a block.
///
/// A row is made of blocks: those of the groups, of the membership, of the transfer of states. Each
/// kind declares its columns in one struct, which is the `Block` here: so a word of one kind is not
/// looked for in a block of another. Beside each column stands what it says, and which word guards
/// it: a reader looks at the guard first, and knows then that the words it guards are there.
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
  friend bool operator==(const Column&, const Column&) = default;
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
