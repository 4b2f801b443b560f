/// \file violation.hpp
/// A member whose words or records no correct one writes.
#pragma once
#include <cstdint>

#include "fabric/slot.hpp"

namespace tutti {

struct Violation {
  std::uint32_t rank = 0;  ///< in the group
  const char* what = "";
  Slot slot{};  ///< Subgroup fills it in
};

inline constexpr const char* kImpossibleSent = "its sent counter is not one a member can write";
inline constexpr const char* kImpossibleRecord = "its ring buffer holds a record that cannot be";
inline constexpr const char* kImpossibleToken = "the token that it passed is one that cannot be";
inline constexpr const char* kImpossibleFrame =
    "what it handed on along the chain of members cannot be";
inline constexpr const char* kImpossibleTaken =
    "it says that it has taken what was not handed to it";
inline constexpr const char* kImpossiblePassed =
    "what another member passed on of its messages cannot be";

}  // namespace tutti
