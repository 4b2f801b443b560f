#include "restart/participant.hpp"

#include <algorithm>

namespace tutti::restart {

Participant::Participant(ViewsFile& file, NodeLogs& logs, RestartTransport& transport,
                         const Editions& editions, RestartOptions options)
    : file_(file),
      logs_(logs),
      pieces_(logs.disk()),
      transport_(transport),
      editions_(editions),
      options_(std::move(options)),
      slot_(options_.slot) {
  told_[slot_].views = options_.views;
}

void Participant::start() {
  mine().logs = logs_.summaries();
  consider(false);
  work_off();
}

void Participant::up(std::uint32_t slot) {
  if (ended() || slot == slot_ || slot >= options_.names.size()) return;
  up_.insert(slot);
  post(slot, Hello{mine(), decided_.has_value()});
}

void Participant::down(std::uint32_t slot) {
  if (ended() || up_.erase(slot) == 0) return;
  told_.erase(slot);
  pieces_.forget(slot);
  if (elsewhere_ == slot) elsewhere_.reset();
  if (follow_ && follow_->leader == slot) {
    follow_.reset();
  } else if (follow_ && follow_->awaits && follow_->source == slot) {
    refuse(follow_->leader, follow_->ballot, name_of(slot, options_.names) + " has gone");
  }
  consider(false);
  work_off();
}

void Participant::receive(std::uint32_t slot, std::span<const std::byte> bytes) {
  if (ended() || !up_.contains(slot)) return;
  std::optional<RestartMessage> message = decode(bytes);
  if (!message) {
    trouble_ = name_of(slot, options_.names) + " says what this version does not understand";
    return;
  }
  std::visit([&](auto& one) { on(slot, one); }, *message);
  work_off();
}

void Participant::tick() {
  if (ended() || decided_) return;
  if (lead_ && waits_in_vain()) lead_.reset();
  holds_back_ = false;
  consider(true);
  work_off();
}

void Participant::post(std::uint32_t slot, const RestartMessage& message) {
  if (ended()) return;
  if (slot == slot_) {
    own_.emplace_back(slot, message);
  } else if (up_.contains(slot)) {
    transport_.send(slot, encode(message));
  }
}

void Participant::post_all(const RestartMessage& message) {
  for (const std::uint32_t slot : up_) post(slot, message);
}

void Participant::tell() { post_all(Hello{mine()}); }

// What it has said to itself.
void Participant::work_off() {
  while (!own_.empty() && !ended()) {
    auto [from, message] = std::move(own_.front());
    own_.pop_front();
    std::visit([&](auto& one) { on(slot_, one); }, message);
  }
}

bool Participant::ok(const Result<void>& result) {
  if (!result && !error_) error_ = result.error();
  return result.has_value();
}

// PT1, PT3.
bool Participant::save(const Views& views) {
  const Views next = editions_.next(views);
  if (!ok(file_.save(next))) return false;
  mine().views = next;
  return true;
}

// What this node knows to be confirmed may be more than what the chain says.
void Participant::install(Views& views, const std::vector<ViewRecord>& chain) const {
  const std::uint64_t confirmed = views.confirmed();
  if (chain.back().id > views.installed().id) views.chain = chain;
  confirm(views.chain, std::max(confirmed, chain.front().id));
}

// What another node says of itself counts if it is of the same group.
bool Participant::keep(std::uint32_t slot, Told told) {
  const std::uint64_t origin = mine().views.origin;
  if (slot == slot_) return true;
  if (told.views.origin != origin && told.views.origin != 0 && origin != 0) {
    trouble_ = name_of(slot, options_.names) +
               " belongs to a group that was founded another "
               "time; if its logs are not wanted, move its state directory away";
    return false;
  }
  told_[slot] = std::move(told);
  return true;
}

std::string Participant::why() const {
  if (error_) return error_->message;
  if (decided_) return "view " + std::to_string(decided_->id) + " is decided";
  const auto also = [&](const std::string& text) {
    return trouble_.empty() ? text : text + " (" + trouble_ + ")";
  };
  const std::vector<ViewRecord> chain = chain_of(told_);
  const std::vector<Awaited> missing = awaited(chain, told_);
  if (!missing.empty()) return also(to_string(missing, options_.names));
  const std::string view = "view " + std::to_string(chain.back().id) + ": ";
  if (follow_ && follow_->leader != slot_) {
    return also(view + "follows " + name_of(follow_->leader, options_.names));
  }
  if (!lead_) return also(view + "enough nodes are back, and no restart has begun");
  std::string whom;
  const std::set<std::uint32_t>& said = lead_->proposal ? lead_->accepted : lead_->promised;
  for (const std::uint32_t slot : lead_->asked) {
    if (!said.contains(slot)) whom += " " + name_of(slot, options_.names);
  }
  return also(view + "leads, and waits for the answer of" + whom);
}

}  // namespace tutti::restart
