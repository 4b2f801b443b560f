/// \file member.hpp
/// Members of a measurement of clients, each in a process of its own, and what it shares with the
/// process that measures.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "tutti/options.hpp"

namespace tutti::perf {

inline constexpr const char* kTopic = "log";
inline constexpr std::size_t kMembers = 3;

/// Of one member, in memory that all processes share.
struct Shared {
  std::atomic<std::uint32_t> port{0};  ///< of its relay; 0: not yet
  /// The measuring process asks this member to write to a topic of members as fast as it can.
  std::atomic<bool> writes{false};
  std::atomic<std::uint64_t> delivered{0};  ///< of that topic, here
  std::atomic<std::uint64_t> processor_ns{0};
};

/// Processes of three members, each with a relay. One thread; nothing is forked once there are
/// others.
class Members {
 public:
  Members();
  ~Members();
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  /// Once all relays listen.
  void await_relays();
  [[nodiscard]] std::string address(std::size_t member) const;
  [[nodiscard]] Shared& operator[](std::size_t member) { return shared_[member]; }
  void kill(std::size_t member);

 private:
  std::vector<pid_t> processes_{};
  Shared* shared_ = nullptr;
};

}  // namespace tutti::perf
