#include "cli/view_text.hpp"

#include <vector>

namespace tutti::cli {
namespace {

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

std::string to_string(const ViewChange& change) {
  std::vector<std::string> changes;
  for (const Departure& gone : change.left) {
    changes.push_back(gone.member + (gone.reason == LeftReason::left ? " left" : " was lost"));
  }
  if (change.view > 1) {
    for (const std::string& member : change.joined) changes.push_back(member + " joined");
  }
  return "view " + std::to_string(change.view) + ": " + listed(change.members.all()) +
         (changes.empty() ? "" : " (" + listed(changes) + ")");
}

}  // namespace tutti::cli
