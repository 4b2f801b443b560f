/// \file python.hpp
/// What all parts of the module share: errors become exceptions, durations become nanoseconds, and
/// waits let other threads of the interpreter run and end when the user presses Ctrl-C.
///
/// Rules: PY1 no thread of the library that the protocol waits for takes the interpreter's lock
/// (GIL); PY2 a call that may wait releases the GIL, and asks for signals every kSlice.
#pragma once
#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "ending.hpp"
#include "tutti/error.hpp"

namespace tutti::python {

namespace nb = nanobind;
using std::chrono::nanoseconds;

inline constexpr nanoseconds kForever = nanoseconds::max();
inline constexpr nanoseconds kSlice = std::chrono::milliseconds(20);

/// Throws tutti.Error, or the subclass of it that belongs to the code.
[[noreturn]] void raise(const Error& error);
/// The same, with the attribute `sent`: how many messages were sent before.
[[noreturn]] void raise(const Error& error, std::size_t sent);

template <class T>
T or_raise(Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// A str: bytes that are no UTF-8, as others may have sent them, become U+FFFD.
[[nodiscard]] nb::object text_from(std::string_view bytes);
/// str(value) and repr(value), for errors: what UTF-8 cannot say is escaped.
[[nodiscard]] std::string str_of(nb::handle value);
[[nodiscard]] std::string repr_of(nb::handle value);

/// The object of C++ in `self`; null, with the error of Python, if it is none, or was never
/// initialised, as T.__new__(T) leaves it. For slots, and for methods that take a handle: nanobind
/// checks only typed arguments.
template <class T>
[[nodiscard]] T* initialised(nb::handle self) {
  if (nb::isinstance<T>(self) && nb::inst_ready(self)) return nb::inst_ptr<T>(self);
  PyErr_SetString(PyExc_TypeError,
                  "this object is of another type, or was never initialised: only calls of this "
                  "package make such objects");
  return nullptr;
}

/// Seconds as a number, or a timedelta; None is for ever. Raises for what is neither, and for NaN.
[[nodiscard]] nanoseconds duration_from(nb::handle value, std::string_view what);
[[nodiscard]] double seconds_of(nanoseconds duration);

/// Throws the exception of a signal's handler, if one came and raised.
void check_signals();

/// Calls attempt(slice) without the GIL until it does not end with ErrorCode::timed_out, or
/// `timeout` is over. `attempt` takes no object of Python.
template <class Attempt>
auto in_slices(nanoseconds timeout, Attempt&& attempt) -> decltype(attempt(timeout)) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  timeout = std::max(timeout, nanoseconds(0));
  for (;;) {
    const nanoseconds left =
        timeout == kForever ? kForever : std::max(nanoseconds(0), timeout - (Clock::now() - start));
    auto result = [&] {
      const Released released;
      return attempt(std::min(left, kSlice));
    }();
    if (result || result.error().code != ErrorCode::timed_out || left <= kSlice) return result;
    check_signals();
  }
}

/// Runs `call`, which cannot be divided into slices, on another thread and waits for it. If a
/// signal raises meanwhile, or `ends` becomes true, `interrupt` must make `call` return, if need be
/// when it is called again; an exception is thrown then.
[[nodiscard]] Result<void> interruptible(const std::function<Result<void>()>& call,
                                         const std::function<void()>& interrupt,
                                         const std::atomic<bool>& ends);

/// Begins `run` on a thread of its own, which nobody waits for: so it must own all that it uses, or
/// see to that.
[[nodiscard]] Result<void> start_alone(std::function<void()> run);

/// The same as interruptible() for a call that nothing interrupts: if a signal raises, it goes on
/// alone, and its thread ends with it. So it must own all that it uses.
[[nodiscard]] Result<void> interruptible_alone(std::function<Result<void>()> call);

/// Grows in the child of each fork that had a node in its parent.
[[nodiscard]] std::uint64_t forks_with_nodes();
void count_node(int difference);

/// Part of each object that stands for something of the library. In the child of a fork there is no
/// thread that drives a node: there each use is an error, and nothing is destroyed.
class OfThisProcess {
 public:
  [[nodiscard]] bool is_here() const { return forks_ == forks_with_nodes(); }
  /// Raises tutti.Stopped in the child of a fork.
  void must_be_here(const char* what) const;

 private:
  std::uint64_t forks_ = forks_with_nodes();
};

void bind_bootstrap(nb::module_& module);
void bind_log(nb::module_& module);
void bind_node(nb::module_& module);
void bind_group(nb::module_& module);
void bind_claim(nb::module_& module);
void bind_space(nb::module_& module);
void bind_batch(nb::module_& module);

}  // namespace tutti::python
