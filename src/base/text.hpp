/// \file text.hpp
/// Text from users and peers: what may travel between members, and what may be shown to a person.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tutti {

/// UTF-8 without control characters.
[[nodiscard]] bool is_plain_text(std::string_view text);

/// At most `max` bytes of `text` with all that is not printable ASCII as '?': for logs and error
/// messages, so that a peer's bytes cannot play tricks on a terminal. "..." marks a cut.
[[nodiscard]] std::string printable(std::string_view text, std::size_t max = 300);

/// With a comma after each three digits.
[[nodiscard]] std::string grouped(std::uint64_t number);

/// With three decimals.
[[nodiscard]] std::string in_seconds(std::chrono::nanoseconds time);

}  // namespace tutti
