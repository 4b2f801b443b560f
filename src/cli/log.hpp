/// \file log.hpp
/// The lines that the command writes to standard error, each beginning with "tutti: ".
///
/// A thread of the log writes them. If no process reads standard error, or a terminal is stopped,
/// no other thread waits for it: the log drops the oldest lines, and says how many once there is
/// room.
#pragma once
#include <chrono>
#include <string>
#include <string_view>

#include "tutti/error.hpp"
#include "tutti/options.hpp"

namespace tutti::cli {

enum class Verbosity { quiet, normal, verbose };

/// quiet: errors only; normal: also what a person should know; verbose: everything, with times.
/// `member` is named in each line if it is not empty. Call again to change it.
void set_up_log(Verbosity verbosity, std::string_view member = {});

/// The text with '?' for each control character except line ends: names and words come from
/// strangers, and must not control the terminal. All lines of the log go through it.
[[nodiscard]] std::string visible(std::string_view text);

/// Waits until all lines so far are written. False if some are not and `at_most` is over, or
/// standard error took nothing for a second. Call it before a direct write to a terminal, and at
/// the end. Async-signal-safe; a handler may have interrupted the thread that the log waits for, so
/// give a short `at_most` there.
bool drain_log(std::chrono::milliseconds at_most = std::chrono::seconds(30));

void log_error(std::string_view message);
void log_warning(std::string_view message);
void log_info(std::string_view message);
void log_debug(std::string_view message);

/// For NodeOptions::log.
[[nodiscard]] LogCallback library_log();

/// Prints the error; returns the exit status that goes with it.
int report(const Error& error);

}  // namespace tutti::cli
