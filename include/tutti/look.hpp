/// \file look.hpp
/// Asks a running node, from outside, which view it is in: for tools and tests.
///
/// A look joins no group and disturbs no member; every process that can reach the address may take
/// one. A node answers with its own view at that moment: another may be a view ahead or behind.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/error.hpp"
#include "tutti/export.hpp"
#include "tutti/options.hpp"
#include "tutti/statistics.hpp"

namespace tutti {

enum class NodeState : std::uint8_t {
  waiting,  ///< in no view yet: waits for others to found a group, or to be admitted to one
  joining,  ///< in a view, and takes over the groups' states; delivers nothing yet
  in_view,  ///< sends and delivers
  stopped,  ///< failed, as NodeLook::why says, but a callback has not returned yet
};

struct SeenMember {
  std::string name{};
  std::string address{};
  std::uint64_t incarnation = 0;  ///< a different number for each of its starts
};

/// A member that is behind in a group, as the node that answered sees it.
struct SeenLag {
  std::string group{};
  MemberLag lag{};
};

struct NodeLook {
  std::string name{};             ///< of the node that answered
  std::string version{};          ///< of Tutti, there
  std::uint64_t incarnation = 0;  ///< of this start of the node
  NodeState state = NodeState::waiting;
  std::string why{};                   ///< the failure, of a node that stopped
  std::vector<std::string> groups{};   ///< names of the groups it joined
  std::vector<MemberAddress> nodes{};  ///< all that may be members, as in its options
  std::uint64_t view = 0;              ///< number of its newest view; 0: none yet
  std::vector<SeenMember> members{};   ///< of that view, in rank order
  std::vector<SeenLag> lags{};         ///< of 50 ms or more, at most 256, longest first
};

/// Looks at the node that listens at HOST:PORT. Blocks up to the time-out, longer only while the
/// system resolves a host name. A node that is alone in its list, or has stopped, does not listen.
/// Errors: unreachable: no process listens there, or it hung up; timed_out: it did not answer;
/// mismatch: it is no node of Tutti, or has another protocol version; invalid_argument: the address
/// or the time-out is wrong.
[[nodiscard]] TUTTI_API Result<NodeLook> look_at(std::string_view address,
                                                 std::chrono::nanoseconds timeout);

/// `waiting`, `joining`, `in_view`, `stopped`.
[[nodiscard]] TUTTI_API std::string_view to_string(NodeState state);

}  // namespace tutti
