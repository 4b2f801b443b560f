#include "cli/demo_topics/client.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <variant>
#include <vector>

#include "cli/clock.hpp"
#include "cli/commands.hpp"
#include "cli/demo_topics/seen.hpp"
#include "cli/exit_code.hpp"
#include "cli/log.hpp"
#include "cli/member_list.hpp"
#include "cli/output.hpp"
#include "cli/perf/channel.hpp"
#include "cli/signals.hpp"
#include "tutti/client.hpp"

namespace tutti::cli {
namespace {

constexpr std::int64_t kClientTurnNs = 5'000'000;  // one sample a turn to each topic
constexpr std::int64_t kClientReportNs = 100'000'000;
constexpr std::chrono::seconds kClientPatience{60};
constexpr std::uint64_t kUnansweredMax = 1000;

/// What the client's thread and the main thread share.
class ClientNotes {
 public:
  explicit ClientNotes(Output& output) : output_(output) {}

  void answered(std::size_t topic, std::uint32_t number, const client::Published& published) {
    const std::lock_guard lock(mutex_);
    if (published.outcome != client::Published::Outcome::delivered) {
      fail_because("sample " + std::to_string(number) + " was not delivered: " + published.text);
      return;
    }
    append_acknowledged(output_, topic, number);
    ++answered_[topic];
  }

  void received(std::size_t topic, const client::Received& received) {
    const std::lock_guard lock(mutex_);
    const auto* sample = std::get_if<client::Sample>(&received);
    if (sample == nullptr) {
      return fail_because("topic " + std::string(kDemoTopics[topic].name) +
                          ": a subscription has a gap, or has ended");
    }
    SeenSample seen{.position = sample->position};
    if (sample->bytes.size() != sizeof seen.sample)
      return fail_because("a sample has another size");
    std::memcpy(&seen.sample, sample->bytes.data(), sizeof seen.sample);
    if (seen.sample.writer >= kDemoWriters.size()) return fail_because("an unknown writer");
    append_sample(output_, topic, seen);
    ++seen_[topic];
    if (seen.sample.is_last != 0) ended_[topic][seen.sample.writer] = true;
  }

  /// What was noted goes to the file.
  Result<void> flush() {
    const std::lock_guard lock(mutex_);
    output_.flush();
    if (output_.failed()) return fail(ErrorCode::system, output_.error());
    if (error_) return fail(ErrorCode::mismatch, *error_);
    return {};
  }

  [[nodiscard]] std::uint64_t answered(std::size_t topic) {
    const std::lock_guard lock(mutex_);
    return answered_[topic];
  }
  [[nodiscard]] DemoCounts seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  [[nodiscard]] bool has_ended(std::size_t topic, std::size_t writer) {
    const std::lock_guard lock(mutex_);
    return ended_[topic][writer];
  }

 private:
  void fail_because(const std::string& why) {
    if (!error_) error_ = why;
  }

  std::mutex mutex_;
  Output& output_;
  DemoCounts answered_{};
  DemoCounts seen_{};
  std::array<std::array<bool, kDemoWriters.size()>, kDemoTopics.size()> ended_{};
  std::optional<std::string> error_;
};

class DemoClient {
 public:
  DemoClient(ClientNotes& notes, client::Client client)
      : notes_(notes), client_(std::move(client)) {}

  Result<void> run(Channel& channel) {
    if (Result<void> opened = open(); !opened) return opened;
    std::int64_t next_report_ns = 0;
    while (!leaves_) {
      const Result<nlohmann::json> told = channel.receive(now_ns() + kClientTurnNs);
      if (told) {
        obey(*told);
      } else if (told.error().code != ErrorCode::timed_out) {
        return std::unexpected(told.error());
      } else if (Result<void> published = publish_all(); !published) {
        return published;
      }
      if (Result<void> flushed = notes_.flush(); !flushed) return flushed;
      if (now_ns() < next_report_ns) continue;
      next_report_ns = now_ns() + kClientReportNs;
      const nlohmann::json report = {{"state", is_done() ? "done" : "ready"},
                                     {"view", client_.is_connected() ? "at a relay" : "connects"},
                                     {"seen", notes_.seen()}};
      if (Result<void> sent = channel.send(report); !sent) return sent;
    }
    subscriptions_.clear();
    return notes_.flush();
  }

 private:
  Result<void> open() {
    for (std::size_t topic = 1; topic < kDemoTopics.size(); ++topic) {
      const std::string name(kDemoTopics[topic].name);
      if (const auto found = client_.topic(name, kClientPatience); !found) {
        return std::unexpected(found.error());
      }
      if (topic != kDemoStored && topic != kDemoLogged) continue;
      client::SubscribeOptions options{.from = client::SubscribeOptions::From::stored};
      options.on_received = [this, topic](const client::Received& received) {
        notes_.received(topic, received);
      };
      auto subscription = client_.subscribe(name, std::move(options));
      if (!subscription) return std::unexpected(std::move(subscription.error()));
      subscriptions_.push_back(std::move(*subscription));
    }
    return {};
  }

  void obey(const nlohmann::json& told) {
    const std::string what = told.value("do", "");
    if (what == "go") writes_ = true;
    if (what == "finish") {
      finishes_ = true;
      for (const nlohmann::json& each : told["writers"]) others_.push_back(each.get<std::size_t>());
    }
    if (what == "leave") leaves_ = true;
  }

  Result<void> publish_all() {
    if (!writes_) return {};
    for (std::size_t topic = 1; topic < kDemoTopics.size(); ++topic) {
      if (has_written_last_[topic] || next_[topic] - notes_.answered(topic) >= kUnansweredMax) {
        continue;
      }
      if (Result<void> published = publish(topic); !published) return published;
    }
    return {};
  }

  Result<void> publish(std::size_t topic) {
    const auto number = static_cast<std::uint32_t>(next_[topic]);
    const DemoSample sample{.writer = static_cast<std::uint32_t>(kDemoClient),
                            .number = number,
                            .is_last = finishes_ ? 1U : 0U};
    const Result<void> sent =
        client_.publish(kDemoTopics[topic].name, std::as_bytes(std::span(&sample, 1)),
                        [this, topic, number](const client::Published& published) {
                          notes_.answered(topic, number, published);
                        });
    if (!sent && sent.error().code == ErrorCode::no_space) return {};  // at the next turn
    if (!sent) return sent;
    ++next_[topic];
    has_written_last_[topic] = finishes_;
    return {};
  }

  [[nodiscard]] bool is_done() {
    if (!finishes_) return false;
    for (std::size_t topic = 1; topic < kDemoTopics.size(); ++topic) {
      if (!has_written_last_[topic] || notes_.answered(topic) != next_[topic]) return false;
    }
    return std::ranges::all_of(others_, [this](std::size_t writer) {
      return notes_.has_ended(kDemoStored, writer) && notes_.has_ended(kDemoLogged, writer);
    });
  }

  ClientNotes& notes_;
  client::Client client_;
  std::vector<client::Subscription> subscriptions_;
  DemoCounts next_{};  // numbers
  std::array<bool, kDemoTopics.size()> has_written_last_{};
  std::vector<std::size_t> others_;  // whose last samples it waits for
  bool writes_ = false;
  bool finishes_ = false;
  bool leaves_ = false;
};

}  // namespace

int demo_client(const DemoClientOptions& options) {
  ignore_interrupt();
  set_up_log(Verbosity::normal, kDemoWriters[kDemoClient]);
  const int file = ::open(options.seen.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) {
    return report({ErrorCode::system, "cannot make " + options.seen + ": " + std::strerror(errno)});
  }
  Output output(file, options.seen);
  ClientNotes notes(output);  // the client's thread uses it as long as the client is there
  Result<client::Client> client = client::Client::create(
      {.relays = split_list(options.relays), .name = "demo", .log = [](std::string_view line) {
         log_info(line);
       }});
  if (!client) return report(client.error());
  Channel channel(UniqueFd(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)),
                  UniqueFd(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)));
  const Result<void> done = DemoClient(notes, std::move(*client)).run(channel);
  output.close();
  return done ? kExitOk : report(done.error());
}

void add_demo_topics_client(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("demo-topics-client", "The client of `demo --topics`");
  command->group("");  // hidden
  auto options = std::make_shared<DemoClientOptions>();
  command->add_option("--relays", options->relays)->required();
  command->add_option("--seen", options->seen)->required();
  command->callback([options, &status] { status = demo_client(*options); });
}

}  // namespace tutti::cli
