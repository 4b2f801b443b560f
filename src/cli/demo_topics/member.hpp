/// \file member.hpp
/// One participant of `tutti demo --topics`, told by standard input what to do, one JSON object a
/// line:
///
///     {"do": "go"}                     write to all topics
///     {"do": "finish", "writers": [0]} write a last sample to each, and wait for theirs
///     {"do": "leave"}                  leave the others, and end
///
/// It answers on standard output with the same object again and again: its state (ready, done), its
/// view, and how much its readers saw.
#pragma once
#include <string>

#include "cli/cli11_fwd.hpp"

namespace tutti::cli {

struct DemoMemberOptions {
  std::string name{};
  std::string members{};
  std::string fabric{};
  std::string state_dir{};
  std::string seen{};   ///< the file for what it saw (seen.hpp)
  std::string relay{};  ///< where clients call; empty: nowhere
  bool bootstrap = false;
};

/// The exit status.
[[nodiscard]] int demo_member(const DemoMemberOptions& options);

}  // namespace tutti::cli
