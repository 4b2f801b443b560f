/// \file cdr.hpp
/// Encodes values by version 2 of XCDR, the OMG's encoding of DDS samples, and decodes versions 1
/// and 2, in either byte order.
///
/// Encoded bytes begin with the encapsulation header (4 bytes), so any DDS understands them. What
/// is decoded may come from anyone: a length is compared with the bytes that are left and with its
/// bound before memory is allocated, values lie at most 32 deep in each other, and an error says
/// which field was wrong ("sensors::Reading, points[3].name: ..."). Threads: the caller's; nothing
/// is shared. Source: OMG DDS-XTypes 1.3, 7.4.
#pragma once
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include "tutti/dds/detail/decode.hpp"
#include "tutti/dds/detail/encode.hpp"
#include "tutti/dds/detail/key.hpp"
#include "tutti/dds/topic_type.hpp"
#include "tutti/error.hpp"

namespace tutti::dds {

/// How many bytes encode() makes of the value. For a value that encode() refuses, some number.
template <class T>
[[nodiscard]] std::size_t encoded_size(const T& value) {
  detail::Sizer sizer;
  static_cast<void>(detail::write_value(sizer, value, 0, 0));
  return detail::kEncapsulationBytes + detail::padded(sizer.position());
}

/// Encodes into `out` and returns how many bytes that took. Errors: no_space if `out` is too small,
/// invalid_argument if a string or a sequence is longer than its bound; what is in `out` then is
/// undefined.
template <class T>
[[nodiscard]] Result<std::size_t> encode(const T& value, std::span<std::byte> out) {
  if (out.size() < detail::kEncapsulationBytes) return detail::no_space<T>(out.size());
  detail::Writer writer(out.data() + detail::kEncapsulationBytes,
                        out.size() - detail::kEncapsulationBytes);
  if (!detail::write_value(writer, value, 0, 0)) [[unlikely]] {
    return std::unexpected(writer.trouble.error(type_name<T>(), "encode"));
  }
  const std::size_t payload = writer.position();
  if (!writer.align(4)) return detail::no_space<T>(out.size());
  detail::write_encapsulation(out.data(), detail::kSampleExtensibility<T>,
                              writer.position() - payload);
  return detail::kEncapsulationBytes + writer.position();
}

/// Replaces what is in `out`, whose memory is used again. Errors: as above, but never no_space.
template <class T>
[[nodiscard]] Result<void> encode(const T& value, std::vector<std::byte>& out) {
  detail::Sizer sizer;
  if (!detail::write_value(sizer, value, 0, 0)) [[unlikely]] {
    return std::unexpected(sizer.trouble.error(type_name<T>(), "encode"));
  }
  out.resize(detail::kEncapsulationBytes + detail::padded(sizer.position()));
  const Result<std::size_t> written = encode(value, std::span<std::byte>(out));
  if (!written) [[unlikely]]
    return std::unexpected(written.error());
  return {};
}

/// Decodes into an object that is there; its strings and vectors keep their memory. Fields that an
/// older sender lacks get the values that they have in T{}. After an error (mismatch: the bytes are
/// not of this type) the object has some valid value.
template <class T>
[[nodiscard]] Result<void> decode(std::span<const std::byte> bytes, T& into) {
  constexpr Extensibility kForm = detail::kSampleExtensibility<T>;
  detail::Reader reader;
  if (!reader.open_sample(bytes, kForm) || !detail::read_value(reader, into, 0, 0) ||
      !reader.close_sample(kForm)) [[unlikely]] {
    return std::unexpected(reader.trouble.error(type_name<T>(), "decode"));
  }
  return {};
}

template <class T>
[[nodiscard]] Result<T> decode(std::span<const std::byte> bytes) {
  static_assert(std::default_initializable<T>,
                "decode<T> makes a T first: give it a default constructor");
  Result<T> value{};
  const Result<void> done = decode(bytes, *value);
  if (!done) [[unlikely]]
    return std::unexpected(done.error());
  return value;
}

/// Whether samples of T belong to instances (TypeOptions::keys).
template <class T>
inline constexpr bool kHasKey = detail::has_key<T>();

/// What tells the instance of this sample from others of its type: the key fields, encoded one
/// after the other without any header. Empty for a type without keys. A key that is a structure
/// counts with its own key fields, or with all if it has none. Errors: as encode's.
template <class T>
[[nodiscard]] Result<void> key_of(const T& value, std::vector<std::byte>& out) {
  out.clear();
  if constexpr (kHasKey<T>) {
    detail::Sizer sizer;
    if (!detail::write_key(sizer, value, 0)) [[unlikely]] {
      return std::unexpected(sizer.trouble.error(type_name<T>(), "encode the key of"));
    }
    out.resize(sizer.position());
    detail::Writer writer(out.data(), out.size());
    if (!detail::write_key(writer, value, 0)) [[unlikely]] {
      return std::unexpected(writer.trouble.error(type_name<T>(), "encode the key of"));
    }
  }
  return {};
}

}  // namespace tutti::dds
