/// \file channel.hpp
/// JSON objects, one a line, between `tutti perf` and its members, through pipes or a connection.
/// A member first sends a Hello. Each request of the parent then has one reply: an object,
/// {"error": text, "code": n} if the member failed. A line is at most kLineBytesMax long.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/unique_fd.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

class Channel {
 public:
  static constexpr std::size_t kLineBytesMax = 64 * 1024 * 1024;

  Channel(UniqueFd input, UniqueFd output) : input_(std::move(input)), output_(std::move(output)) {}

  [[nodiscard]] Result<void> send(const nlohmann::json& object);

  /// Waits for the next object until that time (now_ns). ErrorCode::stopped: the other side has
  /// closed; timed_out: nothing yet; anything else: it is no member of ours.
  [[nodiscard]] Result<nlohmann::json> receive(std::int64_t deadline_ns);

  /// For poll(2).
  [[nodiscard]] int input_fd() const { return input_.get(); }

 private:
  UniqueFd input_;
  UniqueFd output_;
  std::string received_;
};

}  // namespace tutti::cli
