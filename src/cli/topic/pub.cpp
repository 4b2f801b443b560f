/// \file pub.cpp
/// `tutti topic pub`: writes samples that are given as JSON.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/clock.hpp"
#include "cli/common_options.hpp"
#include "cli/line_splitter.hpp"
#include "cli/log.hpp"
#include "cli/poll_until.hpp"
#include "cli/signals.hpp"
#include "cli/terminal.hpp"
#include "cli/topic/reach.hpp"
#include "cli/topic/sample_text.hpp"
#include "cli/topic/verbs.hpp"

namespace tutti::cli {
namespace {

constexpr std::size_t kLineMax = 16 * 1024 * 1024;
constexpr std::size_t kBlock = 64 * 1024;

struct PubOptions {
  Reach reach{};
  std::string topic{};
  std::optional<std::string> value{};
  std::optional<std::string> create{};
  double rate = 0;          ///< samples in a second; 0: as fast as they are taken
  std::uint64_t count = 0;  ///< 0: one VALUE, all lines
};

/// Lines of standard input, until its end or an interrupt.
class Lines {
 public:
  /// Nothing: there are no more.
  Result<std::optional<Line>> next() {
    while (true) {
      if (std::optional<Line> line = splitter_.next()) return line;
      if (at_end_) return splitter_.rest();
      if (Result<void> more = read(); !more) return std::unexpected(more.error());
      if (interrupted() != 0) return std::nullopt;
    }
  }

 private:
  Result<void> read() {
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (poll_until({&input, 1}, now_ns() + kTopicLookNs) == 0) return {};
    const std::span<char> space = splitter_.space();
    const ssize_t count = ::read(STDIN_FILENO, space.data(), space.size());
    if (count < 0 && errno != EINTR) {
      return fail(ErrorCode::system,
                  std::string("cannot read standard input: ") + std::strerror(errno));
    }
    if (count == 0) at_end_ = true;
    if (count > 0) splitter_.added(static_cast<std::size_t>(count));
    return {};
  }

  LineSplitter splitter_{kLineMax, kBlock};
  bool at_end_ = false;
};

class Publisher {
 public:
  Publisher(TopicSink& sink, const SampleText& samples, double rate)
      : sink_(sink), samples_(samples), pause_ns_(rate > 0 ? 1e9 / rate : 0) {}

  /// `where` is what an error names.
  Result<void> publish(std::string_view value, const std::string& where) {
    const auto bytes = samples_.parse(value);
    if (!bytes) return fail(bytes.error().code, where + ": " + bytes.error().message);
    if (began_ns_ == 0) began_ns_ = now_ns();
    const double later_ns = std::min(pause_ns_ * static_cast<double>(published_), 1e18);
    const std::int64_t due_ns = began_ns_ + static_cast<std::int64_t>(later_ns);
    while (now_ns() < due_ns && interrupted() == 0) {
      wait_until(std::min(due_ns, now_ns() + kTopicLookNs), false);
    }
    if (interrupted() != 0) return {};
    if (Result<void> written = sink_.write(*bytes); !written) return written;
    ++published_;
    return {};
  }

  [[nodiscard]] std::uint64_t published() const { return published_; }

 private:
  TopicSink& sink_;
  const SampleText& samples_;
  const double pause_ns_;
  std::int64_t began_ns_ = 0;
  std::uint64_t published_ = 0;
};

Result<void> publish_all(const PubOptions& options, Publisher& publisher) {
  if (options.value) {
    const std::uint64_t count = std::max<std::uint64_t>(1, options.count);
    for (std::uint64_t i = 0; i < count && interrupted() == 0; ++i) {
      if (Result<void> done = publisher.publish(*options.value, "the value"); !done) return done;
    }
    return {};
  }
  Lines lines;
  while (options.count == 0 || publisher.published() < options.count) {
    const Result<std::optional<Line>> line = lines.next();
    if (!line) return std::unexpected(line.error());
    if (!*line || interrupted() != 0) return {};
    const std::string where = "line " + std::to_string((*line)->number);
    if ((*line)->too_long) {
      return fail(ErrorCode::invalid_argument, where + " has more than 16 MiB");
    }
    if ((*line)->text.empty()) continue;
    if (Result<void> done = publisher.publish((*line)->text, where); !done) return done;
  }
  return {};
}

/// Whose samples are texts.
Result<TopicRow> text_topic(const PubOptions& options) {
  Result<dds::TopicOptions> about = dds::TopicOptions::from_text(*options.create);
  if (!about) {
    return fail(ErrorCode::invalid_argument, "--create: " + about.error().message);
  }
  return TopicRow{.name = options.topic,
                  .type = dds::TypeSupport<std::string>::info(),
                  .options = std::move(*about)};
}

Result<void> pub(TopicDomain& domain, const PubOptions& options,
                 const std::optional<TopicRow>& created) {
  const Result<TopicRow> row =
      created ? domain.create(*created) : find_topic(domain, options.reach, options.topic);
  if (!row) return std::unexpected(row.error());
  const Result<SampleText> samples = SampleText::of(row->type);
  if (!samples) return std::unexpected(samples.error());
  const Result<std::unique_ptr<TopicSink>> sink = domain.write(*row);
  if (!sink) return std::unexpected(sink.error());
  Publisher publisher(**sink, *samples, options.rate);
  const Result<void> published = publish_all(options, publisher);
  const Result<void> finished = (*sink)->finish();
  if (options.reach.json) {
    const nlohmann::json summary = {{"published", publisher.published()},
                                    {"delivered", finished.has_value()}};
    if (!print(summary.dump() + "\n")) return fail(ErrorCode::system, "standard output is closed");
  } else {
    log_info("published " + grouped(publisher.published()) +
             (finished ? ", all delivered" : ", not all of them known to be delivered"));
  }
  return published ? finished : published;
}

int run_pub(const PubOptions& options) {
  std::optional<TopicRow> created;
  if (options.create) {
    Result<TopicRow> row = text_topic(options);
    if (!row) return report(row.error());
    created = std::move(*row);
  }
  return in_domain(options.reach,
                   [&](TopicDomain& domain) { return pub(domain, options, created); });
}

}  // namespace

void add_topic_pub(CLI::App& topic, int& status) {
  CLI::App* command = topic.add_subcommand("pub", "Write samples, given as JSON, to a topic");
  command->footer(
      "VALUE is JSON of the topic's type, as `echo` prints it; of a type without a description it "
      "is\n"
      "hexadecimal digits. Without VALUE each line of standard input is one.");
  auto options = std::make_shared<PubOptions>();
  command->add_option("NAME", options->topic, "the topic")->required();
  command->add_option("VALUE", options->value, "one sample");
  command->add_option("--rate", options->rate, "samples in a second; 0: as fast as they are taken")
      ->check(CLI::Range(0.0, 1e9).description(""))
      ->capture_default_str();
  command
      ->add_option("--count", options->count,
                   "how many samples: of VALUE one, of standard input all, if it is not given")
      ->check(whole_number(1, 1LL << 62));
  command->add_option("--create", options->create,
                      "with --members: create the topic, of texts, if it is not there, with these "
                      "options, such as service=stored,history=keep_last(10)");
  add_reach(*command, options->reach, "print how many were published, as a JSON object");
  command->callback([options, &status] { status = run_pub(*options); });
}

}  // namespace tutti::cli
