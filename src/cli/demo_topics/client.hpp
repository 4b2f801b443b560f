/// \file client.hpp
/// The client of `tutti demo --topics`: it is no participant, and goes through a relay. It writes
/// to all ordered topics and reads those that are kept. Told what to do as the members are
/// (member.hpp).
#pragma once
#include <string>

#include "cli/cli11_fwd.hpp"

namespace tutti::cli {

struct DemoClientOptions {
  std::string relays{};  ///< HOST:PORT,HOST:PORT; the first one's member will be killed
  std::string seen{};    ///< the file for what it saw (seen.hpp)
};

/// The exit status.
[[nodiscard]] int demo_client(const DemoClientOptions& options);

}  // namespace tutti::cli
