/// \file hello.hpp
/// The first message of a member of a measurement, sent before it knows anything about it.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "tutti/error.hpp"

namespace tutti::cli {

struct Hello {
  std::string version{};
  std::string host{};     ///< its name, for people
  std::string clock{};    ///< the same where now_ns() is the same: the boot of the host
  std::string address{};  ///< HOST:PORT where its node will listen; empty: the parent says
  std::optional<std::uint32_t> rank{};  ///< the one it wants
};

/// Of this process.
[[nodiscard]] Hello hello_here();

[[nodiscard]] nlohmann::json to_json(const Hello& hello);

/// Any process may have sent it: the error says what is wrong with it. Its version must be this
/// one.
[[nodiscard]] Result<Hello> hello_from(const nlohmann::json& object);

}  // namespace tutti::cli
