/// \file replicated_sum.hpp
/// A state machine for the tests of Replicated.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tutti/replicated.hpp"

namespace tutti {

/// Adds up what it is told.
struct Sum {
  struct Command {
    std::uint64_t add = 0;
    std::function<void()> while_encoding{};

    void encode(std::vector<std::byte>& out) const {
      if (while_encoding) while_encoding();
      const auto* begin = reinterpret_cast<const std::byte*>(&add);
      out.insert(out.end(), begin, begin + sizeof add);
    }
    static std::optional<Command> decode(std::span<const std::byte> in) {
      Command command;
      if (in.size() != sizeof command.add) return {};
      std::memcpy(&command.add, in.data(), in.size());
      return command;
    }
  };
  using Reply = std::uint64_t;

  Reply apply(const Command& command) {
    value += command.add;
    if (while_applying != nullptr && *while_applying) (*while_applying)();
    return value;
  }
  Result<void> save(const StateSink& write) const {
    write(std::as_bytes(std::span(&value, 1)));
    if (while_saving != nullptr && *while_saving) (*while_saving)();
    return {};
  }
  Result<void> load(const StatePiece& piece) {
    std::memcpy(&value, piece.bytes.data(), sizeof value);
    if (while_loading != nullptr && *while_loading) (*while_loading)();
    return {};
  }

  std::uint64_t value = 0;
  std::function<void()>* while_applying = nullptr;
  std::function<void()>* while_saving = nullptr;
  std::function<void()>* while_loading = nullptr;
};

}  // namespace tutti
