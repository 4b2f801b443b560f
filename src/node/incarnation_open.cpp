// How an incarnation is put together: memory, fabrics, groups, membership, bootstrap.
#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "base/random.hpp"
#include "node/carriers.hpp"
#include "node/clock.hpp"
#include "node/incarnation.hpp"

namespace tutti {
namespace {

// How often members show that they live, as part of the time after which they are suspected: some
// of their words may be late, or their processor given to others for a while.
constexpr std::uint64_t kBeatsPerTimeout = 40;

// While nothing changes, the others' words are looked at so often: in between, a pass costs nothing
// for the membership.
constexpr std::uint64_t kLookEveryNs = 20'000;

// How long more than the least number of founders are waited for.
constexpr std::uint64_t kCreateAfterNs = 500'000'000;

// An exception of the application's, as an error: it must not end the thread that it came to.
template <class Work>
auto guarded(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception& problem) {
    return fail(ErrorCode::system, std::string("it threw: ") + problem.what());
  } catch (...) {
    return fail(ErrorCode::system, "it threw what is no std::exception");
  }
}

// The same, and for how long it runs; refused once the node ends.
template <class Work>
auto timed(const IncarnationEvents& node, CallMark& mark, const Work& work) -> decltype(work()) {
  if (node.ends()) return fail(ErrorCode::stopped, "this node is being stopped");
  mark.begin();
  auto result = guarded(work);
  mark.end();
  return result;
}

// An application's snapshot, whose calls are marked, the last one too.
class MarkedSnapshot {
 public:
  MarkedSnapshot(const IncarnationEvents& node, ReadSnapshot read, StateCalls& calls)
      : node_(node), read_(std::move(read)), calls_(calls) {}
  ~MarkedSnapshot() {
    calls_.end.begin();
    read_ = {};
    calls_.end.end();
  }
  MarkedSnapshot(const MarkedSnapshot&) = delete;
  MarkedSnapshot& operator=(const MarkedSnapshot&) = delete;

  [[nodiscard]] Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) {
    return timed(node_, calls_.read, [&] { return read_(offset, into); });
  }

 private:
  const IncarnationEvents& node_;
  ReadSnapshot read_;
  StateCalls& calls_;
};

std::function<void(LinkCall)> take_link_of(RestartThread* restart) {
  if (restart == nullptr) return {};
  return [restart](LinkCall call) { restart->take(std::move(call)); };
}

}  // namespace

Result<std::unique_ptr<Incarnation>> Incarnation::open(const NodeOptions& node,
                                                       const std::vector<GroupOptions>& groups,
                                                       IncarnationEvents& events,
                                                       RequestEvents& requests,
                                                       IncarnationSetup setup) {
  std::unique_ptr<Incarnation> out(
      new Incarnation(node, groups, events, requests, std::move(setup)));
  const Result<std::uint64_t> number = random_u64();
  if (!number) return std::unexpected(number.error());
  out->incarnation_ = *number;
  if (Result<void> r = out->open_row(); !r) return std::unexpected(r.error());
  if (Result<void> r = out->open_fabrics(); !r) return std::unexpected(r.error());
  out->open_engine();
  out->open_snapshots();
  if (Result<void> r = out->start_state_thread(); !r) return std::unexpected(r.error());
  if (Result<void> r = out->open_bootstrap(); !r) return std::unexpected(r.error());
  return out;
}

Result<void> Incarnation::open_row() {
  Result<Segment> row = Segment::create(plan_.layouts[self_].row_bytes());
  if (!row) return std::unexpected(row.error());
  row_.emplace(std::move(*row));
  Result<std::unique_ptr<Sleeper>> sleeper = Sleeper::create();
  if (!sleeper) return std::unexpected(sleeper.error());
  sleeper_ = std::move(*sleeper);
  return {};
}

Result<void> Incarnation::open_fabrics() {
  std::vector<std::unique_ptr<Fabric>> fabrics;
  for (std::unique_ptr<Carrier>& carrier :
       make_carriers({.node = node_,
                      .self = self_,
                      .own_row = *row_,
                      .doorbell_fd = sleeper_->doorbell_fd()})) {
    Result<std::unique_ptr<Fabric>> fabric = carrier->open(*sleeper_);
    if (!fabric) return std::unexpected(fabric.error());
    if (*fabric == nullptr) continue;
    fabrics.push_back(std::move(*fabric));
    carriers_.push_back(std::move(carrier));
  }
  auto fabric =
      RoutedFabric::create(row_->data(), plan_.nodes(), plan_.row_bytes(), std::move(fabrics));
  if (!fabric) return std::unexpected(fabric.error());
  fabric_ = std::move(*fabric);
  return {};
}

MembershipOptions Incarnation::membership_options() const {
  const auto suspect_after = static_cast<std::uint64_t>(node_.suspect_after.count());
  return {.self = self_,
          .incarnation = incarnation_,
          .nodes = plan_.names,
          .heartbeat_ns = suspect_after / kBeatsPerTimeout,
          .suspect_after_ns = suspect_after,
          .look_every_ns = kLookEveryNs,
          .founders = node_.founders,
          .may_create = setup_.may_create,
          .create_after_ns = kCreateAfterNs,
          .log = setup_.restart,
          .restarts = setup_.founds};
}

// On the predicate thread, the loop is lent for as long as the callback takes.
DeliveryCallback Incarnation::delivery_of(std::size_t index) {
  const GroupOptions& group = groups_[index];
  CallMark& mark = calls_[index];
  const bool member = std::ranges::find(group.members, node_.name) != group.members.end();
  if (!member || !group.on_delivery) return {};
  const DeliveryCallback& deliver = group.on_delivery;
  if (group.delivery == DeliveryThread::own) {
    return [&mark, &deliver](std::span<const Message> batch) {
      mark.begin();
      deliver(batch);
      mark.end();
    };
  }
  return [&events = events_, &mark, &deliver](std::span<const Message> batch) {
    const LentForCall lent(events, mark);
    deliver(batch);
  };
}

void Incarnation::open_engine() {
  std::vector<GroupState> states;
  std::vector<DeliveryCallback> deliveries;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    states.push_back(groups_[g].stateful ? state_of(g) : GroupState{.name = groups_[g].name});
    deliveries.push_back(delivery_of(g));
  }
  state_jobs_ = std::make_unique<StateJobs>(std::move(states), plan_.states.piece_bytes(),
                                            [this] { state_thread_->wake(); });
  const EngineOptions options{
      .membership = membership_options(),
      .patience_ns = static_cast<std::uint64_t>(patience_with_outsiders().count()),
      .litmus_rounds = node_.litmus_rounds};
  EngineEvents& events = *this;
  engine_ = std::make_unique<Engine<NativeMemory>>(
      options,
      EngineContext{.plan = plan_,
                    .own_row = row_->data(),
                    .fabric = *fabric_,
                    .row_of = [this](Slot slot) { return fabric_->row(slot); },
                    .jobs = *state_jobs_,
                    .deliveries = std::move(deliveries),
                    .logs = setup_.logs,
                    .clock = now_ns,
                    .time_of_day = time_of_day_ns,
                    .requests = &requests_},
      events);
}

// The application's callbacks; what goes wrong in saving is known here only.
GroupState Incarnation::state_of(std::size_t index) {
  const GroupOptions& group = groups_[index];
  StateCalls& calls = state_calls_[index];
  GroupState state{.name = group.name};
  state.cannot_give = [this, &group](const Error& error) {
    log(LogLevel::warning, "group '" + group.name + "': cannot save the state for members that " +
                               "join: " + error.message);
  };
  if (group.snapshot) {
    state.snapshot = [this, &group, &calls]() -> Result<ReadSnapshot> {
      Result<ReadSnapshot> taken = timed(events_, calls.save, group.snapshot);
      if (!taken || !*taken) return taken;
      auto held = std::make_shared<MarkedSnapshot>(events_, std::move(*taken), calls);
      return [held](std::uint64_t offset, std::span<std::byte> into) {
        return held->read(offset, into);
      };
    };
  } else {
    state.save = [this, &group, &calls](const StateSink& write) {
      return timed(events_, calls.save, [&] { return group.save_state(write); });
    };
  }
  state.load = [this, &group, &calls](const StatePiece& piece) {
    return timed(events_, calls.load, [&] { return group.load_state(piece); });
  };
  return state;
}

// What is taken, and loaded, are states: only groups that have one have snapshots.
void Incarnation::open_snapshots() {
  snapshots_ = std::make_unique<SnapshotTaker>(SnapshotTakerEvents{
      .look = [this](std::size_t group) { events_.delivery_may_move(group); },
      .warn = [this](const std::string& text) { log(LogLevel::warning, text); }});
  for (std::size_t g = 0; g < groups_.size() && setup_.disk_logs != nullptr; ++g) {
    DiskLog* const log = setup_.disk_logs->log(g);
    if (log == nullptr || log->snapshots() == nullptr) continue;
    DeliveryPause& pause = engine_->subgroup(g).pause();
    pause.on_reached([this] { state_thread_->wake(); });
    snapshots_->add(g, state_jobs_->groups()[g], *log, pause);
  }
}

Result<void> Incarnation::start_state_thread() {
  if (std::ranges::none_of(groups_, &GroupOptions::stateful)) return {};
  auto thread = StateThread::start(*state_jobs_, *snapshots_, [this] {
    sleeper_->wake();
    events_.calls_ended();
  });
  if (!thread) return std::unexpected(thread.error());
  state_thread_ = std::move(*thread);
  return {};
}

Founding Incarnation::founding() const {
  if (setup_.restart != nullptr) return Founding::logged;
  if (setup_.may_create) return Founding::founds;
  return node_.join_only ? Founding::join_only : Founding::agreed;
}

Result<void> Incarnation::open_bootstrap() {
  IndexedBy<Slot, std::size_t> row_bytes;
  for (const RowLayout& layout : plan_.layouts) row_bytes.push_back(layout.row_bytes());
  Result<std::unique_ptr<Bootstrap>> bootstrap =
      Bootstrap::open({.node = node_,
                       .groups = groups_,
                       .carriers = carriers_,
                       .own_row_bytes = row_->size(),
                       .incarnation = incarnation_,
                       .founding = founding(),
                       .wake = [this] { sleeper_->wake(); },
                       .lags = [this] { return lags_.behind(); },
                       .sees_group = [this] { return sees_group(); },
                       .row_bytes = std::move(row_bytes),
                       .take_link = take_link_of(setup_.restart)});
  if (!bootstrap) return std::unexpected(bootstrap.error());
  bootstrap_ = std::move(*bootstrap);
  return {};
}

}  // namespace tutti
