#include "sim/figure/load.hpp"

#include <algorithm>
#include <vector>

#include "base/assert.hpp"
#include "base/prng.hpp"
#include "sim/rounds.hpp"
#include "sim/story/scripted_world.hpp"

namespace tutti::sim {
namespace {

constexpr std::uint64_t kHeartbeatNs = 10'000'000;
constexpr std::uint64_t kSuspectAfterNs = 1'000'000'000;
constexpr std::uint32_t kWindowMessages = 1024;

GroupOptions group_of(const LoadOptions& options) {
  GroupOptions group{.name = "g", .order = options.order, .level = options.level};
  group.message_max_bytes = options.message_bytes;
  group.window_messages = kWindowMessages;
  group.window_bytes = options.window_bytes;
  for (std::uint32_t sender = 0; sender < options.senders; ++sender) {
    group.senders.push_back(name_of(sender));
  }
  if (options.order == Order::token_ring) {
    group.personal_window = options.personal_window;
    group.accelerated_window = options.accelerated_window;
    group.global_window = options.personal_window * options.nodes;
    group.maximum_gap = std::min(kWindowMessages, 4 * group.global_window);
  }
  return group;
}

Plan plan_of(const LoadOptions& options, Rounds& rounds) {
  Plan plan = make_plan(options.nodes, {group_of(options)});
  plan.heartbeat_ns = kHeartbeatNs;
  plan.suspect_after_ns = kSuspectAfterNs;
  plan.founders = options.nodes;
  plan.create_after_ns = 2 * kHeartbeatNs;
  plan.message_bytes = options.message_bytes;
  plan.stateless = true;
  plan.rounds = &rounds;
  return plan;
}

// The applications of all members.
class Applications final : public ScriptEvents {
 public:
  explicit Applications(const LoadOptions& options)
      : options_(options),
        rounds_(options.nodes),
        plan_(plan_of(options, rounds_)),
        world_(plan_, false, *this,
               {.delay_ns = options.delay_ns,
                .jitter_ns = 0,
                .landing_ns = 0,
                .ports = options.ports}),
        period_ns_(options.message_bytes * 8'000ULL * options.senders / options.offered_megabits),
        sent_(options.senders) {
    TUTTI_ASSERT(period_ns_ != 0, options.offered_megabits);
  }

  void found() {
    for (std::uint32_t slot = 0; slot < options_.nodes; ++slot) {
      TUTTI_ASSERT(world_.start(slot, true), slot);
    }
    world_.run([this](std::uint64_t) { return all_in_view(); });
    start_ns_ = world_.now_ns();
  }

  void send_until(std::uint64_t end_ns) {
    for (;;) {
      std::uint64_t next_ns = end_ns;
      for (std::uint32_t s = 0; s < sent_.size(); ++s) {
        next_ns = std::min(next_ns, wanted_ns(s, wanted(s)));
      }
      world_.run_to(next_ns);
      if (next_ns == end_ns) return;
      for (std::uint32_t s = 0; s < sent_.size(); ++s) {
        if (send_wanted(s)) world_.poke(s);
      }
    }
  }

  [[nodiscard]] LoadFigures figures(std::uint64_t from_ns, std::uint64_t until_ns) const {
    std::uint64_t deliveries = 0;
    std::uint64_t latencies_ns = 0;
    for (std::uint32_t slot = 0; slot < options_.nodes; ++slot) {
      for (const history::Event& event : world_.member(slot)->recorder().events()) {
        if (event.kind != history::EventKind::deliver) continue;
        if (event.time_ns < from_ns || event.time_ns >= until_ns) continue;
        ++deliveries;
        latencies_ns += event.time_ns - wanted_ns(event.peer, event.number - 1);
      }
    }
    const double messages = static_cast<double>(deliveries) / options_.nodes;
    const double megabits =
        messages * options_.message_bytes * 8'000 / static_cast<double>(until_ns - from_ns);
    const double mean_ns = static_cast<double>(latencies_ns) / static_cast<double>(deliveries);
    return {.megabits = megabits,
            .latency_us = deliveries == 0 ? 0 : mean_ns / 1'000,
            .kept_up = megabits >= 0.995 * static_cast<double>(options_.offered_megabits)};
  }

  [[nodiscard]] std::uint64_t start_ns() const { return start_ns_; }
  [[nodiscard]] std::string finding() const { return world_.finding(); }

  // ScriptEvents.
  void posted(const Net::Posted& /*posted*/) override {}
  void wakes(std::uint32_t /*slot*/, bool /*by_doorbell*/) override {}
  void passed(std::uint32_t slot) override {
    if (start_ns_ != 0 && slot < sent_.size()) static_cast<void>(send_wanted(slot));
  }
  void sleeps(std::uint32_t /*slot*/) override {}
  void gone(std::uint32_t slot, const std::string& why) override {
    TUTTI_ASSERT(why.empty(), slot);  // nothing fails
  }
  void hears_loss(std::uint32_t slot, std::uint32_t of) override { TUTTI_ASSERT(false, slot, of); }

 private:
  [[nodiscard]] bool all_in_view() const {
    for (std::uint32_t slot = 0; slot < options_.nodes; ++slot) {
      if (world_.member(slot)->told_view().members.size() != options_.nodes) return false;
    }
    return true;
  }
  // When a sender's application wants to send its message number `index`, counted from 0: at some
  // time of each period, for the periods of senders and of a token would else be in step.
  [[nodiscard]] std::uint64_t wanted_ns(std::uint32_t sender, std::uint64_t index) const {
    return start_ns_ + index * period_ns_ + Prng(index * sent_.size() + sender).below(period_ns_);
  }
  // How many it has wanted to send so far.
  [[nodiscard]] std::uint64_t wanted(std::uint32_t sender) const {
    const std::uint64_t period = (world_.now_ns() - start_ns_) / period_ns_;
    return period + (wanted_ns(sender, period) <= world_.now_ns() ? 1 : 0);
  }
  // False if it sent nothing: it wants nothing, or its window is full.
  bool send_wanted(std::uint32_t sender) {
    Member& member = *world_.member(sender);
    const std::uint64_t before = sent_[sender];
    for (const std::uint64_t want = wanted(sender); sent_[sender] < want; ++sent_[sender]) {
      member.send();
      if (member.messages_sent() == sent_[sender]) break;
    }
    return sent_[sender] != before;
  }

  const LoadOptions options_;
  Rounds rounds_;
  const Plan plan_;
  ScriptedWorld world_;
  const std::uint64_t period_ns_;  // of one sender
  std::uint64_t start_ns_ = 0;     // 0: not all members are there
  std::vector<std::uint64_t> sent_;
};

}  // namespace

LoadFigures measure(const LoadOptions& options) {
  Applications applications(options);
  applications.found();
  const std::uint64_t from_ns = applications.start_ns() + options.warm_ns;
  const std::uint64_t until_ns = from_ns + options.measured_ns;
  applications.send_until(until_ns);
  TUTTI_ASSERT(applications.finding().empty(), options.nodes, options.offered_megabits);
  return applications.figures(from_ns, until_ns);
}

}  // namespace tutti::sim
