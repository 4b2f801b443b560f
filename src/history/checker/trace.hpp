/// \file trace.hpp
/// The result of walking the members' histories: each group's one sequence, and how far each member
/// got in each view.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "history/checker/chunked.hpp"
#include "history/checker/flat_map.hpp"
#include "history/checker/run.hpp"

namespace tutti::history {

/// One message of a group's sequence, as recorded in the first history that delivers it.
struct Entry {
  std::uint32_t sender : 31 = 0;  ///< its number in Trace; 0: nobody delivered this ordinal
  std::uint32_t safe : 1 = 0;     ///< is_safe()
  std::uint32_t ticket = 0;       ///< low 32 bits
  std::uint32_t view = 0;         ///< low 32 bits
  std::uint32_t crc = 0;
};

/// Every member has the message if one delivers it: all have that at `atomic`.
[[nodiscard]] inline bool is_safe(const Event& deliver) {
  return level_of(deliver) == static_cast<std::uint8_t>(Level::atomic);
}

/// What one member delivered of a group in one view.
struct Tally {
  std::uint32_t life = 0;
  std::uint64_t view = 0;
  std::uint64_t count = 0;
  std::uint64_t end = 0;       ///< 1 + the last ordinal
  std::uint64_t safe_end = 0;  ///< 1 + the last one that was delivered as safe
  std::uint64_t last_index = 0;
  std::uint64_t last_ns = 0;
};

/// How far one member got in a group in the whole run.
struct Ending {
  std::uint32_t life = 0;
  std::uint64_t first = 0, next = 0;  ///< ordinals: the first delivered, the one after the last
  std::uint64_t first_index = 0, last_index = 0;
  std::uint64_t own_next = 1;  ///< after the last of its own tickets that it delivered
};

/// How far one member delivered another's messages, for groups without an order.
struct Heard {
  std::uint32_t life = 0;
  std::uint32_t sender = 0;
  std::uint64_t next = 0;
};

struct GroupTrace {
  Chunked<Entry> sequence;  ///< by ordinal - Group::first_ordinal
  std::vector<Tally> tallies;
  std::vector<Ending> endings;
  std::vector<Heard> heard;

  [[nodiscard]] const Ending* ending(std::uint32_t life) const {
    for (const Ending& ending : endings) {
      if (ending.life == life) return &ending;
    }
    return nullptr;
  }
};

struct Trace {
  std::map<std::uint16_t, GroupTrace> groups;
  FlatMap<std::uint32_t> senders;    ///< Run::name_key -> its number, from 1
  std::vector<std::uint64_t> names;  ///< by number - 1

  std::uint32_t sender_number(std::uint64_t name) {
    std::uint32_t& number = senders[name];
    if (number == 0) {
      names.push_back(name);
      number = static_cast<std::uint32_t>(names.size());
    }
    return number;
  }
};

}  // namespace tutti::history
