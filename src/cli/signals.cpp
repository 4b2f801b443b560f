#include "cli/signals.hpp"

#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <string_view>

#include "cli/log.hpp"

namespace tutti::cli {
namespace {

// Handlers may only touch these: lock-free by the standard.
volatile sig_atomic_t noted_signal = 0;
volatile sig_atomic_t last_resort_status = 0;
volatile sig_atomic_t seconds_to_leave = 0;

void handle(int signal_number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(signal_number, &action, nullptr);
}

/// After what was logged. Says nothing where nobody reads: a process that is told to end ends.
void say(std::string_view text) {
  if (!drain_log(std::chrono::seconds(1))) return;
  pollfd room{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (poll(&room, 1, 0) != 1) return;
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
}

void exit_at_once(int signal_number) {
  say(signal_number == SIGINT   ? "tutti: interrupted, stopping at once\n"
      : signal_number == SIGHUP ? "tutti: hung up, stopping at once\n"
                                : "tutti: terminated, stopping at once\n");
  _exit(128 + signal_number);
}

void note(int signal_number) {
  if (noted_signal != 0) exit_at_once(signal_number);
  noted_signal = signal_number;
  if (seconds_to_leave == 0) return;
  last_resort_status = 128 + signal_number;
  alarm(static_cast<unsigned>(seconds_to_leave));
}

void give_up(int) { _exit(last_resort_status); }

void handle_ends(void (*handler)(int)) {
  handle(SIGINT, handler);
  handle(SIGTERM, handler);
  struct sigaction inherited = {};
  sigaction(SIGHUP, nullptr, &inherited);
  if (inherited.sa_handler != SIG_IGN) handle(SIGHUP, handler);
}

}  // namespace

void ignore_refused_writes() {
  handle(SIGPIPE, SIG_IGN);
  handle(SIGXFSZ, SIG_IGN);
}

void exit_on_interrupt() { handle_ends(exit_at_once); }

void note_interrupt(unsigned seconds) {
  seconds_to_leave = static_cast<sig_atomic_t>(seconds);
  if (seconds != 0) handle(SIGALRM, give_up);
  handle_ends(note);
}

int interrupted() { return noted_signal; }

void ignore_interrupt() { handle(SIGINT, SIG_IGN); }

void exit_within(unsigned seconds, int status) {
  last_resort_status = status;
  handle(SIGALRM, give_up);
  alarm(seconds);
}

}  // namespace tutti::cli
