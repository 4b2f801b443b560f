#include "restart/log_summary.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "log/read.hpp"
#include "log/stream.hpp"

namespace tutti::restart {

std::uint64_t LogSummary::view_at(std::uint64_t seq) const {
  const auto behind = std::ranges::upper_bound(runs, seq, {}, &Run::first);
  return behind == runs.begin() ? 0 : std::prev(behind)->view;
}

void add(LogSummary& summary, const log::Record& record) {
  const bool begins = summary.runs.empty() || record.seq != summary.next;
  if (begins) {  // SU2
    summary.runs.clear();
    summary.whole_from = record.seq;
    summary.sum = 0;
  }
  add_run(summary, record.view, record.seq);
  summary.next = record.seq + 1;
  summary.sum += log::digest_of(record);
}

void add_run(LogSummary& summary, std::uint64_t view, std::uint64_t seq) {
  if (!summary.runs.empty() && summary.runs.back().view == view) return;
  if (summary.runs.size() == kRunsMax) summary.runs.erase(summary.runs.begin());
  summary.runs.push_back({.view = view, .first = seq, .sum = summary.sum});
}

void release_before(LogSummary& summary, std::uint64_t seq) {
  if (seq <= summary.whole_from) return;
  summary.whole_from = seq;
  std::vector<Run>& runs = summary.runs;
  const auto behind = std::ranges::upper_bound(runs, seq, {}, &Run::first);
  if (behind != runs.begin()) runs.erase(runs.begin(), std::prev(behind));
  if (seq >= summary.next) {
    std::erase_if(runs, [&](const Run& run) { return run.first < seq; });
  } else if (!runs.empty()) {
    runs.front().first = std::max(runs.front().first, seq);
  }
}

Result<LogSummary> summarize(const log::Disk& disk, const std::string& directory,
                             const std::string& group) {
  LogSummary summary{.group = group};
  const auto visit = [&](const log::Record& record, std::uint64_t /*offset*/) {
    add(summary, record);
    return true;
  };
  const Result<log::Reading> reading = log::read_log(disk, directory, visit);
  if (!reading) return std::unexpected(reading.error());
  if (reading->damage) {
    return fail(ErrorCode::damaged, "the log is damaged: " + to_string(*reading->damage));
  }
  return summary;
}

std::uint64_t counted(const LogSummary& log, const std::vector<ViewRecord>& chain) {
  for (std::size_t i = 0; i < log.runs.size(); ++i) {
    const std::uint64_t end = i + 1 < log.runs.size() ? log.runs[i + 1].first : log.next;
    std::uint64_t limit = end;
    for (const ViewRecord& view : chain) {
      if (view.id <= log.runs[i].view) continue;
      if (const auto first = view.first_of(log.group)) limit = std::min(limit, *first);
    }
    if (limit < end) return limit;
  }
  return log.next;
}

std::uint64_t common(const LogSummary& one, const LogSummary& other) {
  const std::uint64_t end = std::min(one.next, other.next);
  if (one.runs.empty() || other.runs.empty()) return end;
  std::uint64_t seq = std::max(one.runs.front().first, other.runs.front().first);
  while (seq < end) {
    if (one.view_at(seq) != other.view_at(seq)) return seq;
    const auto next_run = [&](const LogSummary& log) {
      const auto behind = std::ranges::upper_bound(log.runs, seq, {}, &Run::first);
      return behind == log.runs.end() ? log.next : behind->first;
    };
    seq = std::min(next_run(one), next_run(other));
  }
  return end;
}

bool is_apart(const LogSummary& log, const LogSummary& other) {
  if (log.runs.empty() || other.whole_from <= log.whole_from) return false;
  return log.next <= other.whole_from || other.runs.empty() ||
         log.view_at(other.whole_from) != other.view_at(other.whole_from);
}

std::vector<SharedSum> shared_sums(const LogSummary& one, const LogSummary& other,
                                   std::uint64_t until) {
  std::vector<SharedSum> all;
  auto at = other.runs.begin();
  for (const Run& run : one.runs) {
    while (at != other.runs.end() && at->first < run.first) ++at;
    if (at == other.runs.end() || run.first > until) break;
    if (at->first == run.first) all.push_back({run.first, run.sum, at->sum});
  }
  if (one.next == other.next && one.next <= until && !one.runs.empty() && !other.runs.empty()) {
    all.push_back({one.next, one.sum, other.sum});
  }
  return all;
}

Result<std::uint64_t> sum_of(const log::Disk& disk, const std::string& directory,
                             std::uint64_t from, std::uint64_t until) {
  constexpr std::size_t kPieceBytes = 1U << 20;
  log::Stream stream(disk, directory, from);
  log::Batch batch;
  std::uint64_t sum = 0;
  while (stream.next() < until) {
    batch.clear();
    if (const auto read = stream.read(kPieceBytes, until, batch); !read) {
      return std::unexpected(read.error());
    }
    if (batch.empty()) {
      return fail(ErrorCode::damaged, "the log in " + directory + " ends before record " +
                                          std::to_string(stream.next()));
    }
    batch.for_each([&](const log::Record& record) { sum += log::digest_of(record); });
  }
  return sum;
}

void encode(Encoder& out, const LogSummary& summary) {
  out.text(summary.group);
  out.number(summary.whole_from);
  out.number(summary.next);
  out.number(summary.sum);
  out.number(summary.snapshot);
  out.list(summary.runs, [](Encoder& to, const Run& run) {
    to.number(run.view);
    to.number(run.first);
    to.number(run.sum);
  });
}

LogSummary decode_summary(Decoder& in) {
  LogSummary summary{.group = in.text()};
  summary.whole_from = in.number<std::uint64_t>();
  summary.next = in.number<std::uint64_t>();
  summary.sum = in.number<std::uint64_t>();
  summary.snapshot = in.number<std::uint64_t>();
  summary.runs = in.list([](Decoder& from) {
    Run run{.view = from.number<std::uint64_t>()};
    run.first = from.number<std::uint64_t>();
    run.sum = from.number<std::uint64_t>();
    return run;
  });
  const std::vector<Run>& runs = summary.runs;
  in.check(runs.size() <= kRunsMax && summary.next >= summary.whole_from);
  in.check(summary.snapshot == 0 ||
           (summary.snapshot >= summary.whole_from && summary.snapshot <= summary.next));
  in.check(std::ranges::adjacent_find(runs, std::ranges::greater_equal{}, &Run::first) ==
           runs.end());
  in.check(std::ranges::adjacent_find(runs, std::ranges::greater_equal{}, &Run::view) ==
           runs.end());
  in.check(runs.empty() == (summary.next == summary.whole_from));
  in.check(runs.empty() ||
           (runs.front().first >= summary.whole_from && runs.back().first < summary.next));
  return summary;
}

}  // namespace tutti::restart
