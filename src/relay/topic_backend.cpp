#include "relay/topic_backend.hpp"

#include <algorithm>
#include <utility>

#include "node/clock.hpp"
#include "relay/topic_cursor.hpp"

namespace tutti::relay {
namespace {

// A record of a bundle that changes nothing. It may be the first one of the sequence, which is
// named by its time stamp.
std::vector<std::byte> mark() {
  std::vector<std::byte> bytes(sizeof(dds::RecordHeader));
  dds::write_header(bytes.data(), {.kind = static_cast<std::uint8_t>(dds::RecordKind::mark),
                                   .flags = 0,
                                   .payload_at = sizeof(dds::RecordHeader),
                                   .topic = 0,
                                   .source_timestamp = time_of_day_ns()});
  return bytes;
}

// What one call of Cursor::next() reads of a log, in pieces.
constexpr std::size_t kLogPieces = 1;

Service service_of(dds::Service service) {
  switch (service) {
    case dds::Service::unordered:
      return Service::unordered;
    case dds::Service::atomic:
      return Service::atomic;
    case dds::Service::volatile_storage:
      return Service::stored;
    case dds::Service::logged:
      break;
  }
  return Service::logged;
}

constexpr std::uint16_t rounded(std::uint32_t bytes, std::uint32_t alignment) {
  const std::uint32_t unit = std::max(alignment, 8U);
  return static_cast<std::uint16_t>((bytes + unit - 1) / unit * unit);
}

}  // namespace

TopicBackend::TopicBackend(std::shared_ptr<dds::ParticipantCore> participant, std::uint64_t run)
    : participant_(std::move(participant)), run_(run) {
  const auto outbox_of = [told = told_](const Group& group) {
    return std::make_shared<Outbox>(group, [told] { told->space(); });
  };
  const auto catch_ups_of = [told = told_](const std::shared_ptr<Outbox>& outbox, auto mark) {
    return std::make_shared<CatchUps>(outbox, mark, [told] { told->data(); });
  };
  catch_ups_[kNames] = catch_ups_of(outbox_of(participant_->control()), dds::Directory::mark);
  const auto& bundles = participant_->bundles();
  for (std::uint32_t i = 0; i < bundles.size(); ++i) {
    outboxes_.push_back(outbox_of(bundles[i]->group()));
    if (!bundles[i]->is_ordered() || !bundles[i]->is_sender()) continue;
    catch_ups_[i] = catch_ups_of(outboxes_[i], mark);
  }
}

void TopicBackend::Told::space() {
  const std::lock_guard lock(mutex);
  if (events != nullptr) events->on_space();
}

// Readers of all clients say it for each batch, on a thread of the member: so all but the first
// cost next to nothing. Paired with look(): what was there before this is seen behind that.
void TopicBackend::Told::data() {
  if (has_told.exchange(true, std::memory_order_acq_rel)) return;
  const std::lock_guard lock(mutex);
  if (events != nullptr) events->on_data();
}

void TopicBackend::listen(MemberEvents* events) {
  {
    const std::lock_guard lock(told_->mutex);
    // Whoever else watches the sessions is not sent away by a backend that never listened.
    if (std::exchange(told_->events, events) == events) return;
    told_->has_told.store(false, std::memory_order_release);
  }
  const auto& bundles = participant_->bundles();
  for (std::uint32_t i = 0; i < bundles.size(); ++i) {
    if (events == nullptr) {
      bundles[i]->watch_sessions(nullptr);
    } else {
      bundles[i]->watch_sessions(
          [events, i](const dds::SessionOutcome& outcome) { events->on_outcome(i, outcome); });
    }
  }
}

void TopicBackend::look() { told_->has_told.exchange(false, std::memory_order_acq_rel); }

// As the bundles have them, not the control group: what a client does with a topic goes there.
std::optional<MemberTopic> TopicBackend::topic_from(TopicPlace place) {
  const auto& bundles = participant_->bundles();
  for (; place.bundle < bundles.size(); place = {place.bundle + 1, 0}) {
    const auto topic = bundles[place.bundle]->find_from(place.id);
    if (topic != nullptr) return described({place.bundle, topic->id}, topic->definition);
  }
  return std::nullopt;
}

// The control group gives the names. So of two topics of one name, of which the older one's
// deletion is on its way in a bundle, this is the newer one.
Named TopicBackend::find(std::string_view name) {
  if (const auto key = participant_->key_of(name)) return find_by(*key);
  Named logged = find_in_logs(name);
  if (logged.topic || logged.code != Code::unknown_topic) return logged;
  // Logs that were not asked had been announced: it may have been between the two questions.
  if (const auto key = participant_->key_of(name)) return find_by(*key);
  return {};
}

Named TopicBackend::find_by(const dds::TopicKey& key) {
  const auto& bundles = participant_->bundles();
  const auto at = std::ranges::find(
      bundles, key.bundle, [](const auto& one) -> const auto& { return one->options().name; });
  if (at == bundles.end()) return {};
  const dds::Bundle& bundle = **at;
  if (!bundle.is_member()) {
    return {.code = Code::not_offered,
            .why = "it is in bundle '" + key.bundle +
                   "', of which this participant is no member; use relays of its members"};
  }
  const TopicPlace place{static_cast<std::uint32_t>(at - bundles.begin()), key.id};
  if (const auto topic = bundle.find(key.id)) {
    return {.topic = described(place, topic->definition)};
  }
  return {.place = place,
          .code = Code::not_yet,
          .why = "its definition has not come in bundle '" + key.bundle + "' yet; ask again"};
}

// What a bundle has in its log, before a participant has announced it: the newest, as ids rise. A
// sender has delivered all of its log when its relay begins; others do not know how much of theirs
// is still to come, and wait for the announcement.
Named TopicBackend::find_in_logs(std::string_view name) {
  Named found;
  const auto& bundles = participant_->bundles();
  for (std::uint32_t i = 0; i < bundles.size(); ++i) {
    const dds::BundleOptions& options = bundles[i]->options();
    if (options.service != dds::Service::logged || participant_->is_announced(options.name)) {
      continue;
    }
    if (!bundles[i]->is_sender()) {
      found.code = Code::not_yet;
      found.why = "no sender of bundle '" + options.name +
                  "' has said yet which topics its log has; start one, and ask again";
      continue;
    }
    for (auto one = bundles[i]->find_from(0); one != nullptr;
         one = bundles[i]->find_from(one->id + 1)) {
      if (one->definition.name == name) found.topic = described({i, one->id}, one->definition);
    }
  }
  return found;
}

// A member that joined a bundle without a state, or of which nothing was delivered yet, does not
// know the sequence's name: positions are this relay's own then. Without order each topic counts
// its own samples: one that is created again begins anew.
std::uint64_t TopicBackend::epoch_of(const dds::Bundle& bundle, std::uint32_t topic) const {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  if (!bundle.is_ordered()) return run_ ^ (topic * kOdd);
  const std::uint64_t epoch = bundle.epoch();
  return epoch != 0 ? epoch : run_;
}

MemberTopic TopicBackend::described(TopicPlace place, const dds::Definition& definition) {
  const dds::Bundle& bundle = *participant_->bundles()[place.bundle];
  MemberTopic out{.place = place,
                  .exact_bytes = definition.type.in_place_bytes,
                  .alignment = definition.type.alignment,
                  .payload_at = rounded(dds::kSessionHeaderBytes, definition.type.alignment)};
  const std::uint32_t room = bundle.options().message_max_bytes;
  // Who joins a bundle that gives it no state would take what goes on in a session for nobody's.
  out.may_open = bundle.is_sender() &&
                 (bundle.has_state() || bundle.options().service == dds::Service::logged ||
                  !bundle.is_ordered());
  // A sample without the key of its own would take the place of others in the history.
  const bool may_publish = out.may_open && !definition.type.keyed && room > out.payload_at;
  const auto& description = definition.type.description;
  out.info = {
      .name = definition.name,
      .bundle = bundle.options().name,
      .service = service_of(definition.options.service),
      .epoch = epoch_of(bundle, place.id),
      .sample_bytes_max = may_publish ? room - out.payload_at : 0,
      .type = definition.type.name,
      .type_hash = definition.type.hash,
      .description = {reinterpret_cast<const char*>(description.data()), description.size()}};
  return out;
}

Posting TopicBackend::post(std::uint32_t bundle, const dds::SessionRecord& record) {
  return outboxes_[bundle]->post(static_cast<std::uint32_t>(dds::bytes_of(record)),
                                 [&](std::span<std::byte> space) { dds::write(record, space); });
}

CatchingUp TopicBackend::catch_up(std::uint32_t sequence) {
  const auto one = catch_ups_.find(sequence);
  if (one != catch_ups_.end()) return one->second->ask();
  return std::make_shared<std::atomic<CaughtUp>>(CaughtUp::done);
}

// 1,000 clients that ask for it before it is delivered here cost the members one record (BU8).
void TopicBackend::define(TopicPlace place) {
  participant_->define({participant_->bundles()[place.bundle]->options().name, place.id});
}

Posting TopicBackend::send(const MemberTopic& topic, std::uint64_t timestamp_ns,
                           std::span<const std::byte> bytes) {
  const std::uint16_t at = rounded(sizeof(dds::RecordHeader), topic.alignment);
  const auto write = [&](std::span<std::byte> space) {
    std::ranges::fill(space.first(at), std::byte{});
    dds::write_header(space.data(), {.kind = static_cast<std::uint8_t>(dds::RecordKind::sample),
                                     .flags = 0,
                                     .payload_at = at,
                                     .topic = topic.place.id,
                                     .source_timestamp = timestamp_ns});
    std::ranges::copy(bytes, space.subspan(at).begin());
  };
  return outboxes_[topic.place.bundle]->post(static_cast<std::uint32_t>(at + bytes.size()), write);
}

Result<std::unique_ptr<Cursor>> TopicBackend::subscribe(const MemberTopic& topic,
                                                        const Subscribe& wanted) {
  const std::shared_ptr<dds::Bundle>& bundle = participant_->bundles()[topic.place.bundle];
  const std::shared_ptr<dds::TopicState> state = bundle->find(topic.place.id);
  const auto refuse = [&](const std::string& what) {
    return fail(ErrorCode::refused, "topic '" + topic.info.name + "': " + what);
  };
  if (state == nullptr) return refuse("it was deleted");
  if (!bundle->is_member()) {
    return refuse("the relay's participant is no member of its bundle '" + bundle->options().name +
                  "'; use relays of its members");
  }
  if (state->limits.waits_for_readers) {
    return refuse(
        "its history is keep_all, so that members would wait for its subscribers; "
        "clients may subscribe to topics of other histories");
  }
  const bool is_ordered = bundle->is_ordered();
  const std::uint64_t epoch = epoch_of(*bundle, topic.place.id);
  const bool has_past =
      topic.info.service == Service::stored || topic.info.service == Service::logged;
  const bool goes_on = wanted.from == From::position && wanted.epoch == epoch;
  if (wanted.from == From::stored && !has_past) {
    return refuse("nothing is kept of it: subscribe from now on");
  }
  dds::ReaderOptions options;
  // Of another epoch, the beginning of this one is what follows.
  if (has_past && wanted.from != From::now) {
    options.from = goes_on ? dds::from_position(SeqNo{wanted.position}) : dds::kFromStored;
  }
  dds::UntypedReaderListener listener;
  listener.on_data_available = [told = told_] { told->data(); };
  const auto reader =
      std::make_shared<dds::ReaderCore>(bundle, state, options, std::move(listener));
  reader->limit_log_pieces(kLogPieces);
  bundle->attach(reader);
  const bool from_past = has_past && wanted.from != From::now;
  std::uint64_t start = goes_on ? wanted.position : 0;
  TopicCursor::Gaps gaps = TopicCursor::Gaps::of_store;
  if (!is_ordered) {
    if (goes_on) gaps = TopicCursor::Gaps::of_numbers;
  } else if (!from_past) {
    // A batch that is being delivered may have samples that the reader does not get.
    gaps = TopicCursor::Gaps::of_begin;
    if (!goes_on) start = reader->covers_from().value_or(bundle->delivered_to());
  } else if (!goes_on && topic.info.service == Service::stored) {
    // Where the history begins now: a client that comes back before its first sample has missed
    // nothing that was before.
    const std::lock_guard lock(state->mutex);
    if (state->store != nullptr) start = state->store->oldest_position();
  }
  const std::uint32_t sample_bytes_max =
      topic.exact_bytes != 0 ? topic.exact_bytes : bundle->options().message_max_bytes;
  return std::make_unique<TopicCursor>(bundle, reader, epoch, start, gaps, sample_bytes_max);
}

std::vector<Backend::Idle> TopicBackend::sessions() {
  std::vector<Idle> all;
  const auto& bundles = participant_->bundles();
  for (std::uint32_t i = 0; i < bundles.size(); ++i) {
    for (const auto& one : bundles[i]->sessions()) {
      all.push_back({i, one.number, one.last, one.touched});
    }
  }
  return all;
}

}  // namespace tutti::relay
