/// \file trouble.hpp
/// Why a value could not be encoded or decoded, and at which field: filled in when it happens, on
/// the way out, so that the way in costs nothing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tutti/error.hpp"
#include "tutti/export.hpp"

namespace tutti::dds::detail {

/// How deep values may lie in each other: of use for types that contain themselves only.
inline constexpr unsigned kDepthMax = 32;

class TUTTI_API Trouble {
 public:
  Trouble() = default;

  /// Always false. The first reason stays.
  bool because(ErrorCode code, std::string what);
  bool too_deep();
  bool too_long(std::size_t length, std::size_t bound);
  bool no_room(std::size_t bytes);
  bool no_alternative();

  /// Prepends where the value is: always false.
  bool at_field(std::string_view name);
  bool at_index(std::size_t index);

  /// The error, of a sample of the type with that name.
  [[nodiscard]] Error error(std::string_view type, std::string_view doing) const;

 private:
  ErrorCode code_ = ErrorCode::invalid_argument;
  std::string what_;
  std::string path_;
};

}  // namespace tutti::dds::detail
