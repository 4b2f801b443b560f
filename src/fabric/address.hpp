/// \file address.hpp
/// HOST:PORT and [IPv6]:PORT as text: taken apart and checked, not resolved.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "tutti/error.hpp"

namespace tutti {

struct Address {
  std::string host;  ///< without brackets
  std::uint16_t port = 0;
  friend bool operator==(const Address&, const Address&) = default;
};

/// The error says what is wrong with the text and what would be legal.
[[nodiscard]] Result<Address> address_from(std::string_view text);

}  // namespace tutti
