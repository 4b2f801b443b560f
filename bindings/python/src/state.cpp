#include "state.hpp"

#include <memory>
#include <string>
#include <vector>

#include "buffer.hpp"

namespace tutti::python {
namespace {

// As the last line of a traceback. what() cannot say an exception whose text is no UTF-8.
std::string said_by(const nb::python_error& raised) {
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

}  // namespace

SaveState saved_by(const nb::object& save) {
  auto function = std::make_shared<Function>(save);
  return [function](const StateSink& write) -> Result<void> {
    return function->call("save_state", [&](const nb::object& call) -> Result<void> {
      const nb::object state = call();
      const Bytes bytes(state);
      write(bytes.get());
      return {};
    });
  };
}

LoadState loaded_by(const nb::object& load) {
  auto function = std::make_shared<Function>(load);
  auto collected = std::make_shared<std::vector<std::byte>>();
  return [function, collected](const StatePiece& piece) -> Result<void> {
    if (piece.first) collected->clear();
    collected->insert(collected->end(), piece.bytes.begin(), piece.bytes.end());
    if (!piece.last) return {};
    const std::vector<std::byte> state = std::move(*collected);
    collected->clear();
    return function->call("load_state", [&](const nb::object& call) -> Result<void> {
      call(nb::bytes(state.data(), state.size()));
      return {};
    });
  };
}

}  // namespace tutti::python
