// How a node comes into its first view, and what it makes of its views.
#include <algorithm>
#include <latch>
#include <memory>
#include <new>
#include <utility>

#include "base/assert.hpp"
#include "base/memory_advice.hpp"
#include "base/start_thread.hpp"
#include "base/text.hpp"
#include "node/clock.hpp"
#include "node/log_rules.hpp"
#include "node/node_core.hpp"

namespace tutti {
namespace {

// So long a start that is abandoned waits until what it said last has gone out.
constexpr std::chrono::nanoseconds kLongestDrain = std::chrono::seconds(1);

// Of how many groups are complete: other groups than at the last look are counted.
constexpr std::size_t kUnknown = ~std::size_t{0};

}  // namespace

Result<void> NodeCore::start() {
  if (Result<void> may = may_start("Node::start"); !may) return may;
  return run_start();
}

Result<void> NodeCore::may_start(std::string_view call) const {
  if (std::optional<Error> refusal = refusal_here(call)) return std::unexpected(*refusal);
  if (is_declared()) return {};
  return fail(ErrorCode::invalid_argument, "a node is started once; create a new one");
}

Result<void> NodeCore::run_start() {
  const std::lock_guard starting(starting_);
  starts_.store(true, std::memory_order_release);
  struct Starts {  // also if there is no memory for it
    ~Starts() {
      node.starts_.store(false, std::memory_order_release);
      node.changed_.notify();  // to whoever ends the node and has waited for this
    }
    NodeCore& node;
  };
  const Starts starts{*this};
  Result<void> result = start_now();
  if (!result && !life_.in_view()) disk_.reset();  // its folders are free for another node
  tell_started(result);
  return result;
}

Result<void> NodeCore::start_now() {
  if (Result<void> log = callbacks_.start_log(); !log) {
    life_.set_phase(Phase::stopped);
    return log;
  }
  group_options_.clear();  // of a start that found no memory
  for (const GroupOptions* const group : declared()) group_options_.push_back(*group);
  joined_.begin(groups_.size());
  Result<void> logs = check_bootstrap(options_, group_options_);
  if (logs) logs = open_disk();
  if (!logs) {
    life_.set_phase(Phase::stopped);
    return logs;
  }
  const Deadline deadline(options_.start_timeout);  // what was read is not read again for nothing
  for (;;) {
    Result<void> started = try_start(deadline);
    // Others were lost while the group was founded: nobody may go on with what he had agreed to.
    if (life_.phase() != Phase::tried) return started;
    const bool entered = disk_ != nullptr && disk_->restart().has_entered();
    const bool goes_on = !entered && gives_way() && !deadline.passed(now_ns());
    // A reason that has come since try_start() said why it gave up counts more.
    const std::optional<Error> why = why_start_ended();
    if (!goes_on || why) {
      life_.set_phase(Phase::stopped);
      return why ? std::unexpected(*why) : started;
    }
    if (is_unfounded()) life_.set_course(Course::outside);
    if (disk_ != nullptr) disk_->end_incarnation();
  }
}

Result<std::unique_ptr<Incarnation>> NodeCore::open_incarnation() {
  try {
    IncarnationSetup setup{.may_create = may_create_, .spaces = joined_.in_plan()};
    if (disk_ != nullptr) {
      setup.restart = &disk_->restart();
      setup.logs = disk_->logs().sinks();
      setup.disk_logs = &disk_->logs();
      setup.founds = disk_->begin_incarnation();
      setup.may_create = setup.founds.has_value();
    }
    return Incarnation::open(options_, group_options_, *this, requests_, std::move(setup));
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::system, "no memory for the start of this node: " + memory_advice());
  }
}

// A view takes memory when it is installed. Without it the protocol is left half-way.
std::size_t NodeCore::pass(Calls calls) {
  if (out_of_memory_) return 0;
  try {
    if (joined_.asks() && life_.in_view() && !failed() && !ends()) [[unlikely]] {
      if (joined_.follow(*incarnation_, !standing_in_)) groups_complete_ = kUnknown;
      if (joined_.let_go(*this)) return 1;
    }
    return incarnation_->pass(calls);
  } catch (const std::bad_alloc&) {
    out_of_memory_ = true;
    fail_with({ErrorCode::system,
               "there is no memory for what this node needs in a view, so it "
               "has stopped: " +
                   memory_advice() + ", and start it again"});
    return 0;
  }
}

Result<void> NodeCore::try_start(const Deadline& deadline) {
  Result<std::unique_ptr<Incarnation>> incarnation = open_incarnation();
  if (!incarnation) {
    life_.set_phase(Phase::stopped);
    return std::unexpected(incarnation.error());
  }
  incarnation_ = std::move(*incarnation);
  requests_.use(incarnation_->requests());
  watch_.emplace(watch_of_calls());
  life_.set_phase(Phase::running);
  if (options_.drive == Drive::own_thread) {
    if (Result<void> r = start_threads(); !r) {
      static_cast<void>(abandon_start());
      return r;
    }
  }
  // The application hears of the first view before this returns; but if it takes longer for that
  // than there is time, the node has started all the same.
  const auto decided = [this] {
    return gives_way() || life_.course() >= Course::told || is_start_ended();
  };
  await_start(decided, deadline);
  if (life_.in_view() && !failed()) return {};
  return std::unexpected(abandon_start());
}

Result<void> NodeCore::start_threads() {
  Result<std::thread> stand_in = start_thread("its stand-in thread", [this] { stand_by(); });
  if (!stand_in) return std::unexpected(stand_in.error());
  stand_in_ = std::move(*stand_in);
  run_ended_.store(false, std::memory_order_relaxed);
  // A thread that sees the node in a view may end it, and joins thread_: that must be there before.
  auto is_there = std::make_shared<std::latch>(1);
  Result<std::thread> own = start_thread("its predicate thread", [this, is_there] {
    is_there->wait();
    run();
  });
  if (!own) return std::unexpected(own.error());
  thread_ = std::move(*own);
  is_there->count_down();
  return {};
}

// Why there is no view although nobody is missing.
std::string NodeCore::why_not_agreed() const {
  if (may_create_ || incarnation_->sees_group()) {
    return "all members are connected, but did not agree on a view yet";
  }
  return options_.members.size() == 1 ? "the member list names no other node"
                                      : "all members are connected, and none is in a group";
}

// Nothing if nobody has ended it.
std::optional<Error> NodeCore::why_start_ended() const {
  if (std::optional<Error> failure = this->failure()) return failure;
  // Also a stop() that was called just before start() ends it.
  if (!is_start_ended() && !ends()) return {};
  return Error{ErrorCode::stopped, "node '" + options_.name +
                                       "' was stopped by another thread before it was in a view"};
}

Error NodeCore::why_not_started() const {
  if (std::optional<Error> why = why_start_ended()) return *why;
  const std::string refused = incarnation_->bootstrap().refused();
  if (const std::string why = disk_ != nullptr ? disk_->restart().why() : ""; !why.empty()) {
    return {ErrorCode::unreachable,
            "start_timeout of " + in_seconds(options_.start_timeout) +
                " s is over; this node waits to come back into its groups: " + why +
                (refused.empty() ? "" : "; " + refused)};
  }
  const std::string awaited = incarnation_->bootstrap().awaited();
  std::string why =
      "still waiting for " + awaited + "; start the missing members, or check their addresses";
  if (awaited.empty()) why = why_not_agreed();
  if (polls_start() && incarnation_->passed_ns() == 0) {
    why = "nobody has called Node::poll: with Drive::caller a start that was begun needs it";
  }
  if (const std::string giver = incarnation_->gives_state(); !giver.empty()) {
    return {ErrorCode::unreachable,
            "start_timeout of " + in_seconds(options_.start_timeout) +
                " s is over; this node was admitted, but has not got all of the group's state from "
                "member '" +
                giver +
                "' yet; see whether a callback or save_state takes long there, or load_state here, "
                "or raise start_timeout"};
  }
  if (disk_ != nullptr && is_unfounded()) {
    return {ErrorCode::peer_lost,
            "this node was admitted, and lost the other members before it had begun; start it "
            "again to join them"};
  }
  if (!refused.empty()) why += "; " + refused;
  if (may_create_ && !incarnation_->sees_group()) {
    if (const std::string others = incarnation_->bootstrap().only_join(); !others.empty()) {
      why += "; " + others;
    }
  }
  if (!may_create_ && incarnation_->sees_group()) {
    why = "there is a group, which has not admitted this node yet: " + why;
  } else if (!may_create_) {
    why =
        "there is no group to join: no member that answers is in one. If none runs anywhere, start "
        "its founders anew without join_only (--join); " +
        why;
  }
  if (agreed_to_found_ && !incarnation_->sees_group()) {
    why =
        "this node agreed to found a group and lost the others; that group may exist, so it founds "
        "no other one. If no member runs, start all of them again; " +
        why;
  }
  return {ErrorCode::unreachable,
          "start_timeout of " + in_seconds(options_.start_timeout) + " s is over; " + why};
}

bool NodeCore::is_unfounded() const {
  const Course course = life_.course();
  return course == Course::unfounded || course == Course::parted;
}

// Returns why it is abandoned.
Error NodeCore::abandon_start() {
  // What it said last the others hear before its connections end: they may need its vote.
  if (is_unfounded() && !may_create_ && life_.try_phase(Phase::abandoned)) {
    incarnation_->sleeper().wake();
    const auto parted = [this] { return life_.course() == Course::parted; };
    await_start(parted, Deadline(std::min(options_.suspect_after, kLongestDrain)));
  }
  std::optional<Error> why;
  {
    const std::lock_guard lock(turning_);
    quit();  // first: from here on nobody else turns, or changes what is read below
    why = why_not_started();
    // If not, it came into a view just when its time was over: the groups know what is in there.
    if (!life_.in_view()) {
      dismissed_.store(false, std::memory_order_release);
      // If another thread closes it, no other incarnation is tried.
      if (!life_.try_phase(Phase::tried)) life_.try_phase(Phase::stopped);
      requests_.use(nullptr);
      incarnation_->hang_up();  // before its bootstrap ends, as close() does
      incarnation_.reset();
      return *why;
    }
  }
  static_cast<void>(close(Deadline(kForever)));
  return *why;
}

void NodeCore::installed(const ViewChange& change) {
  {
    const std::lock_guard lock(view_mutex_);
    TUTTI_ASSERT(change.view > view_.view, change.view, view_.view);  // P3: in order
    view_ = change;
  }
  const bool first = !life_.in_view();
  if (first) {
    const bool joined = std::ranges::find(change.joined, options_.name) != change.joined.end() &&
                        change.joined.size() != change.members.size();
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      groups_[g]->open(incarnation_->subgroup(g), incarnation_->asleep(),
                       disk_ ? disk_->logs().log(g) : nullptr, from_log(g, joined),
                       incarnation_->call(g));
    }
    life_.set_course(Course::entered);  // whatever throws from here on, close() ends the groups
    incarnation_->wake_states();        // which may have looked before there was anything to do
    for (const auto& group : groups_) {
      if (Result<void> started = group->start_delivery(); !started) fail_with(started.error());
    }
    if (Result<void> started = requests_.start(); !started) fail_with(started.error());
    // The others are answered meanwhile, also while a disk is slow.
    CallMark unwatched;  // the calls have marks of their own
    const LentForCall lent(*this, unwatched);
    for (const auto& group : groups_) {
      if (group->options().delivery == DeliveryThread::predicate) group->replay_here();
    }
  }
  for (const auto& group : groups_) group->entered(change.view);
  joined_.entered(*incarnation_, change.view);
  if (options_.on_view && !failed()) {
    const LentForCall lent(*this, view_call_);
    options_.on_view(change);
  }
  for (const ViewCallback& watcher : watchers_.of_views) {
    if (failed()) break;
    const LentForCall lent(*this, view_call_);
    watcher(change);
  }
  if (!first) return;
  // The stand-in may have seen the node to its end meanwhile.
  if (life_.course() == Course::entered) life_.set_course(Course::told);
  changed_.notify();
}

void NodeCore::ended(StopReason reason) {
  if (!life_.in_view()) {
    if (incarnation_->may_have_created()) {  // J7
      may_create_ = false;
      agreed_to_found_ = incarnation_->view().id == 0;
    }
    life_.set_course(Course::unfounded);
    changed_.notify();
    return;
  }
  if (reason == StopReason::left) {
    left_.store(true, std::memory_order_release);
    changed_.notify();
    return;
  }
  if (incarnation_->is_through()) {
    if (disk_ != nullptr) disk_->quit();  // its logs go on
    return incarnation_->turn_away(
        "its groups are complete and it has lost the others, so it admits nobody; stop it and "
        "start it again");
  }
  const std::string view = "view " + std::to_string(incarnation_->view().id);
  if (reason == StopReason::orphaned) {
    return void(
        fail_with({ErrorCode::peer_lost,
                   "all members that were there before this one joined were lost as " + view +
                       " began, before they had told it where the sequence goes on; nothing "
                       "more is delivered here. Start this member again to join the others"}));
  }
  fail_with(reason == StopReason::evicted ? Error{ErrorCode::stopped, why_evicted(view)}
                                          : Error{ErrorCode::peer_lost, why_minority(view)});
}

void NodeCore::no_state(const Error& why) {
  fail_with({why.code, "joined, but did not get the group's state: " + why.message +
                           "; mend what is wrong there and start this node again"});
}

void NodeCore::distrusted(const Error& why) {
  if (failed()) return;
  fail_with({why.code, why.message +
                           "; nothing was delivered over it. Run `tutti doctor`, and take another "
                           "fabric"});
}

// The others' reason is theirs; with the same remove_after it shows here as well.
std::string NodeCore::why_evicted(const std::string& view) const {
  std::string why = "they could not reach this one for too long";
  if (options_.remove_after.count() != 0) {
    why += ", or it did not take its messages within remove_after (here " +
           in_seconds(options_.remove_after) + " s)";
  }
  for (const auto& group : cores()) {
    if (options_.remove_after.count() == 0) break;
    for (const MemberLag& lag : lags(*group)) {
      if (lag.member != options_.name || 2 * lag.behind < options_.remove_after) continue;
      why = "it has delivered nothing of group '" + group->options().name + "' for " +
            in_seconds(lag.behind) + " s, and remove_after is " +
            in_seconds(options_.remove_after) + " s: its callbacks take too long";
    }
  }
  return "removed by the other members after " + view + ": " + why +
         "; nothing more is delivered here. Start this member again to join them";
}

// Which members were lost.
std::string NodeCore::why_minority(const std::string& view) const {
  std::string names;
  for (const std::string& name : incarnation_->suspects()) {
    names += (names.empty() ? "'" : ", '") + name + "'";
  }
  if (names.empty()) names = "this member";  // by the word of the others: J9
  return "lost the majority of " + view + ": " + names +
         (names.find(',') == std::string::npos ? " was" : " were") +
         " lost; nothing more is delivered. Start this member again to join the others";
}

ViewChange NodeCore::view() const {
  const std::lock_guard lock(view_mutex_);
  return view_;
}

}  // namespace tutti
