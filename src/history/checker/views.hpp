/// \file views.hpp
/// The views of a run as its members installed them. If two members saw one view id differently,
/// the view has two variants, which is a violation by itself (M1) and leaves the rest checkable.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "history/checker/findings.hpp"
#include "history/event.hpp"
#include "history/make_event.hpp"

namespace tutti::history {

struct ViewMember {
  NodeRef who{};
  std::uint32_t rank = 0;
  std::uint8_t flags = 0;
  friend auto operator<=>(const ViewMember&, const ViewMember&) = default;
};

struct ViewLeft {
  NodeRef who{};
  LeftReason reason = LeftReason::leave;
  friend auto operator<=>(const ViewLeft&, const ViewLeft&) = default;
};

struct ViewContent {
  std::uint64_t digest = 0;
  std::uint32_t member_count = 0;  ///< as install says
  std::uint32_t leader_rank = 0;
  std::vector<ViewMember> members{};  ///< as listed
  std::vector<ViewLeft> lefts{};
  std::map<std::uint16_t, std::vector<ViewMember>> groups{};  ///< those with a list of their own
  friend bool operator==(const ViewContent&, const ViewContent&) = default;

  [[nodiscard]] static const ViewMember* find(const std::vector<ViewMember>& list, NodeRef who) {
    const auto found = std::ranges::find(list, who, &ViewMember::who);
    return found != list.end() ? &*found : nullptr;
  }
  [[nodiscard]] const ViewMember* member(NodeRef who) const { return find(members, who); }
  /// The member's entry in the group, with its rank there; null if it is no member of the group.
  [[nodiscard]] const ViewMember* group_member(std::uint16_t group, NodeRef who) const {
    const auto list = groups.find(group);
    return list == groups.end() ? member(who) : find(list->second, who);
  }
  /// Whether a member is listed as a sender; if none is, the recorder does not say, and all may
  /// send.
  [[nodiscard]] bool names_senders(std::uint16_t group) const {
    const auto list = groups.find(group);
    return std::ranges::any_of(list == groups.end() ? members : list->second,
                               [](const ViewMember& m) { return (m.flags & kMemberSends) != 0; });
  }
};

/// A member installs a view.
struct Installation {
  std::uint64_t view = 0;
  std::uint64_t index = 0;
  std::uint64_t time_ns = 0;
  std::uint32_t variant = 0;
  bool whole = true;  ///< false: the history ends within the list of members
};

/// A member that installed a view, and the index of that installation in Life::installs.
struct Installer {
  std::uint32_t life = 0;
  std::uint32_t nth = 0;
};

struct View {
  struct Variant {
    ViewContent content;
    EventRef install;  ///< the first installation with this content
  };
  std::vector<Variant> variants;
  std::vector<Installer> installers;
};

}  // namespace tutti::history
