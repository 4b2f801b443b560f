/// \file findings.hpp
/// Collects violations: it counts all, and keeps the first of each property with their events.
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
struct EventRef {
  std::uint32_t life = 0;
  std::uint64_t index = 0;
  friend auto operator<=>(const EventRef&, const EventRef&) = default;
};

class Findings {
 public:
  Findings(std::span<const History> histories, std::uint32_t shown_max)
      : histories_(histories), shown_max_(shown_max) {}

  /// Whether the next violation of the property would be kept; if not, its text is not needed.
  [[nodiscard]] bool keeps(Property property) const {
    return report_.count_of[static_cast<std::size_t>(property)] < shown_max_;
  }

  void add(Property property, std::string what, std::span<const EventRef> events) {
    const bool keep = keeps(property);
    ++report_.count_of[static_cast<std::size_t>(property)];
    ++report_.violation_count;
    if (!keep) return;
    Violation violation{.property = property, .what = std::move(what), .events = {}};
    for (const EventRef& ref : events) violation.events.push_back(witness(ref));
    report_.violations.push_back(std::move(violation));
  }
  void add(Property property, std::string what, std::initializer_list<EventRef> events) {
    add(property, std::move(what), std::span(events.begin(), events.size()));
  }

  void skip(std::string what) { report_.skipped.push_back(std::move(what)); }

  [[nodiscard]] const Event& event(EventRef ref) const {
    return histories_[ref.life].events[ref.index];
  }
  [[nodiscard]] Report& report() { return report_; }

 private:
  [[nodiscard]] Witness witness(EventRef ref) const {
    const History& history = histories_[ref.life];
    return {.source = history.source,
            .member = {history.identity.node, history.identity.incarnation},
            .index = ref.index,
            .event = history.events[ref.index]};
  }

  std::span<const History> histories_;
  std::uint32_t shown_max_;
  Report report_;
};

}  // namespace tutti::history
