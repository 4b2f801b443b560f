// Once a majority has accepted a proposal, later leaders propose the same, and nothing else is
// decided (M7).
#include <algorithm>
#include <map>
#include <set>

#include "history/checker/families.hpp"

namespace tutti::history {
namespace {

/// A proposal in a view: the leader's ballot, and what it proposes.
struct Proposed {
  std::uint32_t ballot = 0;
  std::uint64_t digest = 0;
  friend auto operator<=>(const Proposed&, const Proposed&) = default;
};

class AgreedView {
 public:
  AgreedView(Run& run, std::uint64_t view, std::vector<EventRef> accepts)
      : run_(run), view_(view), accepts_(std::move(accepts)) {
    const auto found = run_.views.find(view);
    if (found != run_.views.end() && !found->second.variants.empty()) {
      members_ = found->second.variants.front().content.members.size();
    }
    std::ranges::stable_sort(accepts_, {}, [&](EventRef ref) { return run_.event(ref).time_ns; });
  }

  void check_accepts() {
    std::map<std::uint32_t, EventRef> by_ballot;
    for (const EventRef ref : accepts_) {
      const Proposed proposed = of(ref);
      const auto [first, fresh] = by_ballot.try_emplace(proposed.ballot, ref);
      if (!fresh && of(first->second) != proposed) {
        add(ref, first->second, " accept different proposals of one leader");
      }
      follow(ref, proposed);
    }
  }

  /// By the time of the decision, a majority has accepted it in one ballot.
  void check_decide(EventRef ref) const {
    const Event& decide = run_.event(ref);
    if (members_ == 0) return;
    std::map<std::uint32_t, std::set<std::uint32_t>> votes;  // by ballot
    for (const EventRef accept : accepts_) {
      const Event& event = run_.event(accept);
      if (event.time_ns > decide.time_ns || event.number != decide.number) continue;
      std::set<std::uint32_t>& of_ballot = votes[event.extra];
      of_ballot.insert(accept.life);
      if (is_majority(of_ballot)) return;
    }
    run_.findings.add(Property::M7,
                      run_.name(ref.life) + " decides what no majority of view " +
                          std::to_string(view_) + " has accepted",
                      {ref});
  }

 private:
  [[nodiscard]] Proposed of(EventRef ref) const {
    const Event& event = run_.event(ref);
    return {event.extra, event.number};
  }
  [[nodiscard]] bool is_majority(const std::set<std::uint32_t>& lives) const {
    return 2 * lives.size() > members_;
  }

  /// Once a majority has accepted a proposal, leaders of higher ballots propose the same.
  void follow(EventRef ref, const Proposed& proposed) {
    if (chosen_ && proposed.ballot > of(*chosen_).ballot &&
        proposed.digest != of(*chosen_).digest) {
      add(ref, *chosen_, " accept different proposals, though a majority had accepted the first");
    }
    if (chosen_ || members_ == 0) return;
    std::set<std::uint32_t>& lives = lives_[proposed];
    lives.insert(ref.life);
    if (is_majority(lives)) chosen_ = ref;
  }

  void add(EventRef ref, EventRef other, const std::string& what) const {
    run_.findings.add(Property::M7,
                      run_.name(other.life) + " and " + run_.name(ref.life) + ", in view " +
                          std::to_string(view_) + ',' + what,
                      {other, ref});
  }

  Run& run_;
  const std::uint64_t view_;
  std::vector<EventRef> accepts_;  // in the order of their times
  std::size_t members_ = 0;        // of the view; 0: not known
  std::map<Proposed, std::set<std::uint32_t>> lives_;
  std::optional<EventRef> chosen_;  // the acceptance that completed a majority
};

}  // namespace

void check_proposals(Run& run) {
  if (!run.options.complete || run.accepts.empty()) {
    return run.findings.skip(std::string("M7: whether a majority accepted what is decided: ") +
                             (run.accepts.empty() ? "not recorded" : "not complete"));
  }
  std::map<std::uint64_t, std::vector<EventRef>> by_view;
  for (const EventRef ref : run.accepts) by_view[run.event(ref).view].push_back(ref);
  std::map<std::uint64_t, AgreedView> views;
  for (const auto& [view, refs] : by_view) {
    AgreedView& in = views.emplace(view, AgreedView(run, view, refs)).first->second;
    in.check_accepts();
  }
  for (const EventRef ref : run.decides) {
    const std::uint64_t view = run.event(ref).view;
    const auto in = views.try_emplace(view, run, view, std::vector<EventRef>{}).first;
    in->second.check_decide(ref);
  }
}

}  // namespace tutti::history
