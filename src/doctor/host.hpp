/// \file host.hpp
/// What a member needs of the machine it runs on: processors and memory.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "doctor/finding.hpp"

namespace tutti::doctor {

struct Host {
  std::vector<unsigned> cores{};         ///< that this process may run on
  std::vector<unsigned> isolated{};      ///< that the scheduler gives to nobody who does not ask
  std::vector<std::string> governors{};  ///< of their frequency, each once; empty: not ours to set
  std::optional<std::uint64_t> available_bytes{};  ///< memory that may be had without swapping
  std::optional<std::uint64_t> limit_bytes{};  ///< left to this control group; nothing: no limit
  std::string
      huge_pages{};  ///< when memory files get them: "never", ...; empty: the kernel has none
};

/// Reads it. `root` has proc/ and sys/ in it; what is not there, or not understood, is left empty.
[[nodiscard]] Host read_host(const std::filesystem::path& root = "/");

[[nodiscard]] Findings findings_of(const Host& host);

}  // namespace tutti::doctor
