/// \file play.cpp
/// `tutti topic play`: writes what was recorded to the same topics, at the same pace or another
/// one.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/clock.hpp"
#include "cli/log.hpp"
#include "cli/signals.hpp"
#include "cli/terminal.hpp"
#include "cli/topic/reach.hpp"
#include "cli/topic/recording.hpp"
#include "cli/topic/verbs.hpp"

namespace tutti::cli {
namespace {

struct PlayOptions {
  Reach reach{};
  std::string file{};
  double rate = 1;  ///< 0: as fast as they are taken
  bool create = false;
};

class Player {
 public:
  Player(TopicDomain& domain, const PlayOptions& options) : domain_(domain), options_(options) {}

  Result<void> play() {
    std::ifstream file(options_.file);
    if (!file) {
      return fail(ErrorCode::system, "cannot read " + options_.file + "; does it exist?");
    }
    std::string line;
    for (std::uint64_t number = 1; interrupted() == 0 && std::getline(file, line); ++number) {
      if (line.empty()) continue;
      const auto sample = reader_.read(line);
      const std::string where = options_.file + ", line " + std::to_string(number) + ": ";
      if (!sample) return fail(sample.error().code, where + sample.error().message);
      if (!*sample) continue;
      if (Result<void> written = write(**sample); !written) {
        return fail(written.error().code, where + written.error().message);
      }
    }
    return {};
  }

  Result<void> finish() {
    for (const auto& [name, sink] : sinks_) {
      if (Result<void> done = sink->finish(); !done) return done;
    }
    return {};
  }

  [[nodiscard]] std::uint64_t played() const { return played_; }

 private:
  Result<void> write(const RecordingReader::Recorded& sample) {
    auto sink = sinks_.find(sample.topic);
    if (sink == sinks_.end()) {
      auto opened = open(reader_.topic(sample.topic));
      if (!opened) return std::unexpected(std::move(opened.error()));
      sink = sinks_.emplace(sample.topic, std::move(*opened)).first;
    }
    wait_for(sample.timestamp_ns);
    if (interrupted() != 0) return {};
    if (Result<void> written = sink->second->write(sample.bytes); !written) return written;
    ++played_;
    return {};
  }

  Result<std::unique_ptr<TopicSink>> open(const TopicRow& recorded) {
    const Result<TopicRow> row = options_.create
                                     ? domain_.create(recorded)
                                     : find_topic(domain_, options_.reach, recorded.name);
    if (!row) return std::unexpected(row.error());
    if (row->type.hash != recorded.type.hash) {
      return fail(ErrorCode::mismatch, "topic '" + recorded.name + "' has type '" + row->type.name +
                                           "' now; recorded was another type, or an older version "
                                           "of it: '" +
                                           recorded.type.name + "'");
    }
    return domain_.write(*row);
  }

  /// Samples without a time come with the one before.
  void wait_for(std::uint64_t timestamp_ns) {
    if (timestamp_ns == 0 || options_.rate <= 0) return;
    const auto at = static_cast<double>(timestamp_ns);
    if (began_ns_ == 0) {
      first_ = at;
      began_ns_ = now_ns();
    }
    // A file may say anything.
    const double later_ns = std::clamp((at - first_) / options_.rate, 0.0, 1e18);
    const std::int64_t due_ns = began_ns_ + static_cast<std::int64_t>(later_ns);
    while (now_ns() < due_ns && interrupted() == 0) {
      wait_until(std::min(due_ns, now_ns() + kTopicLookNs), false);
    }
  }

  TopicDomain& domain_;
  const PlayOptions& options_;
  RecordingReader reader_;
  std::map<std::string, std::unique_ptr<TopicSink>> sinks_;
  double first_ = 0;  // ns: of the recording
  std::int64_t began_ns_ = 0;
  std::uint64_t played_ = 0;
};

Result<void> play(TopicDomain& domain, const PlayOptions& options) {
  Player player(domain, options);
  const Result<void> played = player.play();
  const Result<void> finished = player.finish();
  if (options.reach.json) {
    const nlohmann::json summary = {{"played", player.played()},
                                    {"delivered", finished.has_value()}};
    if (!print(summary.dump() + "\n")) return fail(ErrorCode::system, "standard output is closed");
  } else {
    log_info("played " + grouped(player.played()) +
             (finished ? ", all delivered" : ", not all of them known to be delivered"));
  }
  return played ? finished : played;
}

}  // namespace

void add_topic_play(CLI::App& topic, int& status) {
  CLI::App* command = topic.add_subcommand("play", "Write what was recorded to the same topics");
  auto options = std::make_shared<PlayOptions>();
  command->add_option("FILE", options->file, "what `tutti topic record` wrote")
      ->required()
      ->check(CLI::ExistingFile);
  command
      ->add_option("--rate", options->rate,
                   "how many times as fast as it was written; 0: as fast as it is taken")
      ->check(CLI::Range(0.0, 1e6).description(""))
      ->capture_default_str();
  command->add_flag("--create", options->create,
                    "with --members: create topics that are not there, as they were");
  add_reach(*command, options->reach, "print how many were played, as a JSON object");
  command->callback([options, &status] {
    status = in_domain(options->reach, [&](TopicDomain& domain) { return play(domain, *options); });
  });
}

}  // namespace tutti::cli
