// Members: what they send, deliver and keep; crashes, joins, restarts from the log.
#include "unit/relay/world_parts.hpp"

namespace tutti::relay::testing {

class World::FakeCursor final : public Cursor {
 public:
  FakeCursor(World& world, Member& member, TopicPlace topic, const Subscribe& wanted)
      : world_(world),
        bundle_(member.bundles[topic.bundle]),
        epoch_(epoch_of(topic.bundle)),
        topic_(topic.id) {
    switch (wanted.from) {
      case From::now:
        next_ = bundle_.at;
        break;
      case From::stored:
        next_ = history().whole_from;
        break;
      case From::position:
        next_ = wanted.epoch == epoch_ ? wanted.position : 0;
        if (world.mistake_ == Mistake::resume_off_by_one) ++next_;
    }
    start_ = next_;
  }

  [[nodiscard]] Next next(std::uint64_t) override {
    if (bundle_.deleted.contains(topic_)) return End{"it was deleted"};
    const History& kept = history();
    if (next_ < kept.whole_from) {
      const std::uint64_t from = std::exchange(next_, kept.whole_from);
      if (world_.mistake_ != Mistake::gap_not_told) return Missing{from, next_};
    }
    const auto found = kept.samples.lower_bound(next_);
    if (found == kept.samples.end()) return Nothing{};
    next_ = found->first + 1;
    return Taken{found->first, 0, 0, found->second};
  }
  [[nodiscard]] std::uint64_t epoch() const override { return epoch_; }
  [[nodiscard]] std::uint64_t start() const override { return start_; }

 private:
  [[nodiscard]] const History& history() { return bundle_.histories[topic_]; }
  World& world_;
  Bundle& bundle_;
  const std::uint64_t epoch_;
  const std::uint32_t topic_;
  std::uint64_t next_ = 0;
  std::uint64_t start_ = 0;
};

Named World::Member::find(std::string_view name) {
  const std::optional<TopicPlace> place = world_.named(std::string(name));
  if (!place) return {};
  const bool is_defined = bundles[place->bundle].defined.contains(place->id);
  if (!is_defined || world_.random_.one_in(4)) {
    ++world_.counts_.not_yet;
    return {.place = is_defined ? std::nullopt : place, .code = Code::not_yet, .why = "ask again"};
  }
  return {.topic = MemberTopic{.place = *place,
                               .info = {.name = std::string(name),
                                        .bundle = "bundle" + std::to_string(place->bundle),
                                        .service = Service::logged,
                                        .epoch = epoch_of(place->bundle),
                                        .sample_bytes_max = 64,
                                        .type_hash = place->id}}};
}

Posting World::Member::post(std::uint32_t bundle, const dds::SessionRecord& record) {
  Bundle& to = bundles[bundle];
  std::vector<std::byte> bytes(dds::bytes_of(record));
  dds::write(record, bytes);
  if (to.outbox.size() >= kOutboxMax) {
    ++world_.counts_.no_space;
    auto queued = std::make_shared<Queued>(bytes.size());
    queued->bytes = std::move(bytes);
    to.queued.push_back(queued);
    return {Posted::waits, std::move(queued)};
  }
  to.outbox.push_back(std::move(bytes));
  const auto* const sample = std::get_if<dds::ClientSample>(&record);
  if (world_.mistake_ == Mistake::ack_before_delivery && sample != nullptr &&
      sample->request != 0) {
    world_.tell(index_, bundle,
                {.status = dds::SessionStatus::delivered,
                 .session = sample->session,
                 .nonce = sample->nonce,
                 .request = sample->request,
                 .position = world_.sequences_[bundle].size()});
  }
  return {};
}

Result<std::unique_ptr<Cursor>> World::Member::subscribe(const MemberTopic& topic,
                                                         const Subscribe& wanted) {
  if (!bundles[topic.place.bundle].defined.contains(topic.place.id)) {
    return fail(ErrorCode::refused, "it was deleted");
  }
  return std::make_unique<FakeCursor>(world_, *this, topic.place, wanted);
}

void World::order_one(std::uint32_t member, std::uint32_t bundle) {
  Bundle& from = members_[member]->bundles[bundle];
  if (!members_[member]->runs || from.outbox.empty()) return;
  sequences_[bundle].push_back({.record = std::move(from.outbox.front()), .member = member});
  from.outbox.pop_front();
  while (from.outbox.size() < kOutboxMax && !from.queued.empty()) {
    if (const auto next = from.queued.front().lock()) {
      from.outbox.push_back(next->bytes);
      next->state = Posted::posted;
    }
    from.queued.pop_front();
  }
}

void World::deliver_one(std::uint32_t member, std::uint32_t bundle) {
  Bundle& at = members_[member]->bundles[bundle];
  if (!members_[member]->runs || at.at >= sequences_[bundle].size()) return;
  const std::uint64_t position = at.at++;
  Entry& entry = sequences_[bundle][position];
  if (deliver_change(at, entry.record)) {
    if (!std::exchange(entry.judged, true)) entry.after = at.table;
    return;
  }
  const auto record = dds::read_session_record(entry.record);
  if (!record) return holds(false, "records", "one that cannot be read");
  const auto* const sample = std::get_if<dds::ClientSample>(&*record);
  const bool has_topic = sample == nullptr || at.defined.contains(sample->topic);
  const dds::SessionOutcome outcome =
      spoil(at.table.deliver(position, *record, has_topic), position);
  judge(bundle, position, outcome, *record);
  if (sample != nullptr && outcome.status == dds::SessionStatus::delivered && !outcome.dropped) {
    History& history = at.histories[sample->topic];
    history.samples.emplace(position,
                            std::vector<std::byte>(sample->payload.begin(), sample->payload.end()));
    if (history.samples.size() > keep_last_) {
      history.whole_from = history.samples.begin()->first + 1;
      history.samples.erase(history.samples.begin());
    }
  }
  if (!entry.judged) {
    entry.judged = true;
    entry.after = at.table;
  }
  holds(entry.after == at.table, "same tables",
        "m" + std::to_string(member) + " at " + std::to_string(position));
  tell(member, bundle, outcome);
}

dds::SessionOutcome World::spoil(dds::SessionOutcome outcome, std::uint64_t position) {
  using enum dds::SessionStatus;
  const auto instead = [&](Mistake mistake, dds::SessionStatus status) {
    if (mistake_ != mistake || outcome.status != status || outcome.request == 0) return;
    outcome.status = delivered;
    outcome.position = position;
  };
  instead(Mistake::higher_delivered, go_back);
  instead(Mistake::duplicate_delivered, duplicate);
  instead(Mistake::expired_taken_as_new, expired);
  if (mistake_ == Mistake::duplicate_misplaced && outcome.status == duplicate) {
    outcome.position = position;
  }
  return outcome;
}

void World::tell(std::uint32_t member, std::uint32_t bundle, const dds::SessionOutcome& outcome) {
  dds::SessionOutcome told = outcome;
  if (mistake_ == Mistake::ack_of_another && outcome.request != 0) ++told.request;
  if (mistake_ == Mistake::dropped_delivered) told.dropped = false;
  const auto hear = [&](Connection* connection) {
    if (connection != nullptr && connection->member == member) {
      connection->conversation->outcome(bundle, told);
    }
  };
  for (const auto& client : clients_) hear(client->connection.get());
  for (const auto& orphan : orphans_) hear(orphan.get());
}

void World::drop_connections_of(std::uint32_t member) {
  for (const auto& client : clients_) {
    if (client->connection == nullptr || client->connection->member != member) continue;
    client->connection.reset();
    client->machine.disconnected();
  }
  std::erase_if(orphans_, [&](const auto& one) { return one->member == member; });
}

void World::crash(std::uint32_t member) {
  if (!members_[member]->runs) return;
  const auto running = std::ranges::count_if(members_, [](const auto& one) { return one->runs; });
  if (running == 1) return;
  note("m" + std::to_string(member) + " crashes");
  ++counts_.crashes;
  drop_connections_of(member);
  members_[member] = std::make_unique<Member>(*this, member);
  members_[member]->runs = false;
}

// With the state of another member.
void World::start(std::uint32_t member) {
  if (members_[member]->runs) return;
  const auto giver = std::ranges::find_if(members_, [](const auto& one) { return one->runs; });
  note("m" + std::to_string(member) + " joins");
  members_[member]->runs = true;
  for (std::uint32_t bundle = 0; bundle < kBundles; ++bundle) {
    const Bundle& from = (*giver)->bundles[bundle];
    Bundle& to = members_[member]->bundles[bundle];
    to.at = from.at;
    if (mistake_ != Mistake::table_not_in_state) {
      auto table = dds::SessionTable::decode(from.table.encode(), sessions_max_);
      if (!table) return holds(false, "state", table.error().message);
      to.table = std::move(*table);
    }
    if (mistake_ != Mistake::history_not_in_state) to.histories = from.histories;
    to.defined = from.defined;
    to.deleted = from.deleted;
    if (mistake_ == Mistake::deleted_not_in_state) to.defined.merge(to.deleted);
  }
}

// What some member has delivered is in the logs; of what nobody has delivered, a part is.
void World::restart_all() {
  note("all restart from their logs");
  ++counts_.restarts;
  for (std::uint32_t bundle = 0; bundle < kBundles; ++bundle) {
    auto& sequence = sequences_[bundle];
    const auto judged = static_cast<std::uint64_t>(
        std::ranges::count_if(sequence, [](const Entry& one) { return one.judged; }));
    sequence.resize(judged + random_.below(sequence.size() - judged + 1));
  }
  for (std::uint32_t member = 0; member < members_.size(); ++member) {
    drop_connections_of(member);
    members_[member] = std::make_unique<Member>(*this, member);
    for (std::uint32_t bundle = 0; bundle < kBundles; ++bundle) {
      const std::uint64_t until = random_.below(sequences_[bundle].size() + 1);
      while (members_[member]->bundles[bundle].at < until) {
        Bundle& at = members_[member]->bundles[bundle];
        const std::byte kind = sequences_[bundle][at.at].record[0];
        const bool expires = kind == static_cast<std::byte>(dds::RecordKind::session_expire);
        if (mistake_ == Mistake::replay_skips_expiry && expires) {
          ++at.at;
        } else {
          deliver_one(member, bundle);
        }
      }
    }
  }
}

// The oldest one where there is no room for another, else any.
void World::expire(std::uint32_t member, std::uint32_t bundle, bool if_full) {
  Bundle& at = members_[member]->bundles[bundle];
  if (!members_[member]->runs || at.table.size() == 0) return;
  if (if_full && at.table.size() < sessions_max_) return;
  auto chosen = at.table.all().begin();
  std::advance(chosen, random_.below(at.table.size()));
  if (if_full) {
    chosen = std::ranges::min_element(at.table.all(), {},
                                      [](const auto& entry) { return entry.second.touched; });
  }
  const dds::SessionExpire record{chosen->first, chosen->second.last};
  if (mistake_ == Mistake::expiry_by_clock) {
    (void)at.table.deliver(at.at, record);
    return;
  }
  (void)members_[member]->post(bundle, record);
}

}  // namespace tutti::relay::testing
