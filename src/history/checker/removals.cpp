// M6: for each view some member saw a reason. A member is removed for a reason, for ever, and soon
// after the first suspicion.
#include <algorithm>
#include <map>
#include <set>

#include "history/checker/families.hpp"
#include "history/text.hpp"

namespace tutti::history {
namespace {

class Removals {
 public:
  explicit Removals(Run& run) : run_(run) {
    for (const EventRef ref : run_.suspects) {
      const Event& event = run_.event(ref);
      const NodeRef whom{event.peer, event.number};
      const auto [first, fresh] = suspected_.try_emplace(whom, event.view);
      if (!fresh) first->second = std::min(first->second, event.view);
    }
  }

  void check() {
    for (const auto& [id, view] : run_.views) {
      if (id > 0) check_why(id, view);
      for (const View::Variant& variant : view.variants) {
        check_members(id, variant);
        for (const ViewLeft& left : variant.content.lefts) check_reason(id, variant, left);
      }
      for (const View::Variant& variant : view.variants) {
        for (const ViewLeft& left : variant.content.lefts) removed_.insert(left.who);
      }
    }
    for (const EventRef ref : run_.suspects) check_sticks(ref);
    for (const auto& [id, refs] : run_.wedges) {
      for (const EventRef ref : refs) check_wedge(id, ref);
    }
  }

 private:
  void add(const View::Variant& variant, std::uint64_t id, const std::string& what) {
    run_.findings.add(
        Property::M6,
        run_.name(variant.install.life) + " installs view " + std::to_string(id) + ", " + what,
        {variant.install});
  }

  /// Some member saw a reason to end the view before. If both views have the same members, the
  /// reason was a joiner that was lost before it was admitted.
  void check_why(std::uint64_t id, const View& view) {
    const auto before = run_.views.find(id - 1);
    const auto wedges = run_.wedges.find(id - 1);
    if (before == run_.views.end() || wedges == run_.wedges.end() || !run_.options.complete) return;
    if (view.variants.empty() || before->second.variants.empty()) return;
    const ViewContent& from = before->second.variants.front().content;
    const ViewContent& to = view.variants.front().content;
    const bool same = to.lefts.empty() && to.members.size() == from.members.size();
    for (const EventRef ref : wedges->second) {
      const Event& wedge = run_.event(ref);
      const auto reason = static_cast<WedgeReason>(wedge.detail);
      if (reason == WedgeReason::unsaid) return;
      const NodeRef joiner{wedge.peer, wedge.number};
      const bool joins = reason == WedgeReason::join && from.member(joiner) == nullptr &&
                         run_.life_of(joiner) != nullptr;
      if (joins || reason == WedgeReason::groups || (!same && reason != WedgeReason::told)) return;
    }
    add(view.variants.front(), id,
        same ? "though it has the same members as the one before"
             : "for which nobody had a reason");
  }

  /// The reason that a member gives for its wedge is true.
  void check_wedge(std::uint64_t id, EventRef ref) {
    const Event& wedge = run_.event(ref);
    const auto reason = static_cast<WedgeReason>(wedge.detail);
    if (!run_.options.complete || run_.lives[ref.life].gaps()) return;
    if (reason == WedgeReason::suspicion) {
      const bool suspects = std::ranges::any_of(run_.suspects, [&](EventRef suspicion) {
        return suspicion.life == ref.life && suspicion.index < ref.index &&
               run_.event(suspicion).view == id;
      });
      if (!suspects) add(ref, id, " ends it for a suspicion that it does not have");
    } else if (reason == WedgeReason::leave) {
      const bool leaves = std::ranges::any_of(run_.lives, [&](const Life& life) {
        return life.leave != kNever && life.history->events[life.leave].time_ns <= wedge.time_ns;
      });
      if (!leaves) add(ref, id, " ends it for a member that leaves, though nobody has asked to");
    } else if (reason == WedgeReason::told) {
      const bool first = std::ranges::all_of(run_.wedges.at(id), [&](EventRef other) {
        return other.life == ref.life || run_.event(other).time_ns > wedge.time_ns;
      });
      if (first) add(ref, id, " is the first to end it, and says that others did before");
    }
  }

  void add(EventRef ref, std::uint64_t id, const std::string& what) {
    run_.findings.add(Property::M6,
                      run_.name(ref.life) + ", in view " + std::to_string(id) + ',' + what, {ref});
  }

  void check_members(std::uint64_t id, const View::Variant& variant) {
    std::set<std::uint16_t> nodes;
    for (const ViewMember& member : variant.content.members) {
      if (removed_.contains(member.who)) {
        add(variant, id,
            "in which " + to_string(member.who) + " is a member again after it was removed");
      }
      if (!nodes.insert(member.who.node).second) {
        add(variant, id, "which has node " + std::to_string(member.who.node) + " twice");
      }
    }
  }

  void check_reason(std::uint64_t id, const View::Variant& variant, const ViewLeft& left) {
    if (left.reason == LeftReason::leave) {
      const std::uint32_t* life = run_.life_of(left.who);
      if (life != nullptr && run_.lives[*life].leave == kNever && !run_.lives[*life].gaps()) {
        add(variant, id, "from which " + to_string(left.who) + " has left without asking to");
      }
      return;
    }
    if (!run_.options.complete) return;
    const auto suspicion = suspected_.find(left.who);
    if (suspicion == suspected_.end() || suspicion->second >= id) {
      add(variant, id,
          "from which " + to_string(left.who) + " was removed though nobody had suspected it");
    }
  }

  /// suspicion_views views after its suspicion, a member has no view with the suspect any more.
  void check_sticks(EventRef ref) {
    const Event& suspicion = run_.event(ref);
    const NodeRef whom{suspicion.peer, suspicion.number};
    for (const Installation& install : run_.lives[ref.life].installs) {
      if (install.view < suspicion.view + run_.options.suspicion_views || !install.whole) continue;
      if (run_.content(install).member(whom) == nullptr) return;
      run_.findings.add(Property::M6,
                        run_.name(ref.life) + " suspected " + to_string(whom) +
                            " and still has it in view " + std::to_string(install.view),
                        {ref, EventRef{ref.life, install.index}});
      return;
    }
  }

  Run& run_;
  std::map<NodeRef, std::uint64_t> suspected_;  // the first view in which someone suspects it
  std::set<NodeRef> removed_;
};

}  // namespace

void check_removals(Run& run) {
  if (!run.options.complete) run.findings.skip("M6: whether removals were suspected: not complete");
  Removals(run).check();
}

}  // namespace tutti::history
