/// \file type.cpp
/// Sends descriptions of types, and takes those that others sent.
#include "tutti/dds/type.hpp"

#include <utility>

#include "base/assert.hpp"
#include "tutti/dds/cdr.hpp"
#include "xcdr/check_type.hpp"
#include "xcdr/type_fields.hpp"

namespace tutti::dds {

std::uint64_t type_hash(const Type& type) {
  std::vector<std::byte> bytes;
  // Nothing in a description has a bound, so encoding it fails only if it exceeds 4 GiB.
  const Result<void> done = encode(type, bytes);
  TUTTI_ASSERT(done.has_value());
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte each : bytes) {
    hash = (hash ^ std::to_integer<std::uint64_t>(each)) * 0x100000001b3;
  }
  return hash;
}

Result<std::vector<std::byte>> encode_type(const Type& type) {
  if (const Result<LeastBytes> good = check_type(type); !good) return std::unexpected(good.error());
  std::vector<std::byte> bytes;
  if (const Result<void> done = encode(type, bytes); !done) return std::unexpected(done.error());
  return bytes;
}

Result<Type> decode_type(std::span<const std::byte> bytes) {
  Result<Type> type = decode<Type>(bytes);
  if (!type) return type;
  if (const Result<LeastBytes> good = check_type(*type); !good)
    return std::unexpected(good.error());
  return type;
}

}  // namespace tutti::dds
