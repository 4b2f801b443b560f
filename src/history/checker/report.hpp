/// \file report.hpp
/// What the checker found.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "history/checker/property.hpp"
#include "history/event.hpp"
#include "history/make_event.hpp"

namespace tutti::history {

/// An event that a violation is about.
struct Witness {
  std::string source;       ///< whose history: the file, or the member's name
  NodeRef member{};         ///< whose event
  std::uint64_t index = 0;  ///< which event of that history, from 0
  Event event{};
};

struct Violation {
  Property property = Property::M1;
  std::string what;
  std::vector<Witness> events;
};

struct Report {
  std::uint64_t events = 0;
  std::uint64_t members = 0;  ///< incarnations with a history
  std::uint64_t violation_count = 0;
  std::array<std::uint64_t, kProperties> count_of{};  ///< by property
  std::vector<Violation> violations{};                ///< at most shown_max of each property
  std::vector<std::string> skipped{};                 ///< what was not checked, and why

  [[nodiscard]] bool good() const { return violation_count == 0; }
  [[nodiscard]] bool found(Property property) const {
    return count_of[static_cast<std::size_t>(property)] > 0;
  }
};

/// "D2: what happened", then a line per event.
[[nodiscard]] std::string to_string(const Violation& violation);
/// "N events of M members, V violations", then the violations and what was skipped.
[[nodiscard]] std::string to_string(const Report& report);

}  // namespace tutti::history
