/// \file members.cpp
/// `tutti members`: asks a running member which view it is in.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/exit_code.hpp"
#include "cli/log.hpp"
#include "cli/terminal.hpp"
#include "tutti/look.hpp"

namespace tutti::cli {
namespace {

struct MembersOptions {
  std::string address{};
  double timeout_s = 5;
  bool json = false;
};

std::string state_of(const NodeLook& look) {
  const std::string view = "view " + std::to_string(look.view);
  switch (look.state) {
    case NodeState::waiting:
      return "waiting for the others, in no view yet";
    case NodeState::joining:
      return "in " + view + ", taking over the group's state";
    case NodeState::in_view:
      return "in " + view;
    case NodeState::stopped:
      return "stopped" + (look.view == 0 ? "" : " after " + view) + ": " + look.why;
  }
  return "?";
}

// The nodes that may be members and are not.
std::vector<MemberAddress> absent_of(const NodeLook& look) {
  std::vector<MemberAddress> absent;
  for (const MemberAddress& node : look.nodes) {
    if (std::ranges::find(look.members, node.name, &SeenMember::name) == look.members.end()) {
      absent.push_back(node);
    }
  }
  return absent;
}

std::string text_of(const NodeLook& look) {
  std::string groups;
  for (const std::string& name : look.groups) groups += (groups.empty() ? "" : ", ") + name;
  std::string text = "member " + look.name + " of group " + groups + ": " + state_of(look) + "\n";
  if (!look.members.empty()) {
    Table table({"rank", "name", "address", "incarnation", ""});
    for (std::size_t rank = 0; rank < look.members.size(); ++rank) {
      const SeenMember& member = look.members[rank];
      table.add({std::to_string(rank), member.name, member.address,
                 std::to_string(member.incarnation), member.name == look.name ? "answered" : ""});
    }
    text += table.text();
  }
  for (const SeenLag& seen : look.lags) {
    text += "behind in group " + seen.group + ": " + seen.lag.member + ", " +
            std::to_string(seen.lag.messages) + " messages, " + std::to_string(seen.lag.bytes) +
            " bytes, " + std::to_string(seen.lag.behind / std::chrono::milliseconds(1)) + " ms" +
            (seen.lag.holds_window ? "; " + look.name + " waits for it with a full window" : "") +
            "\n";
  }
  std::string absent;
  for (const MemberAddress& node : absent_of(look)) {
    absent += (absent.empty() ? "" : ", ") + node.name + " (" + node.address + ")";
  }
  if (absent.empty()) return text;
  return text + (look.view == 0 ? "may be members: " : "not in its view: ") + absent + "\n";
}

std::string json_of(const NodeLook& look) {
  nlohmann::json members = nlohmann::json::array();
  for (std::size_t rank = 0; rank < look.members.size(); ++rank) {
    const SeenMember& member = look.members[rank];
    members.push_back({{"rank", rank},
                       {"name", member.name},
                       {"address", member.address},
                       {"incarnation", member.incarnation}});
  }
  nlohmann::json absent = nlohmann::json::array();
  for (const MemberAddress& node : absent_of(look)) {
    absent.push_back({{"name", node.name}, {"address", node.address}});
  }
  nlohmann::json lags = nlohmann::json::array();
  for (const SeenLag& seen : look.lags) {
    lags.push_back({{"group", seen.group},
                    {"member", seen.lag.member},
                    {"messages", seen.lag.messages},
                    {"bytes", seen.lag.bytes},
                    {"behind_ms", seen.lag.behind / std::chrono::milliseconds(1)},
                    {"holds_window", seen.lag.holds_window}});
  }
  const nlohmann::json value = {{"name", look.name},
                                {"version", look.version},
                                {"incarnation", look.incarnation},
                                {"state", to_string(look.state)},
                                {"why", look.why},
                                {"groups", look.groups},
                                {"view", look.view},
                                {"members", std::move(members)},
                                {"absent", std::move(absent)},
                                {"lags", std::move(lags)}};
  return value.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

int members(const MembersOptions& options) {
  const Result<std::chrono::nanoseconds> timeout = duration_from(options.timeout_s, "--timeout");
  if (!timeout) return report(timeout.error());
  const Result<NodeLook> look = look_at(options.address, *timeout);
  if (!look) return report(look.error());
  return print(options.json ? json_of(*look) : text_of(*look)) ? kExitOk : kExitError;
}

}  // namespace

void add_members(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("members", "Ask a running member which view it is in, and its members");
  command->footer(
      "The answer is that member's own view: while a view changes, others may be in another one.");
  auto options = std::make_shared<MembersOptions>();
  command
      ->add_option("ADDRESS", options->address,
                   "where the member listens: HOST:PORT, as in the list of `tutti run --members`")
      ->required();
  command->add_flag("--json", options->json, "print JSON");
  command->add_option("--timeout", options->timeout_s, "seconds to wait for the answer")
      ->capture_default_str();
  command->callback([options, &status] { status = members(*options); });
}

}  // namespace tutti::cli
