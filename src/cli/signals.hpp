/// \file signals.hpp
/// How the command handles signals. Call these functions before any thread starts, except the log's
/// thread, which takes no signal; note_interrupt() at any time. A last message on standard error
/// follows what was logged, and is dropped if no process reads it.
#pragma once

namespace tutti::cli {

/// A closed pipe, or a file over the limit of ulimit -f, becomes an error of write(2) or
/// ftruncate(2) instead of the end of the process.
void ignore_refused_writes();

/// SIGINT, SIGTERM and SIGHUP end the process at once with a message, status 128 + the signal. Our
/// peers then see a lost member. Nothing needs to be cleaned up: all shared memory is anonymous.
/// Here and below, a SIGHUP that the process was started to ignore (nohup) stays ignored.
void exit_on_interrupt();

/// The first of these signals only makes interrupted() true, so that the command can clean up or
/// leave first. The second one ends the process at once, as above; so does the end of `seconds`
/// after the first one, if that is not 0.
void note_interrupt(unsigned seconds = 0);

/// The first signal that came since note_interrupt, or 0.
[[nodiscard]] int interrupted();

/// A member that runs under a parent leaves Ctrl-C to it.
void ignore_interrupt();

/// Ends the process with `status` if it still runs after that time: a last resort for exits that
/// must not hang, such as a write to a pipe that no process reads.
void exit_within(unsigned seconds, int status);
/// A member that is told to end leaves the others in order, unless that takes longer.
inline constexpr unsigned kLeaveSeconds = 3;
/// It has a moment more to write what is left, then it ends in any case.
[[nodiscard]] constexpr unsigned give_up_after(unsigned leave_seconds) { return leave_seconds + 2; }
/// The time that a failed command has for that.
inline constexpr unsigned kGiveUpSeconds = give_up_after(kLeaveSeconds);

}  // namespace tutti::cli
