#include "python.hpp"

#include <nanobind/stl/string.h>

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

namespace tutti::python {
namespace {

std::atomic<std::uint64_t> forks{0};
std::atomic<int> nodes{0};

// Threads between Released and the GIL, or in Python code that this module calls.
std::atomic<int> coming{0};
std::atomic<bool> ending{false};
std::atomic<std::thread::id> ends_it{};

/// False if the interpreter ends: then this thread must not ask for the GIL.
bool may_come() {
  coming.fetch_add(1, std::memory_order_seq_cst);  // before `ending` is read: end_interpreter waits
  if (!ending.load(std::memory_order_seq_cst) || ends_it.load() == std::this_thread::get_id()) {
    return true;
  }
  coming.fetch_sub(1, std::memory_order_seq_cst);
  coming.notify_all();
  return false;
}

void has_come() {
  coming.fetch_sub(1, std::memory_order_seq_cst);
  coming.notify_all();
}

[[noreturn]] void stay() {
  for (;;) ::pause();
}

/// For calls into Python code from within a call of this module.
struct InPython {
  InPython() {
    if (may_come()) return;
    PyEval_SaveThread();
    stay();
  }
  ~InPython() { has_come(); }
  InPython(const InPython&) = delete;
  InPython& operator=(const InPython&) = delete;
};

nb::object exception_for(const Error& error) {
  const InPython inside;
  return nb::module_::import_("tutti._errors")
      .attr("error_of")(static_cast<int>(error.code), error.message);
}

[[noreturn]] void throw_it(const nb::object& exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

}  // namespace

thread_local bool Released::here_ = false;

Released::~Released() {
  if (!may_come()) stay();
  PyEval_RestoreThread(state_);
  here_ = false;
  has_come();
}

void end_interpreter(bool threads_stay) {
  if (threads_stay) nb::set_leak_warnings(false);
  ends_it.store(std::this_thread::get_id());
  ending.store(true, std::memory_order_seq_cst);
  const Released released;
  for (int count = coming.load(); count > 0; count = coming.load()) coming.wait(count);
}

void raise(const Error& error) { throw_it(exception_for(error)); }

void raise(const Error& error, std::size_t sent) {
  const nb::object exception = exception_for(error);
  exception.attr("sent") = sent;
  throw_it(exception);
}

nanoseconds duration_from(nb::handle value, std::string_view what) {
  if (value.is_none()) return kForever;
  double seconds = 0;
  if (nb::hasattr(value, "total_seconds")) {
    seconds = nb::cast<double>(value.attr("total_seconds")());
  } else if (!nb::try_cast(value, seconds)) {
    const std::string text = std::string(what) +
                             " must be a number of seconds, a timedelta or None, not " +
                             nb::repr(value).c_str();
    throw nb::type_error(text.c_str());
  }
  if (std::isnan(seconds)) {
    throw nb::value_error((std::string(what) + " is not a number of seconds: nan").c_str());
  }
  constexpr double kLongest = 9e9;  // seconds: nearly all that nanoseconds can say
  if (seconds >= kLongest) return kForever;
  if (seconds <= -kLongest) return nanoseconds::min();
  return nanoseconds(std::llround(seconds * 1e9));
}

double seconds_of(nanoseconds duration) { return static_cast<double>(duration.count()) / 1e9; }

void check_signals() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

Result<void> interruptible(const std::function<Result<void>()>& call,
                           const std::function<void()>& interrupt, const std::atomic<bool>& ends) {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Result<void>> result;
  std::optional<nb::python_error> raised;
  std::thread worker;
  try {
    worker = std::thread([&] {
      Result<void> got = call();
      const std::lock_guard lock(mutex);
      result = std::move(got);
      changed.notify_one();
    });
  } catch (const std::system_error& refused) {
    return fail(ErrorCode::system, std::string("there is no thread for a call that waits: ") +
                                       refused.what() + "; raise the limit of threads");
  }
  for (bool done = false; !done;) {
    {
      const Released released;
      std::unique_lock lock(mutex);
      done = changed.wait_for(lock, kSlice, [&] { return result.has_value(); });
    }
    if (!raised && PyErr_CheckSignals() != 0) raised.emplace();
    if (!done && (raised || ends.load(std::memory_order_relaxed))) {
      const Released released;
      interrupt();  // again and again: `call` may not have begun yet
    }
  }
  {
    const Released released;
    worker.join();
  }
  if (raised) throw nb::python_error(std::move(*raised));
  return std::move(*result);
}

std::uint64_t forks_with_nodes() { return forks.load(std::memory_order_relaxed); }

void count_node(int difference) {
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] {
    coming.store(0, std::memory_order_relaxed);  // threads of the parent
    if (nodes.load(std::memory_order_relaxed) > 0) forks.fetch_add(1, std::memory_order_relaxed);
  });
  static_cast<void>(registered);
  nodes.fetch_add(difference, std::memory_order_relaxed);
}

void OfThisProcess::must_be_here(const char* what) const {
  if (is_here()) return;
  raise({ErrorCode::stopped,
         std::string("this ") + what +
             " belongs to the parent of this process, which forked: a child may use nothing of "
             "Tutti. Make the node in the child, before the parent has one"});
}

}  // namespace tutti::python
