// Topics: who has which name, and the records in the bundles that define and delete topics.
#include "unit/relay/world_parts.hpp"

namespace tutti::relay::testing {

std::optional<TopicPlace> World::named(const std::string& name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? std::nullopt : std::optional(found->second);
}

bool World::has_released(std::uint32_t bundle) const {
  return std::ranges::any_of(released_, [&](TopicPlace one) { return one.bundle == bundle; });
}

// All hear of it at once, as the sequence that gives the names says it. The record that deletes or
// defines the topic in its bundle comes later (tend()), or is lost with its member and sent by
// another one.
void World::change_name() {
  const std::string name = kTopicNames[random_.below(std::size(kTopicNames))];
  if (!deletes_) return;
  const std::optional<TopicPlace> place = named(name);
  if (!place) {
    const auto bundle = static_cast<std::uint32_t>(random_.below(kBundles));
    names_[name] = {bundle, ids_[bundle]++};
    ++counts_.created;
    note(name + " is created in bundle " + std::to_string(bundle));
    return;
  }
  if (random_.one_in(2)) return;  // more often there than not
  names_.erase(name);
  released_.insert(*place);
  ++counts_.released;
  note(name + " is deleted");
  for (const auto& client : clients_) {
    for (auto& [number, one] : client->subscribers) one.is_loose |= one.topic == name;
    // Where a client moves now, what it sent through the relay before may still be delivered.
    if (client->machine.unanswered() == 0 || random_.one_in(2)) continue;
    disconnect(*client);
    connect(*client);
  }
}

// A record that is lacking here goes into the member's outbox.
void World::tend(std::uint32_t member, std::uint32_t bundle) {
  const Bundle& at = members_[member]->bundles[bundle];
  for (const TopicPlace place : released_) {
    if (place.bundle != bundle || at.deleted.contains(place.id)) continue;
    send_change(member, place, dds::RecordKind::deletion);
  }
  for (const auto& [name, place] : names_) {
    if (place.bundle != bundle || at.defined.contains(place.id)) continue;
    send_change(member, place, dds::RecordKind::definition);
  }
}

bool World::is_tended(std::uint32_t member, std::uint32_t bundle) const {
  const Bundle& at = members_[member]->bundles[bundle];
  return std::ranges::all_of(
             released_,
             [&](TopicPlace one) { return one.bundle != bundle || at.deleted.contains(one.id); }) &&
         std::ranges::all_of(names_, [&](const auto& one) {
           return one.second.bundle != bundle || at.defined.contains(one.second.id);
         });
}

void World::send_change(std::uint32_t member, TopicPlace place, dds::RecordKind kind) {
  if (!members_[member]->runs) return;
  std::vector<std::byte> record(sizeof(dds::RecordHeader));
  dds::write_header(record.data(),
                    {static_cast<std::uint8_t>(kind), 0, sizeof(dds::RecordHeader), place.id, 0});
  std::deque<std::vector<std::byte>>& outbox = members_[member]->bundles[place.bundle].outbox;
  const bool is_on_its_way = std::ranges::find(outbox, record) != outbox.end();
  if (!is_on_its_way && outbox.size() < kOutboxMax) outbox.push_back(std::move(record));
}

// False: it is a record of a session. A deleted topic is never defined again.
bool World::deliver_change(Bundle& at, std::span<const std::byte> bytes) {
  const std::optional<dds::Record> record = dds::read_record(bytes);
  if (!record) return false;
  const std::uint32_t id = record->header.topic;
  if (record->kind() == dds::RecordKind::definition) {
    if (!at.deleted.contains(id)) at.defined.insert(id);
    return true;
  }
  if (record->kind() != dds::RecordKind::deletion) return false;
  at.deleted.insert(id);
  at.defined.erase(id);
  return true;
}

// For the mistake of a client: what it said last of a request, without bytes or with them.
void World::note_sent(Connection& connection, std::size_t from) const {
  for (std::size_t i = from; i < connection.up.size(); ++i) {
    const auto frame = decode(std::span(connection.up[i]).subspan(sizeof(std::uint32_t)));
    const auto* const sent = frame ? std::get_if<Publish>(&*frame) : nullptr;
    if (sent == nullptr) continue;
    if (sent->topic == dds::kNoTopic) {
      connection.empty.insert({sent->nonce, sent->request});
    } else {
      connection.empty.erase({sent->nonce, sent->request});
    }
  }
}

}  // namespace tutti::relay::testing
