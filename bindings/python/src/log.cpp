#include "log.hpp"

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "python.hpp"
#include "words.hpp"

namespace tutti::python {
namespace {

constexpr std::size_t kLinesMax = 10'000;

struct Line {
  std::string node;
  LogLevel level;
  std::string text;
};

class Lines {
 public:
  void put(Line line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
    if (lines_.size() > kLinesMax) {
      lines_.pop_front();
      ++dropped_;
    }
    changed_.notify_all();
  }
  void wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_all();
  }
  std::deque<Line> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !lines_.empty() || woken_; });
    std::deque<Line> taken = std::exchange(lines_, {});
    if (dropped_ > 0) {
      taken.push_front({"", LogLevel::warning,
                        std::to_string(std::exchange(dropped_, 0)) +
                            " log lines were dropped here: logging is too slow"});
    }
    return taken;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Line> lines_;
  std::size_t dropped_ = 0;
  bool woken_ = false;
};

// Never destroyed: a thread of the library may write its last line when the process ends. In the
// child of a fork another thread may hold the lock for ever: there they begin anew.
std::atomic<Lines*> all_lines{nullptr};

Lines& lines() {
  static const int registered = [] {
    all_lines.store(new Lines, std::memory_order_release);
    return ::pthread_atfork(nullptr, nullptr,
                            [] { all_lines.store(new Lines, std::memory_order_release); });
  }();
  static_cast<void>(registered);
  return *all_lines.load(std::memory_order_acquire);
}

}  // namespace

void put_line(const std::string& node, LogLevel level, std::string_view text) {
  lines().put({node, level, std::string(text)});
}

void bind_log(nb::module_& module) {
  module.def(
      "take_log_lines",
      [] {
        std::deque<Line> taken;
        {
          const Released released;
          taken = lines().take();
        }
        nb::list all;
        for (const Line& line : taken) {
          all.append(
              nb::make_tuple(text_from(line.node), word_of(line.level), text_from(line.text)));
        }
        return all;
      },
      nb::sig("def take_log_lines() -> list[tuple[str, str, str]]"),
      "Waits for log lines of any node, or wake_log(): tuples of node, level and text.");
  module.def("wake_log", [] { lines().wake(); }, "From now on take_log_lines does not wait.");
}

}  // namespace tutti::python
