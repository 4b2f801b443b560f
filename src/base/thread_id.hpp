/// \file thread_id.hpp
/// A number for the calling thread, unique among living threads, at the cost of one load.
///
/// It is the address of the thread's descriptor: a thread that starts later may get that of one
/// that has ended.
#pragma once
#include <pthread.h>

#include <cstdint>

namespace tutti {

[[nodiscard]] inline std::uintptr_t current_thread_id() {
#if __has_builtin(__builtin_thread_pointer)
  return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
#else
  return static_cast<std::uintptr_t>(pthread_self());
#endif
}

}  // namespace tutti
