#include "node/lag_watch.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "base/assert.hpp"
#include "base/text.hpp"

namespace tutti {
namespace {

constexpr std::chrono::milliseconds kToldFrom{50};

}  // namespace

void LagWatch::take(const std::string& group, std::vector<MemberLag>& lags,
                    const std::vector<std::uint64_t>& positions) {
  TUTTI_ASSERT(lags.size() == positions.size(), lags.size(), positions.size());
  Group* at = nullptr;
  {
    const std::lock_guard lock(mutex_);
    at = &groups_[group];
    at->lags.swap(lags);
  }
  follow(group, *at, positions);
}

std::vector<std::chrono::nanoseconds> LagWatch::still(const std::string& group) const {
  std::vector<std::chrono::nanoseconds> out;
  const auto at = groups_.find(group);
  if (at == groups_.end()) return out;
  for (const Watched& watched : at->second.watched) {
    TUTTI_ASSERT(time_.ns() >= watched.moved_ns, time_.ns(), watched.moved_ns);
    out.emplace_back(time_.ns() - watched.moved_ns);
  }
  return out;
}

void LagWatch::forget(const std::string& group) {
  const std::lock_guard lock(mutex_);
  groups_.erase(group);
}

void LagWatch::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
}

std::vector<MemberLag> LagWatch::of(const std::string& group) const {
  const std::lock_guard lock(mutex_);
  const auto at = groups_.find(group);
  return at == groups_.end() ? std::vector<MemberLag>{} : at->second.lags;
}

std::vector<SeenLag> LagWatch::behind() const {
  std::vector<SeenLag> out;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return out;
    for (const auto& [name, group] : groups_) {
      for (const MemberLag& lag : group.lags) {
        if (lag.messages != 0 && lag.behind >= kToldFrom) out.push_back({name, lag});
      }
    }
  }
  std::ranges::stable_sort(out, std::greater{},
                           [](const SeenLag& seen) { return seen.lag.behind; });
  return out;
}

// A member that left is forgotten: that it has caught up would not be true. Positions begin anew
// with a view, which does not mean that anything was delivered. Mostly all are where they were.
void LagWatch::follow(const std::string& name, Group& group,
                      const std::vector<std::uint64_t>& positions) const {
  const std::uint64_t now_ns = time_.ns();
  std::vector<Watched>& all = group.watched;
  for (std::size_t rank = 0; rank < group.lags.size(); ++rank) {
    const MemberLag& lag = group.lags[rank];
    const auto here = all.begin() + static_cast<std::ptrdiff_t>(rank);
    const auto before = std::ranges::find(here, all.end(), lag.member, &Watched::member);
    if (before == all.end()) {
      all.insert(here, Watched{.member = lag.member, .moved_ns = now_ns});
    } else {
      std::iter_swap(here, before);
    }
    Watched& watched = all[rank];
    if (lag.messages == 0 || positions[rank] > watched.position) watched.moved_ns = now_ns;
    watched.position = positions[rank];
    if (lag.member != self_) tell(name, lag, watched);
  }
  all.resize(group.lags.size());
}

void LagWatch::tell(const std::string& group, const MemberLag& lag, Watched& watched) const {
  const auto behind_ns = static_cast<std::uint64_t>(lag.behind.count());
  const Slowness::Say say = watched.slowness.look(time_.ns(), behind_ns, slow_after_ns_);
  if (say == Slowness::Say::nothing || !log_) return;
  const std::string who = "member '" + lag.member + "' ";
  const std::string where = " group '" + group + "'";
  if (say == Slowness::Say::over) {
    log_(LogLevel::warning, who + "has caught up in" + where);
    return;
  }
  log_(LogLevel::warning, who + (lag.holds_window ? "holds the window of" : "is behind in") +
                              where + ": " + grouped(lag.messages) +
                              (lag.messages == 1 ? " message, " : " messages, ") +
                              in_seconds(lag.behind) + " s behind");
}

}  // namespace tutti
