/// \file findings.hpp
/// Gathers violations: all are counted, the first of each property are kept with their events.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "history/checker/report.hpp"
#include "history/history.hpp"

namespace tutti::history {

/// An event of a run: which history, and which of its events.
struct Place {
  std::uint32_t life = 0;
  std::uint64_t index = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

class Findings {
 public:
  Findings(std::span<const History> histories, std::uint32_t shown_max)
      : histories_(histories), shown_max_(shown_max) {}

  /// Whether the next violation of the property would be kept: if not, its words need not be made.
  [[nodiscard]] bool keeps(Property property) const {
    return report_.count_of[static_cast<std::size_t>(property)] < shown_max_;
  }

  void add(Property property, std::string what, std::span<const Place> events) {
    const bool keep = keeps(property);
    ++report_.count_of[static_cast<std::size_t>(property)];
    ++report_.violation_count;
    if (!keep) return;
    Violation violation{.property = property, .what = std::move(what), .events = {}};
    for (const Place& place : events) violation.events.push_back(witness(place));
    report_.violations.push_back(std::move(violation));
  }
  void add(Property property, std::string what, std::initializer_list<Place> events) {
    add(property, std::move(what), std::span(events.begin(), events.size()));
  }

  void skip(std::string what) { report_.skipped.push_back(std::move(what)); }

  [[nodiscard]] const Event& event(Place place) const {
    return histories_[place.life].events[place.index];
  }
  [[nodiscard]] Report& report() { return report_; }

 private:
  [[nodiscard]] Witness witness(Place place) const {
    const History& history = histories_[place.life];
    return {.source = history.source,
            .member = {history.identity.node, history.identity.incarnation},
            .index = place.index,
            .event = history.events[place.index]};
  }

  std::span<const History> histories_;
  std::uint32_t shown_max_;
  Report report_;
};

}  // namespace tutti::history
