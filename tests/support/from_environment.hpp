/// \file from_environment.hpp
/// Numbers that a person gives a test by its environment, such as how many seeds it tries.
#pragma once
#include <cstdint>
#include <cstdlib>

namespace tutti::testing {

[[nodiscard]] inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace tutti::testing
