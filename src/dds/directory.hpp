/// \file directory.hpp
/// Which topics there are, and who reads and writes them: the state machine of the control group.
/// All participants apply the same records in the same order, so all come to the same answers.
///
/// Invariants:
///  DD1  The first claim of a name decides what the topic is. A later claim joins it, or is refused
///       with both definitions.
///  DD2  An id of a bundle is given once: also of a topic that is released or announced, and in a
///       bundle that has a log after all participants were stopped: no claim is decided before
///       the topics of every log were announced.
///  DD3  A topic that has readers or writers is not released.
///  DD4  An id that was released is no topic any more, whatever is announced later. Of two topics
///       of one name in the log of a bundle the older one was released: its deletion is missing.
///  DD5  What a record means depends on its kind alone. One of a kind that is not known is
///       malformed and changes nothing. So a kind that changes nothing may be added, and
///       participants of an older version have the same topics beside newer ones.
/// Threads: one at a time. No clock, no thread; allocates for topics alone.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "dds/definition.hpp"
#include "tutti/types.hpp"

namespace tutti::dds {

struct TopicKey {
  std::string bundle{};
  std::uint32_t id = 0;
  auto operator<=>(const TopicKey&) const = default;
};

struct EndpointCounts {
  std::uint32_t readers = 0;
  std::uint32_t writers = 0;
  bool operator==(const EndpointCounts&) const = default;
};

class Directory {
 public:
  struct Entry {
    TopicKey key{};
    Definition definition{};
    std::map<std::uint32_t, EndpointCounts> endpoints{};  ///< by participant; none of zeros
  };
  enum class Outcome : std::uint8_t {
    malformed,  ///< no record
    created,    ///< of a claim or an announcement
    joined,     ///< the claim is of a topic that is there
    mismatch,   ///< DD1
    full,       ///< as many topics as the claim allows are there
    released,
    in_use,   ///< DD3
    unknown,  ///< no such topic
    noted,    ///< endpoints
    not_yet,  ///< of a claim: the topics of a log were not announced yet (DD2)
    marked,   ///< of a mark: nothing is to be done
    wanted,   ///< its definition, by a participant that cannot send it
  };
  struct Answer {
    Outcome outcome = Outcome::malformed;
    TopicKey key{};
    std::string name{};
    std::optional<Definition> wanted{};  ///< of a mismatch, unless the claim only finds
    EndpointCounts before{};             ///< of noted endpoints: what they were
  };

  /// These bundles, and no others, carry topics. Those in `logged` have a log.
  explicit Directory(std::vector<std::string> bundles, std::set<std::string> logged = {});

  // The records.
  /// A claim with `topics_max` 0 creates nothing: it joins a topic that is there, or is `full`.
  [[nodiscard]] static std::vector<std::byte> claim(const Definition& definition,
                                                    std::uint32_t topics_max);
  /// What a bundle with a log has: without a definition, that ids before `next_id` are used, and
  /// that all of its topics were announced before.
  [[nodiscard]] static std::vector<std::byte> announce(const TopicKey& key, std::uint32_t next_id,
                                                       const Definition* definition);
  [[nodiscard]] static std::vector<std::byte> release(const TopicKey& key);
  [[nodiscard]] static std::vector<std::byte> endpoints(const TopicKey& key, EndpointCounts counts);
  /// Nothing: its sender waits until it comes back.
  [[nodiscard]] static std::vector<std::byte> mark();
  /// Changes nothing (DD5): asks those that send in the topic's bundle for its definition there.
  [[nodiscard]] static std::vector<std::byte> want(const TopicKey& key);

  [[nodiscard]] Answer apply(MemberIndex sender, std::span<const std::byte> record);
  /// It is in no view any more, or came anew: its readers and writers are gone. Returns them.
  std::vector<std::pair<TopicKey, EndpointCounts>> left(MemberIndex participant);

  [[nodiscard]] const Entry* find(std::string_view name) const;
  [[nodiscard]] const Entry* find(const TopicKey& key) const;
  [[nodiscard]] const std::map<std::string, Entry, std::less<>>& topics() const { return topics_; }
  /// A bundle with a log whose topics were not all announced yet; empty: there is none.
  [[nodiscard]] std::string unannounced() const;
  [[nodiscard]] bool is_announced(const std::string& bundle) const;
  [[nodiscard]] bool is_released(const TopicKey& key) const;  ///< DD4
  [[nodiscard]] std::set<std::uint32_t> released(const std::string& bundle) const;
  [[nodiscard]] static EndpointCounts total(const Entry& entry);

  // Its state, for participants that join.
  [[nodiscard]] std::vector<std::byte> save() const;
  /// False: the bytes are no state; nothing was changed.
  [[nodiscard]] bool load(std::span<const std::byte> bytes);

 private:
  [[nodiscard]] Answer apply_claim(Decoder& in);
  [[nodiscard]] Answer apply_announcement(Decoder& in);
  [[nodiscard]] Answer apply_release(Decoder& in);
  [[nodiscard]] Answer apply_endpoints(MemberIndex sender, Decoder& in);
  [[nodiscard]] Answer apply_want(Decoder& in) const;
  void insert(const TopicKey& key, Definition definition);

  std::map<std::string, std::uint32_t> next_ids_;  // by bundle, all of them
  std::set<std::string> logged_;
  std::set<std::string> announced_;                          // of logged_
  std::map<std::string, std::set<std::uint32_t>> released_;  // by bundle
  std::map<std::string, Entry, std::less<>> topics_;
  std::map<TopicKey, std::string> names_;
};

}  // namespace tutti::dds
