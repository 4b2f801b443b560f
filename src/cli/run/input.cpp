#include "cli/run/input.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "cli/clock.hpp"
#include "cli/log.hpp"
#include "cli/run/deliveries.hpp"

namespace tutti::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kInputBlockBytes = 256 * 1024;
constexpr milliseconds kInputSlice{50};
constexpr std::int64_t kWarnEveryNs = 10 * kNsPerSecond;
constexpr std::uint32_t kLegalMessageMax = 16 * 1024 * 1024;  // GroupOptions::message_max_bytes

}  // namespace

Input::Input(const Group& group, std::uint32_t message_max_bytes, Stamps* stamps,
             std::function<bool()> broken)
    : group_(group),
      message_max_(message_max_bytes),
      stamps_(stamps),
      broken_(std::move(broken)),
      splitter_(message_max_bytes, kInputBlockBytes) {}

InputEnd Input::send_all() {
  while (true) {
    if (wait_readable() == Ready::given_up) return InputEnd::given_up;
    const std::span<char> space = splitter_.space();
    const ssize_t count = ::read(STDIN_FILENO, space.data(), space.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) {
      error_ = std::string("cannot read standard input: ") + std::strerror(errno);
      return InputEnd::bad_input;
    }
    splitter_.added(static_cast<std::size_t>(count));
    bool going = send_lines();
    if (going && count == 0) {
      const std::optional<Line> rest = splitter_.rest();
      going = !rest || send(*rest);
      if (going) return InputEnd::end_of_input;
    }
    if (!going) return error_.empty() ? InputEnd::given_up : InputEnd::bad_input;
  }
}

Input::Ready Input::wait_readable() const {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  while (true) {
    if (broken_()) return Ready::given_up;
    // A signal that interrupts it is for broken() to see: reading might wait for ever.
    if (::poll(&input, 1, static_cast<int>(kInputSlice.count())) > 0) return Ready::readable;
  }
}

bool Input::send_lines() {
  while (const std::optional<Line> line = splitter_.next()) {
    if (!send(*line)) return false;
  }
  // Do not read on for ever in search of the end of a line that no option could allow.
  if (splitter_.too_long_so_far() > kLegalMessageMax) {
    note_too_long(splitter_.line_number(), splitter_.too_long_so_far(), false);
    return false;
  }
  return true;
}

bool Input::send(const Line& line) {
  if (line.too_long) {
    note_too_long(line.number, line.size, true);
    return false;
  }
  const auto size = static_cast<std::uint32_t>(line.size);
  const Ticket ticket{sent_ + 1};  // tickets count the messages of one's own from 1
  if (stamps_ != nullptr && is_sampled(ticket)) stamps_->set(ticket, now_ns());
  Claim claim = group_.try_claim(size);
  if (!claim) claim = wait_for_space(size);
  if (!claim) return false;
  if (size > 0) std::memcpy(claim.data(), line.text.data(), size);
  group_.commit(std::move(claim));
  ++sent_;
  return true;
}

Claim Input::wait_for_space(std::uint32_t size) {
  std::int64_t warn_ns = now_ns() + kWarnEveryNs;
  while (!broken_()) {
    Result<Claim> claim = group_.claim(size, kInputSlice);
    if (claim) return std::move(*claim);
    if (claim.error().code != ErrorCode::timed_out) break;  // the node says why: see broken_
    if (now_ns() < warn_ns) continue;
    warn_ns += kWarnEveryNs;
    log_warning(
        "waiting: the window is full, because some member does not deliver (is the reader "
        "of its standard output slow or stopped?)");
  }
  return {};
}

void Input::note_too_long(std::uint64_t number, std::uint64_t size, bool whole) {
  error_ = "line " + std::to_string(number) + " of standard input has " +
           (whole ? "" : "more than ") + std::to_string(size) + " bytes, the maximum is " +
           std::to_string(message_max_);
  if (size <= kLegalMessageMax) {
    error_ += "; raise it at all members with --message-max " + std::to_string(size) +
              " (at most a quarter of --window)";
  } else {
    error_ += "; --message-max can raise that to " + std::to_string(kLegalMessageMax) +
              " at most, so split the line";
  }
}

}  // namespace tutti::cli
