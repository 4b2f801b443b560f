#include "cli/run/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <utility>

#include "cli/log.hpp"
#include "cli/member_list.hpp"
#include "cli/view_text.hpp"

namespace tutti::cli {
namespace {

Result<void> set_up_log_of(const RunOptions& options, RunSetup& setup) {
  const LogPlace& log = options.log;
  setup.group.logged |= log.logged;
  setup.group.durable_quorum = log.durable_quorum;
  setup.node.state_dir = log.state_dir;
  setup.node.bootstrap = options.bootstrap;
  setup.group.deliver_from = options.deliver_from;
  if (!setup.group.logged && options.bootstrap) {
    return fail(ErrorCode::invalid_argument,
                "--bootstrap: it is for a group that is logged; a group without --logged or "
                "--level durable is founded without it");
  }
  if (setup.group.logged && log.state_dir.empty()) {
    return fail(ErrorCode::invalid_argument,
                "--state-dir is missing: a group that is logged needs a folder of this member "
                "alone for its log");
  }
  if (!setup.group.logged && !log.state_dir.empty()) {
    return fail(ErrorCode::invalid_argument,
                "--state-dir: nothing is logged there without --logged or --level durable");
  }
  return {};
}

}  // namespace

void add_options(CLI::App& command, RunOptions& options) {
  command.add_option("--name", options.name, "the name of this member in --members")->required();
  command
      .add_option("--members", options.members,
                  "all members, the same list at each: a=HOST:PORT,b=HOST:PORT,...")
      ->required();
  command.add_option("--group", options.group, "name of the group, the same at each member")
      ->required();
  add_fabric_and_level(command, options.words);
  add_log_options(command, options.log,
                  "a folder of this member alone, in which it logs; it is made if it is not there");
  command.add_flag("--bootstrap", options.bootstrap,
                   "the group is new: at one member, at its first start alone; or use `tutti "
                   "bootstrap` before. With --state-dir a member founds no group otherwise: it "
                   "waits for the others and goes on from the logs");
  command
      .add_option(
          "--deliver-from", options.deliver_from,
          "of a group that is logged: print what has this number or a higher one, also what "
          "was delivered before this start")
      ->capture_default_str();
  command.add_option("--senders", options.senders,
                     "members that send, such as a,b; the others only deliver. Default: all");
  add_bytes(command, "--window", options.window_bytes, "4K to 1G",
            "ring buffer of each sender: how much it may have in flight");
  add_bytes(command, "--message-max", options.message_max_bytes, "1 to 16M", "the longest line");
  command
      .add_option("--idle", options.idle,
                  "how to wait when there is nothing to do: spin (burns a core), yield, sleep")
      ->capture_default_str();
  command
      .add_option("--start-timeout", options.start_timeout_s,
                  "seconds to wait for the other members at the start")
      ->capture_default_str();
  command
      .add_option("--founders", options.founders,
                  "how many members found the group, more than half of all; the others join "
                  "later. 0: all of them")
      ->check(whole_number(0, 256))
      ->capture_default_str();
  command.add_flag("--join", options.join_only,
                   "join an existing group, never found one; use it when a member is restarted");
  command
      .add_option("--suspect-after", options.suspect_after_s,
                  "seconds without a sign of life after which a member is removed")
      ->capture_default_str();
  add_leave_timeout(command, options.leave_timeout_s);
  command.add_option("--report", options.report,
                     "write counts, rate, latencies and statistics to this file, as JSON");
  CLI::Option* quiet =
      command.add_flag("-q,--quiet", options.quiet, "print only errors on standard error");
  command.add_flag("-v,--verbose", options.verbose, "print more on standard error")
      ->excludes(quiet);
}

Result<RunSetup> set_up(const RunOptions& options) {
  RunSetup setup;
  Result<std::vector<MemberAddress>> members = members_from(options.members);
  if (!members) return std::unexpected(std::move(members.error()));
  const Result<Idle> idle = idle_from(options.idle);
  if (!idle) return std::unexpected(idle.error());
  const Result<std::chrono::nanoseconds> timeout =
      duration_from(options.start_timeout_s, "--start-timeout");
  if (!timeout) return std::unexpected(timeout.error());
  const Result<std::chrono::nanoseconds> suspect_after =
      duration_from(options.suspect_after_s, "--suspect-after");
  if (!suspect_after) return std::unexpected(suspect_after.error());
  if (options.message_max_bytes > std::numeric_limits<std::uint32_t>::max()) {
    return fail(ErrorCode::invalid_argument, "--message-max: at most 16 MiB");
  }
  setup.node.name = options.name;
  setup.node.members = std::move(*members);
  setup.node.idle = *idle;
  setup.node.start_timeout = *timeout;
  setup.node.founders = options.founders;
  setup.node.join_only = options.join_only;
  setup.node.suspect_after = *suspect_after;
  setup.node.on_view = [](const ViewChange& change) { log_info(to_string(change)); };
  setup.node.log = library_log();
  setup.group.name = options.group;
  setup.group.senders = split_list(options.senders);
  setup.group.window_bytes = options.window_bytes;
  setup.group.message_max_bytes = static_cast<std::uint32_t>(options.message_max_bytes);
  setup.group.delivery = DeliveryThread::own;  // a slow standard output then only fills the window
  if (const Result<void> applied = apply(options.words, setup.node, setup.group); !applied) {
    return std::unexpected(applied.error());
  }
  if (const Result<void> logged = set_up_log_of(options, setup); !logged) {
    return std::unexpected(logged.error());
  }
  return setup;
}

bool is_sender(const GroupOptions& group, const std::string& name) {
  return group.senders.empty() || std::ranges::find(group.senders, name) != group.senders.end();
}

}  // namespace tutti::cli
