// What goes wrong on the way between a recovery and the rest of the world.
#include <algorithm>

#include "unit/restart/recovery_world.hpp"

namespace tutti::restart::testing {
namespace {

Told* told_of(RestartMessage& message) { return const_cast<Told*>(told_in(message)); }

// The first record that is told is of the view of which the receiver has it.
void hide_parting(const NodeLogs& logs, Told& told) {
  for (LogSummary& log : told.logs) {
    const LogSummary& mine = logs.summary(*logs.find(log.group));
    if (log.runs.empty() || log.whole_from <= mine.whole_from) continue;
    const std::uint64_t at = std::min(log.whole_from, mine.next) - 1;
    const std::uint64_t view = mine.view_at(log.whole_from < mine.next ? log.whole_from : at);
    if (view != 0 && view < log.runs.front().view) log.runs.front().view = view;
  }
}

}  // namespace

void RecoveryWorld::spoil_views(Views& views) const {
  if (mistake_ == RecoveryMistake::forgets_promise) views.promised = {};
  if (mistake_ == RecoveryMistake::forgets_heard) views.heard.clear();
}

// False: it does not arrive.
bool RecoveryWorld::spoil_message(Node& from, Node& to, RestartMessage& message) {
  Told* const told = told_of(message);
  if (told != nullptr && to.put_back &&
      (mistake_ == RecoveryMistake::counts_older_copy ||
       mistake_ == RecoveryMistake::older_copy_not_told)) {
    told->views.heard.clear();
  }
  if (told != nullptr && from.put_back && mistake_ == RecoveryMistake::counts_older_copy) {
    told->views.edition.saves += 1000;
  }
  if (told != nullptr && mistake_ == RecoveryMistake::tells_next_edition) {
    ++told->views.edition.saves;
  }
  if (mistake_ == RecoveryMistake::adopts_beyond_first && told != nullptr &&
      told->views.installed().id > 1 && std::holds_alternative<Hello>(message)) {
    message = Fresh{};
    return true;
  }
  if (mistake_ == RecoveryMistake::keeps_tail && std::holds_alternative<Runs>(message)) {
    for (LogSummary& log : told->logs) {
      const LogSummary& mine = to.logs->summary(*to.logs->find(log.group));
      log.next = std::max(log.next, mine.next);
      if (!mine.runs.empty()) log.runs = mine.runs;
    }
  }
  if (mistake_ == RecoveryMistake::suffix_before_snapshot && told != nullptr) {
    for (LogSummary& log : told->logs) log.snapshot = 0;
  }
  if (mistake_ == RecoveryMistake::parting_hidden && told != nullptr) {
    hide_parting(*to.logs, *told);
  }
  if (mistake_ != RecoveryMistake::promises_while_running) return true;
  if (auto* const runs = std::get_if<Runs>(&message)) {
    message = Hello{runs->told};
  } else if (to.runs) {
    const auto answer = [&](const RestartMessage& one) {
      wire_[{to.slot, from.slot}].push_back(encode(one));
    };
    if (const auto* const prepare = std::get_if<Prepare>(&message)) {
      Told mine{.views = to.recovery->views()};
      for (std::size_t log = 0; log < groups_.size(); ++log) mine.logs.push_back(to.log_now(log));
      answer(Promise{prepare->ballot, mine});
    }
    if (const auto* const propose = std::get_if<Propose>(&message)) answer(Accept{propose->ballot});
  }
  return true;
}

}  // namespace tutti::restart::testing
