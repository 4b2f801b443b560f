/// \file prng.hpp
/// Random numbers that are the same on every machine for the same seed; for tests, fault injection
/// and simulation, never for secrets. xoshiro256** seeded by splitmix64 (Blackman and Vigna).
#pragma once
#include <array>
#include <bit>
#include <cstdint>

#include "base/assert.hpp"

namespace tutti {

/// One step of splitmix64: moves `state` and returns a well mixed number. Also a good hash of
/// (seed, index) pairs.
constexpr std::uint64_t splitmix64(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  std::uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

class Prng {
 public:
  constexpr explicit Prng(std::uint64_t seed) {
    for (std::uint64_t& word : state_) word = splitmix64(seed);
  }

  constexpr std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// From 0 to bound - 1, all equally likely. The bound is at least 1.
  constexpr std::uint64_t below(std::uint64_t bound) {
    TUTTI_ASSERT(bound > 0);
    for (;;) {
      const std::uint64_t number = next();
      // The lowest 2^64 modulo bound numbers would be too many; a division finds out how many.
      if (number >= bound || number >= (0 - bound) % bound) return number % bound;
    }
  }

  /// True once in `times` calls on average.
  constexpr bool one_in(std::uint64_t times) { return below(times) == 0; }

 private:
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace tutti
