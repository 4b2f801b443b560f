#include "python.hpp"

#include <nanobind/stl/string.h>

#include <pthread.h>

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

namespace tutti::python {
namespace {

std::atomic<std::uint64_t> forks{0};
std::atomic<int> nodes{0};

nb::object exception_for(const Error& error) {
  const InPython inside;
  return nb::module_::import_("tutti._errors")
      .attr("error_of")(static_cast<int>(error.code), text_from(error.message));
}

[[noreturn]] void throw_it(const nb::object& exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

/// What a call on another thread has returned.
class Outcome {
 public:
  void set(Result<void> got) {
    const std::lock_guard lock(mutex_);
    got_ = std::move(got);
    changed_.notify_one();
  }
  /// Waits for it, without the GIL.
  [[nodiscard]] bool is_there(nanoseconds timeout) {
    const Released released;
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, timeout, [&] { return got_.has_value(); });
  }
  [[nodiscard]] Result<void> get() { return std::move(*got_); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Result<void>> got_;
};

std::string escaped(PyObject* text) {
  if (text == nullptr) throw nb::python_error();
  const nb::object owned = nb::steal(text);
  const nb::object bytes =
      nb::steal(PyUnicode_AsEncodedString(owned.ptr(), "utf-8", "backslashreplace"));
  if (!bytes.is_valid()) throw nb::python_error();
  return {PyBytes_AsString(bytes.ptr()), static_cast<std::size_t>(PyBytes_Size(bytes.ptr()))};
}

template <class Run>
Result<std::thread> thread_for(Run&& run) {
  try {
    return std::thread(std::forward<Run>(run));
  } catch (const std::system_error& refused) {
    return fail(ErrorCode::system, std::string("there is no thread for a call that waits: ") +
                                       refused.what() + "; raise the limit of threads");
  }
}

}  // namespace

void raise(const Error& error) { throw_it(exception_for(error)); }

void raise(const Error& error, std::size_t sent) {
  const InPython inside;
  const nb::object exception = exception_for(error);
  exception.attr("sent") = sent;
  throw_it(exception);
}

nb::object text_from(std::string_view bytes) {
  PyObject* const text =
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace");
  if (text == nullptr) throw nb::python_error();
  return nb::steal(text);
}

std::string str_of(nb::handle value) { return escaped(PyObject_Str(value.ptr())); }
std::string repr_of(nb::handle value) { return escaped(PyObject_Repr(value.ptr())); }

nanoseconds duration_from(nb::handle value, std::string_view what) {
  if (value.is_none()) return kForever;
  const InPython inside;
  double seconds = 0;
  if (nb::hasattr(value, "total_seconds")) {
    seconds = nb::cast<double>(value.attr("total_seconds")());
  } else if (!nb::try_cast(value, seconds)) {
    const std::string text = std::string(what) +
                             " must be a number of seconds, a timedelta or None, not " +
                             repr_of(value);
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
  const auto outcome = std::make_shared<Outcome>();
  Result<std::thread> worker = thread_for([&call, outcome] { outcome->set(call()); });
  if (!worker) return std::unexpected(std::move(worker.error()));
  std::optional<nb::python_error> raised;
  while (!outcome->is_there(kSlice)) {
    if (!raised && PyErr_CheckSignals() != 0) raised.emplace();
    if (raised || ends.load(std::memory_order_relaxed)) {
      const Released released;
      interrupt();  // again and again: `call` may not have begun yet
    }
  }
  {
    const Released released;
    worker->join();
  }
  if (!raised && PyErr_CheckSignals() != 0) raised.emplace();
  if (raised) throw nb::python_error(std::move(*raised));
  return outcome->get();
}

Result<void> start_alone(std::function<void()> run) {
  Result<std::thread> worker = thread_for(std::move(run));
  if (!worker) return std::unexpected(std::move(worker.error()));
  worker->detach();
  return {};
}

Result<void> interruptible_alone(std::function<Result<void>()> call) {
  const auto outcome = std::make_shared<Outcome>();
  Result<void> begun = start_alone([call = std::move(call), outcome] { outcome->set(call()); });
  if (!begun) return begun;
  while (!outcome->is_there(kSlice)) check_signals();
  return outcome->get();
}

std::uint64_t forks_with_nodes() { return forks.load(std::memory_order_relaxed); }

void count_node(int difference) {
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] {
    forget_other_threads();
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
