/// \file bundle_topics.hpp
/// Which topics a bundle carries at this place of its sequence, by the definitions and deletions in
/// the sequence alone.
///
/// Invariants:
///  BT1  The first definition of an id counts, and a deleted id is never defined again: so a
///       definition or a deletion that is sent twice, or that comes late, changes nothing.
///  BT2  No id is more than a million beyond the ids before it: a record with such an id is
///       malformed, for tables are as long as the highest id.
/// Threads: one at a time.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>

#include "base/bytes.hpp"
#include "dds/definition.hpp"

namespace tutti::dds {

class BundleTopics {
 public:
  /// Definitions of another bundle's topics are refused.
  explicit BundleTopics(std::string bundle) : bundle_(std::move(bundle)) {}

  enum class Change : std::uint8_t { none, defined, deleted, malformed };
  [[nodiscard]] Change define(std::uint32_t id, std::span<const std::byte> payload);
  [[nodiscard]] Change define(std::uint32_t id, Definition definition);
  [[nodiscard]] Change remove(std::uint32_t id);

  /// Null: it is not defined, or deleted.
  [[nodiscard]] const Definition* find(std::uint32_t id) const;
  [[nodiscard]] bool is_deleted(std::uint32_t id) const { return deleted_.contains(id); }
  [[nodiscard]] const std::map<std::uint32_t, Definition>& all() const { return topics_; }
  /// Ids before it are used.
  [[nodiscard]] std::uint32_t next_id() const { return next_id_; }

  void save(Encoder& out) const;
  /// False: the bytes are none; it is empty then.
  [[nodiscard]] bool load(Decoder& in);

 private:
  [[nodiscard]] bool may_be(std::uint32_t id) const;

  std::string bundle_;
  std::map<std::uint32_t, Definition> topics_;
  std::set<std::uint32_t> deleted_;
  std::uint32_t next_id_ = 1;
};

}  // namespace tutti::dds
