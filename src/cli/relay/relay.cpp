/// \file relay.cpp
/// `tutti relay`: a member that serves clients which are no members.
#include "tutti/dds/relay.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/exit_code.hpp"
#include "cli/log.hpp"
#include "cli/member_list.hpp"
#include "cli/signals.hpp"
#include "cli/terminal.hpp"
#include "tutti/dds.hpp"

namespace tutti::cli {
namespace {

using namespace std::chrono_literals;

// After which a call that waits for a log looks whether it should go on.
constexpr std::chrono::seconds kLook{1};

struct RelayWords {
  std::string name;
  std::string members;
  std::string listen;
  std::string state_dir;
  std::string token;
  std::vector<std::string> topics;
  bool bootstrap = false;
  double suspect_after_s = 1;
  double start_timeout_s = 30;
  unsigned leave_timeout_s = kLeaveSeconds;
  std::uint32_t clients = dds::RelayOptions{}.clients_max;
};

// Of topics that only clients use: any bytes are a sample.
const dds::TopicTypeInfo kBytes{.name = "bytes", .hash = 0x6279746573};

// A large log is handed on for longer than any call should wait: so each call waits for a while,
// and is made again until it works. A signal ends that, and the node's failure.
template <class Call>
auto try_on(const Node& node, const Call& call) -> decltype(call()) {
  for (std::uint32_t calls = 0;; ++calls) {
    auto made = call();
    if (made || made.error().code != ErrorCode::timed_out) return made;
    if (const std::optional<Error> failure = node.failure()) return std::unexpected(*failure);
    if (interrupted() != 0) return made;
    if (calls % 10 == 0) log_info("still waiting: " + made.error().message);
  }
}

// NAME, or NAME:OPTIONS.
Result<void> create_topic(const dds::DomainParticipant& participant, const std::string& text,
                          std::vector<dds::UntypedTopic>& topics) {
  const std::size_t colon = text.find(':');
  const std::string words = colon == std::string::npos ? std::string() : text.substr(colon + 1);
  Result<dds::TopicOptions> options = dds::TopicOptions::from_text(words);
  if (!options) {
    return fail(ErrorCode::invalid_argument, "--topic " + text + ": " + options.error().message);
  }
  Result<dds::UntypedTopic> topic =
      dds::UntypedTopic::create(participant, text.substr(0, colon), kBytes, *options);
  if (!topic) return std::unexpected(std::move(topic.error()));
  topics.push_back(std::move(*topic));
  return {};
}

// Until a signal, or the node's failure.
Result<void> serve_clients(const RelayWords& words, const Node& node,
                           const dds::DomainParticipant& participant) {
  std::vector<dds::UntypedTopic> topics;
  for (const std::string& text : words.topics) {
    const auto create = [&] { return create_topic(participant, text, topics); };
    if (Result<void> created = try_on(node, create); !created) return created;
  }
  const Result<dds::Relay> relay = try_on(node, [&] {
    return dds::Relay::create(participant, {.listen = words.listen,
                                            .clients_max = words.clients,
                                            .start_timeout = kLook,
                                            .token = words.token,
                                            .log = [](std::string_view line) { log_info(line); }});
  });
  if (!relay) return std::unexpected(relay.error());
  if (!print("relay of " + words.name + " at " + relay->address() + "\n")) {
    return fail(ErrorCode::system, "standard output takes nothing");
  }
  while (interrupted() == 0) {
    if (const std::optional<Error> failure = node.failure()) return std::unexpected(*failure);
    std::this_thread::sleep_for(20ms);  // a signal wakes nobody
  }
  return {};  // the clients call another relay
}

Result<void> serve(const RelayWords& words) {
  Result<std::vector<MemberAddress>> members = members_from(words.members);
  if (!members) return std::unexpected(std::move(members.error()));
  const auto suspect_after = duration_from(words.suspect_after_s, "--suspect-after");
  if (!suspect_after) return std::unexpected(suspect_after.error());
  const auto start_timeout = duration_from(words.start_timeout_s, "--start-timeout");
  if (!start_timeout) return std::unexpected(start_timeout.error());
  NodeOptions options{.name = words.name, .members = std::move(*members)};
  options.suspect_after = *suspect_after;
  options.start_timeout = *start_timeout;
  options.state_dir = words.state_dir;
  options.bootstrap = words.bootstrap;
  options.log = library_log();
  Result<Node> node = Node::create(std::move(options));
  if (!node) return std::unexpected(std::move(node.error()));
  Result<dds::DomainParticipant> participant =
      dds::DomainParticipant::create(*node, {.timeout = kLook});
  if (!participant) return std::unexpected(std::move(participant.error()));
  if (Result<void> started = node->start(); !started) return started;
  Result<void> served = serve_clients(words, *node, *participant);
  if (interrupted() != 0) {
    log_warning("told to end: leaving the other members, for at most " +
                std::to_string(give_up_after(words.leave_timeout_s)) +
                " s; another signal ends this one at once");
  }
  // If that fails, the others see this member as lost.
  if (!node->failure()) static_cast<void>(node->leave(std::chrono::seconds(words.leave_timeout_s)));
  return served;
}

}  // namespace

void add_relay(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("relay", "Run a member that serves clients which are no members, on TCP");
  command->footer(
      "All members must have topics: run this command at each of them, or programs that create a\n"
      "DomainParticipant with the default bundles. Prints where it listens, and runs until it "
      "gets\n"
      "SIGINT or SIGTERM; then it leaves the other members. Clients use tutti/client.hpp, or "
      "tutti_client in Python.");
  auto words = std::make_shared<RelayWords>();
  command->add_option("--name", words->name, "the name of this member in --members")->required();
  command
      ->add_option("--members", words->members,
                   "all members, the same list at each: a=HOST:PORT,b=HOST:PORT,...")
      ->required();
  command
      ->add_option("--listen", words->listen,
                   "where clients call: HOST:PORT; port 0 for one that is free")
      ->required();
  command
      ->add_option("--topic", words->topics,
                   "create a topic of bytes: NAME or NAME:OPTIONS, such as\n"
                   "log:service=stored,history=keep_last(100); once for each")
      ->expected(1)
      ->take_all();
  command->add_option("--state-dir", words->state_dir,
                      "a folder of this member alone, for topics of the service logged");
  command->add_flag(
      "--bootstrap", words->bootstrap,
      "with --state-dir: the groups are new; at one member, at its first start alone");
  command->add_option("--suspect-after", words->suspect_after_s, "as in tutti run")
      ->capture_default_str();
  command
      ->add_option("--start-timeout", words->start_timeout_s,
                   "seconds until the members must be there, and have compared their logs")
      ->capture_default_str();
  add_leave_timeout(*command, words->leave_timeout_s);
  command->add_option("--token", words->token, "what clients must show");
  command->add_option("--clients", words->clients, "connections at most")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  command->callback([words, &status] {
    note_interrupt(give_up_after(words->leave_timeout_s));
    const Result<void> served = serve(*words);
    const bool gave_up =
        !served && served.error().code == ErrorCode::timed_out && interrupted() != 0;
    status = served || gave_up ? kExitOk : report(served.error());
  });
}

}  // namespace tutti::cli
