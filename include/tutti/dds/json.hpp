/// \file json.hpp
/// Samples of any type as JSON, and back, by the description of the type (type.hpp): for command
/// lines, logs and bridges.
///
/// A structure is an object. An enumerator is its name, or its number if it has none. A union is an
/// object with one member, the chosen case. An optional field that is not there is null. Numbers
/// that JSON has not are the strings "nan", "inf" and "-inf"; a char16_t is its number; an opaque
/// value is a string of hexadecimal digits. Characters that are no UTF-8 are shown as U+FFFD, so
/// texts of other encodings do not survive a round trip. Threads: any.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/dds/type.hpp"
#include "tutti/error.hpp"
#include "tutti/export.hpp"

namespace tutti::dds {

/// print_json refuses to make more: the names of a stranger's type may be long.
inline constexpr std::size_t kJsonBytesMax = std::size_t{1} << 28;

/// One line of JSON for a sample as it was sent: its memory if type.in_place, else what encode()
/// made. Errors: mismatch, which names the field that does not fit the type.
[[nodiscard]] TUTTI_API Result<std::string> print_json(const Type& type,
                                                       std::span<const std::byte> sample);

/// Makes a sample of a line of JSON, ready to be sent. A field that is left out is 0, empty or not
/// there; one that the type has not is refused. Errors: invalid_argument, which says where.
[[nodiscard]] TUTTI_API Result<std::vector<std::byte>> parse_json(const Type& type,
                                                                  std::string_view json);

/// The key of the sample that parse_json makes, as key_of (cdr.hpp) gives it; empty if the type has
/// none. JSON does not tell texts that are no UTF-8, and 0 and -0.0, from what it shows for them:
/// nor do keys that come this way. Errors: as parse_json.
[[nodiscard]] TUTTI_API Result<std::vector<std::byte>> parse_json_key(const Type& type,
                                                                      std::string_view json);

}  // namespace tutti::dds
