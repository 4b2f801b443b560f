#include "cli/topic/reach.hpp"

#include <CLI/CLI.hpp>
#include <ctime>

#include "cli/clock.hpp"
#include "cli/common_options.hpp"
#include "cli/exit_code.hpp"
#include "cli/log.hpp"
#include "cli/signals.hpp"

namespace tutti::cli {
namespace {

Result<void> validate(const Reach& reach) {
  const bool is_client = !reach.relay.empty();
  const bool is_member = !reach.members.empty() || !reach.name.empty();
  if (is_client && is_member) {
    return fail(ErrorCode::invalid_argument,
                "--relay and --members: take one, to be a client or a participant");
  }
  if (is_client) return {};
  if (reach.members.empty() || reach.name.empty()) {
    return fail(ErrorCode::invalid_argument,
                "say how the topics are reached: --relay HOST:PORT, to be a client of a relay; or "
                "--name NAME --members a=HOST:PORT,..., to be a participant");
  }
  return {};
}

Error unknown_topic(const std::string& name, const std::vector<TopicRow>& rows) {
  std::string known;
  for (const TopicRow& row : rows) known += (known.empty() ? "" : ", ") + row.name;
  return {ErrorCode::refused, "there is no topic '" + name + "'" +
                                  (known.empty() ? ", nor any other" : "; there are: " + known) +
                                  ". With --wait SECONDS the command waits for it"};
}

}  // namespace

void add_reach(CLI::App& command, Reach& reach, const std::string& json_help) {
  command.add_option(
      "--relay", reach.relay,
      "be a client of a relay (tutti relay): HOST:PORT, or several, of which one is used at a "
      "time: HOST:PORT,HOST:PORT");
  command.add_option("--token", reach.token, "with --relay: what it asks for");
  command.add_option("--name", reach.name, "be a participant: the name in --members");
  command.add_option("--members", reach.members,
                     "all participants, the same list at each: a=HOST:PORT,b=HOST:PORT,...");
  command.add_option("--state-dir", reach.state_dir,
                     "a folder of this participant alone; where the others have one, this one "
                     "needs it, too");
  command.add_option("--fabric", reach.fabric, "as in tutti run")->capture_default_str();
  command.add_option("--founders", reach.founders, "as in tutti run")
      ->check(whole_number(0, 256))
      ->capture_default_str();
  command.add_flag("--join", reach.join_only, "as in tutti run");
  command.add_flag("--bootstrap", reach.bootstrap, "as in tutti run");
  command.add_option("--suspect-after", reach.suspect_after_s, "as in tutti run")
      ->capture_default_str();
  command
      .add_option("--start-timeout", reach.start_timeout_s,
                  "seconds to wait for the relay or the participants")
      ->capture_default_str();
  add_leave_timeout(command, reach.leave_timeout_s);
  command.add_option("--wait", reach.wait_s, "seconds to wait for a topic that is not there yet")
      ->check(CLI::Range(0.0, 86400.0).description(""))
      ->capture_default_str();
  command.add_flag("--json", reach.json, json_help);
}

Result<TopicRow> find_topic(TopicDomain& domain, const Reach& reach, const std::string& name) {
  const std::int64_t deadline_ns = now_ns() + static_cast<std::int64_t>(reach.wait_s * 1e9);
  while (true) {
    Result<TopicRow> row = domain.topic(name);
    if (row || row.error().code != ErrorCode::refused) return row;
    if (interrupted() != 0) return fail(ErrorCode::stopped, "interrupted");
    if (now_ns() >= deadline_ns) break;
    wait_until(std::min(deadline_ns, now_ns() + kTopicLookNs), false);
  }
  const Result<std::vector<TopicRow>> rows = domain.topics();
  if (!rows) return std::unexpected(rows.error());
  return std::unexpected(unknown_topic(name, *rows));
}

dds::From Beginning::from() const {
  if (position) return dds::from_position(SeqNo{*position});
  return from_start ? dds::kFromStored : dds::kFromNow;
}

void add_beginning(CLI::App& command, Beginning& beginning) {
  CLI::Option* start = command.add_flag(
      "--from-start", beginning.from_start,
      "begin with all that the topic has: the history of a stored one, the log of a logged one");
  command
      .add_option("--from", beginning.position,
                  "begin with the first sample at this position or behind it; of a stored or a "
                  "logged topic")
      ->check(whole_number(0, 1LL << 62))
      ->excludes(start);
}

int in_domain(const Reach& reach, const std::function<Result<void>(TopicDomain&)>& verb) {
  if (const Result<void> valid = validate(reach); !valid) return report(valid.error());
  exit_on_interrupt();
  Result<std::unique_ptr<TopicDomain>> domain =
      reach.relay.empty() ? join_domain(reach) : call_relay(reach);
  if (!domain) return report(domain.error());
  note_interrupt(give_up_after(reach.leave_timeout_s));
  const Result<void> done = verb(**domain);
  const Result<void> left = (*domain)->leave();
  if (!done && interrupted() == 0) return report(done.error());
  if (!left && interrupted() == 0) return report(left.error());
  return kExitOk;
}

}  // namespace tutti::cli
