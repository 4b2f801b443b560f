#include "history/checker/report.hpp"

#include "history/text.hpp"

namespace tutti::history {

std::string to_string(const Violation& violation) {
  std::string text = std::string(to_string(violation.property)) + ": " + violation.what + "\n";
  for (const Witness& witness : violation.events) {
    text += "    " + witness.source + " (" + to_string(witness.member) + ") event " +
            std::to_string(witness.index) + ": " + to_string(witness.event) + "\n";
  }
  return text;
}

std::string to_string(const Report& report) {
  const auto counted = [](std::uint64_t count, const std::string& thing) {
    return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
  };
  std::string text = counted(report.events, "event") + " of " + counted(report.members, "member") +
                     ", " + counted(report.violation_count, "violation") + "\n";
  for (const Violation& violation : report.violations) text += to_string(violation);
  if (report.violation_count > report.violations.size()) {
    text += counted(report.violation_count - report.violations.size(), "more violation") +
            " of these properties\n";
  }
  for (const std::string& skipped : report.skipped) text += "not checked: " + skipped + "\n";
  return text;
}

}  // namespace tutti::history
