/// \file function.hpp
/// Functions of the application in Python that the library calls on threads of its own.
#pragma once
#include <exception>
#include <string>
#include <utility>

#include "python.hpp"

namespace tutti::python {

// As the last line of a traceback. what() cannot say an exception whose text is no UTF-8.
inline std::string said_by(const nb::python_error& raised) {
  const std::string type = str_of(raised.type().attr("__name__"));
  try {
    return type + ": " + str_of(raised.value());
  } catch (const nb::python_error&) {  // its __str__ raises
    return type;
  }
}

/// A function of Python that threads of the library may call and destroy.
class Function {
 public:
  explicit Function(const nb::object& function) : function_(function) {}
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;
  ~Function() {
    if (here_.is_here()) {
      if (const Acquired python; python) function_.reset();
    }
    static_cast<void>(function_.release());  // nobody may touch it any more
  }

  /// What it raises is reported by sys.unraisablehook and is the error.
  template <class Call>
  Result<void> call(const char* name, Call&& call) const {
    const Acquired python;
    if (!python) return fail(ErrorCode::stopped, std::string(name) + ": the interpreter ends");
    try {
      return std::forward<Call>(call)(function_);
    } catch (nb::python_error& raised) {
      const std::string what = said_by(raised);
      raised.discard_as_unraisable(function_);
      return fail(ErrorCode::system, std::string(name) + " raised " + what);
    } catch (const std::exception& raised) {
      return fail(ErrorCode::system, std::string(name) + ": " + raised.what());
    }
  }

 private:
  OfThisProcess here_;
  nb::object function_;
};

}  // namespace tutti::python
