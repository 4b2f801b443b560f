/// \file corruptions.hpp
/// Ways to spoil a random story by dice, each of which breaks a property whatever the dice say.
#pragma once
#include <span>

#include "base/prng.hpp"
#include "unit/history/story.hpp"

namespace tutti::history::testing {

struct Corruption {
  const char* what;
  /// False if the story has nothing to do it to; it is then unchanged.
  bool (*apply)(Story&, Prng&);
};

std::span<const Corruption> corruptions();

}  // namespace tutti::history::testing
