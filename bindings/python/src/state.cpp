#include "state.hpp"

#include <memory>
#include <string>
#include <vector>

#include "buffer.hpp"
#include "function.hpp"

namespace tutti::python {
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
