#include "cli/log/changes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <ctime>
#include <utility>

#include "cli/signals.hpp"

namespace tutti::cli {

/// Blocks the signals that end the command, until it goes.
class Changes::Blocked {
 public:
  Blocked() {
    sigset_t ends;
    sigemptyset(&ends);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ends, signal);
    pthread_sigmask(SIG_BLOCK, &ends, &before_);
  }
  ~Blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;
  [[nodiscard]] const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

Changes::Changes(std::string directory, bool use_inotify)
    : path_(std::move(directory)),
      directory_(::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
  if (!use_inotify) return;
  UniqueFd fd(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  constexpr std::uint32_t kEvents = IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM |
                                    IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF;
  if (fd && inotify_add_watch(fd.get(), path_.c_str(), kEvents) >= 0) inotify_ = std::move(fd);
}

Changes::Event Changes::wait() {
  const Blocked blocked;
  std::optional<Event> event = wait_for(blocked, -1, kPauseMs);
  while (!event) {
    if (is_gone()) return Event::directory_gone;
    if (!inotify_) return Event::changed;
    // With an end, for nothing is told if a directory above it is moved.
    event = wait_for(blocked, inotify_.get(), kLookAtDirectoryMs);
    if (event == Event::changed && is_gone()) return Event::directory_gone;
  }
  if (event == Event::changed) forget_past();  // before the look that the caller makes now
  return *event;
}

bool Changes::is_gone() const {
  struct stat held{};
  struct stat there{};
  return ::fstat(directory_.get(), &held) != 0 || ::stat(path_.c_str(), &there) != 0 ||
         held.st_dev != there.st_dev || held.st_ino != there.st_ino;
}

std::optional<Changes::Event> Changes::wait_for(const Blocked& blocked, int fd,
                                                long at_most_ms) const {
  std::array<pollfd, 2> polled{{{.fd = fd, .events = POLLIN, .revents = 0},
                                {.fd = STDOUT_FILENO, .events = 0, .revents = 0}}};
  const timespec at_most{.tv_sec = at_most_ms / 1000, .tv_nsec = at_most_ms % 1000 * 1'000'000};
  for (;;) {
    if (interrupted() != 0) return Event::interrupted;  // before it was blocked, or by ppoll
    const int found = ppoll(polled.data(), polled.size(), &at_most, &blocked.before());
    if (found < 0) continue;  // a signal
    if (polled[1].revents != 0) return Event::reader_gone;
    return found == 0 ? std::nullopt : std::optional(Event::changed);
  }
}

void Changes::forget_past() {
  std::array<char, 16384> events;
  while (::read(inotify_.get(), events.data(), events.size()) > 0) {
  }
}

}  // namespace tutti::cli
