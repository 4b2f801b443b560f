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
  }
  holds(quieten(kPatience), "clean end", "no quiet");
  for (const MemberPtr& one : members_) {
    if (wrong_.empty()) check_end(*one);
  }
  for (const MemberPtr& one : members_) {
    if (!wrong_.empty()) return;
    start(*one, [this, one] { look_at_all(*one); });
    holds(quieten(kPatience), "clean end", "no quiet after a look");
  }
}

void World::check_end(Member& member) {
  for (const auto& reader : member.readers) {
    if (reader->is_called) continue;
    if (!reader->waits_to_be_told || reader->told != reader->heard) {
      take(member, *reader, 1000);
    }
    holds(expected(member, *reader).empty(), "clean end",
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
      if (topic->deleted || bundle.name == "part") continue;
      holds(!member.model.directory.released.contains({bundle.name, id}), "clean end",
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
    const bool is_part = definition.options.bundle == "part";
    if (is_part && member.slot > 2) continue;
    const bool is_defined = member.find(there->second.key) != nullptr;
    const bool sends =
        !is_part ? definition.options.bundle != "few" || member.slot % 2 == 0 : member.slot < 2;
    if (!is_defined && !sends) continue;  // a sender has to define it
    const std::size_t before = member.topics.size();
    find_topic(member, name);
    if (timeout_ns_ < 1'000'000'000) continue;  // too little time to be sure
    if (member.topics.size() == before) return wrong("clean end", "no " + topic_names_[name]);
    const std::shared_ptr<WorldTopic> topic = member.topics.back();
    const bool stored = definition.options.service == dds::Service::volatile_storage;
    const auto reader =
        create_reader(member, topic, false, stored ? dds::kFromStored : dds::kFromNow);
    if (reader == nullptr) return wrong("clean end", "no reader of " + topic_names_[name]);
    std::erase(member.readers, reader);
  }
}

}  // namespace tutti::domain
