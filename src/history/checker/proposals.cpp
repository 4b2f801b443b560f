// What a majority has accepted stands, whoever proposes next, and nothing else is decided (M7).
#include <algorithm>
#include <map>
#include <set>

#include "history/checker/families.hpp"

namespace tutti::history {
namespace {

/// A proposal of a view: who made it, and what.
struct Proposed {
  std::uint32_t ballot = 0;
  std::uint64_t digest = 0;
  friend auto operator<=>(const Proposed&, const Proposed&) = default;
};

class AgreedView {
 public:
  AgreedView(Run& run, std::uint64_t view, std::vector<Place> accepts)
      : run_(run), view_(view), accepts_(std::move(accepts)) {
    const auto found = run_.views.find(view);
    if (found != run_.views.end() && !found->second.variants.empty()) {
      members_ = found->second.variants.front().content.members.size();
    }
    std::ranges::stable_sort(accepts_, {}, [&](Place place) { return run_.event(place).time_ns; });
  }

  void check_accepts() {
    std::map<std::uint32_t, Place> by_ballot;
    for (const Place place : accepts_) {
      const Proposed proposed = of(place);
      const auto [first, fresh] = by_ballot.try_emplace(proposed.ballot, place);
      if (!fresh && of(first->second) != proposed) {
        add(place, first->second, " accept different proposals of one leader");
      }
      follow(place, proposed);
    }
  }

  /// The decision has the acceptances of a majority behind it by then.
  void check_decide(Place place) const {
    const Event& decide = run_.event(place);
    if (members_ == 0) return;
    std::map<std::uint32_t, std::set<std::uint32_t>> votes;  // by ballot
    for (const Place accept : accepts_) {
      const Event& event = run_.event(accept);
      if (event.time_ns > decide.time_ns || event.number != decide.number) continue;
      std::set<std::uint32_t>& of_ballot = votes[event.extra];
      of_ballot.insert(accept.life);
      if (is_majority(of_ballot)) return;
    }
    run_.findings.add(Property::M7,
                      run_.name(place.life) + " decides what no majority of view " +
                          std::to_string(view_) + " has accepted",
                      {place});
  }

 private:
  [[nodiscard]] Proposed of(Place place) const {
    const Event& event = run_.event(place);
    return {event.extra, event.number};
  }
  [[nodiscard]] bool is_majority(const std::set<std::uint32_t>& lives) const {
    return 2 * lives.size() > members_;
  }

  /// Once a majority has accepted a proposal, leaders of higher ballots propose the same.
  void follow(Place place, const Proposed& proposed) {
    if (chosen_ && proposed.ballot > of(*chosen_).ballot &&
        proposed.digest != of(*chosen_).digest) {
      add(place, *chosen_, " accept different proposals, the first of which a majority had");
    }
    if (chosen_ || members_ == 0) return;
    std::set<std::uint32_t>& lives = lives_[proposed];
    lives.insert(place.life);
    if (is_majority(lives)) chosen_ = place;
  }

  void add(Place place, Place other, const std::string& what) const {
    run_.findings.add(Property::M7,
                      run_.name(other.life) + " and " + run_.name(place.life) + ", in view " +
                          std::to_string(view_) + ',' + what,
                      {other, place});
  }

  Run& run_;
  const std::uint64_t view_;
  std::vector<Place> accepts_;  // in the order of their times
  std::size_t members_ = 0;     // of the view; 0: not known
  std::map<Proposed, std::set<std::uint32_t>> lives_;
  std::optional<Place> chosen_;  // its acceptance made a majority
};

}  // namespace

void check_proposals(Run& run) {
  if (!run.options.complete || run.accepts.empty()) {
    return run.findings.skip(std::string("M7: whether a majority accepted what is decided: ") +
                             (run.accepts.empty() ? "not recorded" : "not complete"));
  }
  std::map<std::uint64_t, std::vector<Place>> by_view;
  for (const Place place : run.accepts) by_view[run.event(place).view].push_back(place);
  std::map<std::uint64_t, AgreedView> views;
  for (const auto& [view, places] : by_view) {
    AgreedView& in = views.emplace(view, AgreedView(run, view, places)).first->second;
    in.check_accepts();
  }
  for (const Place place : run.decides) {
    const std::uint64_t view = run.event(place).view;
    const auto in = views.try_emplace(view, run, view, std::vector<Place>{}).first;
    in->second.check_decide(place);
  }
}

}  // namespace tutti::history
