// What the delivery thread of a bundle does with each message.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

#include "dds/bundle.hpp"
#include "dds/reader_core.hpp"
#include "dds/session_record.hpp"
#include "dds/waiting.hpp"
#include "node/clock.hpp"

namespace tutti::dds {

namespace {

// Only the delivery thread adds.
void add(std::atomic<std::uint64_t>& counter, std::uint64_t more) {
  counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

// A store is locked for about so many bytes at a time, so that readers need not wait for a batch.
constexpr std::size_t kStoredAtOnceBytes = 64 * 1024;

// How many samples from the front of the batch have the header of the first, but for their time
// stamps, and fit the type as it does.
std::size_t run_length(std::span<const Message> batch, const Record& first, bool in_place) {
  constexpr std::size_t kSame = offsetof(RecordHeader, source_timestamp);
  const std::uint32_t least = in_place ? batch.front().size : first.header.payload_at;
  const std::uint32_t most = in_place ? least : std::numeric_limits<std::uint32_t>::max();
  std::size_t count = 1;
  while (count < batch.size() && batch[count].size >= least && batch[count].size <= most &&
         std::memcmp(batch[count].data, &first.header, kSame) == 0) {
    ++count;
  }
  return count;
}

}  // namespace

// A batch is being delivered: turns_ is odd. Sequentially consistent with what detach() does: it
// changes the version, then reads turns_; a turn changes turns_, then reads the version. So either
// the turn sees the change, or detach() sees the turn.
class Bundle::Turn {
 public:
  explicit Turn(Bundle& bundle) : bundle_(bundle) {
    bundle_.turns_.fetch_add(1, std::memory_order_seq_cst);
  }
  ~Turn() {
    bundle_.turns_.fetch_add(1, std::memory_order_release);  // detach() acquires
    bundle_.turns_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // While the delivery waits for a reader it calls none, so detach() need not wait for it. After
  // it, a reader whose detach() did not see the turn is seen as closed: end(), then turns_ is read
  // there; turns_ is changed, then closed_ is read here.
  class Pause {
   public:
    explicit Pause(Bundle& bundle) : bundle_(bundle) {
      bundle_.turns_.fetch_add(1, std::memory_order_release);
      bundle_.turns_.notify_all();
    }
    ~Pause() {
      bundle_.turns_.fetch_add(1, std::memory_order_seq_cst);
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    Bundle& bundle_;
  };

 private:
  Bundle& bundle_;
};

// BU9. `read_to`: what comes before that position has been read.
bool Bundle::is_overtaken(std::uint64_t read_to) {
  if (!overtaken_ && !group_->intact()) overtaken_ = true;
  if (!overtaken_) [[likely]]
    intact_to_ = std::max(intact_to_, read_to);
  return overtaken_;
}

// What was stored with that ordinal or a higher one; with the topic's mutex. Of the log, too, no
// more counts than was read intact: of what clients sent behind that, nobody knows what was
// refused.
void Bundle::take_back(TopicState& topic, std::uint64_t first) const {
  constexpr auto kAll = std::numeric_limits<std::uint64_t>::max();
  topic.store->take_back(first, is_ordered() ? intact_to_ : kAll);
}

void Bundle::deliver(std::span<const Message> batch) {
  if (overtaken_) return;
  const Turn turn(*this);
  if (version_.load(std::memory_order_seq_cst) != seen_version_) {
    refresh(batch.front().seq.value);
  }
  if (batch.front().seq.value == 0 && is_ordered()) [[unlikely]] {
    const std::optional<Record> record = read_record(batch.front().bytes());
    const std::uint64_t stamp = record ? record->header.source_timestamp : 0;
    if (is_overtaken(0)) return;
    epoch_.store(std::max<std::uint64_t>(stamp, 1), std::memory_order_release);
  }
  for (std::span<const Message> rest = batch; !rest.empty() && !overtaken_;) {
    rest = rest.subspan(deliver_next(rest));
  }
  announce_touched();
  if (is_overtaken(batch.back().seq.value + 1)) [[unlikely]]
    return;
  add(samples_, std::exchange(batch_samples_, 0));
  if (is_ordered()) {
    delivered_to_.store(batch.back().seq.value + 1, std::memory_order_release);
  }
  const bool refreshed = std::exchange(refreshed_, false);
  if (refreshed || version_.load(std::memory_order_seq_cst) != seen_version_) [[unlikely]] {
    greet(batch.back().seq.value + 1);
  }
}

// Returns how many messages it took from the front.
std::size_t Bundle::deliver_next(std::span<const Message> batch) {
  const Message& message = batch.front();
  const std::optional<Record> record = read_record(message.bytes());
  if (!record) {
    add(malformed_, 1);
  } else if (record->kind() == RecordKind::sample) [[likely]] {
    const Route* const route = route_of(*record);
    if (route == nullptr) return 1;
    const std::size_t count = run_length(batch, *record, route->in_place_bytes != 0);
    deliver_samples(*route, batch.first(count), *record);
    return count;
  } else if (record->kind() >= RecordKind::client_sample) {
    deliver_session(message, *record);
  } else {
    deliver_change(message);
  }
  return 1;
}

// Null: the sample is none of a topic here, and was counted.
const Bundle::Route* Bundle::route_of(const Record& sample) {
  const std::uint32_t id = sample.header.topic;
  const Route* const route = id < seen_.size() ? seen_[id].get() : nullptr;
  if (route == nullptr) {
    add(unknown_, 1);
    return nullptr;
  }
  if (!fits_type(sample, route->in_place_bytes, route->alignment)) {
    add(malformed_, 1);
    return nullptr;
  }
  return route;
}

// BU7.
void Bundle::deliver_samples(const Route& route, std::span<const Message> run,
                             const Record& first) {
  TopicState& topic = *route.state;
  ByteBatch batch(run, first.header.payload_at, (first.header.flags & kUnstampedFlag) == 0);
  if (!is_ordered()) batch.count_from(topic.delivered);
  topic.delivered += run.size();
  batch_samples_ += run.size();
  if (!route.callers.empty() && is_overtaken(run.front().seq.value)) [[unlikely]]
    return;
  for (const auto& reader : route.callers) reader->call(batch);
  if (route.stores) store_samples(route, run, batch);
}

void Bundle::store_samples(const Route& route, std::span<const Message> run,
                           const ByteBatch& batch) {
  TopicState& topic = *route.state;
  std::unique_lock lock(topic.mutex, std::defer_lock);
  std::size_t stored_bytes = 0;
  std::uint64_t first = 0;                    // that was stored since the lock was taken
  std::uint64_t end = run.front().seq.value;  // the position behind what was stored
  // BU9: while the lock is held, no reader sees what was stored.
  const auto is_as_sent = [&] {
    if (!is_overtaken(end)) [[likely]]
      return true;
    take_back(topic, first);
    return false;
  };
  for (std::size_t i = 0; i < run.size(); ++i) {
    const std::optional<Record> record = read_record(run[i].bytes());
    if (!record) [[unlikely]]
      break;  // it was one: it was overwritten
    const SampleStore::Arrival arrival{batch.info(i), record->key, record->payload};
    if (!lock.owns_lock()) {
      lock.lock();
      first = topic.store->end();
      if (topic.limits.max_age_ns > 0) topic.store->expire(time_of_day_ns());
    }
    if (!topic.store->add(arrival)) {
      if (!is_as_sent()) return;
      lock = store_later(topic, arrival, std::move(lock));
    }
    end = run[i].seq.value + 1;
    if (!topic.touched && !route.takers.empty()) {
      topic.touched = true;
      touched_.push_back(&route);
    }
    stored_bytes += arrival.payload.size();
    if (lock.owns_lock() && stored_bytes >= kStoredAtOnceBytes) {
      if (!is_as_sent()) return;
      lock.unlock();
      stored_bytes = 0;
    }
  }
  if (lock.owns_lock()) static_cast<void>(is_as_sent());
}

// Once readers have made room (BU6). Returns the lock unlocked.
std::unique_lock<std::mutex> Bundle::store_later(TopicState& topic,
                                                 const SampleStore::Arrival& arrival,
                                                 std::unique_lock<std::mutex> lock) {
  lock.unlock();
  announce_touched();  // readers make room once they know what is there
  announce_newcomers(topic.id);
  add(reader_waits_, 1);
  const Turn::Pause pause(*this);
  lock.lock();
  bool added = false;
  topic.room.wait(lock, [&] {
    return is_closed() || node_ended_.load(std::memory_order_acquire) ||
           topic.deleted.load(std::memory_order_acquire) || (added = topic.store->add(arrival));
  });
  if (added && is_overtaken(arrival.info.position.value + 1)) {  // BU9
    take_back(topic, topic.store->end() - 1);
  }
  lock.unlock();
  return lock;
}

// A reader that came during the batch counts in the store, and is not in `seen_`.
void Bundle::announce_newcomers(std::uint32_t id) {
  std::shared_ptr<const Route> now;  // dies without the mutex (BU5)
  {
    const std::lock_guard guard(mutex_);
    if (id < table_.size()) now = table_[id];
  }
  if (now == nullptr) return;
  for (const auto& reader : now->takers) reader->announce();
}

void Bundle::deliver_change(const Message& message) {
  using Change = BundleTopics::Change;
  const std::vector<std::byte> copy(message.data, message.data + message.size);
  const std::optional<Record> copied = read_record(copy);
  if (!copied || is_overtaken(message.seq.value + 1)) return;  // BU9
  const Record& record = *copied;
  Change change = Change::malformed;
  std::shared_ptr<const Route> dropped;  // dies without the mutex (BU5)
  {
    const std::lock_guard lock(mutex_);
    switch (record.kind()) {
      case RecordKind::definition:
        defining_.erase(record.header.topic);
        change = is_ordered() ? topics_.define(record.header.topic, record.payload) : change;
        if (change != Change::defined) break;
        add_route(record.header.topic, *topics_.find(record.header.topic), message.seq.value);
        break;
      case RecordKind::deletion:
        change = is_ordered() ? topics_.remove(record.header.topic) : change;
        if (change == Change::deleted) dropped = drop_route(record.header.topic, message.seq.value);
        break;
      case RecordKind::mark:
        change = Change::none;
        break;
      default:
        break;
    }
    if (change == Change::defined || change == Change::deleted) publish();
  }
  if (change == Change::malformed) add(malformed_, 1);
  settle_change(message, change);
  const bool is_late = record.kind() == RecordKind::definition && change != Change::malformed;
  if (!is_late || !lacks_deletion_(record.header.topic, message.view)) return;
  // Where participants that join take over nothing, one may have come behind the deletion.
  send_deletion(record.header.topic, options_.service != Service::logged);
}

// Without the mutex.
void Bundle::settle_change(const Message& message, BundleTopics::Change change) {
  using Change = BundleTopics::Change;
  if (change != Change::defined && change != Change::deleted) return;
  changed_.notify_all();
  announce_touched();  // they point into the table
  refresh(message.seq.value + 1);
  refreshed_ = true;
}

// BU4.
void Bundle::deliver_session(const Message& message, const Record& record) {
  const std::optional<SessionRecord> session = read_session_record(message.bytes());
  // BU9. What it is of a session is known; a sample's payload is read behind it.
  if (is_overtaken(message.seq.value + 1)) return;
  if (!session || !is_ordered()) {
    add(malformed_, 1);
    return;
  }
  SessionOutcome outcome;
  const auto* const sample = std::get_if<ClientSample>(&*session);
  {
    const std::lock_guard lock(mutex_);
    const bool has_topic = sample == nullptr || sample->topic == kNoTopic ||
                           (sample->topic < seen_.size() && seen_[sample->topic] != nullptr);
    outcome = sessions_.deliver(message.seq.value, *session, has_topic);
    // What is of no topic, no reader of the log would take.
    const bool refused = sample != nullptr && sample->topic != kNoTopic &&
                         (outcome.status != SessionStatus::delivered || outcome.dropped);
    if (refused && options_.service == Service::logged) refused_.push_back(message.seq.value);
  }
  if (sample != nullptr && outcome.status == SessionStatus::delivered &&
      sample->topic != kNoTopic) {
    if (const Route* const route = route_of(record); route != nullptr) {
      deliver_samples(*route, {&message, 1}, record);
    }
  }
  if (overtaken_) return;
  const std::lock_guard lock(watching_);
  if (watcher_) watcher_(outcome);
}

void Bundle::announce_touched() {
  if (touched_.empty()) return;
  std::atomic_thread_fence(std::memory_order_seq_cst);  // RX2
  for (const Route* const route : touched_) {
    route->state->touched = false;
    for (const auto& reader : route->takers) reader->announce();
  }
  touched_.clear();
}

// A reader that came during the batch may find in the log what the batch has delivered, and nobody
// has told it yet.
void Bundle::greet(std::uint64_t position) {
  refresh(position);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // RX2
  for (const auto& route : seen_) {
    if (route == nullptr) continue;
    for (const auto& reader : route->takers) reader->announce();
  }
}

// BU1. From `position` on the stores of the new table have everything.
void Bundle::refresh(std::uint64_t position) {
  Table old;  // dies without the mutex (BU5)
  {
    const std::lock_guard lock(mutex_);
    old = std::exchange(seen_, table_);
    seen_version_ = version_.load(std::memory_order_seq_cst);
  }
  for (const auto& route : seen_) {
    if (route == nullptr || !route->stores) continue;
    TopicState& topic = *route->state;
    const std::lock_guard lock(topic.mutex);
    // The last of those that take may have gone since the table was made.
    const bool kept = topic.definition.options.service == Service::volatile_storage;
    if (topic.takers == 0 && !kept) continue;
    if (std::exchange(topic.begun, true)) continue;
    topic.store->begin_at(position);
  }
}

}  // namespace tutti::dds
