/// \file places.hpp
/// Where the members of a measurement run: on this host unless told otherwise.
#pragma once
#include <cstdint>
#include <string>

#include "cli/cli11_fwd.hpp"

namespace tutti::cli {

struct PerfPlaces {
  std::string hosts{};  ///< start one member on each, by ssh; empty: not so
  std::string ssh = "ssh -o BatchMode=yes";
  std::string program = "tutti";  ///< on those hosts
  std::uint16_t port = 7400;      ///< of the first member; the others follow
  std::string listen{};           ///< wait here for `tutti perf join`; empty: not so

  [[nodiscard]] bool elsewhere() const { return !hosts.empty() || !listen.empty(); }
};

void add_place_options(CLI::App& command, PerfPlaces& places);

}  // namespace tutti::cli
