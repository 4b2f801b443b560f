// Nodes that are connected and in no view: some fall silent (P4), and some find that a path to them
// does not keep the order of writes, before they trust it with anything (engine/litmus.hpp).
#include "sim/world.hpp"

namespace tutti::sim {

void World::plan_outsiders() {
  hushes_left_ = options_.faults.hushes;
  if (options_.faults.disorders == 0) return;
  for (std::uint32_t n = 0; n < options_.faults.disorders; ++n) {
    const auto from = static_cast<std::uint32_t>(rare_random_.below(options_.nodes));
    const auto to = static_cast<std::uint32_t>(rare_random_.below(options_.nodes));
    if (from % options_.hosts != to % options_.hosts) net_.set_disordered(from, to, true);
  }
}

// It has just come to know another node, as one of few. It stands still for longer than the others
// have patience, or is gone, with its host: nothing answers for its connections.
void World::hush(std::uint32_t node) {
  if (hushes_left_ == 0 || calm_ || !rare_random_.one_in(3)) return;
  --hushes_left_;
  const std::uint64_t unit_ns = options_.net.delay_ns + options_.net.jitter_ns;
  const std::uint64_t at_ns = now_ns_ + 1 + rare_random_.below(4 * unit_ns);
  if (rare_random_.one_in(2)) {
    at(at_ns, What::hush, node, 0, 2 + rare_random_.below(4));
  } else {
    at(at_ns, What::vanish, node);
  }
}

void World::vanish(std::uint32_t node) {
  if (member(node) == nullptr || calm_) return;
  nodes_[node].vanished = member(node)->self().incarnation;
  record(history::make_fault(history::EventKind::fault_begin, {.time_ns = now_ns_},
                             history::FaultKind::crash, static_cast<std::uint16_t>(node)));
  gone(node, false, true);
  crashed_.back() = true;
  at(now_ns_ + 1 + rare_random_.below(4 * options_.suspect_after_ns), What::start, node);
}

// It ends, as a node does, and is started again once the path is mended.
bool World::gives_up(std::uint32_t node) {
  if (!member(node)->distrusts()) return false;
  nodes_[node].distrusts = true;
  gone(node, true);
  return true;
}

void World::mend_paths() {
  for (std::uint32_t from = 0; from < options_.nodes; ++from) {
    for (std::uint32_t to = 0; to < options_.nodes; ++to) net_.set_disordered(from, to, false);
    if (nodes_[from].distrusts) at(now_ns_ + 1, What::start, from);
  }
}

}  // namespace tutti::sim
