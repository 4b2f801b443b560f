/// \file log.hpp
/// What the commands of `tutti log` share: each adds itself to the command line, as in
/// commands.hpp.
#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "cli/cli11_fwd.hpp"
#include "log/read.hpp"

namespace tutti::cli {

struct LogCommand {
  std::string directory{};
  bool json = false;
};
/// DIR and --json.
void add_log_options(CLI::App& command, LogCommand& options, const std::string& json_help);

void add_log_ls(CLI::App& app, int& status);
void add_log_info(CLI::App& app, int& status);
void add_log_dump(CLI::App& app, int& status);
void add_log_verify(CLI::App& app, int& status);
void add_log_repair(CLI::App& app, int& status);
void add_log_tail(CLI::App& app, int& status);

/// Prints the error. Unlike report() the status is kExitError, whatever the code: the library says
/// invalid_argument of a file, too.
int report_log(const Error& error);

/// What to do about damage, as a paragraph.
[[nodiscard]] std::string advice_on_damage(const std::string& directory);

/// How a command describes one log. `visit` is for its records; `begin` forgets what was visited,
/// and is called before each log, and again if the log is read anew.
struct LogReport {
  std::function<std::string(const std::string& directory, const log::Reading& reading)> text;
  std::function<nlohmann::json(const std::string& directory, const log::Reading& reading)> json;
  std::function<void()> begin{};
  log::Visit visit{};
};
/// Reads all logs below the directory and prints what `report` says of each. A log that cannot be
/// read is reported, and the others are printed. Returns the exit status.
int report_on_logs(const LogCommand& options, const LogReport& report);

/// "damage: FILE, offset N: what", or nothing; as JSON null.
[[nodiscard]] std::string damage_text(const log::Reading& reading);
[[nodiscard]] nlohmann::json damage_json(const log::Reading& reading);
/// Says on standard error that what was printed ends at damage; returns kExitDamaged.
int warn_of_damage(const log::Damage& damage);

/// "clean", "torn: ...", for people; `content` is that of the newest segment.
[[nodiscard]] std::string tail_text(const log::SegmentContent& content);
[[nodiscard]] std::string_view to_word(log::Tail tail);

/// "records 0 to 3", or "no records".
[[nodiscard]] std::string range_text(const log::Reading& reading);

/// 16 digits.
[[nodiscard]] std::string digest_text(std::uint64_t digest);
[[nodiscard]] std::string file_name(const std::string& path);

/// The node and the group of a log; empty names if no segment can be read.
[[nodiscard]] log::Identity identity_of(const log::Reading& reading);

}  // namespace tutti::cli
