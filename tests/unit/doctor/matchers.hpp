/// \file matchers.hpp
/// What the tests of findings look for.
#pragma once
#include <gmock/gmock.h>

#include <string>

#include "doctor/finding.hpp"

namespace tutti::doctor {

/// A finding of this grade whose texts have these in them.
inline auto is(Grade grade, const std::string& what, const std::string& how) {
  using ::testing::AllOf;
  using ::testing::Field;
  using ::testing::HasSubstr;
  return AllOf(Field(&Finding::grade, grade), Field(&Finding::what, HasSubstr(what)),
               Field(&Finding::how, HasSubstr(how)));
}

}  // namespace tutti::doctor
