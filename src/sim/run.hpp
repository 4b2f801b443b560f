/// \file run.hpp
/// Runs one seed: runs its world, and checks the histories.
#pragma once
#include <cstdint>
#include <string>

#include "sim/delays.hpp"
#include "sim/options.hpp"

namespace tutti::sim {

enum class Verdict : std::uint8_t {
  good,
  unsafe,      ///< a safety property was violated
  unfinished,  ///< something that is due did not happen after the faults
};

struct Outcome {
  Verdict verdict = Verdict::good;
  std::string text{};        ///< what is wrong, with the property's name
  std::uint64_t hash = 0;    ///< of all that happened
  std::uint64_t passes = 0;  ///< of predicate loops
  std::uint64_t views = 0;   ///< number of the last view; 0: all members had stopped
  std::uint64_t messages = 0;
  std::uint64_t deaths = 0;  ///< at the options' failpoint
  Delays delays{};
};

[[nodiscard]] Outcome run(const Options& options);

}  // namespace tutti::sim
