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

[[nodiscard]] std::vector<std::uint64_t> encode(const std::vector<GroupWish>& wishes);
/// These are all words of one list: words of a row may be those of a list that is being written.
[[nodiscard]] bool is_whole_list(std::span<const std::uint64_t> words);
/// The list of such words: nothing if it is not whole, or none that a correct member writes.
[[nodiscard]] std::optional<std::vector<GroupWish>> decode_wishes(
    const GroupSpaces& spaces, std::span<const std::uint64_t> words);
/// The most words of a list, with so many spaces: 0 without any.
[[nodiscard]] std::size_t wish_words_max(std::size_t spaces);

}  // namespace tutti
