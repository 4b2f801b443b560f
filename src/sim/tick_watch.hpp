/// \file tick_watch.hpp
/// All ticks of a world, as their clocks have put them: what members deliver is compared with it
/// (D16).
///
/// Histories compare what members deliver where. Here is what they do not know: that a tick was
/// put, with that time, by a clock in its turn. Threads: one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "membership/view.hpp"
#include "multicast/ticker.hpp"

namespace tutti::sim {

/// What an application has seen of a group's ticks.
struct TicksSeen {
  std::uint64_t time_ns = 0;                                   ///< of the last one
  std::uint64_t at_ns = 0;                                     ///< when it was delivered
  ViewMember clock{};                                          ///< whose it was
  std::set<std::pair<std::uint32_t, std::uint64_t>> former{};  ///< clocks before that one
};

class TickWatch {
 public:
  /// `fresh`: the member has neither put nor delivered a tick before.
  void put(std::size_t group, const ViewMember& clock, const PutTick& tick, bool fresh);

  struct Found {
    Ticket record{};    ///< 0: nobody has put that tick
    std::string wrong;  ///< empty if nothing
  };
  /// An application delivers that tick, at `now_ns`.
  [[nodiscard]] Found deliver(std::size_t group, const ViewMember& clock, std::uint64_t time_ns,
                              std::uint64_t now_ns, TicksSeen& seen) const;

 private:
  struct Put {
    Ticket record;
    bool fresh;
  };
  using Key = std::tuple<std::size_t, std::uint32_t, std::uint64_t, std::uint64_t>;
  [[nodiscard]] static Key key(std::size_t group, const ViewMember& clock, std::uint64_t time_ns) {
    return {group, clock.slot.value, clock.incarnation, time_ns};
  }

  std::map<Key, Put> puts_;
};

}  // namespace tutti::sim
