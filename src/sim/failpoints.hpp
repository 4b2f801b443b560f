/// \file failpoints.hpp
/// Places of the protocol, by name, at which a member may die: right after the pass that got it
/// there.
///
/// The library has no hooks for this. What a member shows of itself before and after a pass tells
/// where it got to. Threads: one.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace tutti::sim {

enum class Failpoint : std::uint8_t {
  none,
  connected,  ///< it has met another node
  suspected,  ///< it suspects a member
  wedged,
  settled,   ///< and has not proposed or accepted yet
  proposed,  ///< as leader
  accepted,  ///< another's proposal
  decided,   ///< or heard of a decision; not in the next view yet
  at_cut,    ///< all is delivered that comes before its view, and the application told of that
  entered,   ///< a view, the first one too
  joined,    ///< its first view, of a group that there was
  giving,    ///< a part of the state is with those who join
  taking,    ///< has a part of the state
};

inline constexpr std::array<std::pair<Failpoint, std::string_view>, 12> kFailpoints{{
    {Failpoint::connected, "connected"},
    {Failpoint::suspected, "suspected"},
    {Failpoint::wedged, "wedged"},
    {Failpoint::settled, "settled"},
    {Failpoint::proposed, "proposed"},
    {Failpoint::accepted, "accepted"},
    {Failpoint::decided, "decided"},
    {Failpoint::at_cut, "at-cut"},
    {Failpoint::entered, "entered"},
    {Failpoint::joined, "joined"},
    {Failpoint::giving, "giving"},
    {Failpoint::taking, "taking"},
}};

[[nodiscard]] std::string_view to_string(Failpoint point);

/// How far a member has got.
struct Progress {
  std::uint64_t view = 0;
  std::uint64_t connections = 0;  ///< that it ever had
  std::uint64_t suspicions = 0;   ///< ever
  bool wedged = false;
  std::uint64_t settled = 0;
  std::uint64_t ballot = 0;  ///< 1 + rank of the leader whose proposal it accepted
  bool leads = false;        ///< that one is itself
  bool decided = false;
  std::uint64_t told = 0;   ///< the view that the application is in
  std::uint64_t given = 0;  ///< bytes, of a state that is not all there yet
  std::uint64_t taken = 0;
};

/// It got there on the way from the one to the other.
[[nodiscard]] bool reached(Failpoint point, const Progress& before, const Progress& after);

}  // namespace tutti::sim
