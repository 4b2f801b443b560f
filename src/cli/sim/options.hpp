/// \file options.hpp
/// The options of `tutti sim`.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "sim/scenario.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

struct SimWords {
  std::string seeds = "1..200";
  std::string scenario = "swarm";
  std::optional<std::uint64_t> replay{};
  std::string level{};  // of each run's first group; empty: as the seed draws it
  std::string order = "round_robin";
  bool durable_quorum = false;
  bool copied = false;
  bool trace = false;
  bool twice = false;
  std::uint32_t jobs = 0;
  std::string story{};  // a file
  std::optional<std::string> figure{};
};

struct SeedRange {
  std::uint64_t first = 1;
  std::uint64_t last = 1;
};

/// The kind of run that a seed makes.
struct SimKind {
  sim::Scenario scenario{};
  std::optional<Level> level{};
  Order order = Order::round_robin;
  bool durable_quorum = false;
  bool copied = false;

  [[nodiscard]] sim::Options options(std::uint64_t seed) const;
  /// The options as written on the command line.
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] Result<SimKind> kind_from(const SimWords& words);

/// "A..B" or "A".
[[nodiscard]] Result<SeedRange> seeds_from(const std::string& text);

}  // namespace tutti::cli
