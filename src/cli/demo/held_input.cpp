#include "cli/demo/held_input.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

namespace tutti::cli {
namespace {

constexpr std::uint64_t kToTheEnd = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kChunkBytes = 64 * 1024;

/// Where the last line of a file of so many bytes begins.
std::uint64_t last_line(const UniqueFd& file, std::uint64_t bytes) {
  std::array<char, kChunkBytes> chunk;
  std::uint64_t end = bytes == 0 ? 0 : bytes - 1;  // the newline that ends it
  while (end > 0) {
    const std::uint64_t begin = end - std::min<std::uint64_t>(end, chunk.size());
    const ssize_t got = ::pread(file.get(), chunk.data(), end - begin, static_cast<off_t>(begin));
    if (got != static_cast<ssize_t>(end - begin)) return 0;
    const std::size_t newline = std::string_view(chunk.data(), end - begin).rfind('\n');
    if (newline != std::string_view::npos) return begin + newline + 1;
    end = begin;
  }
  return 0;
}

}  // namespace

Result<std::unique_ptr<HeldInput>> HeldInput::open(const std::filesystem::path& path) {
  std::unique_ptr<HeldInput> input(new HeldInput());
  input->file_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<int, 2> ends{-1, -1};
  if (!input->file_ || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail(ErrorCode::system, "cannot send " + path.string() + ": " + std::strerror(errno));
  }
  input->reading_end_ = UniqueFd(ends[0]);
  input->writing_end_ = UniqueFd(ends[1]);
  struct stat status{};
  ::fstat(input->file_.get(), &status);
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  const std::uint64_t held_from = last_line(input->file_, bytes);
  input->held_bytes_ = bytes - held_from;
  input->sender_ = std::jthread([self = input.get(), held_from] { self->send_all(held_from); });
  return input;
}

HeldInput::~HeldInput() {
  ::shutdown(writing_end_.get(), SHUT_RDWR);  // ends a send that waits for its reader
  let_go();
}

void HeldInput::send_all(std::uint64_t held_from) {
  if (send_until(held_from)) {
    may_go_.wait(false);
    static_cast<void>(send_until(kToTheEnd));
  }
  ::shutdown(writing_end_.get(), SHUT_WR);
}

bool HeldInput::send_until(std::uint64_t end) {
  std::array<char, kChunkBytes> chunk;
  while (sent_ < end) {
    const std::size_t want = std::min<std::uint64_t>(chunk.size(), end - sent_);
    const ssize_t got = ::pread(file_.get(), chunk.data(), want, static_cast<off_t>(sent_));
    if (got <= 0) return got == 0;
    for (ssize_t at = 0; at < got;) {
      const ssize_t bytes = ::send(writing_end_.get(), chunk.data() + at,
                                   static_cast<std::size_t>(got - at), MSG_NOSIGNAL);
      if (bytes < 0 && errno == EINTR) continue;
      if (bytes <= 0) return false;
      at += bytes;
    }
    sent_ += static_cast<std::uint64_t>(got);
  }
  return true;
}

}  // namespace tutti::cli
