/// \file recovery_world_calls.hpp
/// What surrounds a call of a node in a RecoveryWorld (recovery_world.hpp includes it).
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "unit/restart/recovery_world.hpp"

namespace tutti::restart::testing {

// Calls of a node end where its disk, in which it may be, loses its power.
template <class Do>
void RecoveryWorld::at(Node& node, Do&& what) {
  try {
    what();
  } catch (const Crash&) {
    note(names_[node.slot] + " crashes at its disk");
    crash(node);
    return;
  }
  look_at(node);
}

// With that mistake, what is done leaves the file `views` as it was.
template <class Do>
void RecoveryWorld::unsaved(Node& node, RecoveryMistake mistake, Do&& what) {
  if (mistake_ != mistake) return what();
  const std::string path = node.file->path();
  const bool there = node.disk->has(path);
  const std::vector<std::byte> before =
      there ? node.disk->contents(path) : std::vector<std::byte>{};
  what();
  there ? node.disk->put(path, before) : node.disk->erase(path);
}

}  // namespace tutti::restart::testing
