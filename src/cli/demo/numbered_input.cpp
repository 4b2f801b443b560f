#include "cli/demo/numbered_input.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>

#include "cli/clock.hpp"

namespace tutti::cli {
namespace {

constexpr std::int64_t kBurstEveryNs = 2'000'000;

}  // namespace

Result<std::unique_ptr<NumberedInput>> NumberedInput::start(NumberedLines lines) {
  std::unique_ptr<NumberedInput> input(new NumberedInput(std::move(lines)));
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail(ErrorCode::system,
                std::string("cannot make a member's input: ") + std::strerror(errno));
  }
  input->reading_end_ = UniqueFd(ends[0]);
  input->writing_end_ = UniqueFd(ends[1]);
  try {
    input->sender_ =
        std::jthread([self = input.get()](const std::stop_token& told) { self->send_all(told); });
  } catch (const std::system_error& problem) {
    return fail(ErrorCode::system, std::string("cannot start a thread: ") + problem.what());
  }
  return input;
}

NumberedInput::~NumberedInput() {
  sender_.request_stop();
  let_end();
  if (writing_end_) ::shutdown(writing_end_.get(), SHUT_RDWR);  // ends a send that waits
}

void NumberedInput::send_all(const std::stop_token& told) {
  const std::uint64_t end =
      lines_.count > 0 ? lines_.count : std::numeric_limits<std::uint64_t>::max();
  std::int64_t next_ns = now_ns();
  for (std::uint64_t sent = 0; sent < end && !told.stop_requested();) {
    std::string text;
    for (const std::uint64_t until = std::min(end, sent + lines_.burst); sent < until; ++sent) {
      text += lines_.prefix + " " + std::to_string(sent) + "\n";
    }
    if (!send(text)) return;
    next_ns += kBurstEveryNs;
    wait_until(next_ns, false);
  }
  may_end_.wait(false);
  if (!told.stop_requested()) ::shutdown(writing_end_.get(), SHUT_WR);
}

bool NumberedInput::send(const std::string& text) const {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t wrote =
        ::send(writing_end_.get(), text.data() + at, text.size() - at, MSG_NOSIGNAL);
    if (wrote < 0 && errno != EINTR) return false;
    if (wrote > 0) at += static_cast<std::size_t>(wrote);
  }
  return true;
}

}  // namespace tutti::cli
