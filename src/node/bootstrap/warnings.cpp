#include "node/bootstrap/warnings.hpp"

#include <algorithm>
#include <utility>

namespace tutti {

void Warnings::warn(const std::string& kind, std::string text, Time now) {
  const auto [at, is_new] = kinds_.try_emplace(kind);
  Kind& entry = at->second;
  if (is_new || (entry.held == 0 && now - entry.said >= kPeriod)) {
    entry.said = now;
    say_(text);
    return;
  }
  ++entry.held;
  entry.newest = std::move(text);
}

std::optional<Warnings::Time> Warnings::due() const {
  std::optional<Time> first;
  for (const auto& [kind, entry] : kinds_) {
    if (entry.held == 0) continue;
    const Time at = entry.said + kPeriod;
    first = first ? std::min(*first, at) : at;
  }
  return first;
}

void Warnings::flush(Time now) {
  for (auto& [kind, entry] : kinds_) {
    if (entry.held == 0 || now - entry.said < kPeriod) continue;
    const std::uint64_t others = std::exchange(entry.held, 0) - 1;
    std::string text = std::move(entry.newest);
    if (others > 0) text += " (and " + std::to_string(others) + " more like it before)";
    entry.said = now;
    say_(text);
  }
}

}  // namespace tutti
