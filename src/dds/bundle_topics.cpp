#include "dds/bundle_topics.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace tutti::dds {

namespace {

constexpr std::uint32_t kIdMax = 0xfffffffe;  // next_id() goes beyond it

}  // namespace

BundleTopics::Change BundleTopics::define(std::uint32_t id, std::span<const std::byte> payload) {
  std::optional<Definition> definition = decode_definition(payload);
  if (!definition) return Change::malformed;
  return define(id, std::move(*definition));
}

BundleTopics::Change BundleTopics::define(std::uint32_t id, Definition definition) {
  if (id == 0 || id > kIdMax || definition.options.bundle != bundle_) return Change::malformed;
  if (deleted_.contains(id) || topics_.contains(id)) return Change::none;  // BT1
  topics_.emplace(id, std::move(definition));
  next_id_ = std::max(next_id_, id + 1);
  return Change::defined;
}

BundleTopics::Change BundleTopics::remove(std::uint32_t id) {
  if (id == 0 || id > kIdMax) return Change::malformed;
  if (!deleted_.insert(id).second) return Change::none;
  next_id_ = std::max(next_id_, id + 1);
  return topics_.erase(id) > 0 ? Change::deleted : Change::none;
}

const Definition* BundleTopics::find(std::uint32_t id) const {
  const auto at = topics_.find(id);
  return at == topics_.end() ? nullptr : &at->second;
}

void BundleTopics::save(WireWriter& out) const {
  out.number(next_id_);
  out.number(static_cast<std::uint32_t>(deleted_.size()));
  for (const std::uint32_t id : deleted_) out.number(id);
  out.number(static_cast<std::uint32_t>(topics_.size()));
  for (const auto& [id, definition] : topics_) {
    out.number(id);
    definition.encode(out);
  }
}

bool BundleTopics::load(WireReader& in) {
  *this = BundleTopics(bundle_);
  const auto next_id = in.number<std::uint32_t>();
  bool good = true;
  for (auto count = in.number<std::uint32_t>(); count > 0 && in.ok() && good; --count) {
    good = remove(in.number<std::uint32_t>()) != Change::malformed;
  }
  for (auto count = in.number<std::uint32_t>(); count > 0 && in.ok() && good; --count) {
    const auto id = in.number<std::uint32_t>();
    std::optional<Definition> definition = decode_definition(in);
    good = definition && define(id, std::move(*definition)) == Change::defined;
  }
  good = good && in.ok() && next_id_ <= next_id;
  if (!good) {
    *this = BundleTopics(bundle_);
    return false;
  }
  next_id_ = next_id;
  return true;
}

}  // namespace tutti::dds
