/// \file topic.cpp
/// `tutti topic`: look at topics, write to them and read them, as a participant or through a relay.
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/topic/verbs.hpp"

namespace tutti::cli {

void add_topic(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("topic", "Look at topics, write to them, read them");
  command->require_subcommand(1);
  command->footer(
      "Each verb takes --relay HOST:PORT, or --name and --members as `tutti run`. A participant is "
      "one\n"
      "of --members: the others know of it, and it has the same bundles as they have by default.\n"
      "Ctrl-C ends a verb with status 0. docs/topic-command.md has examples and the formats.");
  add_topic_ls(*command, status);
  add_topic_info(*command, status);
  add_topic_pub(*command, status);
  add_topic_echo(*command, status);
  add_topic_hz(*command, status);
  add_topic_bw(*command, status);
  add_topic_delay(*command, status);
  add_topic_record(*command, status);
  add_topic_play(*command, status);
}

}  // namespace tutti::cli
