#include "cli/demo_topics/check.hpp"

#include <algorithm>
#include <optional>

namespace tutti::cli {
namespace {

using Sequence = std::vector<SeenSample>;

std::string text_of(const SeenSample& seen) {
  return "sample " + std::to_string(seen.sample.number) + " of " +
         std::string(kDemoWriters[seen.sample.writer]) + " at position " +
         std::to_string(seen.position);
}

std::unexpected<Error> wrong(std::size_t topic, std::size_t who, const std::string& what) {
  return fail(ErrorCode::mismatch, "topic " + std::string(kDemoTopics[topic].name) + ", reader " +
                                       std::string(kDemoWriters[who]) + ": " + what);
}

bool same(const SeenSample& one, const SeenSample& other) {
  return one.position == other.position && one.sample.writer == other.sample.writer &&
         one.sample.number == other.sample.number;
}

/// `part` begins at `from` in `whole`.
Result<void> check_part(std::size_t topic, std::size_t who, const Sequence& whole, std::size_t from,
                        const Sequence& part) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (from + i >= whole.size()) {
      return wrong(topic, who, "it saw " + text_of(part[i]) + ", behind all that a saw");
    }
    if (!same(part[i], whole[from + i])) {
      return wrong(topic, who,
                   "it saw " + text_of(part[i]) + " where a saw " + text_of(whole[from + i]));
    }
  }
  return {};
}

/// Of one that came later, and took what is kept.
Result<void> check_late(std::size_t topic, std::size_t who, const Sequence& whole,
                        const Sequence& late) {
  if (late.size() > whole.size()) return wrong(topic, who, "it saw more samples than a");
  std::size_t least = 1;
  if (topic == kDemoStored) {
    least = std::min<std::size_t>(whole.size(), kDemoTopics[topic].history.depth);
  }
  if (topic == kDemoLogged) least = whole.size();
  if (late.size() < least) {
    return wrong(topic, who,
                 "it saw " + std::to_string(late.size()) + " samples, and not the " +
                     std::to_string(least) + " that the topic keeps");
  }
  return check_part(topic, who, whole, whole.size() - late.size(), late);
}

/// Each writer's numbers have no gap. `from_start`: and begin with 0. Returns how many there are of
/// each.
Result<std::vector<std::uint64_t>> check_writers(std::size_t topic, std::size_t who,
                                                 const Sequence& seen, bool from_start) {
  std::vector<std::optional<std::uint64_t>> next(kDemoWriters.size());
  if (from_start) std::ranges::fill(next, 0);
  for (const SeenSample& each : seen) {
    std::optional<std::uint64_t>& due = next[each.sample.writer];
    if (due.value_or(each.sample.number) != each.sample.number) {
      return wrong(topic, who,
                   "it saw " + text_of(each) + ", but number " + std::to_string(*due) + " is due");
    }
    due = each.sample.number + 1;
  }
  std::vector<std::uint64_t> counts;
  for (const auto& each : next) counts.push_back(each.value_or(0));
  return counts;
}

Result<void> check_acknowledged(std::size_t topic, const std::vector<Seen>& all,
                                const std::vector<std::uint64_t>& counts) {
  for (std::size_t writer = 0; writer < all.size(); ++writer) {
    const std::optional<std::uint64_t>& last = all[writer].acknowledged[topic];
    if (!last || *last < counts[writer]) continue;
    return wrong(topic, 0,
                 "sample " + std::to_string(*last) + " of " + std::string(kDemoWriters[writer]) +
                     " was acknowledged, and is not there");
  }
  return {};
}

Result<void> check_ordered(std::size_t topic, const std::vector<Seen>& all) {
  const Sequence& whole = all[0].samples[topic];
  for (std::size_t who = 1; who < kDemoFounders; ++who) {
    const Sequence& seen = all[who].samples[topic];
    if (Result<void> part = check_part(topic, who, whole, 0, seen); !part) return part;
    if (who != kDemoKilled && seen.size() != whole.size()) {
      return wrong(topic, who,
                   "it saw " + std::to_string(seen.size()) + " samples, and a " +
                       std::to_string(whole.size()));
    }
  }
  for (const std::size_t who : {kDemoLate, kDemoClient}) {
    if (who == kDemoClient && topic != kDemoStored && topic != kDemoLogged) continue;
    const Result<void> late = check_late(topic, who, whole, all[who].samples[topic]);
    if (!late) return late;
  }
  const auto counts = check_writers(topic, 0, whole, true);
  if (!counts) return std::unexpected(counts.error());
  return check_acknowledged(topic, all, *counts);
}

Result<void> check_unordered(const std::vector<Seen>& all) {
  for (std::size_t who = 0; who <= kDemoLate; ++who) {
    const auto counts =
        check_writers(kDemoUnordered, who, all[who].samples[kDemoUnordered], who < kDemoFounders);
    if (!counts) return std::unexpected(counts.error());
  }
  return {};
}

}  // namespace

Result<std::string> check_seen(const std::vector<Seen>& all) {
  std::uint64_t acknowledged = 0;
  for (std::size_t topic = 0; topic < kDemoTopics.size(); ++topic) {
    const Result<void> holds =
        topic == kDemoUnordered ? check_unordered(all) : check_ordered(topic, all);
    if (!holds) return std::unexpected(holds.error());
    if (const auto& last = all[kDemoKilled].acknowledged[topic]) acknowledged += *last + 1;
  }
  const std::string count = std::to_string(acknowledged);
  return "identical: what the readers of atomic, stored and logged saw, with the same positions. b "
         "was killed\n  and saw the beginning; late saw the end, of stored with its history, of "
         "logged all of it\n"
         "complete: each writer's samples are there once, in order; so are the " +
         count +
         " that b was told are\n  acknowledged before it was killed, and all of the client, whose "
         "relay was killed with b\n"
         "in order: what each reader of unordered saw of each writer\n";
}

}  // namespace tutti::cli
