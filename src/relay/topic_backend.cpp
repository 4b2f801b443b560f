#include "relay/topic_backend.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "relay/topic_cursor.hpp"

namespace tutti::relay {
namespace {

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

void TopicBackend::Told::space(std::uint32_t bundle) {
  const std::lock_guard lock(mutex);
  asked.erase(bundle);
  if (events != nullptr) events->on_space();
}

void TopicBackend::Told::data() {
  const std::lock_guard lock(mutex);
  if (events != nullptr) events->on_data();
}

void TopicBackend::listen(MemberEvents* events) {
  {
    const std::lock_guard lock(told_->mutex);
    // Whoever else watches the sessions is not sent away by a backend that never listened.
    if (std::exchange(told_->events, events) == events) return;
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

// As the bundles have them, not the control group: what a client does with a topic goes there.
std::vector<MemberTopic> TopicBackend::topics() {
  std::vector<MemberTopic> all;
  const auto& bundles = participant_->bundles();
  for (std::uint32_t i = 0; i < bundles.size(); ++i) {
    for (const auto& topic : bundles[i]->states()) {
      all.push_back(described(i, topic->id, topic->definition));
    }
  }
  return all;
}

std::optional<MemberTopic> TopicBackend::find(std::string_view name) {
  // Of two of one name, the older one's deletion is on its way. Ids rise within a bundle.
  const auto& bundles = participant_->bundles();
  std::optional<MemberTopic> found;
  for (std::uint32_t i = 0; i < bundles.size(); ++i) {
    for (const auto& topic : bundles[i]->states() | std::views::reverse) {
      if (topic->deleted || topic->definition.name != name) continue;
      found = described(i, topic->id, topic->definition);
      break;
    }
  }
  return found;
}

MemberTopic TopicBackend::described(std::uint32_t bundle_index, std::uint32_t id,
                                    const dds::Definition& definition) {
  const dds::Bundle& bundle = *participant_->bundles()[bundle_index];
  MemberTopic out{.bundle = bundle_index,
                  .id = id,
                  .exact_bytes = definition.type.in_place_bytes,
                  .alignment = definition.type.alignment,
                  .payload_at = rounded(dds::kSessionHeaderBytes, definition.type.alignment)};
  const std::uint32_t room = bundle.options().message_max_bytes;
  // A sample without the key of its own would take the place of others in the history.
  const bool may_publish = bundle.is_sender() && !definition.type.keyed && room > out.payload_at;
  const auto& description = definition.type.description;
  out.info = {
      .name = definition.name,
      .bundle = bundle.options().name,
      .service = service_of(definition.options.service),
      .epoch = bundle.is_ordered() ? bundle.epoch() : run_,
      .sample_bytes_max = may_publish ? room - out.payload_at : 0,
      .type = definition.type.name,
      .type_hash = definition.type.hash,
      .description = {reinterpret_cast<const char*>(description.data()), description.size()}};
  return out;
}

template <class Write>
Posted TopicBackend::into(std::uint32_t bundle, std::size_t bytes, Write&& write) {
  Group& group = participant_->bundles()[bundle]->group();
  const auto size = static_cast<std::uint32_t>(bytes);
  Claim claim = group.try_claim(size);
  if (claim) {
    write(claim.bytes());
    group.commit(std::move(claim));
    return Posted::posted;
  }
  return await_space(bundle, claim, size);
}

Posted TopicBackend::await_space(std::uint32_t bundle, const Claim& refused, std::uint32_t size) {
  if (refused.outcome() != ClaimOutcome::full) return Posted::stopped;
  // One question for each bundle, however many clients wait. The space is returned at once: the
  // relay then asks for each of them.
  {
    const std::lock_guard lock(told_->mutex);
    if (!told_->asked.insert(bundle).second) return Posted::no_space;
  }
  const Result<void> asked = participant_->bundles()[bundle]->group().on_space(
      size, [told = told_, bundle](const Result<Claim>&) { told->space(bundle); });
  if (asked) return Posted::no_space;
  const std::lock_guard lock(told_->mutex);
  told_->asked.erase(bundle);
  return Posted::stopped;
}

Posted TopicBackend::post(std::uint32_t bundle, const dds::SessionRecord& record) {
  return into(bundle, dds::bytes_of(record),
              [&](std::span<std::byte> space) { dds::write(record, space); });
}

// As Group::barrier, but without waiting: a record that changes nothing. All claims come first, so
// that nothing is sent if one bundle has no space.
Posted TopicBackend::catch_up(std::shared_ptr<std::atomic<CaughtUp>> told) {
  const dds::SessionRecord nothing = dds::SessionExpire{.session = kNone};
  const auto size = static_cast<std::uint32_t>(dds::bytes_of(nothing));
  const auto& bundles = participant_->bundles();
  std::vector<std::pair<std::uint32_t, Claim>> claims;
  for (std::uint32_t i = 0; i < bundles.size(); ++i) {
    if (!bundles[i]->is_ordered() || !bundles[i]->is_sender()) continue;
    Claim claim = bundles[i]->group().try_claim(size);
    if (!claim) return await_space(i, claim, size);
    claims.emplace_back(i, std::move(claim));
  }
  const auto left = std::make_shared<std::atomic<std::size_t>>(claims.size());
  const auto one_delivered = [events = told_, told, left](const Result<void>& delivered) {
    if (!delivered) told->store(CaughtUp::stopped, std::memory_order_release);
    if (left->fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    auto before = CaughtUp::not_yet;
    told->compare_exchange_strong(before, CaughtUp::done, std::memory_order_acq_rel);
    events->data();
  };
  for (auto& [bundle, claim] : claims) {
    Group& group = bundles[bundle]->group();
    dds::write(nothing, claim.bytes());
    const Ticket ticket = group.commit(std::move(claim));
    const Result<void> asked = group.on_delivered(ticket, one_delivered);
    if (!asked) one_delivered(asked);
  }
  if (claims.empty()) told->store(CaughtUp::done, std::memory_order_release);
  return Posted::posted;
}

Posted TopicBackend::send(const MemberTopic& topic, std::uint64_t timestamp_ns,
                          std::span<const std::byte> bytes) {
  const std::uint16_t at = rounded(sizeof(dds::RecordHeader), topic.alignment);
  return into(topic.bundle, at + bytes.size(), [&](std::span<std::byte> space) {
    std::ranges::fill(space.first(at), std::byte{});
    dds::write_header(space.data(), {.kind = static_cast<std::uint8_t>(dds::RecordKind::sample),
                                     .flags = 0,
                                     .payload_at = at,
                                     .topic = topic.id,
                                     .source_timestamp = timestamp_ns});
    std::ranges::copy(bytes, space.subspan(at).begin());
  });
}

Result<std::unique_ptr<Cursor>> TopicBackend::subscribe(const MemberTopic& topic,
                                                        const Subscribe& wanted) {
  const std::shared_ptr<dds::Bundle>& bundle = participant_->bundles()[topic.bundle];
  const std::shared_ptr<dds::TopicState> state = bundle->find(topic.id);
  const auto refuse = [&](const std::string& what) {
    return fail(ErrorCode::refused, "topic '" + topic.info.name + "': " + what);
  };
  if (state == nullptr) return refuse("it was deleted");
  if (state->limits.waits_for_readers) {
    return refuse(
        "its history is keep_all, so that members would wait for its subscribers; "
        "clients may subscribe to topics of other histories");
  }
  const bool is_ordered = bundle->is_ordered();
  const std::uint64_t epoch = is_ordered ? bundle->epoch() : run_;
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
