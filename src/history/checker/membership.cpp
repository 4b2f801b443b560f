// Views: the same at all members, one chain, each with a majority of the one before (M1 M2 M3 M4
// M5).
#include <algorithm>
#include <set>
#include <tuple>

#include "history/checker/families.hpp"
#include "history/text.hpp"

namespace tutti::history {
namespace {

std::string view_name(std::uint64_t view) { return "view " + std::to_string(view); }

std::string difference(const ViewContent& left, const ViewContent& right) {
  if (left.members != right.members) return "other members, incarnations, ranks or flags";
  if (left.lefts != right.lefts) return "others that left";
  if (left.leader_rank != right.leader_rank) return "another leader";
  if (left.groups != right.groups) return "other members of a group";
  return "another digest";
}

class Views {
 public:
  explicit Views(Run& run) : run_(run) {}

  void check() {
    for (const auto& [id, view] : run_.views) check_same(id, view);
    for (std::uint32_t life = 0; life < run_.lives.size(); ++life) {
      const std::vector<Installation>& installs = run_.lives[life].installs;
      for (std::size_t i = 0; i < installs.size(); ++i) check_install(life, installs, i);
    }
  }

 private:
  void check_same(std::uint64_t id, const View& view) {
    for (std::size_t i = 0; i < view.variants.size(); ++i) {
      const View::Variant& variant = view.variants[i];
      check_shape(id, variant);
      if (i == 0) continue;
      const View::Variant& first = view.variants.front();
      run_.findings.add(Property::M1,
                        run_.name(variant.install.life) + " installs " + view_name(id) + " with " +
                            difference(first.content, variant.content) + " than " +
                            run_.name(first.install.life),
                        {first.install, variant.install});
      const bool meet = std::ranges::any_of(variant.content.members, [&](const ViewMember& member) {
        return first.content.member(member.who) != nullptr;
      });
      if (!meet) {
        run_.findings.add(Property::M4, view_name(id) + " exists twice, with no member in both",
                          {first.install, variant.install});
      }
    }
  }

  void check_shape(std::uint64_t id, const View::Variant& variant) {
    const ViewContent& content = variant.content;
    bool good = content.members.size() == content.member_count &&
                content.leader_rank < content.member_count;
    for (std::size_t i = 0; i < content.members.size(); ++i) {
      good = good && content.members[i].rank == i;
    }
    if (good) return;
    run_.findings.add(Property::M1,
                      run_.name(variant.install.life) + " lists members of " + view_name(id) +
                          " that do not fit its number, ranks or leader",
                      {variant.install});
  }

  void check_install(std::uint32_t life, const std::vector<Installation>& installs, std::size_t i) {
    const Installation& install = installs[i];
    const EventRef ref{life, install.index};
    const Installation* before = i > 0 ? &installs[i - 1] : nullptr;
    if (before != nullptr && install.view != before->view + 1) {
      run_.findings.add(Property::M2,
                        run_.name(life) + " goes from " + view_name(before->view) + " to " +
                            view_name(install.view) + ": ids must be consecutive",
                        {EventRef{life, before->index}, ref});
    }
    if (before != nullptr) check_successor(life, *before, install);
    if (!install.whole) return;
    const ViewContent& content = run_.content(install);
    const ViewMember* self = content.member(run_.lives[life].who);
    if (self == nullptr) {
      run_.findings.add(
          Property::M3,
          run_.name(life) + " installs " + view_name(install.view) + ", which it is not in", {ref});
    } else if (before == nullptr && install.view != run_.views.begin()->first &&
               (self->flags & kMemberJoined) == 0) {
      run_.findings.add(Property::M2,
                        run_.name(life) + " begins with " + view_name(install.view) +
                            ", which does not list it as a joiner",
                        {ref});
    }
    check_chain(ref, install, before);
  }

  void check_successor(std::uint32_t life, const Installation& from, const Installation& to) {
    const auto key = std::pair(from.view, from.whole ? from.variant : 0);
    const auto [first, fresh] = successors_.try_emplace(key, to, life);
    const auto& [other, other_life] = first->second;
    const bool same =
        other.view == to.view && (other.variant == to.variant || !other.whole || !to.whole);
    if (fresh || same) return;
    run_.findings.add(Property::M5,
                      run_.name(life) + " and " + run_.name(other_life) + " go from " +
                          view_name(from.view) + " to different views",
                      {EventRef{life, to.index}, EventRef{other_life, other.index}});
  }

  /// Compares with the view before, as this member or, if it joins, any other member saw it.
  void check_chain(EventRef ref, const Installation& install, const Installation* before) {
    const ViewContent* from = nullptr;
    std::uint32_t variant = 0;
    if (before != nullptr && before->whole && before->view + 1 == install.view) {
      from = &run_.content(*before);
      variant = before->variant;
    } else if (before == nullptr && install.view > 0) {
      const auto found = run_.views.find(install.view - 1);
      if (found != run_.views.end() && !found->second.variants.empty()) {
        from = &found->second.variants.front().content;
      }
    }
    if (from == nullptr) return;
    if (!chained_.emplace(install.view, install.variant, variant).second) return;
    check_step(ref, install.view, *from, run_.content(install));
  }

  void check_step(EventRef ref, std::uint64_t view, const ViewContent& from,
                  const ViewContent& to) {
    std::size_t survivors = 0;
    std::size_t left = 0;
    std::size_t leavers = 0;
    bool chain = true;
    for (const ViewMember& member : to.members) {
      const bool was_there = from.member(member.who) != nullptr;
      survivors += was_there ? 1 : 0;
      chain = chain && was_there == ((member.flags & kMemberJoined) == 0);
    }
    for (const ViewLeft& gone : to.lefts) {
      const bool was_there = from.member(gone.who) != nullptr;
      chain = chain && was_there && to.member(gone.who) == nullptr;
      left += 1;
      leavers += was_there && gone.reason == LeftReason::leave ? 1 : 0;
    }
    if (!chain || survivors + left != from.members.size()) {
      run_.findings.add(
          Property::M2,
          run_.name(ref.life) + " installs " + view_name(view) +
              ", which is not the view before it without those that left and with those"
              " that joined",
          {ref});
    }
    const std::size_t counted = from.members.size() - std::min(leavers, from.members.size());
    if (run_.options.primary && survivors * 2 <= counted) {
      run_.findings.add(Property::M4,
                        run_.name(ref.life) + " installs " + view_name(view) + ", of which " +
                            std::to_string(survivors) +
                            " were in the view before: no"
                            " majority of " +
                            std::to_string(counted),
                        {ref});
    }
  }

  Run& run_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::pair<Installation, std::uint32_t>>
      successors_;
  std::set<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>> chained_;
};

}  // namespace

void check_views(Run& run) { Views(run).check(); }

}  // namespace tutti::history
