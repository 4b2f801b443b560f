/// \file demo.cpp
/// `tutti demo`: several members on this machine stream real text, then their outputs are compared.
#include <CLI/CLI.hpp>
#include <array>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/demo/arguments.hpp"
#include "cli/demo/check.hpp"
#include "cli/demo/check_logs.hpp"
#include "cli/demo/kill_all.hpp"
#include "cli/demo/members.hpp"
#include "cli/demo/text.hpp"
#include "cli/demo_topics/demo_topics.hpp"
#include "cli/exit_code.hpp"
#include "cli/log.hpp"
#include "cli/project_tree.hpp"
#include "cli/signals.hpp"
#include "cli/temporary_folder.hpp"
#include "cli/terminal.hpp"

namespace tutti::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::int64_t kRepeatsMax = 1'000'000;
constexpr std::int64_t kRoundsMax = 100'000;

struct DemoOptions {
  std::vector<std::string> files;
  unsigned members = 3;
  FabricAndLevel words;
  std::uint64_t repeats = 0;  ///< 0: chosen by size
  bool kill = false;
  bool durable = false;
  bool kill_all = false;
  std::uint64_t rounds = 2;
  bool topics = false;
  DemoTopicsOptions of_topics{};
};

Result<void> validate(const DemoOptions& options) {
  NodeOptions node;
  GroupOptions group;
  if (options.kill && options.words.level == "unordered") {
    return fail(ErrorCode::invalid_argument,
                "--kill: at level unordered there is no common sequence of which a killed member "
                "has a part; use level atomic");
  }
  if (options.kill && options.members < 3) {
    return fail(
        ErrorCode::invalid_argument,
        "--kill: of 2 members, one alone is no majority and stops; use --members 3 or more");
  }
  if (options.kill_all && options.words.level != "durable") {
    return fail(ErrorCode::invalid_argument,
                "--kill-all: only what is on all disks outlives all members; use --durable");
  }
  if (options.kill_all && !options.files.empty()) {
    return fail(ErrorCode::invalid_argument,
                "--kill-all sends numbered lines for as long as a life lasts, and no files");
  }
  if (Result<void> applied = apply(options.words, node, group); !applied) return applied;
  group.name = kDemoGroup;
  return group.validate();
}

/// --topics has its own participants, services and end.
Result<void> validate_topics(const DemoOptions& options) {
  if (options.files.empty() && !options.durable && !options.kill && !options.kill_all) return {};
  return fail(ErrorCode::invalid_argument,
              "--topics: it sends samples, no files, has a topic of each service, and kills a "
              "participant; leave out FILE, --durable, --kill and --kill-all");
}

Result<std::vector<fs::path>> files_of(const DemoOptions& options) {
  if (!options.files.empty())
    return std::vector<fs::path>(options.files.begin(), options.files.end());
  if (!in_project_tree()) {
    return fail(ErrorCode::invalid_argument,
                "no FILE given, and this is not the project's folder, whose files would be sent: "
                "name some text files, such as `tutti demo /usr/share/common-licenses/*`");
  }
  return project_text_files();
}

std::vector<std::string> names(unsigned members) {
  std::vector<std::string> names;
  names.reserve(members);
  for (unsigned i = 0; i < members; ++i) names.emplace_back(1, static_cast<char>('a' + i));
  return names;
}

std::string description(const DemoOptions& options, const Text& text) {
  return std::to_string(options.members) + " members, fabric " + options.words.fabric + ", level " +
         options.words.level + ": " + std::to_string(text.files) +
         (text.files == 1 ? " file, " : " files, ") +
         short_bytes(static_cast<double>(text.file_bytes)) + ", " +
         (text.repeats == 1 ? "sent once" : "sent " + grouped(text.repeats) + " times") + ": " +
         grouped(text.lines()) + " lines in all\n";
}

/// The killed member's two parts against what the others delivered.
Result<std::string> check_with_killed(const std::vector<MemberFiles>& files) {
  const auto killed = std::ranges::find(files, true, &MemberFiles::killed);
  std::vector<MemberFiles> survivors;
  for (const MemberFiles& file : files) {
    if (file.member != killed->member) survivors.push_back(file);
  }
  if (Result<void> same = check_identical(survivors); !same) return std::unexpected(same.error());
  if (Result<void> parts = check_killed(survivors.front(), *killed, files.back()); !parts) {
    return std::unexpected(parts.error());
  }
  const std::vector<MemberFiles> senders(files.begin(), files.end() - 1);
  if (Result<void> whole = check_senders(survivors.front(), senders); !whole) {
    return std::unexpected(whole.error());
  }
  return "identical: the outputs of the " + std::to_string(survivors.size()) +
         " members that went on, each of their lines complete and in order; " + killed->member +
         " was killed and joined again: what it delivered is the beginning and the end of that\n";
}

/// What the logs have, against what was delivered; empty if nothing was logged.
Result<std::string> check_logs_of(const std::vector<MemberFiles>& files) {
  if (files.front().log.empty()) return std::string();
  if (Result<void> same = check_logs(files); !same) return std::unexpected(same.error());
  const bool any_killed = std::ranges::any_of(files, &MemberFiles::killed);
  return std::string("identical: the logs of ") +
         (any_killed ? "the members that went on" : "all members") +
         ", record by record, and what was delivered" +
         (any_killed ? "; that of the killed one is the beginning, and has all that it delivered\n"
                     : "\n");
}

/// `identical`, or at Level::unordered what takes its place; an error says what is wrong.
Result<std::string> check_outputs(const DemoOptions& options,
                                  const std::vector<MemberFiles>& files) {
  if (options.kill) return check_with_killed(files);
  const std::string count = std::to_string(files.size());
  if (options.words.level != "unordered") {
    if (Result<void> same = check_identical(files); !same) return std::unexpected(same.error());
    if (Result<void> whole = check_senders(files.front(), files); !whole) {
      return std::unexpected(whole.error());
    }
    return "identical: the outputs of all " + count +
           " members, each sender's lines complete and in order\n";
  }
  for (const MemberFiles& file : files) {
    if (Result<void> whole = check_senders(file, files); !whole) {
      return std::unexpected(whole.error());
    }
  }
  return "complete: each of the " + count +
         " members delivered all lines, each sender's in order; at level unordered the senders may "
         "be interleaved differently\n";
}

Result<std::string> check(const DemoOptions& options, const DemoMembers& members) {
  std::vector<MemberFiles> files;
  for (const DemoMembers::Member& member : members.members()) {
    files.push_back({member.name, member.input, member.output,
                     member.state.empty() ? fs::path() : member.state / kDemoGroup, member.killed});
  }
  const Result<std::string> outputs = check_outputs(options, files);
  if (!outputs) return outputs;
  const Result<std::string> logs = check_logs_of(files);
  if (!logs) return logs;
  return *outputs + *logs;
}

std::string table(const DemoMembers& members) {
  Table table({"member", "lines sent", "delivered", "bytes", "messages/s", "bytes/s", "latency p50",
               "p99"});
  for (const DemoMembers::Member& member : members.members()) {
    if (member.killed) continue;  // it could not report any more
    std::ifstream file(member.report);
    const json report = json::parse(file);
    const json& latency = report["latency_ns"]["own"];
    const bool sampled = latency["samples"].get<std::uint64_t>() > 0;
    table.add({member.name, grouped(report["sent_lines"].get<std::uint64_t>()),
               grouped(report["delivered_messages"].get<std::uint64_t>()),
               short_bytes(report["delivered_bytes"].get<double>()),
               short_number(report["delivered_messages_per_second"].get<double>()),
               short_bytes(report["delivered_bytes_per_second"].get<double>()),
               sampled ? short_time(latency["p50"].get<double>()) : "-",
               sampled ? short_time(latency["p99"].get<double>()) : "-"});
  }
  return table.text() +
         "(latency: from a line's send, waits for space included, to its delivery at "
         "the sender, all members sending as fast as they can)\n";
}

int fail_and_keep(const Error& error, TemporaryFolder& folder) {
  if (interrupted() != 0) {
    log_error("interrupted; the members were stopped");
    return 128 + interrupted();
  }
  folder.keep();
  log_error(error.message);
  log_error("inputs, outputs and messages are kept in " + folder.path().string());
  return kExitError;
}

int demo_of_lives(const DemoOptions& options) {
  note_interrupt();
  Result<TemporaryFolder> folder = TemporaryFolder::create("tutti-demo");
  if (!folder) return report(folder.error());
  if (!print(std::to_string(options.members) + " members, fabric " + options.words.fabric +
             ", level durable: all killed under load, " + grouped(options.rounds) +
             (options.rounds == 1 ? " time\n" : " times\n"))) {
    return kExitError;
  }
  const Result<void> done = kill_all(
      {.members = names(options.members), .words = options.words, .rounds = options.rounds},
      folder->path());
  return done ? kExitOk : fail_and_keep(done.error(), *folder);
}

int demo(const DemoOptions& options) {
  if (options.topics) {
    if (const Result<void> valid = validate_topics(options); !valid) return report(valid.error());
    DemoTopicsOptions of_topics = options.of_topics;
    of_topics.fabric = options.words.fabric;
    return demo_topics(of_topics);
  }
  if (const Result<void> valid = validate(options); !valid) return report(valid.error());
  if (options.kill_all) return demo_of_lives(options);
  const Result<std::vector<fs::path>> files = files_of(options);
  if (!files) return report(files.error());
  note_interrupt();
  Result<TemporaryFolder> folder = TemporaryFolder::create("tutti-demo");
  if (!folder) return report(folder.error());
  const Result<Text> text =
      deal_text(*files, names(options.members), options.repeats, folder->path());
  if (!text) return report(text.error());
  if (!print(description(options, *text))) return kExitError;

  Result<DemoMembers> members =
      DemoMembers::start(*text, options.words, options.kill, folder->path());
  if (!members) return report(members.error());
  if (Result<void> ended = members->wait(); !ended) return fail_and_keep(ended.error(), *folder);
  const Result<std::string> verdict = check(options, *members);
  if (!verdict) return fail_and_keep(verdict.error(), *folder);
  return print(*verdict + table(*members)) ? kExitOk : kExitError;
}

}  // namespace

void add_demo(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "demo", "Start some members on this machine, stream text, check that all deliver the same");
  auto options = std::make_shared<DemoOptions>();
  command->add_option("FILE", options->files,
                      "text files to send, given to the members in turn (default: those of the "
                      "project, if the current folder is its source tree)");
  command->add_option("--members", options->members, "how many member processes, 2 to 16")
      ->check(whole_number(2, 16))
      ->capture_default_str();
  add_fabric_and_level(*command, options->words);
  command
      ->add_flag("--durable", options->durable,
                 "level durable: the members log, in a temporary folder, and at the end their logs "
                 "are compared, too")
      ->excludes("--level");
  command->add_flag("--durable-quorum", options->words.durable_quorum, kDurableQuorumHelp);
  command->add_flag("--kill", options->kill,
                    "kill one member in the middle, without warning, and start it again: the "
                    "others go on, and it joins them");
  CLI::Option* kill_all =
      command
          ->add_flag("--kill-all", options->kill_all,
                     "with --durable: kill all members under load, at different moments, and start "
                     "them again with the same command line; then check that nothing that one of "
                     "them delivered is lost")
          ->excludes("--kill");
  command->add_option("--rounds", options->rounds, "how many times all are killed")
      ->check(whole_number(1, kRoundsMax))
      ->needs(kill_all)
      ->capture_default_str();
  command
      ->add_option("--repeat", options->repeats,
                   "how many times each file is sent; 0: often enough for meaningful rates, some "
                   "32 MB in all")
      ->check(whole_number(0, kRepeatsMax))
      ->capture_default_str();
  CLI::Option* topics = command->add_flag(
      "--topics", options->topics,
      "topics instead of lines: participants with a topic of each service, of which one joins late "
      "and one is killed; then what each reader saw is checked");
  topics->excludes("--level")->excludes("--order");
  command
      ->add_option("--seconds", options->of_topics.seconds,
                   "with --topics: how long they write, 1 to 3600")
      ->check(CLI::Range(1.0, 3600.0).description(""))
      ->needs(topics)
      ->capture_default_str();
  command->callback([options, &status] {
    if (options->durable) options->words.level = "durable";
    status = demo(*options);
  });
}

}  // namespace tutti::cli
