#include "dds/directory.hpp"

#include <algorithm>
#include <utility>

namespace tutti::dds {

namespace {

enum class ControlKind : std::uint8_t {
  claim = 1,
  announce = 2,
  release = 3,
  endpoints = 4,
  mark = 5,
  want = 6,
};

constexpr std::size_t kNameMax = 255;
constexpr std::uint32_t kLastId = 0xffffffff;

Encoder begin(ControlKind kind) {
  Encoder out;
  out.number(static_cast<std::uint8_t>(kind));
  return out;
}

void put(Encoder& out, const TopicKey& key) {
  out.text(key.bundle);
  out.number(key.id);
}

TopicKey get_key(Decoder& in) {
  TopicKey key;
  key.bundle = in.text(kNameMax);
  key.id = in.number<std::uint32_t>();
  return key;
}

}  // namespace

Directory::Directory(std::vector<std::string> bundles, std::set<std::string> logged)
    : logged_(std::move(logged)) {
  for (std::string& bundle : bundles) next_ids_.emplace(std::move(bundle), 1);
}

std::vector<std::byte> Directory::claim(const Definition& definition, std::uint32_t topics_max) {
  Encoder out = begin(ControlKind::claim);
  out.number(topics_max);
  definition.encode(out);
  return out.take();
}

std::vector<std::byte> Directory::announce(const TopicKey& key, std::uint32_t next_id,
                                           const Definition* definition) {
  Encoder out = begin(ControlKind::announce);
  put(out, key);
  out.number(next_id);
  out.number(static_cast<std::uint8_t>(definition != nullptr));
  if (definition != nullptr) definition->encode(out);
  return out.take();
}

std::vector<std::byte> Directory::release(const TopicKey& key) {
  Encoder out = begin(ControlKind::release);
  put(out, key);
  return out.take();
}

std::vector<std::byte> Directory::endpoints(const TopicKey& key, EndpointCounts counts) {
  Encoder out = begin(ControlKind::endpoints);
  put(out, key);
  out.number(counts.readers);
  out.number(counts.writers);
  return out.take();
}

std::vector<std::byte> Directory::mark() { return begin(ControlKind::mark).take(); }

std::vector<std::byte> Directory::want(const TopicKey& key) {
  Encoder out = begin(ControlKind::want);
  put(out, key);
  return out.take();
}

Directory::Answer Directory::apply(MemberIndex sender, std::span<const std::byte> record) {
  Decoder in(record);
  switch (static_cast<ControlKind>(in.number<std::uint8_t>())) {
    case ControlKind::claim:
      return apply_claim(in);
    case ControlKind::announce:
      return apply_announcement(in);
    case ControlKind::release:
      return apply_release(in);
    case ControlKind::endpoints:
      return apply_endpoints(sender, in);
    case ControlKind::mark:
      return {.outcome = in.done() ? Outcome::marked : Outcome::malformed};
    case ControlKind::want:
      return apply_want(in);
  }
  return {};  // DD5
}

Directory::Answer Directory::apply_claim(Decoder& in) {
  const auto topics_max = in.number<std::uint32_t>();
  std::optional<Definition> wanted = decode_definition(in);
  if (!wanted || !in.done()) return {};
  const auto next = next_ids_.find(wanted->options.bundle);
  if (next == next_ids_.end()) return {};
  if (!unannounced().empty()) return {.outcome = Outcome::not_yet, .name = wanted->name};  // DD2
  Answer answer{.name = wanted->name};
  if (const Entry* had = find(wanted->name); had != nullptr) {
    answer.key = had->key;
    answer.outcome = Outcome::joined;
    if (difference(had->definition, *wanted)) {
      answer.outcome = Outcome::mismatch;
      if (topics_max != 0) answer.wanted = std::move(wanted);
    }
    return answer;
  }
  answer.outcome = Outcome::full;
  if (topics_.size() >= topics_max || next->second == kLastId) return answer;
  answer.key = {next->first, next->second++};  // DD2
  insert(answer.key, std::move(*wanted));
  answer.outcome = Outcome::created;
  return answer;
}

// DD2. A name that another topic has keeps that one.
Directory::Answer Directory::apply_announcement(Decoder& in) {
  const TopicKey key = get_key(in);
  const auto next_id = in.number<std::uint32_t>();
  std::optional<Definition> definition;
  const bool defines = in.number<std::uint8_t>() != 0;
  if (defines) definition = decode_definition(in);
  const auto next = next_ids_.find(key.bundle);
  if (!in.done() || next == next_ids_.end() || defines != definition.has_value()) return {};
  if (!logged_.contains(key.bundle)) return {};
  if (defines && (key.id >= next_id || definition->options.bundle != key.bundle)) return {};
  next->second = std::max(next->second, next_id);
  Answer answer{.outcome = Outcome::noted, .key = key};
  if (!definition) {
    announced_.insert(key.bundle);
    return answer;
  }
  if (is_released(key)) return {.outcome = Outcome::unknown, .key = key};  // DD4
  answer.name = definition->name;
  if (const Entry* had = find(definition->name); had != nullptr) {
    if (had->key.bundle == key.bundle && key.id < had->key.id) {  // DD4: the name was free once
      released_[key.bundle].insert(key.id);
      return {.outcome = Outcome::unknown, .key = key};
    }
    answer.outcome = had->key == key ? Outcome::joined : Outcome::mismatch;
    if (answer.outcome == Outcome::mismatch) answer.wanted = std::move(definition);
    return answer;
  }
  if (names_.contains(key)) return {};
  insert(key, std::move(*definition));
  answer.outcome = Outcome::created;
  return answer;
}

Directory::Answer Directory::apply_release(Decoder& in) {
  const TopicKey key = get_key(in);
  if (!in.done()) return {};
  const Entry* entry = find(key);
  if (entry == nullptr) return {.outcome = Outcome::unknown, .key = key};
  Answer answer{.outcome = Outcome::released, .key = key, .name = entry->definition.name};
  if (!entry->endpoints.empty()) {
    answer.outcome = Outcome::in_use;  // DD3
    return answer;
  }
  names_.erase(key);
  topics_.erase(answer.name);
  released_[key.bundle].insert(key.id);
  return answer;
}

Directory::Answer Directory::apply_endpoints(MemberIndex sender, Decoder& in) {
  const TopicKey key = get_key(in);
  const auto readers = in.number<std::uint32_t>();
  const auto writers = in.number<std::uint32_t>();
  if (!in.done()) return {};
  const auto name = names_.find(key);
  if (name == names_.end()) return {.outcome = Outcome::unknown, .key = key};
  auto& endpoints = topics_.find(name->second)->second.endpoints;
  Answer answer{.outcome = Outcome::noted, .key = key, .name = name->second};
  if (const auto had = endpoints.find(sender.value); had != endpoints.end()) {
    answer.before = had->second;
  }
  if (readers == 0 && writers == 0) {
    endpoints.erase(sender.value);
  } else {
    endpoints[sender.value] = {readers, writers};
  }
  return answer;
}

Directory::Answer Directory::apply_want(Decoder& in) const {
  const TopicKey key = get_key(in);
  if (!in.done()) return {};
  const Entry* const entry = find(key);
  if (entry == nullptr) return {.outcome = Outcome::marked};  // it was deleted meanwhile
  return {.outcome = Outcome::wanted, .key = key, .name = entry->definition.name};
}

std::vector<std::pair<TopicKey, EndpointCounts>> Directory::left(MemberIndex participant) {
  std::vector<std::pair<TopicKey, EndpointCounts>> gone;
  for (auto& [name, entry] : topics_) {
    const auto node = entry.endpoints.extract(participant.value);
    if (!node.empty()) gone.emplace_back(entry.key, node.mapped());
  }
  return gone;
}

void Directory::insert(const TopicKey& key, Definition definition) {
  names_[key] = definition.name;
  std::string name = definition.name;
  topics_.emplace(std::move(name), Entry{.key = key, .definition = std::move(definition)});
}

const Directory::Entry* Directory::find(std::string_view name) const {
  const auto at = topics_.find(name);
  return at == topics_.end() ? nullptr : &at->second;
}

const Directory::Entry* Directory::find(const TopicKey& key) const {
  const auto at = names_.find(key);
  return at == names_.end() ? nullptr : find(at->second);
}

std::string Directory::unannounced() const {
  for (const std::string& bundle : logged_) {
    if (!is_announced(bundle)) return bundle;
  }
  return {};
}

bool Directory::is_announced(const std::string& bundle) const {
  return announced_.contains(bundle);
}

bool Directory::is_released(const TopicKey& key) const {
  const auto of_bundle = released_.find(key.bundle);
  return of_bundle != released_.end() && of_bundle->second.contains(key.id);
}

std::set<std::uint32_t> Directory::released(const std::string& bundle) const {
  const auto of_bundle = released_.find(bundle);
  return of_bundle == released_.end() ? std::set<std::uint32_t>() : of_bundle->second;
}

EndpointCounts Directory::total(const Entry& entry) {
  EndpointCounts all;
  for (const auto& [participant, counts] : entry.endpoints) {
    all.readers += counts.readers;
    all.writers += counts.writers;
  }
  return all;
}

std::vector<std::byte> Directory::save() const {
  Encoder out;
  out.number(static_cast<std::uint32_t>(next_ids_.size()));
  for (const auto& [bundle, next] : next_ids_) {
    put(out, {bundle, next});
    out.number(static_cast<std::uint8_t>(is_announced(bundle)));
    const auto released = released_.find(bundle);
    const bool none = released == released_.end();
    out.number(none ? 0U : static_cast<std::uint32_t>(released->second.size()));
    if (none) continue;
    for (const std::uint32_t id : released->second) out.number(id);
  }
  out.number(static_cast<std::uint32_t>(topics_.size()));
  for (const auto& [name, entry] : topics_) {
    put(out, entry.key);
    entry.definition.encode(out);
    out.number(static_cast<std::uint32_t>(entry.endpoints.size()));
    for (const auto& [participant, counts] : entry.endpoints) {
      out.number(participant);
      out.number(counts.readers);
      out.number(counts.writers);
    }
  }
  return out.take();
}

bool Directory::load(std::span<const std::byte> bytes) {
  Decoder in(bytes);
  Directory read({}, logged_);
  for (auto count = in.number<std::uint32_t>(); count > 0 && in.good(); --count) {
    const TopicKey next = get_key(in);
    read.next_ids_[next.bundle] = next.id;
    if (in.number<std::uint8_t>() != 0) read.announced_.insert(next.bundle);
    for (auto ids = in.number<std::uint32_t>(); ids > 0 && in.good(); --ids) {
      const auto id = in.number<std::uint32_t>();
      if (id >= next.id) return false;
      read.released_[next.bundle].insert(id);
    }
  }
  for (auto count = in.number<std::uint32_t>(); count > 0 && in.good(); --count) {
    const TopicKey key = get_key(in);
    std::optional<Definition> definition = decode_definition(in);
    const auto next = read.next_ids_.find(key.bundle);
    if (!definition || next == read.next_ids_.end() || key.id >= next->second) return false;
    if (read.find(definition->name) != nullptr || read.names_.contains(key)) return false;
    if (read.is_released(key)) return false;
    const std::string name = definition->name;
    read.insert(key, std::move(*definition));
    auto& endpoints = read.topics_.find(name)->second.endpoints;
    for (auto each = in.number<std::uint32_t>(); each > 0 && in.good(); --each) {
      const auto participant = in.number<std::uint32_t>();
      EndpointCounts& counts = endpoints[participant];
      counts.readers = in.number<std::uint32_t>();
      counts.writers = in.number<std::uint32_t>();
    }
  }
  const auto same_bundle = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (!in.done() || !std::ranges::equal(read.next_ids_, next_ids_, same_bundle)) return false;
  *this = std::move(read);
  return true;
}

}  // namespace tutti::dds
