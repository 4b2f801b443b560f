#include "restart/recovery.hpp"

#include <algorithm>
#include <variant>

namespace tutti::restart {

Recovery::Recovery(ViewsFile& file, NodeLogs& logs, RestartTransport& transport,
                   RecoveryOwner& owner, RecoveryOptions options)
    : file_(file),
      logs_(logs),
      transport_(transport),
      owner_(owner),
      options_(std::move(options)),
      slot_(options_.slot),
      views_(options_.views),
      editions_(options_.views ? options_.views->heard : std::vector<HeardOf>{}),
      handed_(logs.size(), false),
      snapshot_pieces_(logs.disk()) {}

void Recovery::start() {
  if (views_) {
    if (const Result<void> synced = file_.sync(); !synced) return fail_with(synced.error());
    start_participant();
  } else {
    consider_adopting();
  }
}

void Recovery::start_participant() {
  stage_ = Stage::back;
  participant_.emplace(file_, logs_, transport_, editions_,
                       RestartOptions{.slot = slot_,
                                      .names = options_.names,
                                      .views = *views_,
                                      .piece_bytes = options_.piece_bytes});
  participant_->start();
  for (const auto& [slot, heard] : up_) {
    participant_->up(slot);
    if (heard && heard->told && !heard->runs) {
      participant_->receive(slot, encode(RestartMessage(Hello{*heard->told})));
    }
  }
  look_at_participant();
}

void Recovery::up(std::uint32_t slot) {
  if (error_ || slot == slot_ || slot >= options_.names.size()) return;
  up_[slot].reset();
  if (participant_) {
    participant_->up(slot);
    look_at_participant();
  } else {
    greet(slot);
  }
}

void Recovery::down(std::uint32_t slot) {
  if (error_ || up_.erase(slot) == 0) return;
  outdated_.erase(slot);
  logs_.forget_reader(slot);
  snapshot_pieces_.forget(slot);
  forget_reader(slot);
  std::erase_if(awaited_, [&](const auto& one) { return one.first.first == slot; });
  if (participant_) {
    participant_->down(slot);
    // It may be in that view already, and has crashed there: then the others will say so.
    if (stage_ == Stage::founds && founds_->has(slot)) in_vain_ = true;
    look_at_participant();
  }
  if (catch_up_) {
    catch_up_->down(slot);
    if (stage_ == Stage::joins && !somebody_runs()) return stop_joining();
    go_on_catching_up();
  }
}

void Recovery::receive(std::uint32_t slot, std::span<const std::byte> bytes) {
  if (error_ || !up_.contains(slot)) return;
  std::optional<RestartMessage> message = decode(bytes);
  if (!message) {
    trouble_ = name_of(slot, options_.names) + " says what this version does not understand";
    return;
  }
  if (const Told* const told = told_in(*message)) {
    if (!is_current(slot, *told)) return;
  } else if (outdated_.contains(slot)) {
    return;
  }
  if (std::holds_alternative<Fresh>(*message)) {
    up_[slot] = Heard{};
  } else if (auto* const hello = std::get_if<Hello>(&*message)) {
    if (!fits(slot, hello->told)) return;
    up_[slot] = Heard{.told = std::move(hello->told), .founds = hello->founds};
  } else if (auto* const runs = std::get_if<Runs>(&*message)) {
    if (!fits(slot, runs->told)) return;
    if (stage_ != Stage::runs && is_left_behind(runs->told)) {
      up_[slot].reset();
      return;
    }
    up_[slot] = Heard{.runs = true, .told = std::move(runs->told)};
  }
  const auto* const asking = std::get_if<Runs>(&*message);
  const bool asks =
      (asking != nullptr && asking->asks) || std::holds_alternative<Hello>(*message) ||
      std::holds_alternative<Prepare>(*message) || std::holds_alternative<Fresh>(*message);
  const bool says_runs = std::holds_alternative<Runs>(*message);
  switch (stage_) {
    case Stage::runs:
      if (const auto* const fetch = std::get_if<Fetch>(&*message)) answer(slot, *fetch);
      if (const auto* const fetch = std::get_if<FetchSnapshot>(&*message)) answer(slot, *fetch);
      if (says_runs) forget_reader(slot);
      if (std::holds_alternative<Hello>(*message)) {
        note_reader(slot, *up_[slot]->told);
        if (catch_up_) catch_up_->hear_joiner(slot, *up_[slot]->told, views_->chain);
      }
      if (asks) greet(slot);
      break;
    case Stage::founds:
      if (has_given_up(slot)) in_vain_ = true;
      if (!says_runs) participant_->receive(slot, bytes);
      look_at_participant();
      break;
    case Stage::back:
      if (says_runs) return join();
      participant_->receive(slot, bytes);
      look_at_participant();
      if (stage_ == Stage::back) consider_adopting();
      return;
    case Stage::fresh:
      if (says_runs) return join();
      return consider_adopting();
    case Stage::joins:  // members whose logs are not whole ask joiners, too (CU5)
      if (const auto* const fetch = std::get_if<Fetch>(&*message)) answer(slot, *fetch);
      if (const auto* const fetch = std::get_if<FetchSnapshot>(&*message)) answer(slot, *fetch);
      break;
  }
  if (!catch_up_) return;
  if (says_runs && !hear(slot)) return;
  if (const auto* const records = std::get_if<Records>(&*message)) {
    if (Result<void> taken = catch_up_->take(slot, *records); !taken) {
      return fail_with(taken.error());
    }
  }
  if (const auto* const piece = std::get_if<SnapshotPiece>(&*message)) {
    if (Result<void> taken = catch_up_->take(slot, *piece); !taken) {
      return fail_with(taken.error());
    }
  }
  go_on_catching_up();
}

// RY5. Members that go on come to this node's view, and say so then.
bool Recovery::is_left_behind(const Told& told) const {
  const Views& mine = views();
  return !mine.chain.empty() && told.views.installed().id < mine.installed().id;
}

void Recovery::tick() {
  if (error_) return;
  age_readers();
  if (participant_ && stage_ == Stage::back) {
    participant_->tick();
    look_at_participant();
  }
  if (stage_ == Stage::runs && !save_what_was_heard()) return;
  if (!catch_up_) return;
  catch_up_->tick();
  ask_members();
}

void Recovery::look_at_participant() {
  if (participant_->error()) return fail_with(*participant_->error());
  if (stage_ != Stage::back || !participant_->decided()) return;
  founds_ = participant_->decided();
  stage_ = Stage::founds;
  in_vain_ = std::ranges::any_of(up_, [&](const auto& one) { return has_given_up(one.first); });
}

// A member of the view that this node founds has begun again from it, or others have gone on after
// it. One that founds it, too, says hello before it knows that it is decided, or that it founds it.
bool Recovery::has_given_up(std::uint32_t slot) const {
  const std::optional<Heard>& heard = up_.at(slot);
  if (!heard || !heard->told) return false;
  const std::uint64_t installed = heard->told->views.installed().id;
  if (installed != founds_->id) return installed > founds_->id;
  return founds_->has(slot) && !heard->runs && !heard->founds;
}

// RY3. A new participant begins from what is on disk.
void Recovery::begin_again() {
  if (stage_ != Stage::founds || error_) return;
  views_ = participant_->views();
  participant_.reset();
  founds_.reset();
  in_vain_ = false;
  if (somebody_runs()) return join();
  start_participant();
}

void Recovery::post(std::uint32_t slot, const RestartMessage& message) {
  if (!error_) transport_.send(slot, encode(message));
}

Told Recovery::told_now() {
  Told told{.views = views()};
  told.views.heard = editions_.heard();
  for (std::size_t log = 0; log < logs_.size(); ++log) {
    told.logs.push_back(handed_[log] ? owner_.log_now(log) : logs_.summary(log));
  }
  return told;
}

// A participant says hello by itself.
void Recovery::greet(std::uint32_t slot) {
  if (stage_ == Stage::runs) return post(slot, Runs{told_now()});
  if (views_) return post(slot, Hello{told_now()});
  post(slot, Fresh{});
}

void Recovery::greet_all() {
  for (const auto& [slot, heard] : up_) greet(slot);
}

bool Recovery::save(const Views& views) {
  Views next = editions_.next(views);
  if (Result<void> saved = file_.save(next); !saved) {
    fail_with(saved.error());
    return false;
  }
  views_ = std::move(next);
  return true;
}

void Recovery::fail_with(const Error& error) {
  if (!error_) error_ = error;
}

const Views& Recovery::views() const {
  static const Views none{};
  if (participant_) return participant_->views();
  return views_ ? *views_ : none;
}

void Recovery::accept(const Accepted& accepted) {
  if (error_ || stage_ != Stage::runs) return;
  Views views = *views_;
  views.accepted = accepted;
  if (save(views)) greet_all();  // RY6: so that this acceptance is missed if it is forgotten
}

void Recovery::confirm(std::uint64_t view) {
  if (error_ || stage_ != Stage::runs || views_->confirmed() >= view) return;
  Views views = *views_;
  restart::confirm(views.chain, view);
  if (save(views)) greet_all();
}

}  // namespace tutti::restart
