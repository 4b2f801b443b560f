// What a member must not do after it wedged, stopped, was evicted or lost the majority (V3 V4 F2
// M8).
#include <algorithm>

#include "history/checker/walk.hpp"

namespace tutti::history {

void Walk::check_act(const Event& event, std::uint64_t index) {
  const EventRef ref{number_, index};
  if (event.kind == EventKind::send) {  // any thread sends: exact in a simulator only
    if (!run_.options.strict_wedge) return;
    const InGroup* in = groups_.find(event.group);
    if ((in != nullptr && in->wedged == event.view + 1) || wedged_all_ == event.view + 1) {
      add(Property::M8, ref, "sends in a view that it has wedged");
    }
  }
  if (index > life_.stopped) {
    const Event& stopped = run_.event({number_, life_.stopped});
    const bool minority = stopped.detail == static_cast<std::uint8_t>(StopReason::minority);
    run_.findings.add(minority ? Property::V3 : Property::V4,
                      run_.name(number_) + " goes on after it has stopped",
                      {ref, EventRef{number_, life_.stopped}});
  }
  if (index > life_.evicted) {
    run_.findings.add(Property::F2, run_.name(number_) + " goes on after it learnt of its eviction",
                      {ref, EventRef{number_, life_.evicted}});
  }
  if (index > removed_ && event.kind == EventKind::deliver) {
    run_.findings.add(Property::F2,
                      run_.name(number_) + " delivers after it learnt that it was removed",
                      {ref, EventRef{number_, removed_}});
  }
  if (event.kind != EventKind::send) timing_.act(ref, event);
}

// A member that leaves in order still delivers what comes before the cut.
void Walk::decide(const Event& event, std::uint64_t index) {
  decided_ = event.view + 1;
  const auto next = run_.views.find(event.view + 1);
  if (next == run_.views.end() || next->second.variants.empty()) return;
  const auto& lefts = next->second.variants.front().content.lefts;
  const auto left = std::ranges::find(lefts, life_.who, &ViewLeft::who);
  if (left != lefts.end() && left->reason == LeftReason::suspected) removed_ = index;
}

}  // namespace tutti::history
