/// \file bootstrap.cpp
/// `tutti bootstrap`: says once, at one member, that groups that are logged are new.
#include "tutti/bootstrap.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/log.hpp"
#include "cli/member_list.hpp"
#include "cli/terminal.hpp"

namespace tutti::cli {
namespace {

struct BootstrapOptions {
  std::string name;
  std::string members;
  std::string state_dir;
  std::vector<std::string> groups;
  bool json = false;
};

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string json_of(const BootstrapOptions& options, const std::vector<std::string>& members) {
  const nlohmann::json value = {{"name", options.name},
                                {"members", members},
                                {"groups", options.groups},
                                {"state_dir", options.state_dir}};
  return value.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string text_of(const BootstrapOptions& options, const std::vector<std::string>& members) {
  const std::string how = options.groups.size() == 1
                              ? "as\n  tutti run --name NAME --members " + options.members +
                                    " --group " + options.groups.front() +
                                    " --level durable --state-dir DIR\n"
                              : "as a program that joins all of these groups\n";
  return "new: " + std::string(options.groups.size() == 1 ? "group " : "groups ") +
         listed(options.groups) + " of the members " + listed(members) + ", says " +
         options.state_dir + "\n" + "next: start all of them, " + options.name +
         " with this --state-dir and each of the others with one of its own, " + how +
         "They begin once all of them are there. Start them with the same command again after any "
         "crash; do not bootstrap again.\n";
}

int found(const BootstrapOptions& options) {
  Result<std::vector<MemberAddress>> members = members_from(options.members);
  if (!members) return report(members.error());
  std::vector<std::string> names;
  for (const MemberAddress& member : *members) names.push_back(member.name);
  NodeOptions node;
  node.name = options.name;
  node.members = std::move(*members);
  node.state_dir = options.state_dir;
  if (const Result<void> done = bootstrap(node, options.groups); !done) {
    return report(done.error());
  }
  return print(options.json ? json_of(options, names) : text_of(options, names)) ? kExitOk
                                                                                 : kExitError;
}

}  // namespace

void add_bootstrap(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "bootstrap", "Say once, at one member, that groups which are logged are new");
  command->footer(
      "Writes into --state-dir, and starts nothing. Members that have a --state-dir never found a\n"
      "group by themselves: so no second group begins beside one whose members are all down. It\n"
      "refuses a folder in which a group has begun.");
  auto options = std::make_shared<BootstrapOptions>();
  command->add_option("--name", options->name, "the name of this member in --members")->required();
  command
      ->add_option("--members", options->members,
                   "all members, the same list at each: a=HOST:PORT,b=HOST:PORT,...")
      ->required();
  command
      ->add_option("--group", options->groups,
                   "name of a group that is logged; once for each of them")
      ->required()
      ->expected(1)
      ->take_all();
  command
      ->add_option("--state-dir", options->state_dir,
                   "a folder of this member alone, in which it will log; it is made if it is not "
                   "there")
      ->required();
  command->add_flag("--json", options->json, "print JSON");
  command->callback([options, &status] { status = found(*options); });
}

}  // namespace tutti::cli
