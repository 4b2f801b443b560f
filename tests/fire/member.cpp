/// \file member.cpp
/// fire_member: a member that sends at a rate and records its history. tests/system/fire_test.py
/// and perf/failover.py kill, stop, cut off and restart it.
///
/// Standard input: `count` prints `count SENT OWN_DELIVERIES DELIVERIES`; `leave` leaves the others
/// in order; `stop` ends the group with all of them; the end of the input ends the process at once.
/// Standard output: witness.hpp, and last `stopped WHY`. Standard error: what the node logs, each
/// line after its time in seconds of CLOCK_MONOTONIC. Exit status: 0 left or stopped, 1 it could
/// not start or stop, 3 a failure ended its groups.
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/prng.hpp"
#include "cli/clock.hpp"
#include "fire/options.hpp"
#include "fire/witness.hpp"
#include "tutti/node.hpp"

namespace tutti::fire {
namespace {

constexpr std::chrono::milliseconds kLook{20};  // how soon the member notices an end
constexpr std::chrono::seconds kEndTimeout{30};
constexpr int kExitError = 1;
constexpr int kExitFailed = 3;

int complain(const Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return kExitError;
}

/// Sends to the groups by turns until it is told to end or the node fails.
class Sender {
 public:
  Sender(const Options& options, std::vector<Group> groups, Witness& witness)
      : options_(options),
        groups_(std::move(groups)),
        tickets_(groups_.size()),
        witness_(witness),
        random_(options.seed),
        thread_([this] { run(); }) {}
  ~Sender() { end(); }

  void end() {
    ends_.store(true);
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] std::uint64_t sent() const { return sent_.load(); }

 private:
  void run() {
    const auto pause_ns =
        options_.rate > 0 ? static_cast<std::int64_t>(1e9 / options_.rate) : std::int64_t{0};
    std::int64_t next_ns = cli::now_ns();
    while (!ends_.load() && send(static_cast<std::uint16_t>(sent_.load() % groups_.size()))) {
      next_ns = std::max(next_ns + pause_ns, cli::now_ns() - cli::kNsPerSecond / 100);
      if (pause_ns > 0) cli::wait_until(next_ns, false);
    }
  }

  bool send(std::uint16_t group) {
    const auto size = static_cast<std::uint32_t>(
        sizeof(Mark) + random_.below(options_.size_max - sizeof(Mark) + 1));
    Result<Claim> space = groups_[group].claim(size, kLook);
    while (!space && space.error().code == ErrorCode::timed_out && !ends_.load()) {
      space = groups_[group].claim(size, kLook);
    }
    if (!space) return false;
    const Service service = draw_service(groups_[group]);
    witness_.sends(group, ++tickets_[group], service, space->bytes());
    const Ticket ticket = groups_[group].commit(std::move(*space), service);
    if (ticket.value != tickets_[group]) {
      std::fprintf(stderr, "ticket %llu where %llu was due\n",
                   static_cast<unsigned long long>(ticket.value),
                   static_cast<unsigned long long>(tickets_[group]));
      std::abort();
    }
    sent_.fetch_add(1);
    return true;
  }

  /// One message in four is safe, where the group offers that beside its level.
  Service draw_service(const Group& group) {
    const bool safe = random_.below(4) == 0 && group.may_ask_for(Service::safe).has_value();
    return safe ? Service::safe : Service::of_level;
  }

  const Options& options_;
  std::vector<Group> groups_;
  std::vector<std::uint64_t> tickets_;  // by group: the last ticket
  Witness& witness_;
  Prng random_;
  std::atomic<std::uint64_t> sent_{0};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

/// The next line of standard input; empty if there is none yet. The input's end ends the process.
std::string next_command() {
  static std::string text;
  const std::size_t end = text.find('\n');
  if (end != std::string::npos) {
    std::string line = text.substr(0, end);
    text.erase(0, end + 1);
    return line;
  }
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (::poll(&input, 1, static_cast<int>(kLook.count())) <= 0) return {};
  char bytes[256];
  const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
  if (count <= 0) std::_Exit(kExitError);
  text.append(bytes, static_cast<std::size_t>(count));
  return {};
}

int ended(Witness& witness, history::StopReason reason, bool evicted, const char* told,
          int status) {
  witness.stopped(reason, evicted);
  std::printf("stopped %s\n", told);
  return status;
}

int failed(Node& node, Sender& sender, Witness& witness) {
  const Error error = *node.failure();
  complain(error);
  sender.end();
  const bool evicted = error.code == ErrorCode::stopped;
  const bool minority = error.code == ErrorCode::peer_lost;
  // The node delivers nothing more: its threads end before the history is closed.
  static_cast<void>(node.stop(std::chrono::nanoseconds(0)));
  return ended(witness, minority ? history::StopReason::minority : history::StopReason::failure,
               evicted, evicted ? "evicted" : "minority", kExitFailed);
}

int serve(Node& node, Sender& sender, Witness& witness) {
  for (;;) {
    if (node.failure()) return failed(node, sender, witness);
    const std::string command = next_command();
    if (command == "count") {
      std::printf("count %llu %llu %llu\n", static_cast<unsigned long long>(sender.sent()),
                  static_cast<unsigned long long>(witness.own_deliveries()),
                  static_cast<unsigned long long>(witness.deliveries()));
    } else if (command == "leave" || command == "stop") {
      const bool leaves = command == "leave";
      sender.end();
      if (leaves) witness.leaves();
      const Result<void> done = leaves ? node.leave(kEndTimeout) : node.stop(kEndTimeout);
      if (!done && node.failure()) return failed(node, sender, witness);
      if (!done) return complain(done.error());
      return ended(witness, leaves ? history::StopReason::left : history::StopReason::shutdown,
                   false, leaves ? "left" : "shutdown", 0);
    }
  }
}

int run(const Options& options) {
  Result<Setup> setup = set_up(options);
  if (!setup) return complain(setup.error());
  std::vector<std::string> names;
  for (const MemberAddress& member : setup->node.members) names.push_back(member.name);
  std::vector<Level> levels;
  for (const GroupOptions& group : setup->groups) levels.push_back(group.level);
  Witness witness(options.name, names, levels, options.history);
  setup->node.on_view = [&](const ViewChange& change) { witness.view_changed(change); };
  setup->node.log = [](LogLevel, std::string_view text) {
    std::fprintf(stderr, "%.6f %.*s\n", static_cast<double>(cli::now_ns()) / 1e9,
                 static_cast<int>(text.size()), text.data());
  };
  std::vector<Group> groups;  // the callbacks ask them, so they outlive the node
  Result<Node> node = Node::create(setup->node);
  if (!node) return complain(node.error());
  for (std::uint16_t i = 0; i < setup->groups.size(); ++i) {
    setup->groups[i].on_delivery = [&witness, &groups, i](std::span<const Message> batch) {
      witness.delivered(i, batch, [&] { return groups[i].intact(); });
    };
    Result<Group> group = node->join(setup->groups[i]);
    if (!group) return complain(group.error());
    groups.push_back(*group);
  }
  // If it was stopped just after it entered its view, it may be removed before start() returns.
  const Result<void> started = node->start();
  if (!started && !node->failure()) return complain(started.error());
  Sender sender(options, groups, witness);
  return started ? serve(*node, sender, witness) : failed(*node, sender, witness);
}

}  // namespace
}  // namespace tutti::fire

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  CLI::App app("A member that may be killed at any time");
  tutti::fire::Options options;
  tutti::fire::add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  return tutti::fire::run(options);
}
