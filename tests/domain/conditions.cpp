// Conditions that a simulated thread waits for without a deadline. This program defines these calls
// of the C++ library itself, so that the library's code, which is linked as it is, stops a thread
// of the simulation, which goes on only once it was notified.
#include <condition_variable>

#include "domain/cluster.hpp"

namespace std {  // NOLINT(cert-dcl58-cpp): in the place of the library's

void condition_variable::wait(unique_lock<mutex>& lock) {
  lock.unlock();
  tutti::domain::Cluster::current()->stop_until_notified(*this);
  lock.lock();
}

void condition_variable::notify_all() noexcept {
  if (auto* const cluster = tutti::domain::Cluster::current()) cluster->notify(*this);
}

void condition_variable::notify_one() noexcept { notify_all(); }

}  // namespace std

extern "C" int pthread_cond_clockwait(pthread_cond_t*, pthread_mutex_t*, clockid_t,
                                      const timespec*) {
  return ETIMEDOUT;
}
