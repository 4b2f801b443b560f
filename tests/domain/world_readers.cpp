// Readers: what each is given is compared with what its participant's model has.
#include "domain/world_parts.hpp"

namespace tutti::domain {

std::shared_ptr<WorldReader> World::create_reader(Member& member, std::shared_ptr<WorldTopic> topic,
                                                  bool is_called, dds::From from) {
  auto reader = std::make_shared<WorldReader>();
  reader->topic = topic;
  reader->is_called = is_called;
  reader->waits_to_be_told = !is_called && random_.one_in(2);
  reader->from = from;
  const bool waits = topic->definition.options.history.kind == dds::History::Kind::keep_all;
  reader->is_dead = waits && !is_called && !calm_ && random_.one_in(4);
  dds::UntypedReaderListener listener;
  WorldReader* const raw = reader.get();
  if (is_called) {
    listener.on_sample = [this, &member, raw](std::span<const std::byte> payload,
                                              const dds::SampleInfo& info) {
      called(member, *raw, payload, info);
    };
  }
  listener.on_data_available = [raw] { ++raw->told; };
  listener.on_subscription_matched = [raw](const dds::MatchedStatus& status) {
    raw->matched = status.total;
  };
  begin(member, *reader);
  member.readers.push_back(reader);
  Result<dds::UntypedReader> made =
      dds::UntypedReader::create(*topic->topic, {.from = from}, std::move(listener));
  const std::optional<Outcome> said = answer(member);
  if (!made) {
    std::erase(member.readers, reader);
    note(member.name() + " has no reader: " + made.error().message);
    const bool known = said && said->answer == Answer::noted;
    const ErrorCode code = made.error().code;
    holds(!known || code == ErrorCode::timed_out || code == ErrorCode::stopped, "true answers",
          member.name() + " has no reader: " + made.error().message);
    return nullptr;
  }
  holds(said && said->answer == Answer::noted, "true answers",
        member.name() + " reads a topic that is not there");
  reader->reader.emplace(std::move(*made));
  reader->live = true;
  if (!is_called) take(member, *reader, 1000);  // what was there before, nobody tells it
  return reader;
}

// It is attached at once, before its create waits for anything.
void World::begin(Member& member, WorldReader& reader) {
  const Key& key = reader.topic->key;
  reader.begin = member.position(key);
  reader.came = reader.floor = member.shown(key);
  reader.amid = member.is_amid(key);
  counts_.amid += reader.amid;
  const ModelTopic* topic = member.find(key);
  if (topic == nullptr || reader.from.kind == dds::From::Kind::now) return;
  const std::uint64_t first =
      reader.from.kind == dds::From::Kind::position ? reader.from.first.value : 0;
  reader.floor = first;
  for (const ModelSample* one : topic->kept(time_of_day(), reader.came)) {
    if (one->position >= first) reader.had.insert(one->position);
  }
  if (reader.from.kind == dds::From::Kind::stored && !reader.had.empty()) ++counts_.history;
}

// Of what lies before `until`.
std::vector<World::Expected> World::expected(Member& member, const WorldReader& reader,
                                             std::uint64_t until) {
  const ModelTopic* topic = member.find(reader.topic->key);
  if (topic == nullptr) return {};
  std::vector<const ModelSample*> all;
  if (!topic->is_logged() && !topic->waits()) {
    all = topic->kept(time_of_day(), until);
  } else {
    for (const ModelSample& one : topic->samples) {
      if (one.position >= until) break;
      const bool is_kept = one.payload.size() <= topic->definition.options.max_bytes &&
                           (one.position >= reader.came || reader.had.contains(one.position));
      if (topic->is_logged() || is_kept) all.push_back(&one);
    }
  }
  std::vector<Expected> out;
  for (const ModelSample* one : all) {
    if (one->position < reader.floor || (reader.last && one->position <= *reader.last)) continue;
    const bool is_sure = !reader.amid || reader.last || one->position >= reader.begin ||
                         (topic->is_logged() && reader.from.kind != dds::From::Kind::now);
    out.push_back({one, !is_sure});
  }
  return out;
}

bool World::has_something(Member& member, const WorldReader& reader, std::uint64_t until) {
  return std::ranges::any_of(expected(member, reader, until),
                             [](const Expected& one) { return !one.maybe; });
}

namespace {

// Which samples were taken. Empty: they are not what was expected.
template <class Expected>
std::optional<std::vector<const ModelSample*>> match(const dds::LoanedBytes& taken,
                                                     const std::vector<Expected>& expected,
                                                     std::size_t most, bool may_be_fewer) {
  std::vector<const ModelSample*> out;
  auto next = expected.begin();
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const std::uint64_t position = taken[i].info.position.value;
    // Of a reader that came in a batch: from a sample on it has all.
    while (next != expected.end() && i == 0 && next->maybe && next->sample->position != position) {
      ++next;
    }
    if (next == expected.end() || next->sample->position != position) return {};
    out.push_back((next++)->sample);
  }
  if (taken.size() == most || (may_be_fewer && taken.size() > 0)) return out;
  const bool is_all = std::all_of(
      next, expected.end(), [&](const Expected& one) { return one.maybe && taken.size() == 0; });
  if (!is_all) return {};
  return out;
}

}  // namespace

void World::take(Member& member, WorldReader& reader, std::size_t most) {
  reader.heard = reader.told;
  const Key& key = reader.topic->key;
  const ModelTopic* topic = member.find(key);
  Result<dds::LoanedBytes> taken = reader.reader->take(most);
  if (!taken) {
    return holds(member.node->over || topic == nullptr, "exactly once",
                 member.name() + " cannot take: " + taken.error().message);
  }
  if (topic == nullptr) return;
  if (member.group_of(key).overwritten) return judge_prefix(member, reader, *taken);
  std::optional<std::vector<const ModelSample*>> all;
  do {  // NOLINT(cppcoreguidelines-avoid-do-while)
    all = match(*taken, expected(member, reader, member.shown(key)), most, topic->is_logged());
  } while (!all && member.show_more(key));
  if (!all) {
    const auto ought = expected(member, reader, member.position(key));
    return wrong("history",
                 member.name() + " took " + std::to_string(taken->size()) + " samples of " +
                     reader.topic->definition.name + ", not " +
                     std::to_string(std::min(ought.size(), most)) +
                     (ought.empty() ? std::string()
                                    : " from " + std::to_string(ought.front().sample->position)));
  }
  for (std::size_t i = 0; i < all->size() && wrong_.empty(); ++i) {
    judge_lost(member, reader, *topic, (*taken)[i].info);
    judge_sample(member, reader, *(*all)[i], (*taken)[i].bytes(), (*taken)[i].info);
    ++counts_.taken;
    if (topic->is_logged() && (*all)[i]->position < reader.begin) ++counts_.from_log;
  }
  // A reader that took fewer samples than there were is not told again of the rest.
  const bool is_all = taken->size() < most && !has_something(member, reader, member.shown(key));
  if (!is_all) ++reader.told;
}

void World::judge_prefix(Member& member, WorldReader& reader, const dds::LoanedBytes& taken) {
  const ModelTopic* topic = member.find(reader.topic->key);
  if (topic == nullptr) return;
  for (const dds::LoanedBytes::Sample& one : taken) {
    const auto sent =
        std::ranges::find(topic->samples, one.info.position.value, &ModelSample::position);
    if (sent == topic->samples.end()) {
      return wrong("a prefix", member.name() + " took what nobody has sent as " +
                                   reader.topic->definition.name);
    }
    judge_sample(member, reader, *sent, one.bytes(), one.info);
    ++counts_.given_late;
  }
}

// Of all that it was not given up to this one. Of what was gone before it began, one stands for
// all, and is counted at once.
void World::judge_lost(Member& member, WorldReader& reader, const ModelTopic& topic,
                       const dds::SampleInfo& info) {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  bool were_gone = false;     // before it began
  bool will_be_gone = false;  // the same, but behind this one
  for (const ModelSample& one : topic.samples) {
    if (one.position < reader.floor || reader.given.contains(one.position)) continue;
    const bool came_since =
        one.position >= reader.begin || (!reader.amid && reader.had.contains(one.position));
    const bool is_before = one.position < info.position.value;
    most += is_before;
    least += is_before && came_since;
    were_gone |= is_before && !came_since;
    will_be_gone |= one.position > info.position.value && !came_since;
  }
  if (reader.from.kind == dds::From::Kind::position) {
    least += were_gone && !reader.amid;
    if (will_be_gone) ++most;
  }
  if (topic.is_logged()) {
    return holds(info.lost_before == 0, "all of it",
                 member.name() + " lost some of " + reader.topic->definition.name);
  }
  counts_.lost += info.lost_before;
  reader.lost += info.lost_before;
  reader.given.insert(info.position.value);
  holds(least <= reader.lost && reader.lost <= most, "honest losses",
        member.name() + " was told of " + std::to_string(reader.lost) + " lost before " +
            std::to_string(info.position.value) + " of " + reader.topic->definition.name +
            ", not of " + std::to_string(least) + " .. " + std::to_string(most));
}

void World::judge_sample(Member& member, WorldReader& reader, const ModelSample& expected,
                         std::span<const std::byte> payload, const dds::SampleInfo& info) {
  const SampleHead head = head_of(payload);
  const std::string what =
      member.name() + " got sample " + std::to_string(head.number) + " of " +
      reader.topic->definition.name + " at " + std::to_string(info.position.value) + ", not " +
      std::to_string(head_of(expected.payload).number) + " at " + std::to_string(expected.position);
  holds(info.position.value == expected.position && std::ranges::equal(payload, expected.payload),
        "one order", what);
  holds(info.sender.value == expected.sender && info.view == expected.view &&
            info.source_timestamp == expected.timestamp,
        "one order", what + ", with another origin");
  holds(head.name == reader.topic->name && head.id == reader.topic->key.second, "exactly once",
        what + ", which is of another topic");
  std::uint64_t& count = reader.counts[head.writer];
  holds(head.count > count, "exactly once", what + ", out of its writer's order");
  count = head.count;
  reader.last = info.position.value;
}

void World::called(Member& member, WorldReader& reader, std::span<const std::byte> payload,
                   const dds::SampleInfo& info) {
  if (member.group_of(reader.topic->key).overwritten) return;
  // The model has seen the whole batch, and the topic's deletion may be in it.
  const ModelBundle& bundle = member.model.bundle(reader.topic->key.first);
  const auto topic = bundle.topics.find(reader.topic->key.second);
  if (topic == bundle.topics.end()) {
    return holds(false, "exactly once", member.name() + ": an unknown topic");
  }
  const std::vector<ModelSample>& samples = topic->second->samples;
  std::uint64_t from = reader.last ? *reader.last + 1 : reader.begin;
  // It may have come into the table in the middle of the batch.
  if (reader.amid && !reader.last) from = std::clamp(info.position.value, reader.came, from);
  const auto next = std::ranges::lower_bound(samples, from, {}, &ModelSample::position);
  if (next == samples.end()) {
    return holds(false, "exactly once", member.name() + ": nothing was sent there");
  }
  ++counts_.called;
  holds(info.lost_before == 0, "honest losses", member.name() + " was called, and lost some");
  judge_sample(member, reader, *next, payload, info);
  if (!member.node->over && random_.one_in(4)) cluster_->stop_in_callback();
}

// Of a topic with keep_all: the delivery waits in time.
void World::judge_unread(Member& member, const WorldReader& reader) {
  const ModelTopic* topic = member.find(reader.topic->key);
  if (topic == nullptr || !topic->waits() || reader.is_called || reader.amid) return;
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;
  for (const Expected& one : expected(member, reader, member.position(reader.topic->key))) {
    ++samples;
    bytes += one.sample->payload.size();
  }
  const dds::TopicOptions& options = topic->definition.options;
  holds(samples <= options.max_samples && bytes <= options.max_bytes, "all of it",
        member.name() + " has " + std::to_string(samples) + " samples for a reader of " +
            reader.topic->definition.name);
}

}  // namespace tutti::domain
