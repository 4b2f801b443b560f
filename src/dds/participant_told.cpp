// What the control group and the views tell a participant, and what it says of its readers and
// writers.
#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "dds/participant_core.hpp"
#include "dds/waiting.hpp"

namespace tutti::dds {

namespace {

constexpr std::size_t kAnswersMax = 1024;  // of calls that timed out

}  // namespace

void ParticipantCore::apply(std::span<const Message> batch) {
  Calls calls;
  std::vector<std::byte> record;
  {
    const std::lock_guard lock(mutex_);
    for (const Message& message : batch) {
      record.assign(message.data, message.data + message.size);
      overtaken_ = overtaken_ || !control_->intact();
      if (overtaken_) break;  // PC6
      const Directory::Answer answer = directory_.apply(message.sender, record);
      note_answer(message, answer, calls);
      if (answer.outcome != Directory::Outcome::noted || answer.name.empty()) continue;
      note_endpoints(message.sender, answer.key, answer.before, calls);
    }
  }
  announced_.notify_all();
  for (const auto& call : calls) call();  // PC3
}

void ParticipantCore::note_answer(const Message& message, const Directory::Answer& answer,
                                  Calls& calls) {
  const bool is_waited_for =
      answer.outcome != Directory::Outcome::marked && answer.outcome != Directory::Outcome::wanted;
  if (message.ticket != Ticket{} && is_waited_for) {
    answers_[message.ticket] = answer;
    if (answers_.size() > kAnswersMax) answers_.erase(answers_.begin());
  }
  const std::shared_ptr<Bundle> carrier = bundle(answer.key.bundle);
  const bool is_told_here = carrier != nullptr && !carrier->is_ordered();
  switch (answer.outcome) {
    case Directory::Outcome::created:
      if (is_told_here) {
        carrier->define(answer.key.id, directory_.find(answer.key)->definition);
      }
      break;
    case Directory::Outcome::joined:
      // Who joins may have come after the definition, in a bundle whose group has no state.
      if (carrier != nullptr && carrier->is_ordered() &&
          std::ranges::count(carrier->options().members, control_->name_of(message.sender)) != 0 &&
          message.sender != control_->own_index()) {
        calls.emplace_back([carrier, id = answer.key.id] {
          if (const auto topic = carrier->find(id)) carrier->send_definition(id, topic->definition);
        });
      }
      break;
    case Directory::Outcome::wanted:
      note_want(answer.key, calls);
      break;
    case Directory::Outcome::released:
      wanted_.erase(answer.key);
      if (is_told_here) {
        carrier->remove(answer.key.id);
      } else if (carrier != nullptr && message.sender == control_->own_index()) {
        // Here, for the call that asked for it may have given up.
        calls.emplace_back([carrier, id = answer.key.id] { carrier->send_deletion(id); });
      }
      break;
    case Directory::Outcome::unknown:
      // What this participant announced was deleted meanwhile, or the deletion was never sent.
      if (carrier != nullptr && message.sender == control_->own_index() &&
          directory_.is_released(answer.key)) {
        calls.emplace_back([carrier, id = answer.key.id] { carrier->send_deletion(id); });
      }
      break;
    case Directory::Outcome::mismatch:
      note_mismatch(message.sender, answer, calls);
      break;
    default:
      break;
  }
}

// All senders do it, for each of them may end before it does; a definition that comes twice changes
// nothing (BT1).
void ParticipantCore::note_want(const TopicKey& key, Calls& calls) const {
  std::shared_ptr<Bundle> carrier = bundle(key.bundle);
  if (carrier == nullptr || !carrier->is_ordered() || !carrier->is_sender()) return;
  calls.emplace_back(
      [carrier = std::move(carrier), id = key.id, definition = directory_.find(key)->definition] {
        // It comes to whoever asked by itself, unless the bundle tells those that join nothing.
        if (carrier->find(id) != nullptr && carrier->options().members.empty()) return;
        carrier->send_definition(id, definition);
      });
}

void ParticipantCore::define(const TopicKey& key) {
  const std::shared_ptr<Bundle> carrier = bundle(key.bundle);
  if (carrier == nullptr || !carrier->is_ordered()) return;
  std::vector<std::byte> question = Directory::want(key);
  std::optional<Definition> definition;
  {
    const std::lock_guard lock(mutex_);
    const Directory::Entry* const entry = directory_.find(key);
    if (entry == nullptr) return;
    if (carrier->is_sender()) {
      definition = entry->definition;
    } else if (!wanted_.insert(key).second) {  // PC5
      return;
    }
  }
  if (definition) return carrier->send_definition(key.id, *definition);
  if (Claim space = control_->try_claim(static_cast<std::uint32_t>(question.size()))) {
    std::memcpy(space.data(), question.data(), question.size());
    static_cast<void>(control_->commit(std::move(space)));
  } else if (!send_later(std::move(question))) {
    const std::lock_guard lock(mutex_);
    wanted_.erase(key);
  }
}

// Once there is space: this may be called inside callbacks. False: the node ends, or has no thread
// to wait for it.
bool ParticipantCore::send_later(std::vector<std::byte> record) {
  const auto size = static_cast<std::uint32_t>(record.size());
  auto send = [self = shared_from_this(), bytes = std::move(record)](Result<Claim> claim) {
    if (!claim) return;  // the node ends
    std::memcpy(claim->data(), bytes.data(), bytes.size());
    static_cast<void>(self->control_->commit(std::move(*claim)));
  };
  return control_->on_space(size, std::move(send)).has_value();
}

void ParticipantCore::note_mismatch(MemberIndex sender, const Directory::Answer& answer,
                                    Calls& calls) {
  const Directory::Entry* entry = directory_.find(answer.key);
  const auto local = locals_.find(answer.key);
  if (ended_ || entry == nullptr || local == locals_.end() || !answer.wanted) return;  // PC4
  const std::optional<Difference> differs = difference(entry->definition, *answer.wanted);
  if (!differs) return;
  const InconsistentTopic told{answer.name, std::string(control_->name_of(sender)), differs->had,
                               differs->wanted};
  for (const auto& each : local->second.topics) {
    calls.emplace_back([each, told, type = differs->type] {
      const std::shared_ptr<TopicCore> topic = each.lock();
      if (topic == nullptr) return;
      const TopicListener& listener = topic->listener();
      const auto& call =
          type ? listener.on_inconsistent_topic : listener.on_requested_incompatible_qos;
      if (call) topic->gate().pass([&] { call(told); });
    });
  }
}

EndpointCounts ParticipantCore::counts_of(MemberIndex participant, const TopicKey& key) const {
  const Directory::Entry* entry = directory_.find(key);
  if (entry == nullptr) return {};
  const auto at = entry->endpoints.find(participant.value);
  return at == entry->endpoints.end() ? EndpointCounts{} : at->second;
}

void ParticipantCore::note_endpoints(MemberIndex participant, const TopicKey& key,
                                     EndpointCounts before, Calls& calls) {
  const auto local = locals_.find(key);
  const Directory::Entry* entry = directory_.find(key);
  if (ended_ || local == locals_.end() || entry == nullptr) return;  // PC4
  if (participant == control_->own_index()) greet(key, calls);
  const EndpointCounts now = counts_of(participant, key);
  const EndpointCounts all = Directory::total(*entry);
  const std::string name(control_->name_of(participant));
  for (const auto& endpoint : local->second.endpoints) {
    if (!endpoint->greeted) continue;
    const bool changed =
        endpoint->reads ? now.writers != before.writers : now.readers != before.readers;
    if (!changed) continue;
    MatchedStatus status{name, endpoint->reads ? now.writers : now.readers,
                         endpoint->reads ? all.writers : all.readers};
    calls.emplace_back([endpoint, status = std::move(status)] { endpoint->tell(status); });
  }
}

// Readers and writers that are new here are told of all that are there.
void ParticipantCore::greet(const TopicKey& key, Calls& calls) {
  const Directory::Entry* entry = directory_.find(key);
  const EndpointCounts all = Directory::total(*entry);
  for (const auto& endpoint : locals_[key].endpoints) {
    if (std::exchange(endpoint->greeted, true)) continue;
    for (const auto& [participant, counts] : entry->endpoints) {
      const std::uint32_t there = endpoint->reads ? counts.writers : counts.readers;
      if (there == 0) continue;
      MatchedStatus status{std::string(control_->name_of(MemberIndex{participant})), there,
                           endpoint->reads ? all.writers : all.readers};
      calls.emplace_back([endpoint, status = std::move(status)] { endpoint->tell(status); });
    }
  }
}

// Between the last message of one view and the first of the next. Participants that left, or that
// came anew, have no readers and writers; this one neither, when it joins.
void ParticipantCore::note_view(const ViewChange& change) {
  Calls calls;
  bool someone_left = false;
  {
    const std::lock_guard lock(mutex_);
    const bool first = !first_view_;
    if (first) first_view_ = change.view;
    for (const TopicKey& key : std::exchange(wanted_, {})) {  // PC5
      calls.emplace_back([self = shared_from_this(), key, carrier = bundle(key.bundle)] {
        if (carrier->find(key.id) == nullptr) self->define(key);
      });
    }
    const auto& all = control_->members();
    for (const MemberIndex member : all.indices()) {
      const auto is_it = [&](const std::string& name) { return name == all[member]; };
      const bool stays = std::ranges::any_of(change.members, is_it) &&
                         std::ranges::none_of(change.joined, is_it) &&
                         !(first && member == control_->own_index());
      if (stays) continue;
      someone_left = true;
      for (const auto& [key, before] : directory_.left(member)) {
        note_endpoints(member, key, before, calls);
      }
    }
    if (first) note_logs(calls);
  }
  for (const auto& call : calls) call();
  if (someone_left) finish_deletions();
}

// Of the bundles that are logged, in the first view: of one that this participant sends.
void ParticipantCore::note_logs(Calls& calls) {
  for (const auto& each : bundles_) {
    const BundleOptions& of = each->options();
    if (of.service != Service::logged || !each->is_sender()) continue;
    if (!directory_.is_announced(of.name)) {
      calls.emplace_back([self = shared_from_this(), each] {  // PC1
        each->when_replayed([self, each] { self->announce(each); });
      });
    } else if (!directory_.released(of.name).empty()) {
      // The participant that was to delete them may be gone, and all other senders, too.
      calls.emplace_back([self = shared_from_this(), each] {
        each->when_replayed([self, each] { self->finish_deletions(each); });
      });
    }
  }
}

// A participant that left may have freed a name, and not have deleted the topic in its bundle. All
// senders do it then: a deletion that is sent twice, or before the definition, changes nothing
// (BT1).
void ParticipantCore::finish_deletions() {
  for (const auto& carrier : bundles_) {
    if (carrier->is_ordered() && carrier->is_sender()) finish_deletions(carrier);
  }
}

void ParticipantCore::finish_deletions(const std::shared_ptr<Bundle>& carrier) {
  std::set<std::uint32_t> released;
  {
    const std::lock_guard lock(mutex_);
    released = directory_.released(carrier->options().name);
  }
  for (const std::uint32_t id : released) {
    // Of a group without a state this participant may not know that it was deleted. What is
    // defined later is deleted then (lacks_deletion).
    if (carrier->has_state() || carrier->find(id) != nullptr) carrier->send_deletion(id);
  }
}

// What a log hands on again may be deleted further on in it: finish_deletions() sees to it behind
// the log. In a group with a state, a deletion is sent before the definition, too.
bool ParticipantCore::lacks_deletion(const TopicKey& key, std::uint64_t view) const {
  if (bundle(key.bundle)->has_state()) return false;
  const std::lock_guard lock(mutex_);
  return first_view_ && view >= *first_view_ && directory_.is_released(key);
}

Result<void> ParticipantCore::load(const StatePiece& piece) {
  if (piece.first) loading_.clear();
  loading_.insert(loading_.end(), piece.bytes.begin(), piece.bytes.end());
  if (!piece.last) return {};
  const std::vector<std::byte> bytes = std::exchange(loading_, {});
  const std::lock_guard lock(mutex_);
  if (!directory_.load(bytes)) {
    return fail(ErrorCode::mismatch,
                "the list of topics that another participant gave is none; give all participants "
                "the same bundles and the same version of Tutti");
  }
  for (const auto& [name, entry] : directory_.topics()) {
    const std::shared_ptr<Bundle> carrier = bundle(entry.key.bundle);
    if (carrier != nullptr && !carrier->is_ordered()) {
      carrier->define(entry.key.id, entry.definition);
    }
  }
  return {};
}

EndpointCounts ParticipantCore::Local::counts() const {
  EndpointCounts counts;
  for (const auto& endpoint : endpoints) ++(endpoint->reads ? counts.readers : counts.writers);
  return counts;
}

std::size_t ParticipantCore::endpoints_bytes(const TopicKey& key) const {
  return Directory::endpoints(key, {}).size();
}

// PC2, with the mutex.
Ticket ParticipantCore::commit_endpoints(const TopicKey& key, Claim&& claim) {
  const std::vector<std::byte> record = Directory::endpoints(key, locals_[key].counts());
  std::memcpy(claim.data(), record.data(), record.size());
  return control_->commit(std::move(claim));
}

Result<void> ParticipantCore::add_endpoint(const TopicKey& key,
                                           const std::shared_ptr<Endpoint>& endpoint) {
  const Deadline until = deadline();
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return fail(ErrorCode::stopped, "the participant has ended");
    locals_[key].endpoints.push_back(endpoint);
  }
  Result<Claim> claim =  // PC2: after the change
      control_->claim(static_cast<std::uint32_t>(endpoints_bytes(key)), time_until(until));
  if (!claim) {
    remove_endpoint(key, endpoint);
    return std::unexpected(std::move(claim.error()));
  }
  Ticket ticket{};
  {
    const std::lock_guard lock(mutex_);
    ticket = commit_endpoints(key, std::move(*claim));
  }
  const Result<Directory::Answer> answer = answer_of(ticket, until);
  if (answer && answer->outcome == Directory::Outcome::noted) return {};
  remove_endpoint(key, endpoint);
  if (!answer) return std::unexpected(answer.error());
  return fail(ErrorCode::stopped, "the topic was deleted; create it again");
}

void ParticipantCore::remove_endpoint(const TopicKey& key,
                                      const std::shared_ptr<Endpoint>& endpoint) noexcept {
  endpoint->gate.end(control_->may_wait("the end of a reader or writer").has_value());
  {
    const std::lock_guard lock(mutex_);
    if (std::erase(locals_[key].endpoints, endpoint) == 0) return;
    Claim claim = control_->try_claim(static_cast<std::uint32_t>(endpoints_bytes(key)));
    if (claim) {
      static_cast<void>(commit_endpoints(key, std::move(claim)));
      return;
    }
    if (claim.outcome() != ClaimOutcome::full) return;  // the node ends
  }
  // The others hear of it later; if the node ends before, by that.
  static_cast<void>(control_->on_space(static_cast<std::uint32_t>(endpoints_bytes(key)),
                                       [self = shared_from_this(), key](Result<Claim> claim) {
                                         if (!claim) return;
                                         const std::lock_guard lock(self->mutex_);
                                         static_cast<void>(
                                             self->commit_endpoints(key, std::move(*claim)));
                                       }));
}

}  // namespace tutti::dds
