#include "cli/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>

#include "cli/exit_code.hpp"

namespace tutti::cli {

std::string visible(std::string_view text) {
  std::string shown(text);
  for (char& c : shown) {
    if ((c >= 0 && c < ' ' && c != '\n') || c == '\x7f') c = '?';
  }
  return shown;
}

void set_up_log(Verbosity verbosity, std::string_view member) {
  static const auto logger = [] {
    auto made = std::make_shared<spdlog::logger>("tutti",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    spdlog::set_default_logger(made);
    return made;
  }();
  const std::string who = member.empty() ? "tutti" : "tutti[" + std::string(member) + "]";
  const bool verbose = verbosity == Verbosity::verbose;
  logger->set_pattern(verbose ? "%H:%M:%S.%f " + who + " [%l]: %v" : who + ": %v");
  logger->set_level(verbose                         ? spdlog::level::debug
                    : verbosity == Verbosity::quiet ? spdlog::level::err
                                                    : spdlog::level::info);
  logger->flush_on(spdlog::level::debug);
}

void log_error(std::string_view message) { spdlog::error("{}", visible(message)); }
void log_warning(std::string_view message) { spdlog::warn("{}", visible(message)); }
void log_info(std::string_view message) { spdlog::info("{}", visible(message)); }
void log_debug(std::string_view message) { spdlog::debug("{}", visible(message)); }

LogCallback library_log() {
  return [](LogLevel level, std::string_view message) {
    switch (level) {
      case LogLevel::debug:
      case LogLevel::error:  // comes back as a value too, and is reported where that is handled
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
