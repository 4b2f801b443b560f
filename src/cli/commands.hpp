/// \file commands.hpp
/// The subcommands. Each function adds one to the command line; when it was chosen and its options
/// are read, it runs and puts its exit status into `status`.
#pragma once
#include <string>

#include "cli/cli11_fwd.hpp"

namespace tutti::cli {

void add_run(CLI::App& app, int& status);
/// What is done before a group that is logged is run for the first time.
void add_bootstrap(CLI::App& app, int& status);
/// A member that serves clients which are no members.
void add_relay(CLI::App& app, int& status);
void add_members(CLI::App& app, int& status);
void add_doctor(CLI::App& app, int& status);
void add_demo(CLI::App& app, int& status);
/// Hidden: the processes of `tutti demo --topics`.
void add_demo_topics_member(CLI::App& app, int& status);
void add_demo_topics_client(CLI::App& app, int& status);
void add_perf(CLI::App& app, int& status);
/// Hidden: one member of a measurement, started by `tutti perf` and told what to do by pipes.
void add_perf_member(CLI::App& app, int& status);
/// Of `tutti perf`: a member that comes by itself.
void add_perf_join(CLI::App& app, int& status);
void add_check(CLI::App& app, int& status);
/// The commands that read a group's log on disk.
void add_log(CLI::App& app, int& status);
/// C++ of IDL.
void add_idl(CLI::App& app, int& status);
/// The commands that look at topics, write to them and read them.
void add_topic(CLI::App& app, int& status);
void add_sim(CLI::App& app, int& status);
void add_version(CLI::App& app, int& status);

/// Such as "tutti 0.1.0".
[[nodiscard]] std::string version_line();

}  // namespace tutti::cli
