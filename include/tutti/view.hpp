/// \file view.hpp
/// Which nodes are members now: views, and what changed from one to the next.
///
/// Every member installs the same views in the same order. Between two views, all members that are
/// in both deliver the same messages; a survivor's message that no member had delivered is sent
/// again in the next view, once. Source: virtual synchrony, [Spindle, 2.1].
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/export.hpp"
#include "tutti/indexed_by.hpp"
#include "tutti/types.hpp"

namespace tutti {

/// Why a member is not in the view any more.
enum class LeftReason : std::uint8_t {
  left,       ///< it asked to, with Node::leave
  suspected,  ///< it died, or could not be reached for too long
};

struct Departure {
  std::string member;
  std::uint64_t incarnation = 0;
  LeftReason reason = LeftReason::suspected;
};

struct ViewChange {
  std::uint64_t view = 0;  ///< number of the view that begins: 1, 2, 3, ...
  /// Names by rank: survivors first, then joiners. A MemberIndex, such as Message::sender, is no
  /// rank: Group::name_of gives its name.
  IndexedBy<Rank, std::string> members{};
  IndexedBy<Rank, std::uint64_t> incarnations{};  ///< a different number for each start of a member
  Rank rank{};                                    ///< of this node, among `members`
  std::vector<std::string> joined{};              ///< members that were not in the view before
  std::vector<Departure> left{};  ///< members that were in the view before, and are not in this one
};

/// Called once for each view this node installs, on the predicate thread: in all groups after the
/// last message before it and before the first one in it; so an application that takes must go on
/// taking. If callbacks take long, members may be in a later view by then. It must not throw: if it
/// does, the node fails. Inside it, the same node refuses calls that wait (node.hpp).
using ViewCallback = std::function<void(const ViewChange&)>;

[[nodiscard]] TUTTI_API std::string_view to_string(LeftReason reason);

}  // namespace tutti
