/// \file record.cpp
/// `tutti topic record`: writes all samples of some topics to a file.
#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/common_options.hpp"
#include "cli/log.hpp"
#include "cli/output.hpp"
#include "cli/signals.hpp"
#include "cli/terminal.hpp"
#include "cli/topic/reach.hpp"
#include "cli/topic/recording.hpp"
#include "cli/topic/sample_text.hpp"
#include "cli/topic/verbs.hpp"

namespace tutti::cli {
namespace {

struct RecordOptions {
  Reach reach{};
  std::vector<std::string> topics{};
  std::string file{};
  Beginning beginning{};
  std::uint64_t count = 0;  ///< of all topics together; 0: without end
};

/// The file, which a thread for each topic writes.
class Recording {
 public:
  Recording(int fd, const RecordOptions& options)
      : output_(fd, options.file), most_(options.count) {}

  void describe(const TopicRow& row) {
    const std::lock_guard lock(mutex_);
    output_.append(recorded_topic(row));
  }

  /// Of one topic, until the end of the recording.
  void follow(const std::string& topic, const SampleText& samples, TopicFeed& feed) {
    while (!is_over()) {
      const Result<std::optional<TopicSample>> sample = feed.next(kTopicLook);
      if (!sample) return end(sample.error());
      const std::string line = *sample ? recorded_sample(topic, samples, **sample) : "";
      const std::lock_guard lock(mutex_);
      if (is_over()) return;  // another topic had the last one
      if (!*sample) {
        output_.flush();
      } else {
        output_.append(line);
        ++recorded_;
        lost_ += (*sample)->lost_before;
      }
      if (output_.failed() && !error_) error_ = {ErrorCode::system, output_.error()};
      over_ = error_.has_value() || (most_ != 0 && recorded_ >= most_);
    }
  }

  /// Once all threads have ended.
  Result<void> close() {
    output_.close();
    if (output_.failed() && !error_) error_ = {ErrorCode::system, output_.error()};
    if (error_) return std::unexpected(*error_);
    return {};
  }
  [[nodiscard]] std::uint64_t recorded() const { return recorded_; }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  [[nodiscard]] bool is_over() const { return over_.load() || interrupted() != 0; }
  void end(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
    over_ = true;
  }

  std::mutex mutex_;
  Output output_;
  const std::uint64_t most_;
  std::atomic<bool> over_ = false;
  std::uint64_t recorded_ = 0;
  std::uint64_t lost_ = 0;
  std::optional<Error> error_;
};

struct Followed {
  std::string topic{};
  SampleText samples{};
  std::unique_ptr<TopicFeed> feed{};
};

Result<std::vector<Followed>> follow_all(TopicDomain& domain, const RecordOptions& options,
                                         Recording& recording) {
  std::vector<Followed> all;
  for (const std::string& name : options.topics) {
    const Result<TopicRow> row = find_topic(domain, options.reach, name);
    if (!row) return std::unexpected(row.error());
    Result<SampleText> samples = SampleText::of(row->type);
    if (!samples) return std::unexpected(std::move(samples.error()));
    auto feed = domain.read(*row, options.beginning.from());
    if (!feed) return std::unexpected(std::move(feed.error()));
    recording.describe(*row);
    all.push_back({name, std::move(*samples), std::move(*feed)});
  }
  return all;
}

Result<void> record(TopicDomain& domain, const RecordOptions& options) {
  const int fd = ::open(options.file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) {
    return fail(ErrorCode::system, "cannot write " + options.file + ": " + std::strerror(errno));
  }
  Recording recording(fd, options);
  Result<std::vector<Followed>> all = follow_all(domain, options, recording);
  if (all) {
    std::vector<std::jthread> threads;
    for (Followed& each : *all) {
      threads.emplace_back(
          [&recording, &each] { recording.follow(each.topic, each.samples, *each.feed); });
    }
  }
  const Result<void> closed = recording.close();
  if (!all) return std::unexpected(all.error());
  if (options.reach.json) {
    const nlohmann::json summary = {{"recorded", recording.recorded()}, {"lost", recording.lost()}};
    if (!print(summary.dump() + "\n")) return fail(ErrorCode::system, "standard output is closed");
  } else {
    log_info("recorded " + grouped(recording.recorded()) + " in " + options.file +
             (recording.lost() > 0 ? ", lost " + grouped(recording.lost()) : ""));
  }
  return closed;
}

}  // namespace

void add_topic_record(CLI::App& topic, int& status) {
  CLI::App* command = topic.add_subcommand("record", "Write the samples of topics to a file");
  auto options = std::make_shared<RecordOptions>();
  command->add_option("NAME", options->topics, "the topics")->required();
  command->add_option("-o,--output", options->file, "the file; what it has is replaced")
      ->required();
  command
      ->add_option("--count", options->count, "end after so many samples, of all topics together")
      ->check(whole_number(1, 1LL << 62));
  add_beginning(*command, options->beginning);
  add_reach(*command, options->reach, "print how many were recorded, as a JSON object");
  command->callback([options, &status] {
    status =
        in_domain(options->reach, [&](TopicDomain& domain) { return record(domain, *options); });
  });
}

}  // namespace tutti::cli
