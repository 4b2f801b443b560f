// What a participant that joins takes over of a bundle: which topics it carries, the sessions of
// clients, and the samples of the topics that are stored.
#include <utility>

#include "dds/bundle.hpp"

namespace tutti::dds {

namespace {

void put(Encoder& out, const SampleStore::Entry& entry) {
  out.number(entry.key);
  out.number(entry.sample.info.position.value);
  out.number(entry.sample.info.sender.value);
  out.number(entry.sample.info.view);
  out.number(entry.sample.info.source_timestamp);
  out.blob(entry.sample.bytes());
}

SampleStore::Arrival get_arrival(Decoder& in, std::size_t bytes_max) {
  SampleStore::Arrival arrival;
  arrival.key = in.number<std::uint64_t>();
  arrival.info.position.value = in.number<std::uint64_t>();
  arrival.info.sender.value = in.number<std::uint32_t>();
  arrival.info.view = in.number<std::uint64_t>();
  arrival.info.source_timestamp = in.number<std::uint64_t>();
  arrival.payload = in.blob(bytes_max);
  return arrival;
}

// As a sample that is delivered: its type's bytes, behind the one before it.
bool is_next(const SampleStore::Arrival& arrival, const Definition& definition,
             std::uint64_t next_position) {
  const std::uint32_t in_place_bytes = definition.type.in_place_bytes;
  return (in_place_bytes == 0 || arrival.payload.size() == in_place_bytes) &&
         arrival.info.position.value >= next_position;
}

}  // namespace

Result<void> Bundle::save(const StateSink& write) {
  const std::lock_guard lock(mutex_);
  Encoder topics;
  topics_.save(topics);
  topics.number(epoch());
  topics.number(delivered_to());
  topics.blob(sessions_.encode());
  write(topics.written());
  for (const auto& route : table_) {
    if (route == nullptr || route->state->definition.options.service != Service::volatile_storage) {
      continue;
    }
    TopicState& topic = *route->state;
    const std::lock_guard topic_lock(topic.mutex);
    Encoder head;
    head.number(topic.id);
    head.number(topic.defined_at);
    head.number(topic.store->low_position());
    head.number(static_cast<std::uint64_t>(topic.store->samples()));
    write(head.written());
    topic.store->for_each([&](const SampleStore::Entry& entry) {
      Encoder sample;
      put(sample, entry);
      write(sample.written());
    });
  }
  return {};
}

Result<void> Bundle::load(const StatePiece& piece) {
  if (piece.first) loading_.clear();
  loading_.insert(loading_.end(), piece.bytes.begin(), piece.bytes.end());
  if (!piece.last) return {};
  const std::vector<std::byte> bytes = std::exchange(loading_, {});
  Table old;  // BU5
  const std::lock_guard lock(mutex_);
  old.swap(table_);
  const bool loaded = load_topics(bytes);
  publish();
  if (loaded) return {};
  return fail(ErrorCode::mismatch, "bundle '" + options_.name +
                                       "': the state that another participant gave is none of a "
                                       "bundle; use the same version of Tutti everywhere");
}

bool Bundle::load_topics(std::span<const std::byte> bytes) {
  Decoder in(bytes);
  if (!topics_.load(in)) return false;
  const auto epoch = in.number<std::uint64_t>();
  const auto delivered = in.number<std::uint64_t>();
  Result<SessionTable> sessions = SessionTable::decode(in.blob(bytes.size()), kSessionsMax);
  if (!in.good() || !sessions) return false;
  epoch_.store(epoch, std::memory_order_release);
  delivered_to_.store(delivered, std::memory_order_release);
  intact_to_ = delivered;
  sessions_ = std::move(*sessions);
  std::size_t stored = 0;
  for (const auto& [id, definition] : topics_.all()) {
    add_route(id, definition, 0);
    if (definition.options.service == Service::volatile_storage) ++stored;
  }
  for (; stored > 0; --stored) {
    const auto id = in.number<std::uint32_t>();
    const auto defined_at = in.number<std::uint64_t>();
    const auto low_position = in.number<std::uint64_t>();
    auto samples = in.number<std::uint64_t>();
    if (!in.good() || id >= table_.size() || table_[id] == nullptr) return false;
    TopicState& topic = *table_[id]->state;
    const std::lock_guard topic_lock(topic.mutex);
    if (topic.store == nullptr) return false;
    topic.defined_at = defined_at;
    std::uint64_t next_position = defined_at;
    topic.store->begin_at(low_position);
    topic.begun = true;
    for (; samples > 0 && in.good(); --samples) {
      const SampleStore::Arrival arrival = get_arrival(in, options_.message_max_bytes);
      if (!in.good() || !is_next(arrival, topic.definition, next_position)) return false;
      next_position = arrival.info.position.value + 1;
      if (!topic.store->add(arrival)) return false;
    }
  }
  return in.done();
}

}  // namespace tutti::dds
