#include "sim/world.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/prng.hpp"
#include "history/make_event.hpp"
#include "membership/quorum.hpp"
#include "sim/groups.hpp"
#include "sim/restarts.hpp"

namespace tutti::sim {
namespace {

Plan plan_of(const Options& options, Rounds& rounds, TokenWatch& tokens, TickWatch& ticks,
             LogWatch& logs, ViewWatch& views, Openings& openings,
             std::function<Lingered(std::uint32_t)> linger) {
  TUTTI_ASSERT(options.restarted || options.founders >= PrimaryQuorum::founders_min(options.nodes),
               options.founders,
               options.nodes);  // J7
  Plan plan = make_plan(options.nodes, groups_of(options), options.litmus_rounds != 0,
                        options.request_max_bytes, options.spaces);
  plan.heartbeat_ns = options.heartbeat_ns;
  plan.suspect_after_ns = options.suspect_after_ns;
  plan.hold_ns = options.step_ns + (options.seed % 2) * options.suspect_after_ns / 2;
  plan.founders = options.founders;
  plan.create_after_ns = options.suspect_after_ns;
  plan.states = options.states;
  plan.large_one_in = options.large_one_in;
  plan.safe_one_in = 4;
  plan.claims = options.claims;
  plan.handler_one_in = options.handler_one_in;
  plan.handler_ns = 4 * options.send_every_ns;
  plan.barrier_one_in = options.barrier_one_in;
  plan.request_one_in = options.request_one_in;
  plan.claim_ns = 8 * options.send_every_ns;
  plan.litmus_rounds = options.litmus_rounds;
  plan.look_every_ns = options.look_every_ns;
  plan.one_host = options.hosts == 1;
  plan.harmless = harmless(options) && !options.faults.ends;
  plan.rounds = &rounds;
  plan.tokens = &tokens;
  plan.ticks = &ticks;
  if (has_logs(options)) {
    plan.logs = &logs;
    plan.views = &views;
  }
  if (options.spaces != 0) plan.openings = &openings;
  plan.restarts = restarts_of(options);
  plan.skew_ns = 64 * options.tick_every_ns;
  if (options.faults.lingers != 0) plan.linger = std::move(linger);
  return plan;
}

}  // namespace

World::World(const Options& options)
    : options_(options),
      rounds_(options.nodes),
      logs_(options.disk, options.seed),
      views_(options.disk, options.seed, logs_, restarts_of(options)),
      openings_(options.groups + options.spaces),
      plan_(plan_of(options, rounds_, tokens_, ticks_, logs_, views_, openings_,
                    [this](std::uint32_t node) { return linger(node); })),
      random_(options.seed),
      rare_random_(options.seed ^ 0x656E6473ULL),
      troubles_(options.nodes, options.heartbeat_ns, options.hosts),
      net_(options.nodes, plan_.rows.row_bytes(), kMembershipOffset + plan_.rows.words.bytes(),
           options.net, random_.next(), troubles_,
           [this](std::uint32_t node, std::uint64_t at_ns) {
             const bool rings =
                 random_.below(100) >= options_.faults.lost_doorbells_percent || calm_;
             if (rings) {
               wake(node, at_ns + random_.below(options_.step_ns));
             } else {
               note_lost_doorbell(node, at_ns);
             }
             return rings;
           }),
      nodes_(options.nodes),
      interrupts_(options.interrupts, options.nodes, net_, options.seed ^ 0x62657477ULL),
      recorder_(history::Recorder::in_memory({.name = "world", .node = history::kHarnessNode})) {
  // At the same offset in every row.
  for (const GroupOptions& group : plan_.rows.groups) {
    net_.add_lasting(plan_.rows.layouts[Slot{}].offsets_of(group.name).reclaimed);
  }
  const bool comes_late = options_.faults.ends || options_.faults.lone;
  for (std::uint32_t node = 0; node < options_.nodes; ++node) {
    if (plan_.restarts ? plan_.restarts->has(Slot{node}) : node < options_.founders) {
      start(node);
    } else if (!comes_late) {
      at(soon(options_.fault_ns / 2), What::start, node);
    }
  }
  plan_faults();
  lingers_left_ = options_.faults.lingers;
  if (options_.faults.ends) plan_ends();
  if (options_.faults.lone) plan_lone();
  plan_outsiders();
}

void World::at(std::uint64_t at_ns, What what, std::uint32_t node, std::uint32_t other,
               std::uint64_t which) {
  queue_.push({at_ns, order_++, what, node, other, which});
}

std::uint64_t World::soon(std::uint64_t most_ns) { return now_ns_ + 1 + random_.below(most_ns); }

void World::wake(std::uint32_t node, std::uint64_t at_ns) {
  Node& sleeper = nodes_[node];
  if (at_ns >= sleeper.wake_at_ns) return;
  sleeper.wake_at_ns = at_ns;
  at(at_ns, What::wake, node);
}

// It sleeps, and would have woken. One for each time in which it must look up by itself is enough.
void World::note_lost_doorbell(std::uint32_t node, std::uint64_t at_ns) {
  Node& sleeper = nodes_[node];
  if (!sleeper.member || sleeper.wake_at_ns <= at_ns || at_ns < sleeper.doorbell_ns) return;
  sleeper.doorbell_ns = at_ns + options_.poll_ns;
  record(history::make_fault(history::EventKind::fault_begin, {.time_ns = at_ns},
                             history::FaultKind::doorbell_lost, static_cast<std::uint16_t>(node)));
}

// One or two of the members that a message waits for may have to look up by themselves.
std::uint64_t World::wake_bound_ns() const {
  const bool waits = options_.faults.stuck + options_.faults.lingers != 0;
  const bool takes_states = options_.founders < options_.nodes;
  return waits || takes_states || has_logs(options_) ? 0 : 2 * options_.poll_ns + 4 * one_way_ns();
}

void World::run() {
  const std::uint64_t end = options_.fault_ns + options_.calm_ns;
  while (!queue_.empty() && queue_.top().at_ns <= end) happen_next();
  end_passes();
  end_quiet();
  troubles_.record(*recorder_);
  if (!options_.faults.ends) record_minorities();
}

void World::happen_next() {
  const Happening next = queue_.top();
  queue_.pop();
  set_time(next.at_ns);
  happen(next);
  if (net_.late_until_ns() > now_ns_) disturbances_.add(now_ns_, net_.late_until_ns());
}

void World::set_time(std::uint64_t now_ns) {
  now_ns_ = now_ns;
  net_.set_time(now_ns);
  troubles_.set_time(now_ns);
}

std::vector<std::uint32_t> World::running() const {
  std::vector<std::uint32_t> out;
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    if (nodes_[node].member) out.push_back(node);
  }
  return out;
}

std::uint32_t World::some_node() {
  return static_cast<std::uint32_t>(random_.below(nodes_.size()));
}

std::uint32_t World::one(std::uint32_t node) { return node == kAnyNode ? some_node() : node; }

void World::happen(const Happening& now) {
  switch (now.what) {
    case What::wake:
      if (nodes_[now.node].wake_at_ns == now.at_ns) pass(now.node);
      break;
    case What::go_on:
      if (nodes_[now.node].goes_on_at_ns == now.at_ns) go_on(now.node);
      break;
    case What::turn:
      turn(now.node);
      break;
    case What::send:
      if (calm_ && now_ns_ > options_.fault_ns + options_.calm_ns / 3) break;
      at(soon(2 * options_.send_every_ns), What::send, now.node);
      if (member(now.node) == nullptr || nodes_[now.node].paused_until_ns > now_ns_) break;
      for (std::uint32_t n = options_.burst; n > 0; --n) member(now.node)->send();
      wake(now.node, now_ns_ + 1);
      break;
    case What::attach:
      attach(now.node, now.which);
      break;
    case What::meet:
      meet(now);
      break;
    case What::crash:
      if (const std::uint32_t node = one(now.node); member(node) != nullptr) {
        crash(node, now.which != 0);
      }
      break;
    case What::pause:
      pause(one(now.node), soon(3 * options_.suspect_after_ns));
      break;
    case What::standstill:
      stand_still();
      break;
    case What::partition:
      partition();
      break;
    case What::one_way_cut:
      if (const std::uint32_t from = one(now.node), to = one(now.other); from != to) {
        cut(from, to, soon(3 * options_.suspect_after_ns));
      }
      break;
    case What::mute:
      mute(one(now.node));
      break;
    case What::mend:
      net_.cut(now.node, now.other, false);
      break;
    case What::flap:
      flap(one(now.node), one(now.other));
      break;
    case What::blink:
      if (!calm_) cut(now.node, now.other, now_ns_ + now.which);
      break;
    case What::break_link:
      break_link(one(now.node), one(now.other));
      break;
    case What::lie:
      lie(one(now.node));
      break;
    case What::believe_lost:
      if (!waits_for_pass(now)) believe_lost(now.node, now.other);
      break;
    case What::arm:
      ++(now.which == 0 ? long_stops_ : mid_deaths_);
      break;
    case What::leave:
      if (const std::uint32_t node = one(now.node); member(node) != nullptr) {
        if (waits_for_pass({.what = What::leave, .node = node})) break;
        nodes_[node].left = true;
        member(node)->leave();
        wake(node, now_ns_ + 1);
      }
      break;
    case What::stick:
      stick(one(now.node));
      break;
    case What::start:
      start(now.node);
      break;
    case What::finish:
      nodes_[now.node].finishes = true;
      wake(now.node, now_ns_ + 1);
      break;
    case What::end:
      nodes_[now.node].ends = std::max(nodes_[now.node].ends, static_cast<Ending>(now.which));
      wake(now.node, now_ns_ + 1);
      break;
    case What::hush:
      if (!calm_) pause(now.node, now_ns_ + now.which * options_.suspect_after_ns);
      break;
    case What::vanish:
      vanish(now.node);
      break;
    case What::hang_up:
      hang_up(now.node, now.which);
      break;
    case What::hear_end:
      hear_end(now);
      break;
    case What::lose:
      lost(now);
      break;
    case What::heal:
      heal();
      break;
    case What::judge:
      if (views() != 0) record_core();
      break;
    case What::quiet:
      begin_quiet();
      break;
  }
}

void World::come_back(std::uint32_t node) {
  if (options_.faults.restarts) at(soon(4 * options_.suspect_after_ns), What::start, node);
}

bool World::decided_since(const Member& member, std::uint64_t since_ns) {
  return std::ranges::any_of(member.entries(), [since_ns](const Entered& entry) {
    const bool decided = entry.decided_ns >= since_ns && entry.decided_ns != Troubles::kOpen;
    return decided || entry.at_ns >= since_ns;
  });
}

// The node runs no more. What it posted may still land, all or a part; secretly: nothing.
void World::gone(std::uint32_t node, bool told, bool secretly) {
  interrupts_.drop(node);
  const bool late = options_.faults.late_writes;
  const bool crashed = !member(node)->stopped() && !member(node)->ended();
  // What it decided just now some may hear only from those who have heard it.
  if (crashed && decided_since(*member(node), now_ns_ - std::min(now_ns_, one_way_ns()))) {
    disturbances_.add(now_ns_, now_ns_ + one_way_ns());
  }
  for (std::uint32_t other = 0; other < nodes_.size(); ++other) {
    if (other == node || !net_.connected(node, other)) continue;
    // In order: what it posted before it stopped by itself arrives.
    const std::size_t arrives = crashed && !late ? random_.below(20) : ~std::size_t{0};
    net_.close(node, other, secretly ? 0 : arrives);
    if (!told || member(other) == nullptr) continue;
    const bool in_order = options_.faults.ends && !crashed;
    lose(other, node, 20 * options_.net.delay_ns, in_order ? What::hear_end : What::lose);
  }
  net_.part_from_all(node);
  nodes_[node].may_have_created |= member(node)->may_have_created();
  logs_.gone(member(node)->self(), crashed);
  views_.gone(member(node)->self(), crashed);
  if (!crashed) member(node)->end_handlers();
  gone_.push_back(std::move(nodes_[node].member));
  crashed_.push_back(false);
  gone_ns_.push_back(now_ns_);
}

// From here on those who run are connected and correct.
void World::record_core() {
  core_ns_ = now_ns_;
  const history::At at{.view = 0, .time_ns = now_ns_};
  record(history::make_event(history::EventKind::heal, at));
  for (const std::uint32_t node : running()) {
    record(history::make_heal_core(
        at, {static_cast<std::uint16_t>(node), member(node)->self().incarnation}));
  }
}

void World::record(const history::Event& event) { recorder_->append(event); }

std::vector<history::History> World::histories() const {
  std::vector<history::History> out{history_of(*recorder_)};
  for (std::size_t i = 0; i < gone_.size(); ++i) {
    out.push_back(history_of(gone_[i]->recorder(), crashed_[i]));
  }
  for (const Node& node : nodes_) {
    if (node.member) out.push_back(history_of(node.member->recorder()));
  }
  return out;
}

Delays World::delays() const {
  return delays_of(all_members(), disturbances_, one_way_ns(), options_.look_every_ns,
                   write_ns(options_));
}

std::uint64_t World::hash() const {
  std::uint64_t hash = passes_ * 31 + net_.posts();
  for (const auto& member : gone_) hash = (hash ^ member->hash()) * 0x9FB21C651E98DF25;
  for (const Node& node : nodes_) {
    if (node.member) hash = (hash ^ node.member->hash()) * 0x9FB21C651E98DF25;
  }
  return hash;
}

}  // namespace tutti::sim
