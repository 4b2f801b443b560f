/// \file host.hpp
/// What a member needs from its machine: processors and memory.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "doctor/finding.hpp"

namespace tutti::doctor {

struct Host {
  std::vector<unsigned> cores{};         ///< where this process may run
  std::vector<unsigned> isolated{};      ///< that the scheduler uses only for pinned threads
  std::vector<std::string> governors{};  ///< of their frequency, each once; empty: not ours to set
  std::optional<std::uint64_t> available_bytes{};  ///< available memory, without swapping
  std::optional<std::uint64_t> limit_bytes{};  ///< left to this control group; nothing: no limit
  std::string
      huge_pages{};  ///< when memory files get them: "never", ...; empty: the kernel has none
};

/// Reads them from proc/ and sys/ in `root`; what is missing or has another form stays empty.
[[nodiscard]] Host read_host(const std::filesystem::path& root = "/");

[[nodiscard]] Findings findings_of(const Host& host);

}  // namespace tutti::doctor
