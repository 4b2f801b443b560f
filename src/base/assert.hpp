/// \file assert.hpp
/// Invariants checked in every build: TUTTI_ASSERT(condition, value...) prints the expression, the
/// place and the values, then aborts. For broken invariants of our own only: bytes from a peer, a
/// file or a user are input and are validated instead.
#pragma once
#include <cstdio>
#include <cstdlib>

namespace tutti {

template <class... Values>
[[noreturn, gnu::cold, gnu::noinline]] void assertion_failed(const char* expression,
                                                             const char* file, int line,
                                                             Values... values) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s", file, line, expression);
  ((std::fprintf(stderr, " [%lld]", static_cast<long long>(values))), ...);
  std::fputc('\n', stderr);
  std::abort();
}

}  // namespace tutti

#define TUTTI_ASSERT(condition, ...) \
  (static_cast<bool>(condition)      \
       ? void(0)                     \
       : ::tutti::assertion_failed(#condition, __FILE__, __LINE__ __VA_OPT__(, ) __VA_ARGS__))
