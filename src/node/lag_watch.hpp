/// \file lag_watch.hpp
/// Keeps how far each member is behind in each group, for whoever asks, and tells a person who is
/// slow and when that is over.
///
/// Invariant: a pause of our own is not held against others: all times are watched time, in which
/// this node was looking (V6).
/// Threads: of() and behind() any; the others the predicate thread.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "membership/watched_time.hpp"
#include "node/slowness.hpp"
#include "tutti/look.hpp"
#include "tutti/options.hpp"
#include "tutti/statistics.hpp"

namespace tutti {

class LagWatch {
 public:
  /// `self` is this node's name, of which no one is warned. A gap between two looks counts an
  /// eighth of `suspect_after` at most, as with a FailureDetector.
  LagWatch(std::string self, std::chrono::nanoseconds suspect_after,
           std::chrono::nanoseconds slow_after, const LogCallback& log)
      : self_(std::move(self)),
        slow_after_ns_(static_cast<std::uint64_t>(slow_after.count())),
        log_(log),
        time_(static_cast<std::uint64_t>(suspect_after.count()) / 8) {}

  /// To be called in every pass, however little is to be done.
  void look(std::uint64_t now_ns) { time_.look(now_ns); }
  /// The time by which `lags` of take() are to be found.
  [[nodiscard]] std::uint64_t watched_ns() const { return time_.ns(); }

  /// What is now known of a group: all members of the view, and the position of each, which grows
  /// when it delivers. `lags` are exchanged for older ones, whose memory may be used again: in the
  /// long run nothing is allocated.
  void take(const std::string& group, std::vector<MemberLag>& lags,
            const std::vector<std::uint64_t>& positions);

  /// By member, in the order of `lags` as they were taken last: for how long it has delivered
  /// nothing of that group although it lacks something.
  [[nodiscard]] std::vector<std::chrono::nanoseconds> still(const std::string& group) const;

  /// The group is not there any more.
  void forget(const std::string& group);

  /// This node has stopped: nobody is behind it any more. Not to be given anything after that.
  void stop();

  /// As it was taken last.
  [[nodiscard]] std::vector<MemberLag> of(const std::string& group) const;

  /// All that are behind for longer than the figures are good to, the longest first.
  [[nodiscard]] std::vector<SeenLag> behind() const;

 private:
  struct Watched {
    std::string member;
    Slowness slowness{};
    std::uint64_t position = 0;
    std::uint64_t moved_ns = 0;  // or lacked nothing; in watched time
  };
  struct Group {
    std::vector<MemberLag> lags{};
    std::vector<Watched> watched{};  // as many as lags, in their order
  };

  void follow(const std::string& name, Group& group,
              const std::vector<std::uint64_t>& positions) const;
  void tell(const std::string& group, const MemberLag& lag, Watched& watched) const;

  const std::string self_;
  const std::uint64_t slow_after_ns_;
  const LogCallback& log_;
  WatchedTime time_;
  mutable std::mutex mutex_;             // of stopped_, and of what groups_ holds but `watched`
  std::map<std::string, Group> groups_;  // by name
  bool stopped_ = false;
};

}  // namespace tutti
