/// \file address.cpp
#include "fabric/address.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"

namespace tutti {
namespace {

constexpr std::size_t kHostMax = 253;  // RFC 1035

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_host_char(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
         c == '_';
}

// What may stand between brackets: an IPv6 address, perhaps with a scope such as fe80::1%eth0.
bool is_ipv6_char(char c) { return is_host_char(c) || c == ':' || c == '%'; }

std::unexpected<Error> bad(std::string_view text, std::string_view why) {
  return fail(ErrorCode::invalid_argument, "address '" + printable(text) + "' " + std::string(why) +
                                               "; legal: HOST:PORT or [IPv6]:PORT");
}

}  // namespace

Result<Address> address_from(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const bool bracketed = text.starts_with('[');
  if (colon == std::string_view::npos || (bracketed && text.rfind(']') != colon - 1)) {
    return bad(text, "has no port");
  }
  std::string_view host = text.substr(0, colon);
  if (bracketed) host = host.substr(1, host.size() - 2);
  const std::string_view port = text.substr(colon + 1);
  if (!bracketed && host.find(':') != std::string_view::npos) {
    return bad(text, "has more than one ':' (an IPv6 address goes in brackets)");
  }
  if (host.empty()) return bad(text, "has no host");
  if (host.size() > kHostMax) return bad(text, "has a host of more than 253 bytes");
  if (!std::ranges::all_of(host, bracketed ? is_ipv6_char : is_host_char)) {
    return bad(text, "has a host with characters that no host name has");
  }
  if (port.empty()) return bad(text, "has no port");
  unsigned number = 0;
  const auto [end, problem] = std::from_chars(port.data(), port.data() + port.size(), number);
  const bool all_digits = is_digit(port.front()) && end == port.data() + port.size();
  if (!all_digits || problem != std::errc() || number < 1 || number > 65535) {
    return bad(text, "has port '" + printable(port) + "', which is not in 1 .. 65535");
  }
  return Address{std::string(host), static_cast<std::uint16_t>(number)};
}

}  // namespace tutti
