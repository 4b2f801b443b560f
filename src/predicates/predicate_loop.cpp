#include "predicates/predicate_loop.hpp"

namespace tutti {

std::size_t PredicateLoop::pass() {
  std::size_t work = fabric_.poll();
  bool posted = false;
  for (Stepped* stepped : stepped_) posted |= stepped->step(fabric_);
  if (posted) fabric_.flush();
  work += posted ? 1 : 0;
  for (Stepped* stepped : stepped_) work += stepped->deliver() ? 1 : 0;
  passes_.add(1);
  if (work != 0) working_passes_.add(1);
  return work;
}

}  // namespace tutti
