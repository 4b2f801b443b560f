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

class ForgedNode final : public MembershipEvents {
 public:
  ForgedNode(const sim::Plan& plan, std::uint32_t slot, std::vector<AlignedRow>& rows)
      : fabric(rows) {
    const RowOf row_of = [&rows](std::uint32_t peer) { return rows[peer].data(); };
    GroupSeat seat(plan.groups[0], slot, plan.nodes, plan.layouts, rows[slot].data());
    auto [shape, place] = seat.in(View{}, row_of);
    group = std::make_unique<Subgroup<NativeMemory>>(shape, std::move(place),
                                                     [this](std::span<const Message> batch) {
                                                       for (const Message& message : batch)
                                                         delivered.emplace_back(message.text());
                                                     });
    std::vector<Membership<NativeMemory>::Group> groups;
    groups.push_back({std::move(seat), group.get()});
    membership = std::make_unique<Membership<NativeMemory>>(
        MembershipOptions{.self = slot,
                          .incarnation = 100 + slot,
                          .nodes = plan.nodes,
                          .founders = plan.founders,
                          .found_after_ns = 0},
        plan.words, std::move(groups), rows[slot].data(), row_of, *this);
  }

  void pass() {
    membership->step(fabric);
    group->step(fabric);
    group->deliver();
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

  SharedFabric fabric;
  std::vector<std::string> delivered;
  std::vector<View> views;
  std::vector<ViewMember> gone;
  std::optional<StopReason> why_stopped;
  std::unique_ptr<Subgroup<NativeMemory>> group;
  std::unique_ptr<Membership<NativeMemory>> membership;
};

/// All nodes are founders but the last `joining`, which are connected to nobody.
class ForgedCluster {
 public:
  explicit ForgedCluster(std::uint32_t count, std::uint32_t joining = 0)
      : plan(sim::make_plan(count, {group_options()})) {
    for (std::uint32_t slot = 0; slot < count; ++slot) rows.emplace_back(plan.row_bytes);
    plan.founders = count - joining;
    for (std::uint32_t slot = 0; slot < count; ++slot) nodes.emplace_back(plan, slot, rows);
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
  std::deque<ForgedNode> nodes;

 private:
  static GroupOptions group_options() {
    GroupOptions group;
    group.name = "g";
    group.message_max_bytes = 100;
    group.window_bytes = 4096;
    group.window_messages = 16;
    return group;
  }
};

}  // namespace tutti::testing
