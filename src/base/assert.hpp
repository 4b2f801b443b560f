/// \file assert.hpp
/// Invariants checked in every build: TUTTI_ASSERT(condition, value...) prints the expression, the
/// place, the values and what they are, then aborts. A value may be a number, or a position of a
/// type of its own, such as a Slot or a Rank. For broken invariants of our own only: bytes
/// from a peer, a file or a user are input and are validated instead.
#pragma once
#include <cstdio>
#include <cstdlib>

namespace tutti {

// Of what stands in an assertion: itself, or of a position its number.
template <class Value>
[[nodiscard]] long long number_in(const Value& value) {
  if constexpr (requires { value.value; }) {
    return static_cast<long long>(value.value);
  } else {
    return static_cast<long long>(value);
  }
}

template <class... Values>
[[noreturn, gnu::cold, gnu::noinline]] void assertion_failed(const char* expression,
                                                             const char* file, int line,
                                                             const char* names, Values... values) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s", file, line, expression);
  if constexpr (sizeof...(values) != 0) {
    std::fprintf(stderr, " (%s =", names);
    ((std::fprintf(stderr, " %lld", number_in(values))), ...);
    std::fputc(')', stderr);
  }
  std::fputc('\n', stderr);
  std::abort();
}

}  // namespace tutti

#define TUTTI_ASSERT(condition, ...)                               \
  (static_cast<bool>(condition)                                    \
       ? void(0)                                                   \
       : ::tutti::assertion_failed(#condition, __FILE__, __LINE__, \
                                   #__VA_ARGS__ __VA_OPT__(, ) __VA_ARGS__))
