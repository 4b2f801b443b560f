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
    at = &group_of(group);
    at->lags.swap(lags);
  }
  follow(*at, positions);
}

std::chrono::nanoseconds LagWatch::still(const std::string& group, const std::string& member) {
  const Group& at = group_of(group);
  const auto watched = std::ranges::find(at.watched, member, &Watched::member);
  if (watched == at.watched.end()) return {};
  TUTTI_ASSERT(time_.ns() >= watched->moved_ns, time_.ns(), watched->moved_ns);
  return std::chrono::nanoseconds(time_.ns() - watched->moved_ns);
}

void LagWatch::forget(const std::string& group) {
  const std::lock_guard lock(mutex_);
  std::erase_if(groups_, [&](const Group& one) { return one.name == group; });
}

void LagWatch::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
}

std::vector<MemberLag> LagWatch::of(const std::string& group) const {
  const std::lock_guard lock(mutex_);
  const auto at = std::ranges::find(groups_, group, &Group::name);
  return at == groups_.end() ? std::vector<MemberLag>{} : at->lags;
}

std::vector<SeenLag> LagWatch::behind() const {
  std::vector<SeenLag> out;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return out;
    for (const Group& group : groups_) {
      for (const MemberLag& lag : group.lags) {
        if (lag.messages != 0 && lag.behind >= kToldFrom) out.push_back({group.name, lag});
      }
    }
  }
  std::ranges::stable_sort(out, std::greater{},
                           [](const SeenLag& seen) { return seen.lag.behind; });
  return out;
}

LagWatch::Group& LagWatch::group_of(const std::string& name) {
  const auto at = std::ranges::find(groups_, name, &Group::name);
  if (at != groups_.end()) return *at;
  return groups_.emplace_back(Group{.name = name});
}

// A member that left is forgotten: that it has caught up would not be true. Positions begin anew
// with a view, which does not mean that anything was delivered.
void LagWatch::follow(Group& group, const std::vector<std::uint64_t>& positions) const {
  const std::uint64_t now_ns = time_.ns();
  std::erase_if(group.watched, [&](const Watched& watched) {
    return std::ranges::find(group.lags, watched.member, &MemberLag::member) == group.lags.end();
  });
  for (std::size_t rank = 0; rank < group.lags.size(); ++rank) {
    const MemberLag& lag = group.lags[rank];
    auto watched = std::ranges::find(group.watched, lag.member, &Watched::member);
    if (watched == group.watched.end()) {
      watched = group.watched.insert(watched, Watched{.member = lag.member, .moved_ns = now_ns});
    }
    if (lag.messages == 0 || positions[rank] > watched->position) watched->moved_ns = now_ns;
    watched->position = positions[rank];
    if (lag.member != self_) tell(group, lag, *watched);
  }
}

void LagWatch::tell(const Group& group, const MemberLag& lag, Watched& watched) const {
  const auto behind_ns = static_cast<std::uint64_t>(lag.behind.count());
  const Slowness::Say say = watched.slowness.look(time_.ns(), behind_ns, slow_after_ns_);
  if (say == Slowness::Say::nothing || !log_) return;
  const std::string who = "member '" + lag.member + "' ";
  const std::string where = " group '" + group.name + "'";
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
