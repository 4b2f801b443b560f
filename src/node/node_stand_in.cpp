// How a node goes on while the application keeps its thread (T1).
#include <algorithm>

#include "base/assert.hpp"
#include "node/node_core.hpp"

namespace tutti {
namespace {

// The stand-in takes over when nothing was done between two of its looks: a quarter of
// suspect_after at most after the last pass.
constexpr int kLooksPerTimeout = 8;

// However long suspect_after is, the others wait for us with a change of view.
constexpr std::chrono::nanoseconds kLongestPause = std::chrono::milliseconds(100);

}  // namespace

void NodeCore::lend() {
  rise();
  if (options_.drive == Drive::own_thread) baton_.lend();
}

void NodeCore::take_back() {
  if (options_.drive != Drive::own_thread) return;  // nobody else takes it
  baton_.take_back([this] { incarnation_->sleeper().wake(); });
}

std::chrono::nanoseconds NodeCore::look_every() const {
  std::chrono::nanoseconds every =
      std::min(options_.suspect_after / kLooksPerTimeout, kLongestPause);
  if (options_.slow_after.count() != 0) every = std::min(every, options_.slow_after / 4);
  return every;
}

CallWatch NodeCore::watch_of_calls() const {
  CallWatch watch(options_.slow_after, options_.log);
  const auto nothing_delivered = [](const std::string& where) {
    return "nothing is delivered " + where +
           " meanwhile, and the others wait once they are out of window";
  };
  watch.add(view_call_, "the view callback", nothing_delivered("on its thread"));
  watch.add(requests_.serving(), requests_.serving_name(), "requests of other members wait for it");
  watch.add(requests_.telling(), requests_.telling_name(), "other reply handlers wait for it");
  if (disk_ != nullptr) {
    watch.add_disk(disk_->restart().writing(), "a write to the file 'views'",
                   "a change of view waits for it, and so do all groups of the members");
  }
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const GroupOptions& group = groups_[g]->options();
    const std::string of_group = " of group '" + group.name + "'";
    watch.add(*groups_[g]->completions().call(), groups_[g]->completions().name(),
              "the group's other completion handlers wait for it");
    const StateCalls& states = incarnation_->state_calls(g);
    const std::string others_wait =
        "members that join wait for it, and so does this member when it is to take or give a state";
    watch.add(incarnation_->call(g), "the delivery callback" + of_group,
              nothing_delivered("on its thread"));
    watch.add(states.save, (group.snapshot ? "snapshot" : "save_state") + of_group,
              nothing_delivered("at this member"));
    watch.add(states.read, "what reads a snapshot" + of_group, others_wait);
    watch.add(states.end, "the destructor of a snapshot" + of_group, others_wait);
    watch.add(states.load, "load_state" + of_group, nothing_delivered("at this member"));
    if (disk_ == nullptr || disk_->logs().log(g) == nullptr) continue;
    watch.add_disk(
        disk_->logs().log(g)->writing(), "a write to the log" + of_group,
        std::string("the group waits for this member's disk once it is some MiB behind") +
            (group.durable_quorum ? "" : ", and at level 'durable' at once"));
  }
  for (const GroupSpaces::Space& space : joined_.in_plan().all) {
    watch.add(incarnation_->call(space.group),
              "the delivery callback of a group that was joined after start",
              nothing_delivered("on its thread"));
  }
  watch.add(joined_.letting_go(), "a destructor of what the options of a left group refer to",
            nothing_delivered("on its thread"));
  joined_.show(watch);
  return watch;
}

// The stand-in's thread; with Drive::caller, which has none, after a pass, when no call is going on
// but on the threads for states, handlers and deliveries. Calls of groups that have come or gone
// are shown after the look, which tells of what is over.
void NodeCore::watch_calls(std::uint64_t now_ns) {
  if (now_ns < next_watch_ns_) return;
  next_watch_ns_ = now_ns + static_cast<std::uint64_t>(look_every().count());
  watch_->look(now_ns);
  joined_.show(*watch_);
}

// The stand-in's thread. It counts passes and not calls: of many short calls in a row, each with
// another number, all might be made in one pass.
void NodeCore::stand_by() {
  std::uint64_t passes = 0;
  while (!dismissed_.load(std::memory_order_acquire)) {
    const std::uint32_t seen = dismissal_.prepare();
    if (dismissed_.load(std::memory_order_acquire)) return dismissal_.cancel();
    dismissal_.wait(seen, look_every());
    watch_calls(now_ns());
    if (incarnation_->loop().passes() == passes && baton_.take()) stand_in();
    passes = incarnation_->loop().passes();
  }
}

void NodeCore::stand_in() {
  TUTTI_ASSERT(!standing_in_ && !armed_, standing_in_, armed_);  // T1: lent by one that is awake
  standing_in_ = true;
  IdlePolicy policy(options_.idle);
  while (!baton_.asked()) {
    if (!stays_awake(policy, turn())) idle(policy, kLongestSleep);
    watch_calls(now_ns());
  }
  standing_in_ = false;
  baton_.give_back();
}

}  // namespace tutti
