#include "restart/catch_up.hpp"

#include <algorithm>
#include <limits>

#include "log/format.hpp"

namespace tutti::restart {

void CatchUp::trust() {
  trusted_ = true;
  for (Of& of : state_) of.checked = true;
}

// CU3. What the chain says no longer counts goes at once [Z8]: no member's log need grow for that.
Result<void> CatchUp::hear(std::uint32_t slot, const Told& told) {
  const std::uint64_t view = told.views.installed().id;
  origin_ = told.views.origin;
  for (Of& of : state_) of.told.erase(slot);
  joiners_.erase(slot);
  if (view < newest_) return {};
  if (view > newest_) {
    newest_ = view;
    awaited_.reset();  // who was asked may be a member no more
    for (Of& of : state_) {
      of.told.clear();
      of.checked = trusted_;
    }
  }
  for (const LogSummary& one : told.logs) {
    const std::optional<std::size_t> log = logs_.find(one.group);
    if (!log || state_[*log].whole) continue;
    state_[*log].told[slot] = one;
    const std::uint64_t counts = counted(logs_.summary(*log), told.views.chain);
    if (trusted_ || logs_.summary(*log).runs.empty() || counts >= logs_.writer(*log).next()) {
      continue;
    }
    if (Result<void> done = cut_to(*log, counts); !done) return done;
  }
  return {};
}

void CatchUp::hear_joiner(std::uint32_t slot, const Told& told,
                          const std::vector<ViewRecord>& chain) {
  for (Of& of : state_) of.told.erase(slot);
  joiners_.insert(slot);
  const std::vector<ViewRecord>& its = told.views.chain;
  if (its.empty() || std::ranges::find(chain, its.back()) == chain.end()) return;
  for (LogSummary one : told.logs) {
    const std::optional<std::size_t> log = logs_.find(one.group);
    if (!log || state_[*log].whole) continue;
    one.next = counted(one, chain);
    if (one.snapshot > one.next) one.snapshot = 0;
    std::erase_if(one.runs, [&](const Run& run) { return run.first >= one.next; });
    if (one.next <= one.whole_from) continue;
    state_[*log].told[slot] = std::move(one);
  }
}

void CatchUp::down(std::uint32_t slot) {
  for (Of& of : state_) of.told.erase(slot);
  joiners_.erase(slot);
  if (awaited_ && awaited_->slot == slot) awaited_.reset();
  if (fetch_ && fetch_->slot() == slot) fetch_.reset();
}

// What is asked again may be answered twice; records count once, by their numbers.
void CatchUp::tick() {
  if (awaited_ && ++awaited_->ticks > patience_) {
    patience_ = std::min(2 * patience_, kPatienceMost);  // it may be slow, or the way to it
    state_[awaited_->log].told.erase(awaited_->slot);
    awaited_.reset();
    fetch_.reset();
  }
}

void CatchUp::begin(std::size_t log, std::uint64_t seq) { state_[log].begins = seq; }

// CU4. Only a member whose group has snapshots can have released what this log is compared with.
bool CatchUp::is_apart_from(std::size_t log, const LogSummary& other) const {
  return other.snapshot != 0 && is_apart(logs_.summary(log), other);
}

// The log that has what this one lacks next, and of these the longest; else the one that begins
// first.
const LogSummary* CatchUp::best(std::size_t log, std::uint32_t& slot) const {
  const std::uint64_t next = logs_.writer(log).next();
  const LogSummary* best = nullptr;
  for (const auto& [from, told] : state_[log].told) {
    const auto goes_on = [&](const LogSummary& one) {
      return one.whole_from <= next && !is_apart_from(log, one);
    };
    const bool has = goes_on(told);
    const bool best_has = best != nullptr && goes_on(*best);
    const bool better = best == nullptr || (has && !best_has) ||
                        (has && best_has && told.next > best->next) ||
                        (!has && !best_has && told.whole_from < best->whole_from);
    if (!better) continue;
    best = &told;
    slot = from;
  }
  return best;
}

Result<void> CatchUp::cut_to(std::size_t log, std::uint64_t seq) {
  const std::uint64_t first = logs_.writer(log).first();
  if (seq < first) {
    return fail(ErrorCode::damaged,
                "the log of group '" + logs_.group(log) + "' in " + logs_.directory(log) +
                    " begins with record " + std::to_string(first) + ", behind record " +
                    std::to_string(seq) +
                    ", from which on it is not that of the others; move the state directory away, "
                    "and start the node again");
  }
  return logs_.cut_to(log, seq);
}

// CU1, CU3. A log that is behind is no reason to cut this one; it says nothing of what comes later.
Result<void> CatchUp::compare(std::size_t log, const LogSummary& other) {
  const std::uint64_t same = common(logs_.summary(log), other);
  const std::uint64_t next = logs_.writer(log).next();
  if (logs_.summary(log).runs.empty() || next <= same) state_[log].checked = true;
  if (same >= std::min(next, other.next)) return {};
  if (Result<void> done = cut_to(log, same); !done) return done;
  state_[log].checked = true;
  return {};
}

Result<void> CatchUp::finish(std::size_t log) {
  const std::uint64_t begins = *state_[log].begins;
  if (logs_.writer(log).next() > begins) {
    if (Result<void> done = cut_to(log, begins); !done) return done;
  }
  state_[log].whole = logs_.writer(log).next() == begins;
  return {};
}

// Trusted logs are what the others' are (CU3).
bool CatchUp::lacks_beginning(std::size_t log, const LogSummary& other) const {
  if (other.snapshot <= logs_.writer(log).first() || trusted_) return false;
  const std::uint64_t next = logs_.writer(log).next();
  return is_apart_from(log, other) || (other.whole_from > next && other.snapshot > next);
}

CatchUp::Question CatchUp::ask_for_piece() {
  awaited_ = Awaited{.slot = fetch_->slot(), .log = fetch_->log()};
  return {.slot = fetch_->slot(), .message = fetch_->next()};
}

Result<std::optional<CatchUp::Question>> CatchUp::next() {
  if (awaited_) return std::nullopt;
  if (fetch_) return ask_for_piece();
  for (std::size_t log = 0; log < state_.size(); ++log) {
    Of& of = state_[log];
    if (of.whole) continue;
    std::uint32_t slot = 0;
    const LogSummary* const other = best(log, slot);
    if (other != nullptr && logs_.snapshots(log) != nullptr && lacks_beginning(log, *other)) {
      // One behind where the group begins for this node is not what comes before: another member's.
      if (other->snapshot > of.begins.value_or(other->snapshot)) continue;
      fetch_.emplace(logs_, log, slot, other->snapshot, origin_);
      return ask_for_piece();
    }
    if (other != nullptr && !of.checked) {
      if (Result<void> done = compare(log, *other); !done) {
        return std::unexpected(std::move(done.error()));
      }
    }
    const bool is_right =
        of.checked || (other != nullptr && of.begins && other->next >= *of.begins);
    if (is_right && of.begins && logs_.writer(log).next() >= *of.begins) {
      if (Result<void> done = finish(log); !done) return std::unexpected(std::move(done.error()));
      continue;
    }
    if (other == nullptr || !of.checked) continue;
    // Nobody has what comes before: all that are here joined later.
    std::uint64_t from = logs_.writer(log).next();
    const std::uint64_t end = of.begins.value_or(std::numeric_limits<std::uint64_t>::max());
    if (other->whole_from > from) {
      from = std::min(other->whole_from, end);
      if (Result<void> done = logs_.begin_at(log, from); !done) {
        return std::unexpected(std::move(done.error()));
      }
    }
    // A member answers once it has more. Of a joiner no more counts than it was said to have.
    const std::uint64_t until =
        joiners_.contains(slot) ? std::min(other->next, end) : of.begins.value_or(other->next);
    if (from >= until) continue;
    awaited_ = Awaited{.slot = slot, .log = log};
    return Question{
        .slot = slot,
        .message =
            Fetch{.group = logs_.group(log), .from = from, .until = until, .check_from = from}};
  }
  return std::nullopt;
}

Result<void> CatchUp::take(std::uint32_t slot, const Records& records) {
  if (!awaited_ || awaited_->slot != slot || records.group != logs_.group(awaited_->log)) return {};
  const std::size_t log = awaited_->log;
  const std::uint64_t before = logs_.writer(log).next();
  if (!records.records.empty() && records.records.back().seq < before) return {};  // come twice
  awaited_.reset();
  // That member is asked again once it says what it has.
  if (records.records.empty()) {
    state_[log].told.erase(slot);
    return {};
  }
  constexpr auto kAll = std::numeric_limits<std::uint64_t>::max();
  const auto told = state_[log].told.find(slot);
  std::uint64_t end = state_[log].begins.value_or(kAll);
  if (joiners_.contains(slot)) {  // more may have come, and that may count no more
    end = told == state_[log].told.end() ? 0 : std::min(end, told->second.next);
  }
  const Result<bool> appended = logs_.append(log, records.records, end, kAll);
  if (!appended) return std::unexpected(appended.error());
  // Else this log would be cut, and would fetch the same again, without end.
  const std::uint64_t next = logs_.writer(log).next();
  const bool as_told = told == state_[log].told.end() || common(logs_.summary(log), told->second) >=
                                                             std::min(next, told->second.next);
  if (!*appended || next == before || !as_told) {
    state_[log].told.erase(slot);
    if (!as_told) state_[log].checked = false;
    trouble_ = "records of group '" + records.group + "' that came do not follow this node's";
    return {};
  }
  for (const OwnedRecord& record : records.records) {
    appended_ += log::bytes_of_record(record.data.size());
  }
  return {};
}

// CU4.
Result<void> CatchUp::take(std::uint32_t slot, const SnapshotPiece& piece) {
  if (!awaited_ || awaited_->slot != slot || !fetch_) return {};
  const std::size_t log = awaited_->log;
  const Result<SnapshotFetch::Taken> taken = fetch_->take(piece);
  if (!taken) return std::unexpected(taken.error());
  if (*taken == SnapshotFetch::Taken::earlier) return {};
  awaited_.reset();
  appended_ += piece.bytes.size();
  if (*taken == SnapshotFetch::Taken::goes_on) return {};
  if (*taken == SnapshotFetch::Taken::refused) {
    trouble_ = fetch_->trouble();
    state_[log].told.erase(slot);
  } else {
    state_[log].checked = true;  // it has nothing that could be wrong
  }
  fetch_.reset();
  return {};
}

void CatchUp::begin_round() {
  for (Of& of : state_) of.goal.reset();
}

bool CatchUp::is_round_over() {
  return each_has([](Of& of, const LogSummary& other) {
    if (!of.goal) of.goal = other.next;
    return std::min(*of.goal, other.next);  // the members of a newer view may have less
  });
}

bool CatchUp::has_all_told() {
  return !awaited_ && each_has([](const Of&, const LogSummary& other) { return other.next; });
}

template <class Until>
bool CatchUp::each_has(const Until& until) {
  bool all = true;
  for (std::size_t log = 0; log < state_.size(); ++log) {
    Of& of = state_[log];
    if (of.whole) continue;
    std::uint32_t slot = 0;
    const LogSummary* const other = best(log, slot);
    all = all && other != nullptr;
    if (other == nullptr) continue;
    const std::uint64_t end = until(of, *other);
    all = all && of.checked && !is_apart_from(log, *other) && logs_.writer(log).next() >= end;
  }
  return all;
}

// Members admit a node in the view that follows theirs.
bool CatchUp::is_checked(std::uint64_t view) const {
  return newest_ + 1 >= view && std::ranges::all_of(state_, &Of::checked);
}

bool CatchUp::is_whole(std::size_t log) const { return state_[log].whole; }

}  // namespace tutti::restart
