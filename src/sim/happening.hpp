/// \file happening.hpp
/// The queue of events of the simulated world: the earliest first, events of one time in the order
/// in which they were planned.
#pragma once
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace tutti::sim {

enum class What : std::uint8_t {
  wake,
  go_on,
  turn,
  send,
  attach,
  meet,
  crash,
  pause,
  standstill,
  partition,
  one_way_cut,
  mute,
  mend,
  flap,
  blink,
  break_link,
  lie,
  believe_lost,
  arm,
  leave,
  stick,
  start,
  finish,
  end,
  hush,
  vanish,
  hang_up,
  hear_end,
  lose,
  heal,
  judge,
  quiet,
};

struct Happening {
  std::uint64_t at_ns = 0;
  std::uint64_t order = 0;  // among those of one time
  What what = What::wake;
  std::uint32_t node = 0;
  std::uint32_t other = 0;
  // An incarnation, a connection, an Ending; of a crash: 1 if secretly; of a blink: how long.
  std::uint64_t which = 0;
  bool operator>(const Happening& than) const {
    return at_ns != than.at_ns ? at_ns > than.at_ns : order > than.order;
  }
};

using Happenings = std::priority_queue<Happening, std::vector<Happening>, std::greater<>>;

}  // namespace tutti::sim
