/// \file kill_all.hpp
/// `tutti demo --durable --kill-all`: all members are killed under load, again and again; nothing
/// that one of them delivered may be lost, changed or delivered twice in a life.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/common_options.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

struct KillAllOptions {
  std::vector<std::string> members{};
  FabricAndLevel words{};  ///< at level durable
  std::uint64_t rounds = 2;
};

/// Tells its story on standard output as it goes; the members' files are in `folder`.
[[nodiscard]] Result<void> kill_all(const KillAllOptions& options,
                                    const std::filesystem::path& folder);

}  // namespace tutti::cli
