#include "dds/bundle_topics.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace tutti::dds {

namespace {

constexpr std::uint32_t kIdMax = 0xfffffffe;  // next_id() goes beyond it
// Ids are given one after the other, and tables are as long as the highest id. What is lost between
// two definitions are claims of participants that died.
constexpr std::uint32_t kIdGapMax = 1'000'000;

}  // namespace

BundleTopics::Change BundleTopics::define(std::uint32_t id, std::span<const std::byte> payload) {
  std::optional<Definition> definition = decode_definition(payload);
  if (!definition) return Change::malformed;
  return define(id, std::move(*definition));
}

BundleTopics::Change BundleTopics::define(std::uint32_t id, Definition definition) {
  if (!may_be(id) || definition.options.bundle != bundle_) return Change::malformed;
  if (deleted_.contains(id) || topics_.contains(id)) return Change::none;  // BT1
  topics_.emplace(id, std::move(definition));
  next_id_ = std::max(next_id_, id + 1);
  return Change::defined;
}

BundleTopics::Change BundleTopics::remove(std::uint32_t id) {
  if (!may_be(id)) return Change::malformed;
  if (!deleted_.insert(id).second) return Change::none;
  next_id_ = std::max(next_id_, id + 1);
  return topics_.erase(id) > 0 ? Change::deleted : Change::none;
}

// BT2.
bool BundleTopics::may_be(std::uint32_t id) const {
  return id != 0 && id <= kIdMax && id - std::min(id, next_id_) <= kIdGapMax;
}

const Definition* BundleTopics::find(std::uint32_t id) const {
  const auto at = topics_.find(id);
  return at == topics_.end() ? nullptr : &at->second;
}

void BundleTopics::save(Encoder& out) const {
  out.number(next_id_);
  out.number(static_cast<std::uint32_t>(deleted_.size()));
  for (const std::uint32_t id : deleted_) out.number(id);
  out.number(static_cast<std::uint32_t>(topics_.size()));
  for (const auto& [id, definition] : topics_) {
    out.number(id);
    definition.encode(out);
  }
}

bool BundleTopics::load(Decoder& in) {
  *this = BundleTopics(bundle_);
  const auto next_id = in.number<std::uint32_t>();
  std::set<std::uint32_t> deleted;
  for (auto count = in.number<std::uint32_t>(); count > 0 && in.good(); --count) {
    deleted.insert(in.number<std::uint32_t>());
  }
  std::map<std::uint32_t, Definition> topics;
  bool good = true;
  for (auto count = in.number<std::uint32_t>(); count > 0 && in.good() && good; --count) {
    const auto id = in.number<std::uint32_t>();
    std::optional<Definition> definition = decode_definition(in);
    good = definition && !deleted.contains(id) && topics.emplace(id, std::move(*definition)).second;
  }
  // By rising ids, for BT2: the gaps between all of them are not larger than they were when each
  // was new.
  auto next_deleted = deleted.begin();
  const auto remove_before = [&](std::uint32_t id) {
    for (; good && next_deleted != deleted.end() && *next_deleted <= id; ++next_deleted) {
      good = remove(*next_deleted) != Change::malformed;
    }
  };
  for (auto& [id, definition] : topics) {
    remove_before(id);
    good = good && define(id, std::move(definition)) == Change::defined;
  }
  remove_before(kIdMax + 1);
  good = good && in.good() && next_id_ == next_id;
  if (!good) {
    *this = BundleTopics(bundle_);
    return false;
  }
  return true;
}

}  // namespace tutti::dds
