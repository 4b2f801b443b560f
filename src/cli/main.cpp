/// \file main.cpp
/// The `tutti` command: picks the subcommand, and turns an error in the command line into a message
/// and exit status 2.
#include <CLI/CLI.hpp>
#include <exception>
#include <new>
#include <string>

#include "base/memory_advice.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/log.hpp"
#include "cli/signals.hpp"
#include "cli/streams.hpp"
#include "cli/terminal.hpp"

namespace tutti::cli {
namespace {

constexpr const char* kAbout =
    "Atomic multicast: several processes send, all deliver the same messages in the same order.\n";

constexpr const char* kExamples =
    "Examples:\n"
    "  tutti demo\n"
    "  seq 1 1000 | tutti run --name a --members a=127.0.0.1:7001,b=127.0.0.1:7002 --group log\n"
    "  seq 1 1000 | tutti run --name b --members a=127.0.0.1:7001,b=127.0.0.1:7002 --group log\n"
    "  tutti members 127.0.0.1:7001\n"
    "  tutti doctor\n"
    "  tutti perf multicast --members 3 --size 1024 --seconds 2\n\n"
    "`tutti COMMAND --help` explains the options of a command.\n"
    "Exit status: 0 success, even if the group went on without a member; 1 error; 2 wrong usage;\n"
    "3 this member stopped because the majority was lost; 128 + N ended by signal N.\n";

/// The innermost subcommand that was chosen: the error refers to its help.
const CLI::App* chosen(const CLI::App* app) {
  const auto commands = app->get_subcommands();
  return commands.empty() ? app : chosen(commands.front());
}

std::string path_of(const CLI::App* app) {
  return app->get_parent() == nullptr ? app->get_name()
                                      : path_of(app->get_parent()) + " " + app->get_name();
}

int refuse(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = chosen(&app);
  std::string unexpected;
  for (const std::string& word : command->remaining()) unexpected += " " + word;
  log_error(unexpected.empty() ? error.what() : "not understood:" + unexpected);
  log_error("see `" + path_of(command) + " --help`");
  return kExitUsage;
}

int run(int argc, char** argv) {
  CLI::App app{kAbout, "tutti"};
  app.require_subcommand(1);
  int status = kExitOk;
  add_run(app, status);
  add_bootstrap(app, status);
  add_relay(app, status);
  add_members(app, status);
  add_doctor(app, status);
  add_demo(app, status);
  add_demo_topics_member(app, status);
  add_demo_topics_client(app, status);
  add_perf(app, status);
  add_perf_member(app, status);
  add_check(app, status);
  add_log(app, status);
  add_idl(app, status);
  add_topic(app, status);
  add_sim(app, status);
  add_version(app, status);
  app.footer(kExamples);  // after the commands, which would inherit it
  app.set_version_flag("--version", version_line());
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return print(app.help()) ? kExitOk : kExitError;
  } catch (const CLI::CallForVersion& version) {
    return print(version.what() + std::string("\n")) ? kExitOk : kExitError;
  } catch (const CLI::ParseError& error) {
    return refuse(app, error);
  }
  return status;
}

/// Catches whatever a library throws.
int run_guarded(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    log_error("no memory: " + memory_advice());
    return kExitError;
  } catch (const std::exception& error) {
    log_error(std::string("unexpected error: ") + error.what());
    return kExitError;
  }
}

}  // namespace
}  // namespace tutti::cli

int main(int argc, char** argv) {
  tutti::cli::occupy_standard_streams();
  tutti::cli::set_up_log(tutti::cli::Verbosity::normal);
  tutti::cli::ignore_refused_writes();
  const int status = tutti::cli::run_guarded(argc, argv);
  tutti::cli::drain_log();
  return status;
}
