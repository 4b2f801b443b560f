#include "sim/interrupts.hpp"

#include <algorithm>
#include <utility>

namespace tutti::sim {
namespace {

constexpr std::uint64_t kNotAgain = ~0ULL;

}  // namespace

Interrupts::Interrupts(const InterruptOptions& options, std::uint32_t nodes, Net& net,
                       std::uint64_t seed)
    : options_(options), net_(net), random_(seed), passes_(nodes) {
  net_.set_interrupt([this](std::uint32_t node) { before_access(node); });
}

bool Interrupts::draw(bool changing) {
  if (options_.one_in == 0) return false;
  return random_.one_in(changing ? 1 + options_.one_in / 8 : options_.one_in);
}

// Most stops are early, as passes in which nothing is to be done are short.
std::uint64_t Interrupts::draw_accesses() { return 1 + random_.below(2ULL << random_.below(9)); }

bool Interrupts::run(std::uint32_t node, std::function<void()> pass) {
  Pass& now = passes_[node];
  if (now.fiber == nullptr) now.fiber = std::make_unique<Fiber>();
  now.accesses_left = draw_accesses();
  now.ns_left = options_.most_ns;
  net_.set_interruptible(node, true);
  now.fiber->start(std::move(pass));
  return left(node);
}

bool Interrupts::go_on(std::uint32_t node) {
  net_.set_interruptible(node, true);
  passes_[node].fiber->resume();
  return left(node);
}

bool Interrupts::left(std::uint32_t node) {
  net_.set_interruptible(node, false);
  return !passes_[node].fiber->under_way();
}

void Interrupts::finish(std::uint32_t node) {
  passes_[node].accesses_left = kNotAgain;
  static_cast<void>(go_on(node));
}

void Interrupts::drop(std::uint32_t node) {
  if (in_pass(node)) passes_[node].fiber->unwind();
}

// Stops come in bursts: what is read together is not far apart.
void Interrupts::before_access(std::uint32_t node) {
  Pass& now = passes_[node];
  if (--now.accesses_left != 0) return;
  gap_ns_ = 1 + random_.below(1 + (now.ns_left >> (1 + random_.below(6))));
  now.ns_left -= std::min(now.ns_left, gap_ns_);
  now.accesses_left = random_.one_in(2) ? 1 + random_.below(4) : draw_accesses();
  if (now.ns_left == 0) now.accesses_left = kNotAgain;
  now.fiber->stop();
}

}  // namespace tutti::sim
