// When a barrier has returned at a member, that member has delivered all that any member had
// delivered when it was called (D15). Times are of one clock; a delivery in the nanosecond of the
// call does not count.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "history/checker/families.hpp"
#include "history/checker/pages.hpp"

namespace tutti::history {
namespace {

struct Call {
  EventRef ref;
  std::uint64_t at_ns = 0;
  std::uint64_t floor = 0;  ///< 1 + the last ordinal that any member had delivered then
  EventRef witness{};       ///< that delivery
};

class InGroup {
 public:
  InGroup(Run& run, std::uint16_t group) : run_(run), group_(group) {}

  void add(EventRef ref) { calls_.push_back({.ref = ref, .at_ns = run_.event(ref).time_ns}); }

  void check() {
    std::ranges::sort(calls_, {}, &Call::at_ns);
    for (std::uint32_t life = 0; life < run_.lives.size(); ++life) raise_floors(life);
    for (std::uint32_t life = 0; life < run_.lives.size(); ++life) check_returns(life);
  }

 private:
  using Returned = std::pair<const Call*, std::uint64_t>;  // and the index of barrier_ok

  void raise(Call& call, std::uint64_t next, EventRef last) {
    if (next <= call.floor) return;
    call.floor = next;
    call.witness = last;
  }

  void raise_floors(std::uint32_t life) {
    auto call = calls_.begin();
    std::uint64_t next = 0;
    EventRef last{};
    for_each_event(*run_.lives[life].history, [&](const Event& event, std::uint64_t index) {
      if (event.kind != EventKind::deliver || event.group != group_) return;
      for (; call != calls_.end() && call->at_ns <= event.time_ns; ++call) raise(*call, next, last);
      next = event.position + 1;
      last = {life, index};
    });
    for (; call != calls_.end(); ++call) raise(*call, next, last);
  }

  // Where a member begins to deliver it has, or needs not have, all that comes before: a barrier
  // that returned earlier is judged by that.
  void check_returns(std::uint32_t life) {
    std::map<std::uint64_t, const Call*> open;
    for (const Call& call : calls_) {
      if (call.ref.life == life) open[run_.event(call.ref).number] = &call;
    }
    if (open.empty() || run_.lives[life].gaps()) return;
    std::optional<std::uint64_t> next;
    std::vector<Returned> early;
    for_each_event(*run_.lives[life].history, [&](const Event& event, std::uint64_t index) {
      if (event.group != group_) return;
      if (event.kind == EventKind::barrier_ok) {
        const auto found = open.find(event.number);
        if (found == open.end()) return;
        if (next) {
          judge({found->second, index}, *next);
        } else {
          early.emplace_back(found->second, index);
        }
      } else if (event.kind == EventKind::deliver || event.kind == EventKind::snapshot_in) {
        if (!next) {
          for (const Returned& returned : early) judge(returned, event.position);
        }
        next = event.position + (event.kind == EventKind::deliver ? 1 : 0);
      }
    });
  }

  void judge(const Returned& returned, std::uint64_t next) {
    const auto& [call, index] = returned;
    if (call->floor <= next) return;
    const std::uint32_t life = call->ref.life;
    run_.findings.add(Property::D15,
                      run_.name(life) + " has delivered the messages before ordinal " +
                          std::to_string(next) + " when a barrier returns; " +
                          run_.name(call->witness.life) + " had delivered ordinal " +
                          std::to_string(call->floor - 1) + " when it was called",
                      {call->witness, call->ref, {life, index}});
  }

  Run& run_;
  const std::uint16_t group_;
  std::vector<Call> calls_;
};

}  // namespace

void check_barriers(Run& run) {
  std::map<std::uint16_t, InGroup> groups;
  for (const EventRef ref : run.barriers) {
    const std::uint16_t group = run.event(ref).group;
    const auto known = run.groups.find(group);
    if (known == run.groups.end() || !known->second.atomic()) continue;
    groups.try_emplace(group, run, group).first->second.add(ref);
  }
  for (auto& [group, in] : groups) in.check();
}

}  // namespace tutti::history
