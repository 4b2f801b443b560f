#include "node/log_thread.hpp"

#include <string>

#include "base/start_thread.hpp"

namespace tutti {

Result<void> LogThread::start() {
  const std::lock_guard lock(mutex_);  // the thread looks at `thread_` under it
  Result<std::thread> thread = start_thread("the thread for the log", [this] { run(); });
  if (!thread) return std::unexpected(thread.error());
  thread_ = std::move(*thread);
  takes_ = true;
  return {};
}

void LogThread::say(LogLevel level, std::string_view text) {
  {
    const std::lock_guard lock(mutex_);
    if (!takes_ || thread_.get_id() == std::this_thread::get_id()) return;
    queue_.push(level, std::string(text));
    ++said_;
  }
  changed_.notify_all();
}

void LogThread::flush() {
  std::unique_lock lock(mutex_);
  if (thread_.get_id() == std::this_thread::get_id()) return;
  const std::uint64_t until = said_;
  changed_.wait(lock, [this, until] { return done_ >= until; });
}

void LogThread::end() {
  {
    const std::lock_guard lock(mutex_);
    takes_ = false;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  write_ = {};
}

void LogThread::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !queue_.empty() || !takes_; });
    if (queue_.empty()) return;
    const LogQueue::Line line = queue_.take();
    lock.unlock();
    if (line.missing != 0) {
      write_(LogLevel::warning,
             "the log callback did not keep up: " + std::to_string(line.missing) +
                 (line.missing == 1 ? " line is" : " lines are") + " missing here");
    }
    write_(line.level, line.text);
    lock.lock();
    done_ += 1 + line.missing;
    changed_.notify_all();
  }
}

}  // namespace tutti
