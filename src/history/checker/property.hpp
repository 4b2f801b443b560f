/// \file property.hpp
/// The properties that the checker knows, by the names that code, tests and docs use for them.
/// docs/histories.md says what each demands.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace tutti::history {

enum class Property : std::uint8_t {
  M1,
  M2,
  M3,
  M4,
  M5,
  M6,
  M7,
  M8,
  M9,
  M10,  // membership
  D1,
  D2,
  D3,
  D4,
  D5,
  D6,
  D7,
  D8,
  D9,
  D10,
  D11,
  D12,
  D13,
  D14,
  D15,  // delivery in a view
  V1,
  V2,
  V3,
  V4,
  V5,
  V6,  // liveness, quiescence
  B1,  // bounds
  F1,
  F2,
  F3,  // fencing
};
inline constexpr std::size_t kProperties = static_cast<std::size_t>(Property::F3) + 1;

[[nodiscard]] constexpr std::string_view to_string(Property property) {
  constexpr std::array<std::string_view, kProperties> kNames = {
      "M1",  "M2", "M3", "M4", "M5", "M6", "M7", "M8",  "M9",  "M10", "D1",  "D2",
      "D3",  "D4", "D5", "D6", "D7", "D8", "D9", "D10", "D11", "D12", "D13", "D14",
      "D15", "V1", "V2", "V3", "V4", "V5", "V6", "B1",  "F1",  "F2",  "F3"};
  return kNames[static_cast<std::size_t>(property)];
}

}  // namespace tutti::history
