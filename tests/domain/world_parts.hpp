/// \file world_parts.hpp
/// The participants of a world and what they hold, for its .cpp files.
#pragma once
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "domain/clock.hpp"
#include "domain/world.hpp"

namespace tutti::domain {

/// The beginning of each sample's payload.
struct SampleHead {
  std::uint64_t number = 0;  ///< of all samples of the world
  std::uint64_t writer = 0;
  std::uint64_t count = 0;  ///< how many this writer wrote, with this one
  std::uint32_t name = 0;
  std::uint32_t id = 0;  ///< of the topic, in its bundle
};

[[nodiscard]] inline SampleHead head_of(std::span<const std::byte> payload) {
  SampleHead head;
  if (payload.size() >= sizeof head) std::memcpy(&head, payload.data(), sizeof head);
  return head;
}

struct WorldTopic {
  std::optional<dds::UntypedTopic> topic{};
  std::size_t name = 0;
  Key key{};
  dds::Definition definition{};
};

struct WorldWriter {
  std::optional<dds::UntypedWriter> writer{};
  std::shared_ptr<WorldTopic> topic{};
  std::uint64_t number = 0;
  std::uint64_t count = 0;
  std::uint64_t last_sample = 0;  // its number in the world; 0: none yet
  std::uint32_t matched = 0;      // readers, as it was told
};

struct WorldReader {
  std::shared_ptr<WorldTopic> topic{};
  bool is_called = false;
  bool waits_to_be_told = false;
  dds::From from{};
  std::uint64_t begin = 0;        // what has this position or a higher one comes live
  std::uint64_t came = 0;         // what has a lower position was delivered before it
  bool amid = false;              // it came in a batch, so somewhere between these two
  bool is_dead = false;           // it takes nothing
  std::uint64_t floor = 0;        // nothing with a lower position is given
  std::set<std::uint64_t> had{};  // positions before `came` that were there when it began
  std::set<std::uint64_t> given{};
  std::uint64_t lost = 0;
  std::optional<std::uint64_t> last{};
  std::map<std::uint64_t, std::uint64_t> counts{};  // by writer: of its newest sample
  std::uint64_t told = 0;
  std::uint64_t told_before = 0;  // this batch
  std::uint64_t heard = 0;        // of `told`, when it took last
  std::uint32_t matched = 0;      // writers
  bool live = false;              // its create has returned
  // Last: what ends it may still call its listener.
  std::optional<dds::UntypedReader> reader{};
};

struct World::Member {
  std::size_t slot = 0;
  std::shared_ptr<NodeCore> node{};
  std::optional<Node> handle{};
  std::optional<dds::DomainParticipant> participant{};
  Model model{};
  std::set<Key> fresh{};  // topics with samples of a batch that are kept
  // By bundle: of a batch that is being delivered, what has a lower position was delivered.
  std::map<std::string, std::uint64_t> shown_of{};
  std::array<Thread, 2> threads{};
  bool leaves = false;
  bool is_founder = false;
  std::vector<std::shared_ptr<WorldTopic>> topics{};
  std::vector<std::shared_ptr<WorldWriter>> writers{};
  std::vector<std::shared_ptr<WorldReader>> readers{};

  [[nodiscard]] const std::string& name() const { return node->name; }
  [[nodiscard]] const ModelTopic* find(const Key& key) {
    ModelBundle& bundle = model.bundle(key.first);
    const auto found = bundle.topics.find(key.second);
    return found == bundle.topics.end() || found->second->deleted ? nullptr : found->second.get();
  }
  /// Of a topic: the next sample that is delivered has this position or a higher one.
  [[nodiscard]] std::uint64_t position(const Key& key) {
    const ModelBundle& bundle = model.bundle(key.first);
    if (!bundle.ordered) return find(key) == nullptr ? 0 : find(key)->samples.size();
    const GroupCore& group = group_of(key);
    return group.at.empty() ? 0 : group.at.front();
  }
  [[nodiscard]] GroupCore& group_of(const Key& key) {
    const auto at = static_cast<std::size_t>(&model.bundle(key.first) - model.bundles.data());
    return *node->groups[at + 1];
  }
  [[nodiscard]] bool is_amid(const Key& key) {
    return model.bundle(key.first).ordered && group_of(key).is_delivering();
  }
  /// What has a lower position was delivered for sure.
  [[nodiscard]] std::uint64_t shown(const Key& key) {
    if (!is_amid(key)) return position(key);
    return std::max(shown_of[key.first], group_of(key).delivery->batch.front().seq.value);
  }
  /// One more of the batch has come to be seen. False: all of it was.
  bool show_more(const Key& key) {
    const std::uint64_t next = shown(key) + 1;
    if (next > position(key)) return false;
    shown_of[key.first] = next;
    return true;
  }
};

}  // namespace tutti::domain
