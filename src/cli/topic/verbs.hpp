/// \file verbs.hpp
/// The verbs of `tutti topic`: each function adds one (commands.hpp).
#pragma once
#include "cli/cli11_fwd.hpp"

namespace tutti::cli {

void add_topic_ls(CLI::App& topic, int& status);
void add_topic_info(CLI::App& topic, int& status);
void add_topic_pub(CLI::App& topic, int& status);
void add_topic_echo(CLI::App& topic, int& status);
void add_topic_hz(CLI::App& topic, int& status);
void add_topic_bw(CLI::App& topic, int& status);
void add_topic_delay(CLI::App& topic, int& status);
void add_topic_record(CLI::App& topic, int& status);
void add_topic_play(CLI::App& topic, int& status);

}  // namespace tutti::cli
