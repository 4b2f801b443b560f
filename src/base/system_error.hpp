/// \file system_error.hpp
/// Turns errno into an Error that says what was tried.
#pragma once
#include <cerrno>
#include <string>
#include <system_error>

#include "tutti/error.hpp"

namespace tutti {

/// The system has no descriptor for us now: this process, its user or the machine has too many.
inline bool lacks_descriptors(int error_number) {
  return error_number == EMFILE || error_number == ENFILE || error_number == ETOOMANYREFS;
}

/// What to do about it.
inline constexpr const char* kFreeDescriptors =
    "no file descriptor is free: raise the limit (ulimit -n), or close some";

/// "what: the system's words for `error_number`", with ErrorCode::system.
inline std::unexpected<Error> fail_system(const std::string& what, int error_number = errno) {
  return fail(ErrorCode::system, what + ": " + std::system_category().message(error_number));
}

}  // namespace tutti
