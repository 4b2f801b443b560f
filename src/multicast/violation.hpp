/// \file violation.hpp
/// A sender whose words or records no correct member writes.
#pragma once
#include <cstdint>

#include "tutti/types.hpp"

namespace tutti {

struct Violation {
  std::uint32_t sender_rank = 0;
  const char* what = "";
  MemberIndex sender_id{};  ///< what Message::sender says of it (Subgroup fills it in)
};

inline constexpr const char* kImpossibleSent = "its sent counter is not one a member can write";
inline constexpr const char* kImpossibleRecord = "its ring buffer holds a record that cannot be";
inline constexpr const char* kImpossiblePassed =
    "what another member passed on of its messages cannot be";

}  // namespace tutti
