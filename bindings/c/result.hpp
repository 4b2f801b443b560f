/// \file result.hpp
/// Errors of the C++ interface as codes and messages of the C interface.
#pragma once
#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "tutti/c/types.h"
#include "tutti/error.hpp"

namespace tutti::c {

inline int code_of(ErrorCode code) { return -1 - static_cast<int>(code); }

inline int ok(tutti_error_t* error) {
  if (error != nullptr) {
    error->code = TUTTI_OK;
    error->message[0] = '\0';  // the rest is as it was: 500 bytes are not written for each call
  }
  return TUTTI_OK;
}

inline int failed(tutti_error_t* error, int code, std::string_view message) {
  if (error == nullptr) return code;
  error->code = code;
  const std::size_t length = std::min(message.size(), sizeof error->message - 1);
  std::memcpy(error->message, message.data(), length);
  error->message[length] = '\0';
  return code;
}

inline int failed(tutti_error_t* error, const Error& why) {
  return failed(error, code_of(why.code), why.message);
}

inline int refused(tutti_error_t* error, std::string_view why) {
  return failed(error, TUTTI_E_INVALID_ARGUMENT, why);
}

inline int done(tutti_error_t* error, const Result<void>& result) {
  return result ? ok(error) : failed(error, result.error());
}

/// Nothing is thrown across the interface: what is, for lack of memory, becomes an error.
template <class Body>
int guarded(tutti_error_t* error, Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return failed(error, TUTTI_E_SYSTEM, "out of memory");
  } catch (...) {
    return failed(error, TUTTI_E_SYSTEM, "an exception that Tutti does not know");
  }
}

}  // namespace tutti::c
