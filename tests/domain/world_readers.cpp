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
  reader.begin = reader.floor = member.position(reader.topic->key);
  const ModelTopic* topic = member.find(reader.topic->key);
  if (topic == nullptr || reader.from.kind == dds::From::Kind::now) return;
  const std::uint64_t first =
      reader.from.kind == dds::From::Kind::position ? reader.from.first.value : 0;
  reader.floor = first;
  for (const ModelSample* one : topic->kept(time_of_day())) {
    if (one->position >= first) reader.had.insert(one->position);
  }
  if (reader.from.kind == dds::From::Kind::stored && !reader.had.empty()) ++counts_.history;
}

std::vector<const ModelSample*> World::expected(Member& member, const WorldReader& reader) {
  const ModelTopic* topic = member.find(reader.topic->key);
  if (topic == nullptr) return {};
  std::vector<const ModelSample*> all = topic->kept(time_of_day());
  std::erase_if(all, [&](const ModelSample* one) {
    return one->position < reader.floor || (reader.last && one->position <= *reader.last);
  });
  return all;
}

void World::take(Member& member, WorldReader& reader, std::size_t most) {
  reader.heard = reader.told;
  const ModelTopic* topic = member.find(reader.topic->key);
  Result<dds::LoanedBytes> taken = reader.reader->take(most);
  if (!taken) {
    return holds(member.node->over || topic == nullptr, "exactly once",
                 member.name() + " cannot take: " + taken.error().message);
  }
  if (topic == nullptr) return;
  const std::vector<const ModelSample*> all = expected(member, reader);
  holds(taken->size() == std::min(all.size(), most), "history",
        member.name() + " took " + std::to_string(taken->size()) + " samples of " +
            reader.topic->definition.name + ", not " + std::to_string(std::min(all.size(), most)));
  for (std::size_t i = 0; i < taken->size() && i < all.size() && wrong_.empty(); ++i) {
    judge_lost(member, reader, *topic, (*taken)[i].info);
    judge_sample(member, reader, *all[i], (*taken)[i].bytes(), (*taken)[i].info);
    ++counts_.taken;
  }
  // A reader that took fewer samples than there were is not told again of the rest.
  if (all.size() > most) ++reader.told;
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
    const bool came_since = one.position >= reader.begin || reader.had.contains(one.position);
    const bool is_before = one.position < info.position.value;
    most += is_before;
    least += is_before && came_since;
    were_gone |= is_before && !came_since;
    will_be_gone |= one.position > info.position.value && !came_since;
  }
  if (reader.from.kind == dds::From::Kind::position) {
    least += were_gone;
    if (will_be_gone) ++most;
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
  // The model has seen the whole batch, and the topic's deletion may be in it.
  const ModelBundle& bundle = member.model.bundle(reader.topic->key.first);
  const auto topic = bundle.topics.find(reader.topic->key.second);
  if (topic == bundle.topics.end()) {
    return holds(false, "exactly once", member.name() + ": an unknown topic");
  }
  const std::vector<ModelSample>& samples = topic->second->samples;
  const std::uint64_t from = reader.last ? *reader.last + 1 : reader.begin;
  const auto next = std::ranges::lower_bound(samples, from, {}, &ModelSample::position);
  if (next == samples.end()) {
    return holds(false, "exactly once", member.name() + ": nothing was sent there");
  }
  ++counts_.called;
  holds(info.lost_before == 0, "honest losses", member.name() + " was called, and lost some");
  judge_sample(member, reader, *next, payload, info);
}

}  // namespace tutti::domain
