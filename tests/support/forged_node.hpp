/// \file forged_node.hpp
/// A member over rows that all share, put together by the engine and passed by hand: what a test
/// does not pass does not move. Connections are the test's: it tells the engine of them
/// (Engine::connected, lost), or, where only the membership matters, the membership alone.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.hpp"
#include "sim/plan.hpp"
#include "support/aligned_row.hpp"
#include "support/shared_fabric.hpp"

namespace tutti::testing {

inline std::vector<std::uint32_t> slots_of(const View& view) {
  std::vector<std::uint32_t> slots;
  for (const ViewMember& member : view.members) slots.push_back(member.slot.value);
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

inline constexpr std::string_view kState = "of the group";

template <class Memory>
class ForgedNodeOver final : private EngineEvents {
 public:
  ForgedNodeOver(const sim::Plan& plan, std::uint32_t slot, std::vector<AlignedRow>& rows,
                 Memory memory, bool may_create = true)
      : fabric(rows), jobs({state_of(plan)}, plan.rows.states.piece_bytes()) {
    const EngineOptions options{.membership = {.self = Slot{slot},
                                               .incarnation = 100 + slot,
                                               .nodes = plan.rows.names,
                                               .look_every_ns = plan.look_every_ns,
                                               .founders = plan.founders,
                                               .may_create = may_create,
                                               .create_after_ns = 0,
                                               .restarts = restarts_of(plan, slot)}};
    EngineEvents& events = *this;
    engine = std::make_unique<Engine<Memory>>(
        options,
        EngineContext{.plan = plan.rows,
                      .own_row = rows[slot].data(),
                      .fabric = fabric,
                      .row_of = [&rows](Slot peer) { return rows[peer.value].data(); },
                      .jobs = jobs,
                      .deliveries = deliveries(plan),
                      .clock = nullptr,
                      .time_of_day = [this] { return now_ns + 1; }},
        events, memory);
    membership = &engine->membership();
    group = &engine->subgroup(0);
  }

  /// `saves`: what there is to do for the states of groups is done, too.
  void pass() {
    while (saves && jobs.work()) {
    }
    engine->pass(now_ns, stuck ? Calls::forbidden : Calls::allowed);
  }
  bool send(std::string_view text, std::size_t to = 0) {
    SendRing::Space space;
    const auto size = static_cast<std::uint32_t>(text.size());
    SendRing* const ring = engine->subgroup(to).ring();
    if (ring == nullptr || ring->claim(size, space) != SendRing::Outcome::ok) return false;
    std::memcpy(space.payload, text.data(), text.size());
    ring->commit(space);
    return true;
  }
  /// It sends nothing more.
  void finish() { group->ring()->close(); }

  SharedFabric fabric;
  StateJobs jobs;
  std::uint64_t now_ns = 0;
  bool stuck = false;  // the application does not come back
  bool saves = true;
  bool asked_to_leave = false;  // by itself
  std::vector<std::string> delivered;
  std::vector<OpenGroup> joined;  // at run time
  std::vector<View> views;
  std::vector<ViewMember> gone;
  std::vector<std::uint32_t> let_go_slots;
  std::optional<StopReason> why_stopped;
  std::unique_ptr<Engine<Memory>> engine;
  Membership<Memory>* membership = nullptr;  // the engine's
  Subgroup<Memory>* group = nullptr;         // the same

 private:
  // EngineEvents.
  void entered(const Entry& entry) override { views.push_back(entry.view); }
  void stopped(StopReason reason) override { why_stopped = reason; }
  void removed(const ViewMember& member) override { gone.push_back(member); }
  void let_go(Slot slot) override { let_go_slots.push_back(slot.value); }
  void asks_to_leave() override { asked_to_leave = true; }
  void tell(const Entry& /*entry*/) override {}
  DeliveryCallback joins(std::size_t /*group*/, const OpenGroup& open) override {
    joined.push_back(open);
    return to(delivered);
  }
  void no_state(const Error& why) override { FAIL() << why.message; }

  static DeliveryCallback to(std::vector<std::string>& texts) {
    return [&texts](std::span<const Message> batch) {
      for (const Message& message : batch) texts.emplace_back(message.text());
    };
  }
  std::vector<DeliveryCallback> deliveries(const sim::Plan& plan) {
    std::vector<DeliveryCallback> out(plan.rows.groups.size());
    out.front() = to(delivered);
    return out;
  }

  static std::optional<RestartView> restarts_of(const sim::Plan& plan, std::uint32_t slot) {
    return plan.restarts && plan.restarts->has(Slot{slot}) ? plan.restarts : std::nullopt;
  }

  // The application's, of a few bytes.
  static GroupState state_of(const sim::Plan& plan) {
    GroupState state{.name = plan.rows.groups[0].name};
    if (plan.stateless) return state;
    state.save = [](const StateSink& write) -> Result<void> {
      write(std::as_bytes(std::span(kState)));
      return {};
    };
    state.load = [](const StatePiece& /*piece*/) -> Result<void> { return {}; };
    return state;
  }
};

using ForgedNode = ForgedNodeOver<NativeMemory>;

}  // namespace tutti::testing
