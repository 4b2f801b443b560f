/// \file fuzz.hpp
/// What a fuzz target is: something that takes any bytes, and samples to begin with. fuzz_<name> is
/// made of <name>_fuzz.cpp and mutate.cpp, which changes the samples by a seed; with clang and
/// -DTUTTI_LIBFUZZER=ON of libfuzzer.cpp instead, which LLVM's libFuzzer calls.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace tutti::fuzz {

/// Ends the program if these bytes do harm.
void take(std::span<const std::byte> bytes);

/// Inputs that mean something to take().
std::vector<std::vector<std::byte>> samples();

}  // namespace tutti::fuzz
