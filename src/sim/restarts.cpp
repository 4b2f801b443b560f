#include "sim/restarts.hpp"

#include <cstdint>
#include <vector>

#include "base/prng.hpp"
#include "sim/groups.hpp"

namespace tutti::sim {

// As many as founders, any of the nodes, in the order of their slots.
std::optional<RestartView> restarts_of(const Options& options) {
  if (!options.restarted) return {};
  Prng random(options.seed ^ 0x72657374617274ULL);
  RestartView view{.id = 3 + 2 * random.below(50)};
  std::uint32_t lacking = options.founders;
  for (std::uint32_t node = 0; node < options.nodes; ++node) {
    if (random.below(options.nodes - node) >= lacking) continue;
    view.members.push_back(Slot{node});
    --lacking;
  }
  for (const GroupOptions& group : groups_of(options)) {
    view.firsts.push_back(group.logged ? 1 + random.below(1000) : 0);
  }
  return view;
}

}  // namespace tutti::sim
