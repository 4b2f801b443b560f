/// \file run.cpp
/// `tutti run`: one member that multicasts its standard input and prints what is delivered.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "cli/clock.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/histogram_json.hpp"
#include "cli/json_fields.hpp"
#include "cli/log.hpp"
#include "cli/run/deliveries.hpp"
#include "cli/run/input.hpp"
#include "cli/run/options.hpp"
#include "cli/signals.hpp"
#include "cli/terminal.hpp"
#include "tutti/node.hpp"
#include "tutti/version.hpp"

namespace tutti::cli {
namespace {

constexpr std::chrono::seconds kLeaveTimeout{30};
constexpr std::chrono::milliseconds kLook{100};  // how soon an output that fails is noticed

/// A node that has started, with the group that it serves.
struct Member {
  unsigned leave_seconds = kLeaveSeconds;
  std::unique_ptr<Stamps> stamps;          // null: no report wanted
  std::unique_ptr<Deliveries> deliveries;  // outlives the node, whose threads call it
  std::optional<Node> node;
  std::optional<Group> group;
};

std::uint32_t rank_of(const RunSetup& setup) {
  std::uint32_t rank = 0;
  while (rank < setup.node.members.size() && setup.node.members[rank].name != setup.node.name) {
    ++rank;
  }
  return rank;
}

Result<Member> start(const RunSetup& setup, const RunOptions& words) {
  const bool measure = !words.report.empty();
  Member member;
  member.leave_seconds = words.leave_timeout_s;
  if (measure) member.stamps = std::make_unique<Stamps>(setup.group.window_messages);
  std::vector<std::string> names;
  names.reserve(setup.node.members.size());
  for (const MemberAddress& address : setup.node.members) names.push_back(address.name);
  member.deliveries =
      std::make_unique<Deliveries>(names, MemberIndex{rank_of(setup)}, member.stamps.get());
  GroupOptions options = setup.group;
  // This function puts the group here before it starts the node, which only then delivers.
  const auto group_there = std::make_shared<std::optional<Group>>();
  options.on_delivery = [deliveries = member.deliveries.get(),
                         group_there](std::span<const Message> batch) {
    deliveries->deliver(batch, [&] { return (*group_there)->intact(); });
  };

  // From its first view on there is a group to leave, though start() may return later, when others'
  // messages are printed already.
  NodeOptions told = setup.node;
  told.on_view = [on_view = setup.node.on_view, give_up = give_up_after(words.leave_timeout_s),
                  first = true](const ViewChange& change) mutable {
    if (std::exchange(first, false)) note_interrupt(give_up);
    on_view(change);
  };
  Result<Node> node = Node::create(std::move(told));
  if (!node) return std::unexpected(std::move(node.error()));
  member.node.emplace(std::move(*node));
  Result<Group> group = member.node->join(std::move(options));
  if (!group) return std::unexpected(std::move(group.error()));
  member.group = *group;
  *group_there = *group;
  if (Result<void> started = member.node->start(); !started) {
    return std::unexpected(std::move(started.error()));
  }
  return member;
}

bool broken(const Member& member) {
  return member.deliveries->failed() || member.node->failure().has_value();
}

bool told_to_end(const Member& member) { return broken(member) || interrupted() != 0; }

/// The node failed, or it must be left because of the input: then the others go on without it.
/// Returns the exit status.
int leave(Member& member, int status) {
  // Whether its threads can be joined is unknown: one may be writing to a pipe that nobody reads.
  exit_within(give_up_after(member.leave_seconds), status);
  if (!broken(member)) {
    static_cast<void>(member.node->leave(std::chrono::seconds(member.leave_seconds)));
  }
  member.deliveries->abandon();
  member.node.reset();
  member.deliveries->close();
  return status;
}

/// Says why the node ended; returns the exit status. A member may be lost at any time from its
/// first view on, also before start() returns.
int report_end(const Error& why) {
  const int status = report(why);
  if (status == kExitMemberLost) {
    log_error(
        "what was printed is a prefix of the group's sequence; to go on, start this member again");
  }
  return status;
}

/// Says why the member cannot go on; returns the exit status, if it returns.
int leave_early(Member& member, const std::string& input_error) {
  if (member.deliveries->failed()) {
    log_error(member.deliveries->error());
    drain_log(std::chrono::seconds(1));
    std::_Exit(kExitError);  // no word to the others that the last messages were delivered (D1)
  }
  if (!input_error.empty()) {
    log_error(input_error);
    return leave(member, kExitError);
  }
  const std::optional<Error> failure = member.node->failure();
  if (!failure && interrupted() != 0) {
    log_warning("told to end: leaving the group, for at most " +
                std::to_string(give_up_after(member.leave_seconds)) +
                " s; another signal ends this member at once");
    return leave(member, 128 + interrupted());
  }
  return leave(
      member,
      report_end(failure.value_or(Error{ErrorCode::stopped, "the group takes no more messages"})));
}

/// Waits until every member has reached the end of its input and all is delivered. There is no
/// deadline: others may be typing. A failure ends it.
bool wait_until_complete(Member& member) {
  while (!member.group->wait_complete(kLook)) {
    if (told_to_end(member)) return false;
  }
  return true;
}

bool write_report(const RunOptions& options, const Member& member, std::uint64_t lines,
                  const GroupStatistics& group, const NodeStatistics& node) {
  const Deliveries& deliveries = *member.deliveries;
  const double seconds = static_cast<double>(deliveries.last_ns() - deliveries.first_ns()) / 1e9;
  const auto messages = static_cast<double>(deliveries.messages());
  const auto bytes = static_cast<double>(deliveries.bytes());
  const nlohmann::json report = {
      {"version", version()},
      {"name", options.name},
      {"sent_lines", lines},
      {"delivered_messages", deliveries.messages()},
      {"delivered_bytes", deliveries.bytes()},
      {"seconds", seconds},
      {"delivered_messages_per_second", seconds > 0 ? messages / seconds : 0.0},
      {"delivered_bytes_per_second", seconds > 0 ? bytes / seconds : 0.0},
      {"latency_ns", {{"own", deliveries.latency().summary()}}},
      {"group", to_json(group)},
      {"node", to_json(node)},
  };
  return write_file(options.report, report.dump(2) + "\n");
}

int run(const RunOptions& options) {
  const Verbosity verbosity = options.quiet     ? Verbosity::quiet
                              : options.verbose ? Verbosity::verbose
                                                : Verbosity::normal;
  const Result<RunSetup> setup = set_up(options);
  if (!setup) return report(setup.error());
  set_up_log(verbosity);
  if (!options.report.empty() && !write_file(options.report, "")) return kExitError;
  exit_on_interrupt();
  Result<Member> started = start(*setup, options);
  if (!started) return report_end(started.error());
  Member& member = *started;

  Input input(*member.group, setup->group.message_max_bytes, member.stamps.get(),
              [&member] { return told_to_end(member); });
  if (is_sender(setup->group, options.name)) {
    if (input.send_all() != InputEnd::end_of_input) return leave_early(member, input.error());
  } else {
    log_info("this member is not in --senders, so standard input is not read");
  }
  member.group->finish();
  if (!wait_until_complete(member)) return leave_early(member, {});
  const GroupStatistics group = member.group->statistics();
  if (const Result<void> stopped = member.node->stop(kLeaveTimeout); !stopped) {
    if (member.deliveries->failed()) return leave_early(member, {});
    return leave(member, report_end(stopped.error()));
  }
  const NodeStatistics node = member.node->statistics();  // of all that was posted
  member.node.reset();
  member.deliveries->close();
  if (member.deliveries->failed()) {
    log_error(member.deliveries->error());
    return kExitError;
  }
  if (options.report.empty()) return kExitOk;
  return write_report(options, member, input.lines(), group, node) ? kExitOk : kExitError;
}

}  // namespace

void add_run(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "run", "Be one member: multicast each line of standard input, print each delivery");
  command->footer(
      "Prints `seq sender line` for each delivered message, the same at all members. Ends when\n"
      "every member has reached the end of its input and all is delivered. On SIGINT, SIGTERM or\n"
      "SIGHUP it leaves the group in order, for at most --leave-timeout and 2 seconds,\n"
      "and the others go on; on a second one it ends at once. Status: 128 + the signal.");
  auto options = std::make_shared<RunOptions>();
  add_options(*command, *options);
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace tutti::cli
