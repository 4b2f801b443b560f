#include "restart/editions.hpp"

#include <algorithm>
#include <utility>

namespace tutti::restart {

std::optional<Edition> newer_than(const Edition& told, std::uint32_t slot,
                                  const std::vector<HeardOf>& heard) {
  const auto of = std::ranges::find(heard, slot, &HeardOf::slot);
  if (of == heard.end()) return {};
  const auto same = std::ranges::find(of->editions, told.directory, &Edition::directory);
  if (same == of->editions.end()) return {};
  const Edition& last = of->editions.back();
  if (last.directory != told.directory) return last;  // ED2
  if (last.saves > told.saves) return last;
  return {};
}

std::string to_string(const Edition& newer, const Edition& told) {
  const std::string has = "has save " + std::to_string(told.saves);
  if (newer.directory != told.directory) return has + " of a directory before that one";
  return has + " now";
}

void Editions::note(std::uint32_t slot, const Edition& told) {
  if (told.directory == 0) return;
  auto of = std::ranges::lower_bound(heard_, slot, {}, &HeardOf::slot);
  if (of == heard_.end() || of->slot != slot) of = heard_.insert(of, HeardOf{.slot = slot});
  std::vector<Edition>& editions = of->editions;
  if (!editions.empty() && editions.back().directory == told.directory) {
    editions.back().saves = std::max(editions.back().saves, told.saves);
    return;
  }
  if (editions.size() >= kDirectoriesMax) editions.erase(editions.begin());
  editions.push_back(told);
}

Views Editions::next(Views views) const {
  ++views.edition.saves;
  views.heard = heard_;
  return views;
}

}  // namespace tutti::restart
