/// \file echo.cpp
/// `tutti topic echo`: prints each sample of a topic.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common_options.hpp"
#include "cli/log.hpp"
#include "cli/output.hpp"
#include "cli/signals.hpp"
#include "cli/terminal.hpp"
#include "cli/topic/reach.hpp"
#include "cli/topic/sample_text.hpp"
#include "cli/topic/verbs.hpp"

namespace tutti::cli {
namespace {

using nlohmann::json;

struct EchoOptions {
  Reach reach{};
  std::string topic{};
  Beginning beginning{};
  std::uint64_t count = 0;  ///< 0: without end
  bool once = false;
  std::string field{};
};

/// The part of a sample that a path such as "a.b.2" names.
Result<std::string> field_of(const std::string& sample, const std::string& path) {
  const json value = json::parse(sample, nullptr, false);
  const json* at = &value;
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::string part(rest.substr(0, rest.find('.')));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const bool is_index = at->is_array() && !part.empty() && part.size() < 10 &&
                          part.find_first_not_of("0123456789") == std::string::npos;
    if (at->is_object() && at->contains(part)) {
      at = &(*at)[part];
    } else if (is_index && std::stoul(part) < at->size()) {
      at = &(*at)[std::stoul(part)];
    } else {
      std::string text = "--field " + path;
      text.append(": the sample ").append(sample).append(" has no '").append(part);
      return fail(ErrorCode::invalid_argument, text.append("' there"));
    }
  }
  return at->dump(-1, ' ', false, json::error_handler_t::replace);
}

/// `data` is JSON already.
std::string line_of(const EchoOptions& options, const TopicSample& sample,
                    const std::string& data) {
  if (!options.reach.json) return data + "\n";
  const auto text = [](const std::string& word) {
    return json(word).dump(-1, ' ', true, json::error_handler_t::replace);
  };
  return "{\"topic\":" + text(options.topic) + ",\"position\":" + std::to_string(sample.position) +
         ",\"sender\":" + text(sample.sender) +
         ",\"timestamp\":" + std::to_string(sample.timestamp_ns) +
         ",\"lost\":" + std::to_string(sample.lost_before) + ",\"data\":" + data + "}\n";
}

class Echo {
 public:
  Echo(const EchoOptions& options, const SampleText& samples)
      : options_(options), samples_(samples), most_(options.once ? 1 : options.count) {}

  Result<void> run(TopicFeed& feed) {
    while (interrupted() == 0 && (most_ == 0 || printed_ < most_)) {
      // What is there is printed before more is waited for.
      Result<std::optional<TopicSample>> sample = feed.next(std::chrono::nanoseconds(0));
      if (sample && !*sample) {
        output_.flush();
        sample = feed.next(kTopicLook);
      }
      if (!sample) return std::unexpected(sample.error());
      if (*sample) {
        if (Result<void> printed = print_one(**sample); !printed) return printed;
      }
      if (output_.failed()) return fail(ErrorCode::system, output_.error());
    }
    output_.flush();
    if (output_.failed()) return fail(ErrorCode::system, output_.error());
    log_info("read " + grouped(printed_) + (lost_ > 0 ? ", lost " + grouped(lost_) : ""));
    return {};
  }

 private:
  Result<void> print_one(const TopicSample& sample) {
    if (sample.lost_before > 0) {
      lost_ += sample.lost_before;
      log_warning("lost " + grouped(sample.lost_before) + " samples before position " +
                  std::to_string(sample.position) + ": this reader was slower than they are kept");
    }
    Result<std::string> data = samples_.print(sample.bytes);
    if (!data) {
      log_warning("the sample at position " + std::to_string(sample.position) +
                  " is none of the type: " + data.error().message);
      return {};
    }
    if (!options_.field.empty()) data = field_of(*data, options_.field);
    if (!data) return std::unexpected(data.error());
    output_.append(line_of(options_, sample, *data));
    ++printed_;
    return {};
  }

  const EchoOptions& options_;
  const SampleText& samples_;
  const std::uint64_t most_;  // 0: without end
  Output output_{STDOUT_FILENO, "standard output"};
  std::uint64_t printed_ = 0;
  std::uint64_t lost_ = 0;
};

Result<void> echo(TopicDomain& domain, const EchoOptions& options) {
  const Result<TopicRow> row = find_topic(domain, options.reach, options.topic);
  if (!row) return std::unexpected(row.error());
  const Result<SampleText> samples = SampleText::of(row->type);
  if (!samples) return std::unexpected(samples.error());
  const auto feed = domain.read(*row, options.beginning.from());
  if (!feed) return std::unexpected(feed.error());
  return Echo(options, *samples).run(**feed);
}

}  // namespace

void add_topic_echo(CLI::App& topic, int& status) {
  CLI::App* command = topic.add_subcommand("echo", "Print each sample of a topic, as JSON");
  command->alias("sub");
  auto options = std::make_shared<EchoOptions>();
  command->add_option("NAME", options->topic, "the topic")->required();
  CLI::Option* once = command->add_flag("--once", options->once, "end after one sample");
  command->add_option("--count", options->count, "end after so many samples")
      ->check(whole_number(1, 1LL << 62))
      ->excludes(once);
  command->add_option("--field", options->field,
                      "print this part of each sample alone, such as position.x or values.2");
  add_beginning(*command, options->beginning);
  add_reach(*command, options->reach,
            "print each sample in an object with its position, sender and time");
  command->callback([options, &status] {
    status = in_domain(options->reach, [&](TopicDomain& domain) { return echo(domain, *options); });
  });
}

}  // namespace tutti::cli
