#include "tutti/version.hpp"

#include <CLI/CLI.hpp>
#include <string>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/terminal.hpp"

namespace tutti::cli {

std::string version_line() { return "tutti " + std::string(version()); }

void add_version(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("version", "Print the version");
  command->callback([&status] { status = print(version_line() + "\n") ? kExitOk : kExitError; });
}

}  // namespace tutti::cli
