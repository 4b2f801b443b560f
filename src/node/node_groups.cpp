// The groups of a node: those that all nodes join before they start, and those that come and go.
#include <algorithm>
#include <utility>

#include "node/group_rules.hpp"
#include "node/node_core.hpp"

namespace tutti {

Result<GroupCore*> NodeCore::join(GroupOptions options) {
  if (!is_declared()) {
    return fail(ErrorCode::invalid_argument,
                "group '" + options.name +
                    "' was joined after start; join it before, or reserve a group of its options "
                    "before and join it with a time-out");
  }
  if (Result<void> checked = check_group(options_, declared(), options); !checked) {
    return std::unexpected(checked.error());
  }
  GroupOptions resolved = callbacks_.wrap(resolve_group(options_, std::move(options)));
  const auto index = std::ranges::find(resolved.members, options_.name) - resolved.members.begin();
  const auto at = std::ranges::lower_bound(groups_, resolved.name, {}, [](const auto& group) {
    return std::string_view(group->options().name);
  });
  return groups_
      .insert(at, std::make_unique<GroupCore>(*this, std::move(resolved),
                                              MemberIndex{static_cast<std::uint32_t>(index)}))
      ->get();
}

// With the spaces: all that take a place in the rows.
std::vector<const GroupOptions*> NodeCore::declared() const {
  std::vector<const GroupOptions*> out;
  for (const auto& group : groups_) out.push_back(&group->options());
  for (const GroupOptions& space : joined_.spaces()) out.push_back(&space);
  return out;
}

bool NodeCore::is_declared() const {
  return life_.phase() == Phase::created && !begun_.load(std::memory_order_acquire);
}

DeliveryCallback NodeCore::joins(const OpenGroup& open, std::uint64_t view, CallMark& call) {
  return joined_.admit(*this, open, view, call);
}

// They are kept meanwhile.
std::vector<std::shared_ptr<GroupCore>> NodeCore::cores() const {
  std::vector<std::shared_ptr<GroupCore>> out;
  for (const auto& group : groups_) out.emplace_back(std::shared_ptr<GroupCore>(), group.get());
  for (const auto& joined : joined_.opened()) out.emplace_back(joined, &joined->core);
  return out;
}

}  // namespace tutti
