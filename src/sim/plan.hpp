/// \file plan.hpp
/// What all nodes of a simulated world share: the layout of their rows, times and groups.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/row_plan.hpp"
#include "membership/view_log.hpp"
#include "sim/options.hpp"
#include "tutti/options.hpp"

namespace tutti::sim {

class LogWatch;
class Openings;
class Rounds;
class TickWatch;
class TokenWatch;
class ViewWatch;

/// A message begins with its ticket; this bit of that word says that it was sent as safe.
inline constexpr std::uint64_t kSafeMark = 1ULL << 63;

/// How long an application stays in a callback.
enum class Lingered : std::uint8_t { not_at_all, for_a_while, until_death };

struct Plan {
  RowPlan rows;
  StateTimes states{};
  std::uint64_t heartbeat_ns = 0;
  std::uint64_t suspect_after_ns = 0;
  std::uint64_t hold_ns = 0;  ///< the longest time that an application holds a batch
  std::uint32_t founders = 0;
  std::uint64_t create_after_ns = 0;
  std::uint32_t large_one_in = 0;   ///< Options
  std::uint32_t message_bytes = 0;  ///< the size of all messages, at least 16; 0: it is drawn
  std::uint32_t safe_one_in = 0;    ///< messages of Service::safe, where there is a choice; 0: none
  std::uint32_t claims = 0;         ///< the same
  std::uint32_t handler_one_in = 0;  ///< the same
  std::uint64_t handler_ns = 0;      ///< the longest time that one takes
  std::uint32_t barrier_one_in = 0;  ///< Options
  std::uint32_t request_one_in = 0;  ///< Options
  std::uint64_t claim_ns = 0;        ///< the longest time that one stays open
  std::uint32_t litmus_rounds = 0;   ///< EngineOptions
  bool one_host = false;             ///< all rows are shared
  bool harmless = false;             ///< no member may be suspected, or dropped for silence
  std::uint64_t look_every_ns = 0;   ///< MembershipOptions
  bool stateless = false;            ///< joiners take over no state
  Rounds* rounds = nullptr;          ///< outlives all members
  TokenWatch* tokens = nullptr;      ///< likewise; null: nobody watches them
  TickWatch* ticks = nullptr;        ///< likewise; null: no group has ticks
  LogWatch* logs = nullptr;          ///< likewise; null: no group is logged
  ViewWatch* views = nullptr;        ///< likewise
  Openings* openings = nullptr;      ///< likewise; null: groups are not joined at run time
  /// The nodes in it begin with this view, and all others join; nothing: with the first.
  std::optional<RestartView> restarts{};
  std::uint64_t skew_ns = 0;  ///< the most by which two nodes' system clocks differ
  /// Called in a callback of the node in that slot: the world goes on meanwhile. Empty: never.
  std::function<Lingered(std::uint32_t)> linger{};
};

[[nodiscard]] std::string name_of(std::uint32_t slot);

/// The node may be among those that found the group.
[[nodiscard]] inline bool founds(const Plan& plan, Slot slot) {
  return !plan.restarts || plan.restarts->has(slot);
}

/// The number of the group's first message.
[[nodiscard]] inline std::uint64_t first_number(const Plan& plan, std::size_t group) {
  return plan.restarts ? plan.restarts->firsts[group] : 0;
}

/// Whether members join the group at run time.
[[nodiscard]] inline bool is_space(const Plan& plan, std::size_t group) {
  return plan.rows.spaces.find(static_cast<std::uint32_t>(group)) != nullptr;
}

/// The group that the node in that slot is in then, in that space; null if it is in none.
[[nodiscard]] inline const OpenGroup* joined(const View& view, std::size_t group, Slot slot) {
  const OpenGroup* const open = find_space(view.groups, static_cast<std::uint32_t>(group));
  return open != nullptr && open->has(slot) ? open : nullptr;
}

/// Whether the node is in one group there in both views.
[[nodiscard]] inline bool is_in_both(const View& one, const View& other, std::size_t group,
                                     Slot slot) {
  const OpenGroup* const in_one = joined(one, group, slot);
  const OpenGroup* const in_other = joined(other, group, slot);
  return in_one != nullptr && in_other != nullptr && in_one->since == in_other->since;
}

/// Whether joiners take over a state of the group: all nodes are in it, and it has an order.
[[nodiscard]] bool has_state(const Plan& plan, std::size_t group);

/// The last `spaces` of the groups are those that nodes join at run time. If there are several,
/// they are of two kinds, as if their options were not the same.
[[nodiscard]] Plan make_plan(std::uint32_t nodes, std::vector<GroupOptions> groups,
                             bool litmus = false, std::size_t request_max_bytes = 0,
                             std::uint32_t spaces = 0);

}  // namespace tutti::sim
