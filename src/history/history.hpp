/// \file history.hpp
/// The history of one incarnation, as the checker reads it: from a file or from memory.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "history/event.hpp"
#include "history/file_header.hpp"
#include "history/recorder.hpp"

namespace tutti::history {

struct History {
  Identity identity{};
  std::span<const Event> events{};  ///< as recorded; slots never written are EventKind::none
  std::string source{};             ///< how to name it in messages: a file, or the member's name
  bool crashed = false;             ///< the history was not closed properly
  std::uint64_t lost = 0;           ///< events that could not be recorded: there are gaps
  bool mapped = false;              ///< `events` lie in a mapped file: release_pages() applies
};

/// The history in a recorder in memory; valid until that appends again. `crashed`: the member was
/// killed.
[[nodiscard]] inline History history_of(const Recorder& recorder, bool crashed = false) {
  return {.identity = recorder.identity(),
          .events = recorder.events(),
          .source = recorder.identity().name,
          .crashed = crashed,
          .lost = recorder.lost()};
}

}  // namespace tutti::history
