#include "cli/log.hpp"

#include <poll.h>
#include <pthread.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <ctime>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/log_queue.hpp"
#include "base/start_thread.hpp"
#include "cli/exit_code.hpp"

namespace tutti::cli {
namespace {

constexpr int kRefusedLooks = 1000;  // one after the other, at which standard error takes nothing
constexpr timespec kDrainLook{.tv_sec = 0, .tv_nsec = 1'000'000};  // 1 ms

/// All of the text, or as much as standard error takes: nobody could be told of an error there.
void write_to_standard_error(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // someone made it non-blocking
      pollfd ready{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return;
    }
  }
}

/// Async-signal-safe. False for a terminal that was stopped, and for a pipe that nobody reads.
bool takes_lines() {
  pollfd standard_error{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  return ::poll(&standard_error, 1, 0) == 1;
}

/// Takes lines from any thread and writes them on one of its own: a terminal that was stopped, or a
/// pipe that nobody reads, keeps only that one waiting. Never destroyed, as that thread has no end.
class LogSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  /// Without a thread, each line is written where it is said.
  void start() {
    // Handlers run on the threads that were there before.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (Result<std::thread> writer = start_thread("the log's thread", [this] { write_lines(); })) {
      writer->detach();
      has_thread_ = true;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  /// Pairs with write_lines. Async-signal-safe.
  [[nodiscard]] bool all_written() const { return all_written_.load(std::memory_order_acquire); }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    std::string line = formatted(message);
    if (!has_thread_) return write_to_standard_error(line);
    queue_.push(LogLevel::info, std::move(line));
    all_written_.store(false, std::memory_order_relaxed);
    ready_.notify_one();
  }

  void flush_() override {}

  std::string formatted(const spdlog::details::log_msg& message) {
    spdlog::memory_buf_t buffer;
    formatter_->format(message, buffer);
    return {buffer.data(), buffer.size()};
  }

  std::string next() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return !queue_.empty(); });
    LogQueue::Line line = queue_.take();
    if (line.missing == 0) return std::move(line.text);
    const std::string gap = "standard error was not read in time: " + std::to_string(line.missing) +
                            (line.missing == 1 ? " line" : " lines") + " of the log missing here";
    return formatted({"tutti", spdlog::level::warn, gap}) + line.text;
  }

  void write_lines() {
    for (;;) {
      write_to_standard_error(next());
      const std::lock_guard lock(mutex_);
      all_written_.store(queue_.empty(), std::memory_order_release);  // pairs with all_written
    }
  }

  bool has_thread_ = false;
  LogQueue queue_;
  std::condition_variable ready_;
  std::atomic<bool> all_written_{true};
};

std::atomic<const LogSink*> log_sink{nullptr};

std::shared_ptr<spdlog::logger> make_logger() {
  static const auto& sink = *new std::shared_ptr<LogSink>(std::make_shared<LogSink>());
  sink->start();
  log_sink.store(sink.get(), std::memory_order_release);  // pairs with drain_log
  auto logger = std::make_shared<spdlog::logger>("tutti", sink);
  spdlog::set_default_logger(logger);
  return logger;
}

}  // namespace

std::string visible(std::string_view text) {
  std::string shown(text);
  for (char& c : shown) {
    if ((c >= 0 && c < ' ' && c != '\n') || c == '\x7f') c = '?';
  }
  return shown;
}

void set_up_log(Verbosity verbosity, std::string_view member) {
  static const auto logger = make_logger();
  const std::string who = member.empty() ? "tutti" : "tutti[" + std::string(member) + "]";
  const bool verbose = verbosity == Verbosity::verbose;
  logger->set_pattern(verbose ? "%H:%M:%S.%f " + who + " [%l]: %v" : who + ": %v");
  logger->set_level(verbose                         ? spdlog::level::debug
                    : verbosity == Verbosity::quiet ? spdlog::level::err
                                                    : spdlog::level::info);
}

bool drain_log(std::chrono::milliseconds at_most) {
  const LogSink* sink = log_sink.load(std::memory_order_acquire);  // pairs with make_logger
  if (sink == nullptr) return true;
  // The log's thread gets on as long as standard error takes something, however slowly: a disk may.
  int refused = 0;
  for (auto looks = at_most.count(); looks > 0 && refused < kRefusedLooks; --looks) {
    if (sink->all_written()) return true;
    refused = takes_lines() ? 0 : refused + 1;
    nanosleep(&kDrainLook, nullptr);
  }
  return sink->all_written();
}

void log_error(std::string_view message) { spdlog::error("{}", visible(message)); }
void log_warning(std::string_view message) { spdlog::warn("{}", visible(message)); }
void log_info(std::string_view message) { spdlog::info("{}", visible(message)); }
void log_debug(std::string_view message) { spdlog::debug("{}", visible(message)); }

LogCallback library_log() {
  return [](LogLevel level, std::string_view message) {
    switch (level) {
      case LogLevel::debug:
      case LogLevel::error:  // comes back as a value too, and is reported there
        return log_debug(message);
      case LogLevel::info:
        return log_info(message);
      case LogLevel::warning:
        return log_warning(message);
    }
  };
}

int report(const Error& error) {
  log_error(error.message);
  return exit_code_of(error);
}

}  // namespace tutti::cli
