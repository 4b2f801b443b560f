/// \file forged_cluster.hpp
/// A few members over shared rows, stepped by hand: what a test does not step does not move.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "membership/membership.hpp"
#include "sim/member.hpp"
#include "support/aligned_row.hpp"
#include "support/shared_fabric.hpp"

namespace tutti::testing {

inline std::vector<std::uint32_t> slots_of(const View& view) {
  std::vector<std::uint32_t> slots;
  for (const ViewMember& member : view.members) slots.push_back(member.slot);
  return slots;
}

inline GroupOptions forged_group() {
  GroupOptions group;
  group.name = "g";
  group.message_max_bytes = 100;
  group.window_bytes = 4096;
  group.window_messages = 16;
  return group;
}

template <class Memory>
class ForgedNodeOver final : public MembershipEvents {
 public:
  ForgedNodeOver(const sim::Plan& plan, std::uint32_t slot, std::vector<AlignedRow>& rows,
                 Memory memory, bool may_found = true)
      : fabric(rows) {
    const RowOf row_of = [&rows](std::uint32_t peer) { return rows[peer].data(); };
    GroupSeat seat(plan.rows.groups[0], slot, plan.rows.names, plan.rows.layouts,
                   rows[slot].data());
    auto [shape, place] = seat.in(View{}, row_of);
    group = std::make_unique<Subgroup<Memory>>(
        shape, std::move(place),
        [this](std::span<const Message> batch) {
          for (const Message& message : batch) delivered.emplace_back(message.text());
        },
        memory);
    std::vector<typename Membership<Memory>::Group> groups;
    groups.push_back({std::move(seat), group.get()});
    membership = std::make_unique<Membership<Memory>>(MembershipOptions{.self = slot,
                                                                        .incarnation = 100 + slot,
                                                                        .nodes = plan.rows.names,
                                                                        .founders = plan.founders,
                                                                        .may_found = may_found,
                                                                        .found_after_ns = 0},
                                                      plan.rows.words, std::move(groups),
                                                      rows[slot].data(), row_of, *this, memory);
  }

  void pass() {
    membership->step(effects);
    group->step(effects);
    effects.carry_out();
    if (!stuck) group->deliver();
  }
  bool send(const std::string& text) {
    SendRing::Space space;
    const auto size = static_cast<std::uint32_t>(text.size());
    if (group->ring()->claim(size, space) != SendRing::Outcome::ok) return false;
    std::memcpy(space.payload, text.data(), text.size());
    group->ring()->commit(space);
    return true;
  }

  void installed(const View& view, const View& /*before*/) override { views.push_back(view); }
  void stopped(StopReason reason) override { why_stopped = reason; }
  void removed(const ViewMember& member) override { gone.push_back(member); }
  [[nodiscard]] bool is_needed() const override { return membership->view().id == needed_in; }

  SharedFabric fabric;
  Effects effects{fabric};
  std::uint64_t needed_in = 0;  // in that view others need it
  bool stuck = false;           // the application does not come back
  std::vector<std::string> delivered;
  std::vector<View> views;
  std::vector<ViewMember> gone;
  std::optional<StopReason> why_stopped;
  std::unique_ptr<Subgroup<Memory>> group;
  std::unique_ptr<Membership<Memory>> membership;
};

/// All nodes are founders but the last `joining`, which are connected to nobody.
template <class Memory>
class ForgedClusterOver {
 public:
  /// Each node reads through the memory, which is told its slot if it asks for that.
  explicit ForgedClusterOver(std::uint32_t count, std::uint32_t joining = 0, Memory memory = {})
      : plan(sim::make_plan(count, {forged_group()})) {
    for (std::uint32_t slot = 0; slot < count; ++slot) rows.emplace_back(plan.rows.row_bytes());
    plan.founders = count - joining;
    for (std::uint32_t slot = 0; slot < count; ++slot) {
      if constexpr (requires { memory.reader; }) memory.reader = Rank{slot};
      nodes.emplace_back(plan, slot, rows, memory);
    }
    std::vector<std::uint32_t> founders;
    for (std::uint32_t slot = 0; slot < plan.founders; ++slot) {
      founders.push_back(slot);
      for (std::uint32_t other = 0; other < plan.founders; ++other) {
        if (other != slot) nodes[slot].membership->ready(other, 100 + other);
      }
    }
    run(founders, 5);
  }

  /// So many passes of each of these, in turn.
  void run(const std::vector<std::uint32_t>& who, int passes = 20) {
    for (int i = 0; i < passes; ++i) {
      for (const std::uint32_t slot : who) nodes[slot].pass();
    }
  }

  sim::Plan plan;
  std::vector<AlignedRow> rows;
  std::deque<ForgedNodeOver<Memory>> nodes;
};

using ForgedNode = ForgedNodeOver<NativeMemory>;
using ForgedCluster = ForgedClusterOver<NativeMemory>;

}  // namespace tutti::testing
