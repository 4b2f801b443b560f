#include "sim/failpoints.hpp"

#include <algorithm>

namespace tutti::sim {

std::string_view to_string(Failpoint point) {
  const auto* const named =
      std::ranges::find(kFailpoints, point, &std::pair<Failpoint, std::string_view>::first);
  return named == kFailpoints.end() ? "none" : named->second;
}

bool reached(Failpoint point, const Progress& before, const Progress& after) {
  const bool moved = before.view != after.view;
  const bool accepts = after.ballot != 0 && (moved || before.ballot != after.ballot);
  switch (point) {
    case Failpoint::connected:
      return before.connections != after.connections;
    case Failpoint::suspected:
      return before.suspicions != after.suspicions;
    case Failpoint::wedged:
      return after.wedged && (moved || !before.wedged);
    case Failpoint::settled:
      return after.settled != 0 && after.ballot == 0 && (moved || before.settled != after.settled);
    case Failpoint::proposed:
      return accepts && after.leads;
    case Failpoint::accepted:
      return accepts && !after.leads;
    case Failpoint::decided:
      return after.decided && (moved || !before.decided);
    case Failpoint::at_cut:
      return before.told != after.told;
    case Failpoint::entered:
      return moved;
    case Failpoint::joined:
      return moved && before.view == 0 && after.view > 1;
    case Failpoint::giving:
      return after.given != 0 && before.given != after.given;
    case Failpoint::taking:
      return after.taken != 0 && before.taken != after.taken;
    default:
      return false;
  }
}

}  // namespace tutti::sim
