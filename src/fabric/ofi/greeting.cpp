#include "fabric/ofi/greeting.hpp"

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"
#include "fabric/tcp/frame.hpp"

namespace tutti::ofi {
namespace {

constexpr std::uint64_t kMagic = 0x3249464f49545455;  // "UTTIOFI2"

struct Wire {
  std::uint64_t magic = kMagic;
  std::uint64_t epoch = 0;
  std::uint64_t row_bytes = 0;
  std::uint64_t base = 0;
  std::uint64_t key = 0;
  std::uint64_t process = 0;
  std::uint64_t token = 0;
  std::uint32_t provider_bytes = 0;
  std::uint32_t address_bytes = 0;
  std::array<char, Greeting::kProviderMax> provider{};
  std::array<char, Greeting::kAddressMax> address{};
  std::uint64_t check = 0;  // of all before
};
static_assert(sizeof(Wire) == kGreetingBytes);

std::uint64_t check_of(std::span<const std::byte, kGreetingBytes> bytes) {
  return tcp::payload_check(bytes.first(kGreetingBytes - 8));
}

std::string printable(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

}  // namespace

GreetingBytes encode(const Greeting& greeting) {
  TUTTI_ASSERT(greeting.provider.size() <= Greeting::kProviderMax &&
                   greeting.address.size() <= Greeting::kAddressMax,
               greeting.provider.size(), greeting.address.size());
  Wire wire{.epoch = greeting.epoch,
            .row_bytes = greeting.row_bytes,
            .base = greeting.base,
            .key = greeting.key,
            .process = greeting.process,
            .token = greeting.token,
            .provider_bytes = static_cast<std::uint32_t>(greeting.provider.size()),
            .address_bytes = static_cast<std::uint32_t>(greeting.address.size())};
  std::ranges::copy(greeting.provider, wire.provider.begin());
  std::ranges::copy(greeting.address, wire.address.begin());
  GreetingBytes bytes;
  std::memcpy(bytes.data(), &wire, sizeof wire);
  wire.check = check_of(bytes);
  std::memcpy(bytes.data(), &wire, sizeof wire);
  return bytes;
}

Result<Greeting> decode(std::span<const std::byte, kGreetingBytes> bytes) {
  Wire wire;
  std::memcpy(&wire, bytes.data(), sizeof wire);
  if (wire.magic != kMagic || wire.check != check_of(bytes) ||
      wire.provider_bytes > Greeting::kProviderMax || wire.address_bytes > Greeting::kAddressMax) {
    return fail(ErrorCode::mismatch,
                "what it says of its memory is malformed; run the same version at all members");
  }
  return Greeting{.epoch = wire.epoch,
                  .row_bytes = wire.row_bytes,
                  .base = wire.base,
                  .key = wire.key,
                  .process = wire.process,
                  .token = wire.token,
                  .provider = std::string(wire.provider.data(), wire.provider_bytes),
                  .address = std::string(wire.address.data(), wire.address_bytes)};
}

Result<void> check_greeting(const Greeting& ours, const Greeting& theirs,
                            std::size_t own_row_bytes) {
  if (theirs.epoch != ours.epoch) {
    return fail(ErrorCode::mismatch, "what it says of its memory is for another connection");
  }
  if (theirs.provider != ours.provider) {
    return fail(ErrorCode::mismatch, "it uses libfabric's provider '" + printable(theirs.provider) +
                                         "' where we use '" + ours.provider +
                                         "'; it must be the same at all members");
  }
  if (theirs.row_bytes < own_row_bytes) {
    return fail(ErrorCode::mismatch,
                "it has registered " + std::to_string(theirs.row_bytes) +
                    " bytes for our row, which has " + std::to_string(own_row_bytes) +
                    "; run the same version with the same options at all members");
  }
  return {};
}

}  // namespace tutti::ofi
