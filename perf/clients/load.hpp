/// \file load.hpp
/// Many clients in one thread: the library's state machine of a client for each, and one epoll.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"

namespace tutti::perf {

struct LoadOptions {
  std::string relay{};
  std::size_t clients = 1000;    ///< each publishes
  std::size_t subscribers = 5;   ///< of these: they read all
  std::size_t bytes = 64;        ///< of a sample
  std::uint64_t per_second = 0;  ///< of all together; 0: as fast as answers come
};

struct LoadCounts {
  std::uint64_t answered = 0;
  std::uint64_t received = 0;
  std::uint64_t missed = 0;  ///< gaps
};

class LoadClient;

class Load {
 public:
  /// Connects all, and waits until each knows the topic and is subscribed.
  explicit Load(const LoadOptions& options);
  ~Load();
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  /// Publishes for that long; what was counted in it.
  LoadCounts run(std::chrono::duration<double> time);

 private:
  void turn(int timeout_ms);
  void publish(std::chrono::steady_clock::time_point begin);
  void publish_at(LoadClient& client);

  const LoadOptions options_;
  UniqueFd epoll_;
  LoadCounts counts_{};
  std::vector<std::unique_ptr<LoadClient>> clients_{};
  std::vector<std::byte> sample_{};
  std::uint64_t published_ = 0;  // of this run
  std::size_t next_ = 0;         // client
};

}  // namespace tutti::perf
