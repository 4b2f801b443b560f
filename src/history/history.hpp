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
  bool crashed = false;             ///< it was not ended in good order
  std::uint64_t lost = 0;           ///< events that could not be recorded: it has gaps
  bool mapped = false;  ///< `events` are pages of a file, which may be let go and come back
};

/// Of a recorder in memory; valid until it appends again. `crashed`: the member was killed.
[[nodiscard]] inline History history_of(const Recorder& recorder, bool crashed = false) {
  return {.identity = recorder.identity(),
          .events = recorder.events(),
          .source = recorder.identity().name,
          .crashed = crashed,
          .lost = recorder.lost()};
}

}  // namespace tutti::history
