/// \file demo_topics.hpp
/// `tutti demo --topics`: three participants, a topic of each service, one more participant that
/// comes later, and kill -9 for one of them; then it checks what the readers saw.
#pragma once
#include <string>

namespace tutti::cli {

struct DemoTopicsOptions {
  std::string fabric{};
  double seconds = 6;  ///< of writing, 1 .. 3600
};

/// The exit status.
[[nodiscard]] int demo_topics(const DemoTopicsOptions& options);

}  // namespace tutti::cli
