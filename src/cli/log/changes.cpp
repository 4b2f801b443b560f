#include "cli/log/changes.hpp"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <ctime>

#include "cli/signals.hpp"

namespace tutti::cli {

Changes::Changes(const std::string& directory, bool use_inotify) {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ends, signal);
  pthread_sigmask(SIG_BLOCK, &ends, &mask_);
  if (!use_inotify) return;
  UniqueFd fd(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  constexpr std::uint32_t kEvents = IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;
  if (fd && inotify_add_watch(fd.get(), directory.c_str(), kEvents | IN_DELETE_SELF) >= 0) {
    inotify_ = std::move(fd);
  }
}

Changes::~Changes() { pthread_sigmask(SIG_SETMASK, &mask_, nullptr); }

Changes::Event Changes::wait() {
  const Event paused = wait_for(-1, kPauseMs);
  if (paused != Event::changed || !inotify_) return paused;
  const Event waited = wait_for(inotify_.get(), -1);
  forget_past();  // before the look that the caller makes now
  return waited;
}

Changes::Event Changes::wait_for(int fd, long at_most_ms) const {
  std::array<pollfd, 2> polled{{{.fd = fd, .events = POLLIN, .revents = 0},
                                {.fd = STDOUT_FILENO, .events = 0, .revents = 0}}};
  const timespec at_most{.tv_sec = at_most_ms / 1000, .tv_nsec = at_most_ms % 1000 * 1'000'000};
  for (;;) {
    const int found =
        ppoll(polled.data(), polled.size(), at_most_ms < 0 ? nullptr : &at_most, &mask_);
    if (interrupted() != 0) return Event::interrupted;
    if (found < 0) continue;  // another signal
    return polled[1].revents != 0 ? Event::reader_gone : Event::changed;
  }
}

void Changes::forget_past() {
  std::array<char, 16384> events;
  while (::read(inotify_.get(), events.data(), events.size()) > 0) {
  }
}

}  // namespace tutti::cli
