// Once nothing fails any more, and nobody does anything new.
#include "domain/world_parts.hpp"

namespace tutti::domain {

namespace {

constexpr std::size_t kPatience = 60'000;  // steps

}  // namespace

void World::settle() {
  calm_ = true;
  for (std::size_t i = 0; i < kPatience && wrong_.empty(); ++i) {
    const bool all_in = cluster_->all_have_entered() && !cluster_->needs_view() &&
                        std::ranges::count(members_, nullptr) == 0;
    if (all_in) break;
    step();
    if (i % 16 == 0) change_view();
  }
  for (const MemberPtr& one : members_) {
    if (one == nullptr) return wrong("clean end", "not all have come");
    one->leaves = false;
    for (const auto& reader : one->readers) reader->is_dead = false;
  }
  holds(quieten(kPatience), "clean end", "no quiet");
  for (const MemberPtr& one : members_) {
    if (wrong_.empty()) check_end(*one);
  }
  // Any of them first: one that does not send has to ask the senders for what nobody has defined.
  const std::size_t first = random_.below(members_.size());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (!wrong_.empty()) return;
    const MemberPtr& one = members_[(first + i) % members_.size()];
    start(*one, [this, one] { look_at_all(*one); });
    holds(quieten(kPatience), "clean end", "no quiet after a look");
  }
}

// One of bundle "part" that was there from its beginning.
bool World::has_first_sender() const { return members_[0]->is_founder || members_[1]->is_founder; }

void World::check_end(Member& member) {
  for (const auto& reader : member.readers) {
    if (reader->is_called) continue;
    if (!reader->waits_to_be_told) take(member, *reader, 1000);
    while (reader->told != reader->heard && wrong_.empty()) take(member, *reader, 1000);
    holds(!has_something(member, *reader, ~std::uint64_t{0}), "clean end",
          member.name() + " was not told of all of " + reader->topic->definition.name);
  }
  std::map<Key, std::pair<std::uint32_t, std::uint32_t>> own;
  for (const auto& one : member.readers) ++own[one->topic->key].first;
  for (const auto& one : member.writers) ++own[one->topic->key].second;
  std::map<Key, std::pair<std::uint32_t, std::uint32_t>> total;
  for (const auto& [name, entry] : member.model.directory.topics) {
    for (const auto& [at, counts] : entry.endpoints) {
      total[entry.key].first += counts.first;
      total[entry.key].second += counts.second;
    }
    const auto said = entry.endpoints.find(member.node->own.value);
    const auto there = said == entry.endpoints.end() ? decltype(said->second){} : said->second;
    holds(there == own[entry.key], "clean end",
          member.name() + " has other readers and writers of " + name + " than all think");
  }
  for (const auto& one : member.readers) {
    holds(one->matched == total[one->topic->key].second, "clean end",
          member.name() + ": a reader of " + one->topic->definition.name + " thinks of " +
              std::to_string(one->matched) + " writers");
  }
  for (const auto& one : member.writers) {
    holds(one->matched == total[one->topic->key].first, "clean end",
          member.name() + ": a writer of " + one->topic->definition.name + " thinks of " +
              std::to_string(one->matched) + " readers");
  }
  for (const ModelBundle& bundle : member.model.bundles) {
    for (const auto& [id, topic] : bundle.topics) {
      // A bundle without a state may lose all that are to send the deletion, and nobody else knows.
      if (topic->deleted || (bundle.name == "part" && !has_first_sender())) continue;
      const Key key{bundle.name, id};
      const bool has_name =
          std::ranges::any_of(member.model.directory.topics,
                              [&](const auto& named) { return named.second.key == key; });
      holds(has_name, "clean end",
            "topic " + std::to_string(id) + " is left in bundle " + bundle.name);
    }
  }
  const dds::ParticipantStatistics statistics = member.participant->statistics();
  holds(statistics.malformed == 0, "exactly once",
        member.name() + " took " + std::to_string(statistics.malformed) + " records for rubbish");
}

// Each topic is usable, and a new reader finds what its options keep.
void World::look_at_all(Member& member) {
  ++counts_.finished;
  for (std::size_t name = 0; name < topic_names_.size(); ++name) {
    const auto there = member.model.directory.topics.find(topic_names_[name]);
    if (there == member.model.directory.topics.end()) continue;
    const dds::Definition definition = there->second.definition;
    const GroupCore& group = member.group_of(there->second.key);
    if (!group.is_member()) continue;
    const std::size_t before = member.topics.size();
    find_topic(member, name);
    if (timeout_ns_ < 1'000'000'000) continue;  // too little time to be sure
    if (member.topics.size() == before) return wrong("clean end", "no " + topic_names_[name]);
    const std::shared_ptr<WorldTopic> topic = member.topics.back();
    const bool has_past = definition.options.service == dds::Service::volatile_storage ||
                          definition.options.service == dds::Service::logged;
    const auto reader =
        create_reader(member, topic, false, has_past ? dds::kFromStored : dds::kFromNow);
    if (reader == nullptr) return wrong("clean end", "no reader of " + topic_names_[name]);
    while (reader->told != reader->heard && wrong_.empty()) take(member, *reader, 1000);
    std::erase(member.readers, reader);
  }
}

}  // namespace tutti::domain
