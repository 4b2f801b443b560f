/// \file signals.hpp
/// What signals do to the command. Call before any thread starts, but for the log's, which takes no
/// signal; note_interrupt() at any time. A last word on standard error follows what was logged, and
/// is dropped if nobody reads.
#pragma once

namespace tutti::cli {

/// A closed pipe, or a file over the limit of ulimit -f, becomes an error of write(2) or
/// ftruncate(2) instead of the end of the process.
void ignore_refused_writes();

/// SIGINT, SIGTERM and SIGHUP end the process at once with a message, status 128 + the signal. Our
/// peers then see a lost member. Nothing needs to be cleaned up: all shared memory is anonymous.
/// Here and below, a SIGHUP that the process was started to ignore (nohup) stays ignored.
void exit_on_interrupt();

/// The first of these signals only makes interrupted() true, for who tidies up or leaves first; the
/// second one ends the process at once, as above. So does, if `seconds` is not 0, that much time
/// after the first.
void note_interrupt(unsigned seconds = 0);

/// The first signal that came since note_interrupt, or 0.
[[nodiscard]] int interrupted();

/// A member that runs under a parent leaves Ctrl-C to it.
void ignore_interrupt();

/// Ends the process with `status` should it still run after that time: a last resort for ways out
/// that must not hang, such as a write to a pipe that nobody reads.
void exit_within(unsigned seconds, int status);
/// What a failed command allows itself for that.
inline constexpr unsigned kGiveUpSeconds = 5;

}  // namespace tutti::cli
