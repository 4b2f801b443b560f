#include "cli/perf/channel.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "cli/clock.hpp"
#include "cli/output.hpp"

namespace tutti::cli {

Result<void> Channel::send(const nlohmann::json& object) {
  Output output(output_.get(), "a member");
  output.append(object.dump());
  output.append("\n");
  output.flush();
  if (output.failed()) return fail(ErrorCode::stopped, output.error());
  return {};
}

Result<nlohmann::json> Channel::receive(std::int64_t deadline_ns) {
  while (true) {
    if (const std::size_t newline = received_.find('\n'); newline != std::string::npos) {
      nlohmann::json object = nlohmann::json::parse(received_.substr(0, newline), nullptr, false);
      received_.erase(0, newline + 1);
      if (object.is_object()) return object;
      return fail(ErrorCode::system, "a line came that is no JSON object");
    }
    if (received_.size() > kLineBytesMax) return fail(ErrorCode::system, "a line without end came");
    const std::int64_t left_ms = (deadline_ns - now_ns() + 999'999) / 1'000'000;
    pollfd input{.fd = input_.get(), .events = POLLIN, .revents = 0};
    const int ready =
        ::poll(&input, 1, static_cast<int>(std::clamp<std::int64_t>(left_ms, 0, 60'000)));
    if (ready == 0 && now_ns() >= deadline_ns)
      return fail(ErrorCode::timed_out, "no reply in time");
    if (ready <= 0) continue;
    std::array<char, 65536> block;
    const ssize_t count = ::read(input_.get(), block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return fail(ErrorCode::stopped, "it closed the connection");
    received_.append(block.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace tutti::cli
