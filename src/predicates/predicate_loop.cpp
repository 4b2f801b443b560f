#include "predicates/predicate_loop.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace tutti {

std::size_t PredicateLoop::step() {
  const std::size_t landed = fabric_.poll();
  bool posted = false;
  for (Stepped* stepped : stepped_) {
    posted |= stepped->step(effects_);
    if (!effects_.empty()) effects_.carry_out();
  }
  if (posted) fabric_.flush();
  advanced_ = posted;
  const std::size_t work = landed + (posted ? 1 : 0);
  worked_ = work != 0;
  passes_.add(1);
  if (worked_) working_passes_.add(1);
  return work;
}

void PredicateLoop::replace(const Stepped& old, Stepped& next) {
  const auto found = std::ranges::find(stepped_, &old);
  TUTTI_ASSERT(found != stepped_.end(), stepped_.size());
  *found = &next;
}

std::size_t PredicateLoop::deliver() {
  std::size_t delivered = 0;
  for (Stepped* stepped : stepped_) delivered += stepped->deliver() ? 1 : 0;
  if (delivered == 0) return 0;
  advanced_ = true;
  if (!worked_) working_passes_.add(1);
  return delivered;
}

}  // namespace tutti
