#include "fabric/verbs/greeting.hpp"

#include <bit>
#include <cstring>
#include <string>

namespace tutti::verbs {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint32_t kMagic = 0x31765474;  // "tTv1"

struct Wire {
  std::uint32_t magic;
  std::uint32_t rkey;
  std::uint64_t from;
  std::uint64_t to;
  std::uint64_t region;
  std::uint64_t region_bytes;
  std::uint32_t slot;
  std::uint32_t unused;
};
static_assert(offsetof(Wire, unused) == kGreetingBytes);

}  // namespace

std::array<std::byte, kGreetingBytes> encode_greeting(const Greeting& greeting) {
  const Wire wire{.magic = kMagic,
                  .rkey = greeting.rkey,
                  .from = greeting.from,
                  .to = greeting.to,
                  .region = greeting.region,
                  .region_bytes = greeting.region_bytes,
                  .slot = greeting.slot,
                  .unused = 0};
  std::array<std::byte, kGreetingBytes> bytes;
  std::memcpy(bytes.data(), &wire, bytes.size());
  return bytes;
}

Result<Greeting> decode_greeting(std::span<const std::byte> bytes) {
  Wire wire{};
  if (bytes.size() >= kGreetingBytes) std::memcpy(&wire, bytes.data(), kGreetingBytes);
  if (wire.magic != kMagic) {
    return fail(ErrorCode::mismatch, "an RDMA connection brought " + std::to_string(bytes.size()) +
                                         " bytes that are no greeting of Tutti");
  }
  return Greeting{.from = wire.from,
                  .to = wire.to,
                  .region = wire.region,
                  .region_bytes = wire.region_bytes,
                  .rkey = wire.rkey,
                  .slot = wire.slot};
}

}  // namespace tutti::verbs
