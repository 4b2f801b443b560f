// How a node goes on while the application keeps its thread (T1).
#include <algorithm>

#include "node/node_core.hpp"

namespace tutti {
namespace {

// The stand-in takes over when nothing was done between two of its looks: a quarter of
// suspect_after at most after the last pass.
constexpr int kLooksPerTimeout = 8;

// However long suspect_after is, the others wait for us with a change of view.
constexpr std::chrono::nanoseconds kLongestLook = std::chrono::milliseconds(100);

}  // namespace

void NodeCore::lend() {
  rise();
  baton_.lend();
}

void NodeCore::take_back() {
  baton_.take_back([this] { incarnation_->sleeper().wake(); });
}

// The stand-in's thread. It counts passes and not calls: of many short calls in a row, each with
// another number, all might be made in one pass.
void NodeCore::stand_by() {
  const auto look_every = std::min(options_.suspect_after / kLooksPerTimeout, kLongestLook);
  std::uint64_t passes = 0;
  while (!dismissed_.load(std::memory_order_acquire)) {
    const std::uint32_t seen = dismissal_.prepare();
    if (dismissed_.load(std::memory_order_acquire)) return dismissal_.cancel();
    dismissal_.wait(seen, look_every);
    if (incarnation_->loop().passes() == passes && baton_.take()) stand_in();
    passes = incarnation_->loop().passes();
  }
}

void NodeCore::stand_in() {
  standing_in_ = true;
  IdlePolicy policy(options_.idle);
  while (!baton_.asked()) {
    if (!stays_awake(policy, turn())) idle(policy, kLongestSleep);
  }
  standing_in_ = false;
  baton_.give_back();
}

}  // namespace tutti
