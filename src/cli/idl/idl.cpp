/// \file idl.cpp
/// `tutti idl`: idlc reads the IDL, Tutti's plug-in (tools/idl) writes the C++.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/log.hpp"

namespace tutti::cli {
namespace {

namespace fs = std::filesystem;

struct IdlOptions {
  std::string file;
  std::string folder = ".";
  std::vector<std::string> includes;
};

/// Beside this program where it was built, or installed; "" if it is not there.
std::string find_plugin() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path root = program.parent_path().parent_path();
  for (const char* place : {"lib/libtutti_idl.so", TUTTI_LIBDIR "/tutti/libtutti_idl.so"}) {
    if (fs::exists(root / place, ignored)) return (root / place).string();
  }
  return "";
}

int refuse(const std::string& problem) {
  log_error(problem);
  return kExitError;
}

/// Only returns if idlc could not be started: its exit status is that of the command.
int become_idlc(const IdlOptions& options) {
  const std::string plugin = find_plugin();
  if (plugin.empty()) {
    return refuse(
        "the plug-in for idlc is not there, as Tutti was built without its headers: "
        "install cyclonedds-dev and cyclonedds-tools 0.10, then build it again");
  }
  std::error_code problem;
  fs::create_directories(options.folder, problem);
  if (problem) {
    return refuse("cannot make the folder " + options.folder + ": " + problem.message() +
                  "; give another one by -o");
  }
  std::vector<std::string> words = {"idlc", "-l", plugin, "-o", options.folder};
  for (const std::string& folder : options.includes) words.push_back("-I" + folder);
  words.push_back(options.file);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp("idlc", arguments.data());
  return refuse(std::string("cannot start idlc: ") + std::strerror(errno) +
                "; install cyclonedds-tools");
}

}  // namespace

void add_idl(CLI::App& app, int& status) {
  auto options = std::make_shared<IdlOptions>();
  CLI::App* command = app.add_subcommand("idl", "Make a C++ header of the types in an IDL file");
  command->add_option("FILE", options->file, "The IDL file; FILE.hpp is made of it")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("-o,--output", options->folder, "The folder for the header")
      ->capture_default_str();
  command->add_option("-I,--include", options->includes,
                      "A folder in which #include looks for files (may be repeated)");
  command->footer(
      "Each struct and union must say @final, @appendable or @mutable. idlc of "
      "cyclonedds-tools 0.10\nreads the file. In CMake: tutti_generate(TARGET types "
      "FILES a.idl).");
  command->callback([options, &status] { status = become_idlc(*options); });
}

}  // namespace tutti::cli
