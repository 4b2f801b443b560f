#include <algorithm>

#include "restart/participant.hpp"

namespace tutti::restart {

void Participant::on(std::uint32_t from, Hello& message) {
  if (!keep(from, std::move(message.told))) return;
  if (last_) post(from, *last_);
  consider(false);
}

void Participant::refuse(std::uint32_t to, std::uint64_t ballot, std::string why) {
  if (to != slot_) trouble_ = why;
  follow_.reset();
  post(to, Refuse{ballot, mine(), std::move(why)});
}

// Z6, Z12, PT1.
void Participant::on(std::uint32_t from, const Prepare& message) {
  if (last_) return post(from, *last_);
  Views views = mine().views;
  const ViewRecord& view = message.chain.back();
  if (!view.has(slot_)) return;
  std::uint64_t highest = 0;
  if (views.promised.view == view.id) highest = views.promised.ballot;
  if (views.accepted && views.accepted->proposal.follows == view.id) {
    highest = std::max(highest, views.accepted->ballot);
  }
  if (view.id < views.installed().id || views.promised.view > view.id ||
      message.ballot <= highest) {
    return post(from, Refuse{message.ballot, mine(), "it has heard of a later restart"});
  }
  install(views, message.chain);
  views.promised = {.view = view.id, .ballot = message.ballot};
  if (!save(views)) return;
  if (from != slot_) lead_.reset();
  trouble_.clear();
  follow_ = Follow{.leader = from, .ballot = message.ballot};
  post(from, Promise{message.ballot, mine()});
  tell();
}

void Participant::on(std::uint32_t from, Propose& message) {
  if (!follow_ || follow_->leader != from || follow_->ballot != message.ballot ||
      follow_->propose || message.proposal.follows != mine().views.installed().id) {
    return;
  }
  const ViewRecord& next = message.proposal.next;
  for (const std::uint32_t slot : next.members) {
    if (slot >= options_.names.size()) {
      return refuse(from, message.ballot, "the proposal names a node that does not exist");
    }
  }
  for (const GroupPlan& plan : message.plans) {
    if (!logs_.find(plan.base.group)) {
      return refuse(from, message.ballot,
                    "it has no log of group '" + plan.base.group +
                        "'; start the nodes with the same groups as before");
    }
  }
  follow_->propose = std::move(message);
  follow();
}

// Brings one log after the other to what comes before the cut [Z9].
void Participant::follow() {
  while (follow_ && follow_->group < follow_->propose->plans.size()) {
    const GroupPlan& plan = follow_->propose->plans[follow_->group];
    if (!follow_->kept && !keep_what_counts(plan)) return;
    follow_->kept = true;
    if (!fetch(plan)) return;
    ++follow_->group;
    follow_->kept = follow_->checked = false;
  }
  if (follow_) accept();
}

// Z8, Z11. What is cut stays in a file beside the log.
bool Participant::keep_what_counts(const GroupPlan& plan) {
  const std::size_t log = *logs_.find(plan.base.group);
  const log::Writer& writer = logs_.writer(log);
  const LogSummary& summary = logs_.summary(log);
  if (plan.base.snapshot != 0 && is_apart(summary, plan.base)) return true;  // fetches_snapshot()
  const std::uint64_t keep = std::min(common(summary, plan.base), plan.cut);
  const bool has_none = summary.runs.empty() && writer.first() <= plan.cut;
  if (keep < writer.first() && !has_none) {
    refuse(follow_->leader, follow_->ballot,
           "its log of group '" + plan.base.group + "' begins with record " +
               std::to_string(writer.first()) + ", behind record " + std::to_string(keep) +
               ", from which on it is not that of the others; move its state directory away");
    return false;
  }
  const std::uint64_t end = std::max(keep, writer.first());
  if (writer.next() <= end) return true;
  if (!ok(logs_.cut_to(log, end))) return false;
  mine().logs = logs_.summaries();
  tell();
  return true;
}

// True if the log is whole, and what it has is what the base has. Else it has asked, or refused.
bool Participant::fetch(const GroupPlan& plan) {
  const std::size_t log = *logs_.find(plan.base.group);
  const log::Writer& writer = logs_.writer(log);
  const LogSummary& summary = logs_.summary(log);
  const std::uint64_t next = writer.next();
  if (plan.base_slot == slot_ || summary.runs.empty()) follow_->checked = true;
  if (plan.base.snapshot != 0 && is_apart(summary, plan.base)) {
    if (fetches_snapshot(plan)) return false;
    refuse(follow_->leader, follow_->ballot,
           "its log of group '" + plan.base.group +
               "' cannot be compared with those of the others, which begin later, and none of "
               "them has a snapshot; move its state directory away");
    return false;
  }
  if (follow_->checked && next == plan.cut) return true;

  Fetch message{.group = plan.base.group, .from = next, .until = plan.cut, .check_from = next};
  follow_->source = plan.base_slot;
  if (!follow_->checked) {
    const std::vector<SharedSum> sums = shared_sums(summary, plan.base, next);
    message.check_from = std::max(summary.whole_from, plan.base.whole_from);
    if (!sums.empty()) message.check_from = std::max(message.check_from, sums.back().seq);
    message.check_from = std::min(message.check_from, next);
    const Result<std::uint64_t> sum =
        sum_of(logs_.disk(), writer.directory(), message.check_from, next);
    if (!sum) {
      error_ = sum.error();
      return false;
    }
    message.check_sum = *sum;
  } else {
    const auto has = [&](const Source& one) { return one.from <= next && next < one.until; };
    auto source = std::ranges::find_if(plan.sources, has);
    if (source == plan.sources.end()) {
      if (fetches_snapshot(plan)) return false;
      // Nobody who is back has these: all of them joined later.
      std::uint64_t begins = plan.cut;
      for (const Source& one : plan.sources) {
        if (one.from > next) begins = std::min(begins, one.from);
      }
      if (!ok(logs_.begin_at(log, begins))) return false;
      return fetch(plan);
    }
    follow_->source = source->slot;
    message.until = source->until;
  }
  ask(message);
  return false;
}

void Participant::ask(const RestartMessage& message) {
  if (!up_.contains(follow_->source)) {
    return refuse(follow_->leader, follow_->ballot,
                  "it is not connected to " + name_of(follow_->source, options_.names) +
                      ", which has what it lacks");
  }
  follow_->awaits = true;
  post(follow_->source, message);
}

// The newest that those who are back have, and that this log lacks.
bool Participant::fetches_snapshot(const GroupPlan& plan) {
  const std::size_t log = *logs_.find(plan.base.group);
  if (logs_.snapshots(log) == nullptr) return false;
  const std::uint64_t least = is_apart(logs_.summary(log), plan.base) ? logs_.writer(log).first()
                                                                      : logs_.writer(log).next();
  const Source* best = nullptr;
  for (const Source& one : plan.sources) {
    if (one.slot == slot_ || one.snapshot <= least) continue;
    if (best == nullptr || one.snapshot > best->snapshot) best = &one;
  }
  if (best == nullptr) return false;
  follow_->source = best->slot;
  follow_->snapshot.emplace(logs_, log, best->slot, best->snapshot, mine().views.origin);
  ask(follow_->snapshot->next());
  return true;
}

void Participant::on(std::uint32_t from, const FetchSnapshot& message) {
  const std::optional<std::size_t> log = logs_.find(message.group);
  if (!log) return;
  post(from, pieces_.read(from, logs_.directory(*log), message, options_.piece_bytes));
}

void Participant::on(std::uint32_t from, const SnapshotPiece& message) {
  if (!follow_ || !follow_->awaits || !follow_->snapshot || follow_->source != from) return;
  const Result<SnapshotFetch::Taken> taken = follow_->snapshot->take(message);
  if (!taken) {
    error_ = taken.error();
    return;
  }
  if (*taken == SnapshotFetch::Taken::earlier) return;
  follow_->awaits = false;
  moved_ = true;
  if (follow_->leader != slot_) post(follow_->leader, Progress{follow_->ballot});
  if (*taken == SnapshotFetch::Taken::goes_on) return ask(follow_->snapshot->next());
  if (*taken == SnapshotFetch::Taken::refused) {
    return refuse(follow_->leader, follow_->ballot, follow_->snapshot->trouble());
  }
  follow_->snapshot.reset();
  mine().logs = logs_.summaries();
  tell();
  follow();
}

void Participant::on(std::uint32_t from, const Fetch& message) {
  const std::optional<std::size_t> log = logs_.find(message.group);
  if (!log) return;
  const std::string& directory = logs_.directory(*log);
  const LogSummary& summary = logs_.summary(*log);
  Records answer{.group = message.group};
  const bool has = summary.whole_from <= message.check_from && message.check_from <= message.from &&
                   message.from <= summary.next;
  if (has) {
    const auto sum = sum_of(logs_.disk(), directory, message.check_from, message.from);
    if (!ok(sum ? Result<void>{} : Result<void>(std::unexpected(sum.error())))) return;
    answer.differ = *sum != message.check_sum;
  }
  if (has && !answer.differ) {
    const std::uint64_t until = std::min(message.until, summary.next);
    auto piece = logs_.read(from, *log, message.from, until, options_.piece_bytes);
    if (!ok(piece ? Result<void>{} : Result<void>(std::unexpected(piece.error())))) return;
    answer.records = std::move(*piece);
  }
  post(from, answer);
}

void Participant::on(std::uint32_t from, const Records& message) {
  if (!follow_ || !follow_->awaits || follow_->snapshot || follow_->source != from) return;
  const GroupPlan& plan = follow_->propose->plans[follow_->group];
  if (message.group != plan.base.group) return;
  const std::string other = name_of(from, options_.names);
  if (message.differ) {
    return refuse(follow_->leader, follow_->ballot,
                  "its log of group '" + message.group + "' and that of " + other +
                      " differ, and no crash explains that; find out with `tutti log verify` and "
                      "`tutti log dump` which one is wrong, and move the state directory of that "
                      "node away");
  }
  const log::Writer& writer = logs_.writer(*logs_.find(message.group));
  const std::uint64_t before = writer.next();
  if (follow_->checked && !message.records.empty() && message.records.back().seq < before) {
    return;  // an answer to a question of an earlier ballot; that to this one follows
  }
  follow_->awaits = false;
  const bool was_checked = std::exchange(follow_->checked, true);
  if (!append(plan, message.records)) return;
  const std::uint64_t after = writer.next();
  if (after == before && was_checked) {
    return refuse(follow_->leader, follow_->ballot,
                  other + " does not have the records of group '" + message.group + "' from " +
                      std::to_string(after) + " on any more");
  }
  if (follow_->leader != slot_) post(follow_->leader, Progress{follow_->ballot});
  moved_ = true;
  follow();
}

// False if the disk has failed, or this node has refused.
bool Participant::append(const GroupPlan& plan, const std::vector<OwnedRecord>& records) {
  const Result<bool> appended = logs_.append(*logs_.find(plan.base.group), records, plan.cut,
                                             follow_->propose->proposal.follows);
  if (!appended) {
    error_ = appended.error();
    return false;
  }
  mine().logs = logs_.summaries();
  if (*appended) return true;
  refuse(follow_->leader, follow_->ballot,
         "it was sent records of group '" + plan.base.group + "' that cannot be");
  return false;
}

// PT1, Z2.
void Participant::accept() {
  Views views = mine().views;
  views.accepted = Accepted{.ballot = follow_->ballot, .proposal = follow_->propose->proposal};
  if (!save(views)) return;
  tell();
  post(follow_->leader, Accept{follow_->ballot});
}

// PT4.
void Participant::on(std::uint32_t from, const Decided& message) {
  const Proposed& proposal = message.proposal;
  Views views = mine().views;
  if (last_ || proposal.next.id < views.installed().id) return;
  const bool enters = proposal.restart && views.accepted && views.accepted->proposal == proposal &&
                      views.installed().id == proposal.follows && proposal.next.has(slot_);
  if (!enters) {
    elsewhere_ = from;
    return;
  }
  install(views, {proposal.next});  // Z10: it is confirmed
  if (!save(views)) return;
  lead_.reset();
  follow_.reset();
  last_ = message;
  decided_ = proposal.next;
}

}  // namespace tutti::restart
