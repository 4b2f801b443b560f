#include "predicates/predicate_loop.hpp"

namespace tutti {

std::size_t PredicateLoop::pass() {
  const std::size_t landed = fabric_.poll();
  bool posted = false;
  for (Stepped* stepped : stepped_) posted |= stepped->step(fabric_);
  if (posted) fabric_.flush();
  std::size_t advances = posted ? 1 : 0;
  for (Stepped* stepped : stepped_) advances += stepped->deliver() ? 1 : 0;
  advanced_ = advances != 0;
  const std::size_t work = landed + advances;
  passes_.add(1);
  if (work != 0) working_passes_.add(1);
  return work;
}

}  // namespace tutti
