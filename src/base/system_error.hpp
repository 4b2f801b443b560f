/// \file system_error.hpp
/// Turns errno into an Error that says what was tried.
#pragma once
#include <cerrno>
#include <string>
#include <system_error>

#include "tutti/error.hpp"

namespace tutti {

/// "what: the system's words for `error_number`", with ErrorCode::system.
inline std::unexpected<Error> fail_system(const std::string& what, int error_number = errno) {
  return fail(ErrorCode::system, what + ": " + std::system_category().message(error_number));
}

}  // namespace tutti
