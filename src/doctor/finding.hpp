/// \file finding.hpp
/// What `tutti doctor` says about one subject: its state, and how to improve it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::doctor {

enum class Grade : std::uint8_t {
  good,
  could_be_better,  ///< everything works; `how` says what to change and what that gains
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
