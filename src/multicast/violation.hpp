/// \file violation.hpp
/// A member whose words or records no correct one writes.
#pragma once
#include "fabric/slot.hpp"
#include "tutti/types.hpp"

namespace tutti {

struct Violation {
  Rank rank{};
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
