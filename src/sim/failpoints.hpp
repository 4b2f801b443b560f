/// \file failpoints.hpp
/// Named steps of the protocol at which a member may crash: right after the pass that took it
/// there.
///
/// The library has no hooks for this. The simulator compares a member's state before and after a
/// pass. Threads: one.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace tutti::sim {

enum class Failpoint : std::uint8_t {
  none,
  connected,  ///< it is connected to another node
  suspected,  ///< it suspects a member
  wedged,
  settled,   ///< and has not proposed or accepted yet
  proposed,  ///< as leader
  accepted,  ///< another member's proposal
  decided,   ///< or heard of a decision; it is not in the next view yet
  at_cut,    ///< it delivered all that comes before its view, and told the application of the view
  entered,   ///< a view, including its first one
  joined,    ///< its first view, in a group that existed before
  giving,    ///< it gave joiners a part of the state
  taking,    ///< it took a part of the state
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
  std::uint64_t connections = 0;  ///< in its whole life
  std::uint64_t suspicions = 0;   ///< in its whole life
  bool wedged = false;
  std::uint64_t settled = 0;
  std::uint64_t ballot = 0;  ///< 1 + rank of the leader whose proposal it accepted
  bool leads = false;        ///< that leader is the member itself
  bool decided = false;
  std::uint64_t told = 0;   ///< the view that the application is in
  std::uint64_t given = 0;  ///< bytes of a state that is not complete yet
  std::uint64_t taken = 0;
};

/// Whether the member passed that point between `before` and `after`.
[[nodiscard]] bool reached(Failpoint point, const Progress& before, const Progress& after);

}  // namespace tutti::sim
