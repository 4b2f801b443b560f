// A node that joins members which run, and what it does for others that join once it runs itself.
#include <algorithm>
#include <iterator>
#include <limits>

#include "restart/recovery.hpp"

namespace tutti::restart {
namespace {

// What is lacking when a node asks to be admitted: so much is fetched while the group waits.
constexpr std::uint64_t kNear = 1U << 20;

}  // namespace

bool Recovery::somebody_runs() const {
  return std::ranges::any_of(up_, [](const auto& one) { return one.second && one.second->runs; });
}

// RY2.
void Recovery::join() {
  if (participant_) views_ = participant_->views();
  participant_.reset();
  stage_ = Stage::joins;
  last_round_ = std::numeric_limits<std::uint64_t>::max();
  in_round_ = false;
  catch_up_.emplace(logs_);
  for (const auto& [slot, heard] : up_) {
    if (heard && heard->runs && !hear(slot)) return;
  }
  go_on_catching_up();
}

bool Recovery::hear(std::uint32_t slot) {
  if (Result<void> heard = catch_up_->hear(slot, *up_[slot]->told); !heard) {
    fail_with(heard.error());
    return false;
  }
  return true;
}

void Recovery::stop_joining() {
  catch_up_.reset();
  may_join_ = false;
  stage_ = Stage::fresh;
  if (views_) return start_participant();
  consider_adopting();
}

void Recovery::go_on_catching_up() {
  const Result<std::optional<CatchUp::Question>> question = catch_up_->next();
  if (!question) return fail_with(question.error());
  bool all = true;
  for (std::size_t log = 0; log < logs_.size(); ++log) {
    if (catch_up_->is_whole(log) && !handed_[log]) {
      handed_[log] = true;
      owner_.whole(log, logs_.summary(log));
    }
    all = all && handed_[log];
  }
  if (all) {
    catch_up_.reset();
    greet_all();  // others that catch up may have waited for this
    return;
  }
  if (*question) post((*question)->slot, (*question)->message);
  if (stage_ == Stage::joins && !may_join_) look_at_round();
}

// If members log as fast as it fetches, it gets no nearer. Once it is admitted the group's window
// brakes the senders. What is as little as may be lacking in the end says nothing of that.
void Recovery::look_at_round() {
  if (!in_round_) catch_up_->begin_round();
  in_round_ = !catch_up_->is_round_over();
  if (in_round_) return;
  const bool has_all = catch_up_->has_all_told();
  const std::uint64_t appended = catch_up_->appended();
  if (appended <= kNear && !has_all) return;
  catch_up_->forget_appended();
  if (appended <= kNear || appended > last_round_ / 2) return prepare_to_join();
  last_round_ = appended;
  if (has_all) ask_members();
}

// They say again what they have.
void Recovery::ask_members() {
  for (const auto& [slot, heard] : up_) {
    if (!heard || !heard->runs) continue;
    stage_ == Stage::runs ? post(slot, Runs{told_now(), true}) : greet(slot);
  }
}

// The disk of a node that is about to join counts in the view that admits it, even if the node
// stops before it has installed that view. A node without `views` waits until the members have gone
// on without it: with the disk that it has lost it may have been in later views than they tell of.
void Recovery::prepare_to_join() {
  const Views* newest = nullptr;
  for (const auto& [slot, heard] : up_) {
    if (!heard || !heard->runs) continue;
    const Views& views = heard->told->views;
    if (newest == nullptr || views.installed().id > newest->installed().id) newest = &views;
  }
  if (newest == nullptr || (!views_ && newest->installed().has(slot_))) return;
  Views views = views_.value_or(Views{.node = options_.names[slot_],
                                      .nodes = options_.names,
                                      .origin = newest->origin,
                                      .since = newest->installed().id + 1,
                                      .chain = newest->chain,
                                      .edition = edition()});
  if (newest->installed().id > views.installed().id) views.chain = newest->chain;
  if (views_ != views && !save(views)) return;
  may_join_ = true;
}

Recovery::Installed Recovery::install(const ViewRecord& view) {
  if (error_ || stage_ == Stage::fresh || stage_ == Stage::back) return Installed::never;
  if (stage_ == Stage::founds) {
    if (view.id != founds_->id || in_vain_) return Installed::never;
    views_ = participant_->views();
    participant_.reset();
    founds_.reset();
    if (!save_what_was_heard()) return Installed::never;
    catch_up_.emplace(logs_).trust();
    stage_ = Stage::runs;
    greet_all();
    return Installed::yes;
  }
  if (!views_ || views_->promised.view == view.id) return Installed::never;  // RY3, Z12
  if (stage_ == Stage::runs && views_->installed().id >= view.id) return Installed::yes;
  // CU3: what this node's log has must be right when others see it run.
  if (stage_ == Stage::joins && !catch_up_->is_checked(view.id)) return Installed::not_yet;
  Views views = *views_;
  // Of a joiner: what members say may go further than what it has written down (NV1).
  for (const auto& [slot, heard] : up_) {
    if (stage_ == Stage::runs || !heard || !heard->runs) continue;
    const std::vector<ViewRecord>& chain = heard->told->views.chain;
    if (chain.front() == view) {  // it is confirmed already: nobody tells of those before it
      views.chain = {view};
      break;
    }
    if (chain.back().id <= views.installed().id || chain.front().id >= view.id) continue;
    views.chain = chain;
    std::erase_if(views.chain, [&](const ViewRecord& one) { return one.id >= view.id; });
  }
  if (views.installed() != view) {
    if (views.installed().id + 1 != view.id) return Installed::not_yet;
    views.chain.push_back(view);
  }
  if (!save(views)) return Installed::never;
  stage_ = Stage::runs;
  greet_all();
  return Installed::yes;
}

void Recovery::begin(std::size_t log, std::uint64_t seq) {
  if (error_ || !catch_up_) return;
  catch_up_->begin(log, seq);
  go_on_catching_up();
}

// A member that has its log whole will have those records, and answers then. One that lacks them
// itself says so at once: two of them would wait for each other.
void Recovery::answer(std::uint32_t slot, const Fetch& fetch) {
  const std::optional<std::size_t> log = logs_.find(fetch.group);
  if (!log) return;
  const LogSummary summary = handed_[*log] ? owner_.log_now(*log) : logs_.summary(*log);
  note_reader(slot, fetch.group, fetch.from);
  if (handed_[*log] && fetch.from >= summary.next && fetch.from < fetch.until) {
    awaited_[{slot, fetch.group}] = fetch;
    return;
  }
  Records records{.group = fetch.group};
  if (fetch.from >= summary.whole_from && fetch.from < summary.next) {
    auto piece = logs_.read(slot, *log, fetch.from, std::min(fetch.until, summary.next),
                            options_.piece_bytes);
    if (piece) {
      records.records = std::move(*piece);
    } else {  // it asks others
      trouble_ = "records for " + name_of(slot, options_.names) + ": " + piece.error().message;
    }
  }
  post(slot, records);
}

// Behind it the node needs the records from its number on.
void Recovery::answer(std::uint32_t slot, const FetchSnapshot& fetch) {
  const std::optional<std::size_t> log = logs_.find(fetch.group);
  if (!log) return;
  note_reader(slot, fetch.group, fetch.seq);
  post(slot, snapshot_pieces_.read(slot, logs_.directory(*log), fetch, options_.piece_bytes));
}

void Recovery::logs_grew() {
  if (error_) return;
  for (auto& [from, fetch] : std::exchange(awaited_, {})) answer(from.first, fetch);
}

}  // namespace tutti::restart
