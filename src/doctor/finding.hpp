/// \file finding.hpp
/// What `tutti doctor` says of one thing: how it is, and what would make it better.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::doctor {

enum class Grade : std::uint8_t {
  good,
  could_be_better,  ///< everything works; `how` says what would be gained, and by what
  broken,           ///< something will not work; `how` says what to do
};

struct Finding {
  std::string subject{};  ///< a word or two, the same on every machine
  Grade grade = Grade::good;
  std::string what{};  ///< what was found
  std::string how{};   ///< empty if good
};

using Findings = std::vector<Finding>;

}  // namespace tutti::doctor
