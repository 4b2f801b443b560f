/// \file start_thread.hpp
/// A thread, or an Error where the system gives none: std::thread throws then.
#pragma once
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/memory_advice.hpp"
#include "tutti/error.hpp"

namespace tutti {

/// `purpose`: what the thread is for, as in "the thread for states". `work` must not throw.
template <class Work>
[[nodiscard]] Result<std::thread> start_thread(std::string_view purpose, Work work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::system,
                "cannot start " + std::string(purpose) + ": no memory; " + memory_advice());
  } catch (const std::system_error& problem) {
    const std::optional<rlim_t> memory = address_space_limit();
    return fail(ErrorCode::system,
                "cannot start " + std::string(purpose) + ": " + problem.what() +
                    "; raise the limit on threads (ulimit -u, or the pids limit of the container)" +
                    (memory ? ", or on address space, where each has its stack (ulimit -v, now " +
                                  std::to_string(*memory) + " bytes)"
                            : std::string()) +
                    ", or stop what uses them");
  }
}

}  // namespace tutti
