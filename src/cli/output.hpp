/// \file output.hpp
/// Buffered output to a descriptor that keeps the first error instead of throwing or aborting.
/// Invariants: O1 what was appended leaves in order and whole, whatever write(2) takes at a time.
/// O2 after an error nothing more is written. Threads: one, but failed() from any.
#pragma once
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace tutti::cli {

class Output {
 public:
  static constexpr std::size_t kFlushBytes = 64 * 1024;

  /// `what` names the descriptor in messages, such as "standard output".
  Output(int fd, std::string what) : fd_(fd), what_(std::move(what)) {}

  void append(std::string_view text) {
    if (size_ + text.size() > kBufferBytes) {
      flush();
      if (text.size() > kBufferBytes) return write_all(text.data(), text.size());
    }
    std::memcpy(buffer_.get() + size_, text.data(), text.size());
    size_ += text.size();
  }

  void append(std::uint64_t number) {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof(digits), number);
    append(std::string_view(digits, static_cast<std::size_t>(end.ptr - digits)));
  }

  /// Flushes once a good write's worth has gathered.
  void flush_if_large() {
    if (size_ >= kFlushBytes) flush();
  }

  void flush() {
    const std::size_t size = size_;
    size_ = 0;
    if (size > 0) write_all(buffer_.get(), size);
  }

  /// Flushes and closes: some errors (quotas, network file systems) only show now.
  void close() {
    flush();
    if (::close(fd_) != 0 && errno != EINTR && !failed()) note_error(errno);
  }

  /// Pairs with note_error: whoever sees true may read error().
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_acquire); }
  /// What went wrong and what to do. Only after failed().
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] std::uint64_t written_bytes() const { return written_; }

 private:
  static constexpr std::size_t kBufferBytes = 256 * 1024;

  void write_all(const char* data, std::size_t size) {
    while (size > 0 && !failed()) {
      const ssize_t written = ::write(fd_, data, size);
      if (written >= 0) {
        data += written;
        size -= static_cast<std::size_t>(written);
        written_ += static_cast<std::uint64_t>(written);
      } else if (errno == EAGAIN) {  // someone made it non-blocking, as some terminals' owners do
        pollfd ready{.fd = fd_, .events = POLLOUT, .revents = 0};
        ::poll(&ready, 1, -1);
      } else if (errno != EINTR) {
        note_error(errno);
      }
    }
  }

  void note_error(int code) {
    error_ = "cannot write to " + what_ + ": " + std::strerror(code) + " (" +
             std::to_string(written_) + " bytes were written before)";
    if (code == ENOSPC || code == EDQUOT) error_ += "; free some space, then start again";
    if (code == EPIPE) error_ += "; the program that read it has ended";
    failed_.store(true, std::memory_order_release);  // pairs with failed()
  }

  const int fd_;
  const std::string what_;
  const std::unique_ptr<char[]> buffer_{new char[kBufferBytes]};
  std::size_t size_ = 0;
  std::uint64_t written_ = 0;
  std::string error_;
  std::atomic<bool> failed_ = false;
};

}  // namespace tutti::cli
