/// \file wish_words.hpp
/// A member's list of wishes (group_wishes.hpp) as words of its row:
///
///     digest | number of words | number of wishes | of each: kind, name
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "membership/open_groups.hpp"

namespace tutti {

/// So many words tell how long a list is.
inline constexpr std::size_t kWishHeaderWords = 2;

/// The words of a list, or the list of such words: nothing if they are no whole list.
[[nodiscard]] std::vector<std::uint64_t> encode(const std::vector<GroupWish>& wishes);
[[nodiscard]] std::optional<std::vector<GroupWish>> decode_wishes(
    const GroupSpaces& spaces, std::span<const std::uint64_t> words);
/// The most words of a list, with so many spaces: 0 without any.
[[nodiscard]] std::size_t wish_words_max(std::size_t spaces);

}  // namespace tutti
