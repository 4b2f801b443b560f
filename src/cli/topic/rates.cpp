/// \file rates.cpp
/// `tutti topic hz`, `bw` and `delay`: how many samples of a topic come, how large they are, and
/// how long they took.
#include <CLI/CLI.hpp>
#include <ctime>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/clock.hpp"
#include "cli/common_options.hpp"
#include "cli/log.hpp"
#include "cli/signals.hpp"
#include "cli/terminal.hpp"
#include "cli/topic/reach.hpp"
#include "cli/topic/verbs.hpp"
#include "cli/topic/window.hpp"

namespace tutti::cli {
namespace {

using nlohmann::json;

struct RateOptions {
  Reach reach{};
  std::string topic{};
  std::size_t window = 10'000;
  std::uint64_t count = 0;  ///< end after so many samples; 0: without end
};

/// What a verb makes of the window: a line for people, and one for programs.
struct RateVerb {
  std::function<std::string(const SampleWindow&)> text;
  std::function<json(const SampleWindow&)> object;
  bool needs_time_stamps = false;
};

std::int64_t wall_clock_ns() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

json to_json(const Spread& spread) {
  return {{"mean", spread.mean},
          {"min", spread.least},
          {"max", spread.most},
          {"deviation", spread.deviation}};
}

std::string text_of(const Spread& spread, std::string (*number)(double)) {
  return "min " + number(spread.least) + ", max " + number(spread.most) + ", std dev " +
         number(spread.deviation);
}

/// Ages may be below zero, if clocks of hosts differ.
std::string age_text(double ns) { return ns < 0 ? "-" + short_time(-ns) : short_time(ns); }

class RateRun {
 public:
  RateRun(const RateOptions& options, const RateVerb& verb)
      : options_(options), verb_(verb), window_(options.window) {}

  Result<void> run(TopicFeed& feed) {
    std::int64_t next_ns = now_ns() + kNsPerSecond;
    while (interrupted() == 0 && (options_.count == 0 || seen_ < options_.count)) {
      const Result<std::optional<TopicSample>> sample = feed.next(kTopicLook);
      if (!sample) return std::unexpected(sample.error());
      if (*sample) {
        if (Result<void> added = add(**sample); !added) return added;
      }
      if (now_ns() < next_ns) continue;
      next_ns += kNsPerSecond;
      if (Result<void> told = tell(); !told) return told;
    }
    return tell();
  }

 private:
  Result<void> add(const TopicSample& sample) {
    ++seen_;
    if (verb_.needs_time_stamps && sample.timestamp_ns == 0) {
      return fail(ErrorCode::invalid_argument,
                  "the samples of topic '" + options_.topic +
                      "' do not say when they were written (WriterOptions::source_timestamps)");
    }
    // Wraps as it should, whatever a writer says.
    const auto age_ns = static_cast<std::int64_t>(static_cast<std::uint64_t>(wall_clock_ns()) -
                                                  sample.timestamp_ns);
    window_.add(
        {.at_ns = now_ns(), .bytes = sample.bytes.size(), .age_ns = static_cast<double>(age_ns)});
    return {};
  }

  /// Nothing, as long as nothing new has come.
  Result<void> tell() {
    if (seen_ == told_) return {};
    told_ = seen_;
    std::string line;
    if (options_.reach.json) {
      json object = verb_.object(window_);
      object["topic"] = options_.topic;
      object["window"] = window_.count();
      object["samples"] = seen_;
      line = object.dump(-1, ' ', true, json::error_handler_t::replace);
    } else {
      line = verb_.text(window_) + ", window " + grouped(window_.count());
    }
    if (print(line + "\n")) return {};
    return fail(ErrorCode::system, "standard output takes no more");
  }

  const RateOptions& options_;
  const RateVerb& verb_;
  SampleWindow window_;
  std::uint64_t seen_ = 0;
  std::uint64_t told_ = 0;
};

Result<void> run_rate(TopicDomain& domain, const RateOptions& options, const RateVerb& verb) {
  const Result<TopicRow> row = find_topic(domain, options.reach, options.topic);
  if (!row) return std::unexpected(row.error());
  const auto feed = domain.read(*row, dds::kFromNow);
  if (!feed) return std::unexpected(feed.error());
  return RateRun(options, verb).run(**feed);
}

void add_rate(CLI::App& topic, int& status, const char* name, const char* about, RateVerb verb) {
  CLI::App* command = topic.add_subcommand(name, about);
  auto options = std::make_shared<RateOptions>();
  command->add_option("NAME", options->topic, "the topic")->required();
  command->add_option("--window", options->window, "of how many samples, the newest")
      ->check(whole_number(2, 10'000'000))
      ->capture_default_str();
  command->add_option("--count", options->count, "end after so many samples")
      ->check(whole_number(1, 1LL << 62));
  add_reach(*command, options->reach, "print a JSON object a second instead of text");
  command->callback([options, verb = std::move(verb), &status] {
    status = in_domain(options->reach,
                       [&](TopicDomain& domain) { return run_rate(domain, *options, verb); });
  });
}

}  // namespace

void add_topic_hz(CLI::App& topic, int& status) {
  add_rate(topic, status, "hz", "How many samples come in a second, and how evenly",
           {.text =
                [](const SampleWindow& window) {
                  return short_number(window.rate().value_or(0)) +
                         " a second; gaps: " + text_of(window.gaps_ns(), short_time);
                },
            .object =
                [](const SampleWindow& window) {
                  return json{{"rate", window.rate().value_or(0)},
                              {"gap_ns", to_json(window.gaps_ns())}};
                }});
}

void add_topic_bw(CLI::App& topic, int& status) {
  add_rate(topic, status, "bw", "How many bytes come in a second, and how large samples are",
           {.text =
                [](const SampleWindow& window) {
                  return short_bytes(window.bytes_rate().value_or(0)) +
                         " a second; samples: mean " + short_bytes(window.bytes().mean) + ", " +
                         text_of(window.bytes(), short_bytes);
                },
            .object =
                [](const SampleWindow& window) {
                  return json{{"bytes_per_second", window.bytes_rate().value_or(0)},
                              {"sample_bytes", to_json(window.bytes())}};
                }});
}

void add_topic_delay(CLI::App& topic, int& status) {
  add_rate(
      topic, status, "delay", "How long samples take from their writer to here, by both clocks",
      {.text =
           [](const SampleWindow& window) {
             return "mean " + age_text(window.ages_ns().mean) + ", " +
                    text_of(window.ages_ns(), age_text);
           },
       .object =
           [](const SampleWindow& window) { return json{{"delay_ns", to_json(window.ages_ns())}}; },
       .needs_time_stamps = true});
}

}  // namespace tutti::cli
