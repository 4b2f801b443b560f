#include "dds/bundle.hpp"

#include <cstring>
#include <utility>

#include "dds/reader_core.hpp"
#include "dds/waiting.hpp"
#include "node/disk_logs.hpp"

namespace tutti::dds {

namespace {

constexpr std::string_view kGroupPrefix = "tutti.dds.";

GroupOptions group_of(const BundleOptions& bundle) {
  GroupOptions group;
  group.name = std::string(kGroupPrefix) + bundle.name;
  group.members = bundle.members;
  group.senders = bundle.senders;
  group.order = bundle.order;
  group.message_max_bytes = bundle.message_max_bytes;
  group.window_bytes = bundle.window_bytes;
  group.window_messages = bundle.window_messages;
  group.alignment = bundle.alignment;
  group.delivery = bundle.delivery;
  switch (bundle.service) {
    case Service::unordered:
      group.order = Order::none;
      group.level = Level::unordered;
      break;
    case Service::atomic:
      break;
    case Service::volatile_storage:
      group.stateful = true;
      break;
    case Service::logged:
      group.level = Level::durable;
      group.logged = true;
      break;
  }
  // What participants that join would lack: which topics there are. Only a group of all nodes has
  // a state: in another one definitions are repeated (ParticipantCore::note_answer).
  if (bundle.service == Service::atomic) group.stateful = bundle.members.empty();
  return group;
}

}  // namespace

Bundle::~Bundle() = default;

// Goes with the callback, when the node has ended: readers in the delivery thread's table own the
// bundle, which would own itself.
struct Bundle::Delivering {
  explicit Delivering(std::shared_ptr<Bundle> of) : bundle(std::move(of)) {}
  ~Delivering() {
    bundle->touched_.clear();
    const Table last = std::exchange(bundle->seen_, {});
  }
  Delivering(const Delivering&) = delete;
  Delivering& operator=(const Delivering&) = delete;
  const std::shared_ptr<Bundle> bundle;
};

Result<std::shared_ptr<Bundle>> Bundle::join(Node& node, const BundleOptions& options,
                                             LacksDeletion lacks_deletion) {
  std::shared_ptr<Bundle> bundle(new Bundle(options, std::move(lacks_deletion)));
  GroupOptions group = group_of(options);
  const auto delivering = std::make_shared<Delivering>(bundle);
  group.on_delivery = [delivering](std::span<const Message> batch) {
    delivering->bundle->deliver(batch);
  };
  if (group.stateful) {
    group.save_state = [bundle](const StateSink& write) { return bundle->save(write); };
    group.load_state = [bundle](const StatePiece& piece) { return bundle->load(piece); };
  }
  if (group.logged) {
    Result<std::string> directory = tutti::log_directory(node.state_dir(), group.name);
    if (!directory) return std::unexpected(std::move(directory.error()));
    bundle->log_directory_ = std::move(*directory);
  }
  Result<Group> joined = node.join(std::move(group));
  if (!joined) {
    return fail(joined.error().code, "bundle '" + options.name + "': " + joined.error().message);
  }
  bundle->group_.emplace(std::move(*joined));
  return bundle;
}

bool Bundle::is_member() const { return group_->own_index().value < group_->members().size(); }

bool Bundle::is_sender() const {
  if (!is_member()) return false;
  if (options_.senders.empty()) return true;
  return std::ranges::find(options_.senders, group_->name_of(group_->own_index())) !=
         options_.senders.end();
}

bool Bundle::has_state() const { return group_of(options_).stateful; }

std::shared_ptr<TopicState> Bundle::find(std::uint32_t id) const {
  const std::lock_guard lock(mutex_);
  if (id >= table_.size() || table_[id] == nullptr) return nullptr;
  return table_[id]->state;
}

std::shared_ptr<TopicState> Bundle::find_from(std::uint32_t id) const {
  const std::lock_guard lock(mutex_);
  for (; id < table_.size(); ++id) {
    if (table_[id] != nullptr) return table_[id]->state;
  }
  return nullptr;
}

BundleTopics Bundle::topics() const {
  const std::lock_guard lock(mutex_);
  return topics_;
}

Result<std::shared_ptr<TopicState>> Bundle::ensure(std::uint32_t id, const Definition& definition,
                                                   Deadline deadline) {
  if (is_ordered() && is_sender() && find(id) == nullptr) {
    Encoder payload;
    definition.encode(payload);
    const Result<Ticket> sent =
        send_record(*group_, header_of(RecordKind::definition, id), payload.written(), deadline);
    if (!sent) return std::unexpected(sent.error());
    if (Result<void> done = group_->wait(*sent, time_until(deadline)); !done) {
      return std::unexpected(std::move(done.error()));
    }
  }
  std::unique_lock lock(mutex_);
  const auto is_known = [&] {
    return topics_.find(id) != nullptr || topics_.is_deleted(id) || is_closed();
  };
  const Result<bool> waited = await(*group_, changed_, lock, deadline, is_known);
  if (!waited) return std::unexpected(waited.error());
  const bool known = *waited;
  const std::string topic = "topic '" + definition.name + "': ";
  if (const Definition* const there = topics_.find(id); there != nullptr) {
    // A claim that was decided without what the log has: its samples are none of this type.
    const std::optional<Difference> differs = difference(*there, definition);
    if (there->name == definition.name && !differs) return table_[id]->state;
    return fail(ErrorCode::mismatch,
                topic + "bundle '" + options_.name + "' has topic '" + there->name +
                    "' in its place" +
                    (differs ? " with " + differs->had + ", not " + differs->wanted : "") +
                    "; take another name, or start the senders of the bundle first");
  }
  if (known) return fail(ErrorCode::stopped, topic + "it was deleted, or the participant ended");
  return fail(ErrorCode::timed_out,
              topic + "bundle '" + options_.name +
                  "' has not delivered its definition yet. The senders of the bundle define it: "
                  "start one of them");
}

void Bundle::send_definition(std::uint32_t id, const Definition& definition) {
  if (!is_sender()) return;
  Encoder payload;
  definition.encode(payload);
  {
    const std::lock_guard lock(mutex_);
    if (topics_.is_deleted(id) || !defining_.insert(id).second) return;  // BU8
  }
  send_later(header_of(RecordKind::definition, id), payload.take(), nullptr);
}

void Bundle::send_deletion(std::uint32_t id, bool again) {
  {
    const std::lock_guard lock(mutex_);
    if (topics_.is_deleted(id) && !again) return;
  }
  if (!is_sender()) return;
  send_later(header_of(RecordKind::deletion, id), {}, nullptr);
}

// Once there is space: this may be called inside callbacks.
void Bundle::send_later(const RecordHeader& header, std::vector<std::byte> payload, Sent sent) {
  const auto size = static_cast<std::uint32_t>(sizeof header + payload.size());
  auto send = [self = shared_from_this(), header, bytes = std::move(payload),
               sent = std::move(sent)](Result<Claim> claim) {
    Claim space = claim ? std::move(*claim) : Claim{};
    if (!space) return;  // the node ends
    write_header(space.data(), header);
    if (!bytes.empty()) std::memcpy(space.data() + sizeof header, bytes.data(), bytes.size());
    const Ticket ticket = self->group_->commit(std::move(space));
    if (sent) sent(ticket);
  };
  if (Claim claim = group_->try_claim(size)) {
    send(std::move(claim));
  } else if (!group_->on_space(size, std::move(send))) {  // the node ends, or has no thread for it
    const std::lock_guard lock(mutex_);
    const bool defines = header.kind == static_cast<std::uint8_t>(RecordKind::definition);
    if (defines) defining_.erase(header.topic);
  }
}

Result<void> Bundle::await_deletion(std::uint32_t id, Deadline deadline) {
  std::unique_lock lock(mutex_);
  const Result<bool> waited = await(*group_, changed_, lock, deadline,
                                    [&] { return topics_.is_deleted(id) || is_closed(); });
  if (!waited) return std::unexpected(waited.error());
  const std::string topic = "topic " + std::to_string(id) + " of bundle '" + options_.name + "': ";
  if (topics_.is_deleted(id)) return {};
  if (*waited) return fail(ErrorCode::stopped, topic + "the participant has ended");
  return fail(ErrorCode::timed_out,
              topic +
                  "its name is free, but the bundle has not delivered its deletion yet; it "
                  "will, once there is space for it");
}

// Messages of the log are delivered before new ones. One mark, however often it is called.
Result<void> Bundle::await_replay(Deadline deadline) {
  if (!replay_mark_) {
    const Result<Ticket> sent = send_record(*group_, header_of(RecordKind::mark, 0), {}, deadline);
    if (!sent) return std::unexpected(sent.error());
    replay_mark_ = *sent;
  }
  return group_->wait(*replay_mark_, time_until(deadline));
}

void Bundle::when_replayed(std::function<void()> handler) {
  auto sent = [self = shared_from_this(), handler = std::move(handler)](Ticket ticket) {
    static_cast<void>(self->group_->on_delivered(ticket, [handler](const Result<void>& done) {
      if (done) handler();
    }));
  };
  send_later(header_of(RecordKind::mark, 0), {}, std::move(sent));
}

void Bundle::define(std::uint32_t id, const Definition& definition) {
  {
    const std::lock_guard lock(mutex_);
    if (topics_.define(id, definition) != BundleTopics::Change::defined) return;
    add_route(id, definition, 0);
    publish();
  }
  changed_.notify_all();
}

void Bundle::remove(std::uint32_t id) {
  std::shared_ptr<const Route> dropped;  // BU5
  {
    const std::lock_guard lock(mutex_);
    if (topics_.remove(id) != BundleTopics::Change::deleted) return;
    dropped = drop_route(id, ~std::uint64_t{0});
    publish();
  }
  changed_.notify_all();
}

void Bundle::attach(const std::shared_ptr<ReaderCore>& reader) {
  TopicState& topic = reader->topic();
  const std::lock_guard lock(mutex_);
  if (topic.id >= table_.size() || table_[topic.id] == nullptr || is_closed()) {
    reader->end();
    return;
  }
  Route route = *table_[topic.id];
  if (reader->is_called()) {
    route.callers.push_back(reader);
  } else {
    const std::lock_guard topic_lock(topic.mutex);
    if (topic.store == nullptr) topic.store = std::make_unique<SampleStore>(topic.limits);
    const bool kept = topic.definition.options.service == Service::volatile_storage;
    // A batch that is being delivered may have left something there.
    if (topic.takers == 0 && !kept) {
      topic.store->clear();
      topic.begun = false;
    }
    ++topic.takers;
    reader->open_place();
    route.takers.push_back(reader);
    route.stores = true;
  }
  change_route(topic.id, std::move(route));
}

void Bundle::detach(ReaderCore& reader) {
  detach_without_wait(reader);
  // BU2. Odd: a batch is being delivered, by a table that may have the reader.
  const std::uint64_t turn = turns_.load(std::memory_order_seq_cst);
  if (turn % 2 == 1 && group_->may_wait("the end of a reader")) turns_.wait(turn);
}

void Bundle::detach_without_wait(ReaderCore& reader) {
  reader.end();
  TopicState& topic = reader.topic();
  {
    const std::lock_guard lock(mutex_);
    if (topic.id < table_.size() && table_[topic.id] != nullptr) {
      Route route = *table_[topic.id];
      const auto is_it = [&](const auto& each) { return each.get() == &reader; };
      std::erase_if(route.callers, is_it);
      const bool took = std::erase_if(route.takers, is_it) > 0;
      if (took) {
        const std::lock_guard topic_lock(topic.mutex);
        reader.close_place();
        const bool kept = topic.definition.options.service == Service::volatile_storage;
        if (--topic.takers == 0 && !kept) {
          topic.store->clear();
          topic.begun = false;
          route.stores = false;
        }
      }
      change_route(topic.id, std::move(route));
    }
  }
  topic.room.notify_all();
}

void Bundle::close() {
  std::vector<std::shared_ptr<ReaderCore>> readers;
  {
    const std::lock_guard lock(mutex_);
    closed_.store(true, std::memory_order_release);
    for (const auto& route : table_) {
      if (route == nullptr) continue;
      route->state->wake_delivery();  // BU6
      readers.insert(readers.end(), route->callers.begin(), route->callers.end());
      readers.insert(readers.end(), route->takers.begin(), route->takers.end());
    }
  }
  changed_.notify_all();
  for (const auto& reader : readers) detach(*reader);
}

void Bundle::end_with_node() {
  std::vector<std::shared_ptr<ReaderCore>> readers;  // die without the mutex (BU5)
  {
    const std::lock_guard lock(mutex_);
    node_ended_.store(true, std::memory_order_release);
    for (const auto& route : table_) {
      if (route == nullptr) continue;
      route->state->wake_delivery();  // BU6
      readers.insert(readers.end(), route->takers.begin(), route->takers.end());
    }
  }
  changed_.notify_all();
  for (const auto& reader : readers) reader->end_with_node();
}

void Bundle::watch_sessions(SessionWatcher watcher) {
  const std::lock_guard lock(watching_);
  watcher_ = std::move(watcher);
}

// The delivery thread waits for the mutex: only numbers are copied.
std::vector<Bundle::SessionUse> Bundle::sessions() const {
  const std::lock_guard lock(mutex_);
  std::vector<SessionUse> all;
  all.reserve(sessions_.size());
  for (const auto& [number, one] : sessions_.all()) {
    all.push_back({number, one.last, one.touched});
  }
  return all;
}

bool Bundle::is_refused(std::uint64_t position) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::binary_search(refused_, position);
}

void Bundle::add_to(ParticipantStatistics& statistics) const {
  statistics.samples += samples_.load(std::memory_order_relaxed);
  statistics.unknown += unknown_.load(std::memory_order_relaxed);
  statistics.malformed += malformed_.load(std::memory_order_relaxed);
  statistics.reader_waits += reader_waits_.load(std::memory_order_relaxed);
}

void Bundle::add_route(std::uint32_t id, const Definition& definition, std::uint64_t position) {
  Route route{.state = std::make_shared<TopicState>(id, definition)};
  route.state->defined_at = position;
  route.in_place_bytes = definition.type.in_place_bytes;
  route.alignment = definition.type.alignment;
  route.stores = definition.options.service == Service::volatile_storage;
  if (table_.size() <= id) table_.resize(id + 1);
  table_[id] = std::make_shared<const Route>(std::move(route));
}

std::shared_ptr<const Bundle::Route> Bundle::drop_route(std::uint32_t id, std::uint64_t position) {
  std::shared_ptr<const Route> route = std::exchange(table_[id], nullptr);
  route->state->deleted_at.store(position, std::memory_order_release);
  route->state->deleted.store(true, std::memory_order_release);
  for (const auto& reader : route->callers) reader->end();
  for (const auto& reader : route->takers) reader->end();
  route->state->wake_delivery();  // BU6
  return route;
}

void Bundle::change_route(std::uint32_t id, Route route) {
  table_[id] = std::make_shared<const Route>(std::move(route));
  publish();
}

void Bundle::publish() { version_.fetch_add(1, std::memory_order_seq_cst); }

}  // namespace tutti::dds
