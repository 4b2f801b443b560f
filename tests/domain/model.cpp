#include "domain/model.hpp"

#include <algorithm>
#include <limits>

#include "dds/session_record.hpp"

namespace tutti::domain {

namespace {

std::uint32_t depth_of(const dds::TopicOptions& options) {
  if (options.history.kind == dds::History::Kind::keep_last) return options.history.depth;
  const bool all = options.history.kind == dds::History::Kind::keep_all ||
                   options.service == dds::Service::logged;
  if (all) return std::numeric_limits<std::uint32_t>::max();
  return options.service == dds::Service::volatile_storage ? 1 : 1024;
}

}  // namespace

std::vector<const ModelSample*> ModelTopic::kept(std::uint64_t now_ns, std::uint64_t until) const {
  const dds::TopicOptions& options = definition.options;
  const std::size_t depth = depth_of(options);
  std::vector<const ModelSample*> all;
  std::uint64_t bytes = 0;
  const auto drop = [&](auto which) {
    bytes -= (*which)->payload.size();
    all.erase(which);
  };
  for (const ModelSample& one : samples) {
    if (one.position >= until) break;
    if (one.payload.size() > options.max_bytes) continue;
    const auto same_key = [&](const ModelSample* other) {
      return !definition.type.keyed || other->key == one.key;
    };
    while (static_cast<std::size_t>(std::ranges::count_if(all, same_key)) >= depth) {
      drop(std::ranges::find_if(all, same_key));
    }
    while (!all.empty() &&
           (all.size() >= options.max_samples || bytes + one.payload.size() > options.max_bytes)) {
      drop(all.begin());
    }
    all.push_back(&one);
    bytes += one.payload.size();
  }
  const auto age = static_cast<std::uint64_t>(options.max_age.count());
  while (age > 0 && !all.empty() && all.front()->timestamp + age < now_ns) drop(all.begin());
  return all;
}

void ModelBundle::define(std::uint32_t id, const dds::Definition& definition,
                         std::uint64_t position) {
  if (topics.contains(id)) return;
  topics[id] =
      std::make_shared<ModelTopic>(ModelTopic{.definition = definition, .defined_at = position});
}

void ModelBundle::remove(std::uint32_t id) {
  auto& topic = topics[id];
  if (topic == nullptr) topic = std::make_shared<ModelTopic>();
  topic->deleted = true;
}

bool ModelBundle::apply(const Message& message) {
  const std::optional<dds::Record> record = dds::read_record(message.bytes());
  if (!record) return false;
  switch (record->kind()) {
    case dds::RecordKind::definition:
      if (auto definition = dds::decode_definition(record->payload)) {
        define(record->header.topic, *definition, message.seq.value);
      }
      return false;
    case dds::RecordKind::deletion:
      remove(record->header.topic);
      return false;
    case dds::RecordKind::sample:
      return add(message, *record);
    case dds::RecordKind::mark:
      return false;
    default:
      return is_next(message, *record) && add(message, *record);
  }
}

bool ModelBundle::add(const Message& message, const dds::Record& record) {
  const auto found = topics.find(record.header.topic);
  if (found == topics.end() || found->second->deleted) return false;
  std::vector<ModelSample>& samples = found->second->samples;
  samples.push_back({.position = ordered ? message.seq.value : samples.size(),
                     .sender = message.sender.value,
                     .view = message.view,
                     .timestamp = record.header.source_timestamp,
                     .key = record.key,
                     .payload = {record.payload.begin(), record.payload.end()}});
  return true;
}

bool ModelBundle::is_next(const Message& message, const dds::Record&) {
  const auto record = dds::read_session_record(message.bytes());
  if (!record || !ordered) return false;
  if (const auto* open = std::get_if<dds::SessionOpen>(&*record)) {
    for (const auto& [number, one] : sessions) {
      if (one.client == open->client.low && one.nonce == open->nonce) return false;
    }
    sessions[message.seq.value] = {open->client.low, open->nonce, 0};
    return false;
  }
  const auto* sample = std::get_if<dds::ClientSample>(&*record);
  if (sample == nullptr) return false;
  const auto found = sessions.find(sample->session);
  if (found == sessions.end() || found->second.nonce != sample->nonce) return false;
  if (sample->request != found->second.last + 1) return false;
  ++found->second.last;
  return true;
}

ModelBundle ModelBundle::copy() const {
  ModelBundle out = *this;
  for (auto& [id, topic] : out.topics) topic = std::make_shared<ModelTopic>(*topic);
  return out;
}

ModelDirectory::Outcome ModelDirectory::apply(std::uint32_t sender,
                                              std::span<const std::byte> record) {
  Decoder in(record);
  const auto kind = in.number<std::uint8_t>();
  if (kind == 1) {  // a claim
    const auto most = in.number<std::uint32_t>();
    const dds::Definition wanted = dds::decode_definition(in).value();
    if (!unannounced.empty()) return {Answer::not_yet, {}};
    if (const auto there = topics.find(wanted.name); there != topics.end()) {
      const bool same = there->second.definition == wanted;
      return {same ? Answer::joined : Answer::mismatch, there->second.key};
    }
    if (topics.size() >= most) return {Answer::full, {}};
    const Key key{wanted.options.bundle, 1 + next[wanted.options.bundle]++};
    topics[wanted.name] = {.key = key, .definition = wanted};
    return {Answer::created, key};
  }
  if (kind == 2) return announce(in);
  if (kind == kMark || kind == kWant) return {Answer::noted, {}};
  Key key;
  key.first = in.text(255);
  key.second = in.number<std::uint32_t>();
  const auto found =
      std::ranges::find_if(topics, [&](const auto& one) { return one.second.key == key; });
  if (found == topics.end()) return {Answer::unknown, key};
  if (kind == 3) {  // a release
    if (!found->second.endpoints.empty()) return {Answer::in_use, key};
    topics.erase(found);
    released.insert(key);
    return {Answer::released, key};
  }
  const auto readers = in.number<std::uint32_t>();
  const auto writers = in.number<std::uint32_t>();
  found->second.endpoints[sender] = {readers, writers};
  if (readers + writers == 0) found->second.endpoints.erase(sender);
  return {Answer::noted, key};
}

// A topic of a log. Of two of one name the older one was released.
ModelDirectory::Outcome ModelDirectory::announce(Decoder& in) {
  Key key;
  key.first = in.text(255);
  key.second = in.number<std::uint32_t>();
  const auto next_id = in.number<std::uint32_t>();
  next[key.first] = std::max(next[key.first], next_id - 1);
  if (in.number<std::uint8_t>() == 0) {
    unannounced.erase(key.first);
    return {Answer::noted, key};
  }
  const dds::Definition definition = dds::decode_definition(in).value();
  if (released.contains(key)) return {Answer::unknown, key};
  const auto there = topics.find(definition.name);
  if (there == topics.end()) {
    topics[definition.name] = {.key = key, .definition = definition};
    return {Answer::created, key};
  }
  if (there->second.key == key) return {Answer::joined, key};
  released.insert(key);
  return {Answer::unknown, key};
}

bool ModelDirectory::has_come_to(const Key& key) const {
  const auto last = next.find(key.first);
  return last != next.end() && last->second >= key.second;
}

void ModelDirectory::view(const std::vector<std::string>& names, const ViewChange& change) {
  for (std::uint32_t member = 0; member < names.size(); ++member) {
    const bool is_in = std::ranges::count(change.members, names[member]) > 0;
    if (is_in && std::ranges::count(change.joined, names[member]) == 0) continue;
    for (auto& [name, entry] : topics) entry.endpoints.erase(member);
  }
}

std::string ModelDirectory::text(const std::vector<std::string>& names) const {
  std::string out;
  for (const auto& [name, entry] : topics) {
    out += name + " " + entry.definition.type.name + " " + entry.definition.options.to_text() +
           " " + std::to_string(entry.key.second);
    for (const auto& [member, counts] : entry.endpoints) {
      out += " " + names[member] + ":" + std::to_string(counts.first) + "," +
             std::to_string(counts.second);
    }
    out += "\n";
  }
  return out;
}

ModelBundle& Model::bundle(const std::string& name) {
  return *std::ranges::find(bundles, name, &ModelBundle::name);
}

}  // namespace tutti::domain
