#include "cli/demo_topics/member.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "cli/clock.hpp"
#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/demo_topics/endpoint.hpp"
#include "cli/exit_code.hpp"
#include "cli/log.hpp"
#include "cli/member_list.hpp"
#include "cli/perf/channel.hpp"
#include "cli/signals.hpp"
#include "tutti/dds/relay.hpp"

namespace tutti::cli {
namespace {

using nlohmann::json;

constexpr std::int64_t kTurnNs = 5'000'000;  // one sample a turn to each topic
constexpr std::int64_t kReportNs = 100'000'000;
constexpr std::chrono::seconds kPatience{60};

class DemoMember {
 public:
  explicit DemoMember(const DemoMemberOptions& options)
      : options_(options),
        self_(static_cast<std::size_t>(std::ranges::find(kDemoWriters, options.name) -
                                       kDemoWriters.begin())) {}

  Result<void> start() {
    Result<NodeOptions> node = node_options();
    if (!node) return std::unexpected(std::move(node.error()));
    Result<Node> created = Node::create(std::move(*node));
    if (!created) return std::unexpected(std::move(created.error()));
    node_.emplace(std::move(*created));
    dds::ParticipantOptions about;
    about.timeout = kPatience;
    auto participant = dds::DomainParticipant::create(*node_, about);
    if (!participant) return std::unexpected(std::move(participant.error()));
    participant_.emplace(std::move(*participant));
    if (Result<void> started = node_->start(); !started) return started;
    for (std::size_t topic = 0; topic < kDemoTopics.size(); ++topic) {
      auto endpoint = DemoEndpoint::create(*participant_, topic, self_);
      if (!endpoint) return std::unexpected(std::move(endpoint.error()));
      endpoints_.push_back(std::move(*endpoint));
    }
    for (DemoEndpoint& each : endpoints_) readers_.add(each.reader());
    return serve();
  }

  /// Until it is told to leave.
  Result<void> run(Channel& channel, Output& output) {
    std::int64_t next_turn_ns = now_ns();
    std::int64_t next_report_ns = 0;
    while (!leaves_) {
      if (Result<void> told = obey(channel); !told) return told;
      if (now_ns() >= next_turn_ns) {
        next_turn_ns = now_ns() + kTurnNs;
        if (Result<void> written = write(); !written) return written;
      }
      const auto rest =
          std::chrono::nanoseconds(std::max<std::int64_t>(0, next_turn_ns - now_ns()));
      if (const auto ready = readers_.wait(rest);
          !ready && ready.error().code != ErrorCode::timed_out) {
        return ready;
      }
      for (DemoEndpoint& each : endpoints_) {
        if (Result<void> taken = each.take(output); !taken) return taken;
        each.note_acknowledged(output);
      }
      output.flush();
      if (output.failed()) return fail(ErrorCode::system, output.error());
      if (now_ns() < next_report_ns) continue;
      next_report_ns = now_ns() + kReportNs;
      if (Result<void> sent = channel.send(report()); !sent) return sent;
    }
    endpoints_.clear();
    relay_.reset();
    return node_->leave(kPatience);
  }

 private:
  Result<void> serve() {
    if (options_.relay.empty()) return {};
    dds::RelayOptions about{.listen = options_.relay};
    about.start_timeout = kPatience;
    Result<dds::Relay> relay = dds::Relay::create(*participant_, std::move(about));
    if (!relay) return std::unexpected(std::move(relay.error()));
    relay_.emplace(std::move(*relay));
    return {};
  }

  [[nodiscard]] Result<NodeOptions> node_options() const {
    NodeOptions node{.name = options_.name};
    Result<std::vector<MemberAddress>> members = members_from(options_.members);
    if (!members) return std::unexpected(std::move(members.error()));
    node.members = std::move(*members);
    if (Result<void> set = set_fabric(node, options_.fabric); !set) {
      return std::unexpected(std::move(set.error()));
    }
    node.state_dir = options_.state_dir;
    node.bootstrap = options_.bootstrap;
    node.start_timeout = kPatience;
    node.suspect_after = kSuspectAfter;
    node.log = library_log();
    return node;
  }

  /// What it is told now.
  Result<void> obey(Channel& channel) {
    while (true) {
      const Result<json> told = channel.receive(now_ns());
      if (!told && told.error().code == ErrorCode::timed_out) return {};
      if (!told) return std::unexpected(told.error());
      const std::string what = told->value("do", "");
      if (what == "go") {
        writes_ = true;
      } else if (what == "finish") {
        finishes_ = true;
        for (const json& each : (*told)["writers"]) others_.push_back(each.get<std::size_t>());
      } else if (what == "leave") {
        leaves_ = true;
        return {};
      }
    }
  }

  Result<void> write() {
    if (!writes_) return {};
    for (DemoEndpoint& each : endpoints_) {
      if (Result<void> written = each.write(finishes_); !written) return written;
    }
    return {};
  }

  [[nodiscard]] bool is_done() const {
    return finishes_ && std::ranges::all_of(endpoints_, [this](const DemoEndpoint& each) {
             const bool all_ended = std::ranges::all_of(
                 others_, [&each](std::size_t writer) { return each.has_ended(writer); });
             return each.has_written_last() && each.all_acknowledged() && all_ended;
           });
  }

  [[nodiscard]] json report() const {
    json seen = json::array();
    for (const DemoEndpoint& each : endpoints_) seen.push_back(each.seen());
    std::string members;
    const ViewChange view = node_->view();
    for (const std::string& member : view.members) {
      members += (members.empty() ? "" : ", ") + member;
    }
    return {{"state", is_done() ? "done" : "ready"}, {"view", members}, {"seen", seen}};
  }

  // Only the dead are lost: the kernel tells of those at once.
  static constexpr std::chrono::seconds kSuspectAfter{30};

  const DemoMemberOptions& options_;
  const std::size_t self_;
  std::optional<Node> node_;
  std::optional<dds::DomainParticipant> participant_;
  std::optional<dds::Relay> relay_;
  std::vector<DemoEndpoint> endpoints_;
  dds::WaitSet readers_;
  std::vector<std::size_t> others_;  // whose last samples it waits for
  bool writes_ = false;
  bool finishes_ = false;
  bool leaves_ = false;
};

}  // namespace

int demo_member(const DemoMemberOptions& options) {
  ignore_interrupt();
  set_up_log(Verbosity::normal, options.name);
  if (std::ranges::find(kDemoWriters, options.name) == kDemoWriters.end()) {
    return report({ErrorCode::invalid_argument, "--name: it is no participant of the demo"});
  }
  const int file = ::open(options.seen.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) {
    return report({ErrorCode::system, "cannot make " + options.seen + ": " + std::strerror(errno)});
  }
  Output output(file, options.seen);
  Channel channel(UniqueFd(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)),
                  UniqueFd(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)));
  DemoMember member(options);
  Result<void> done = member.start();
  if (done) done = member.run(channel, output);
  output.close();
  return done ? kExitOk : report(done.error());
}

void add_demo_topics_member(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("demo-topics-member", "One process of `demo --topics`");
  command->group("");  // hidden
  auto options = std::make_shared<DemoMemberOptions>();
  command->add_option("--name", options->name)->required();
  command->add_option("--members", options->members)->required();
  command->add_option("--fabric", options->fabric)->required();
  command->add_option("--state-dir", options->state_dir)->required();
  command->add_option("--seen", options->seen)->required();
  command->add_option("--relay", options->relay);
  command->add_flag("--bootstrap", options->bootstrap);
  command->callback([options, &status] { status = demo_member(*options); });
}

}  // namespace tutti::cli
