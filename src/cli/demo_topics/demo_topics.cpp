#include "cli/demo_topics/demo_topics.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "cli/clock.hpp"
#include "cli/demo/arguments.hpp"
#include "cli/demo_topics/check.hpp"
#include "cli/demo_topics/live_table.hpp"
#include "cli/demo_topics/process.hpp"
#include "cli/demo_topics/seen.hpp"
#include "cli/exit_code.hpp"
#include "cli/log.hpp"
#include "cli/member_list.hpp"
#include "cli/poll_until.hpp"
#include "cli/signals.hpp"
#include "cli/temporary_folder.hpp"
#include "cli/terminal.hpp"

namespace tutti::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::int64_t kStallNs = 90 * kNsPerSecond;
constexpr std::int64_t kLookNs = kNsPerSecond / 10;

class TopicsDemo {
 public:
  TopicsDemo(const DemoTopicsOptions& options, fs::path folder)
      : options_(options), folder_(std::move(folder)) {}

  Result<void> run() {
    if (Result<void> ready = found(); !ready) return ready;
    if (Result<void> called = start_client(); !called) return called;
    const std::int64_t began_ns = now_ns();
    const auto at = [&](double part) {
      return began_ns + static_cast<std::int64_t>(part * options_.seconds * 1e9);
    };
    if (Result<void> told = tell_all({{"do", "go"}}); !told) return told;
    if (Result<void> ran = watch_until(at(0.33), "all write"); !ran) return ran;
    if (Result<void> came = start(kDemoLate, kLateAgain); !came) return came;
    if (Result<void> ready = await("ready", "late joins, with an empty disk"); !ready) return ready;
    if (Result<void> told = processes_.back().tell({{"do", "go"}}); !told) return told;
    if (Result<void> ran = watch_until(at(0.66), "late writes, too"); !ran) return ran;
    processes_[kDemoKilled].kill();
    if (Result<void> ran = watch_until(at(1), "b was killed"); !ran) return ran;
    return finish();
  }

  /// What was seen, by index in kDemoWriters.
  [[nodiscard]] Result<std::vector<Seen>> seen() const {
    std::vector<Seen> all;
    for (std::size_t who = 0; who < kDemoWriters.size(); ++who) {
      Result<Seen> one = read_seen(file_of(who, who == kDemoLate ? kLateAgain : ""));
      if (!one) return std::unexpected(std::move(one.error()));
      all.push_back(std::move(*one));
    }
    return all;
  }

 private:
  static constexpr const char* kLateAgain = ".again";

  [[nodiscard]] fs::path file_of(std::size_t who, const std::string& suffix) const {
    return folder_ / (std::string(kDemoWriters[who]) + ".seen" + suffix);
  }

  Result<void> start(std::size_t who, const std::string& suffix) {
    const std::string name(kDemoWriters[who]);
    std::vector<std::string> arguments = {"demo-topics-member",
                                          "--name",
                                          name,
                                          "--members",
                                          members_,
                                          "--fabric",
                                          options_.fabric,
                                          "--seen",
                                          file_of(who, suffix).string(),
                                          "--state-dir",
                                          (folder_ / (name + ".state" + suffix)).string()};
    if (processes_.empty()) arguments.emplace_back("--bootstrap");
    if (who < relays_.size()) arguments.insert(arguments.end(), {"--relay", relays_[who]});
    return start(name, arguments, suffix);
  }

  Result<void> start(const std::string& name, const std::vector<std::string>& arguments,
                     const std::string& suffix) {
    Result<DemoProcess> process =
        DemoProcess::start(name, arguments, folder_ / (name + ".err" + suffix));
    if (!process) return std::unexpected(std::move(process.error()));
    processes_.push_back(std::move(*process));
    return {};
  }

  /// It calls the relay of the member that will be killed first.
  Result<void> start_client() {
    const std::string relays = relays_[kDemoKilled] + "," + relays_[0];
    if (Result<void> started = start(
            std::string(kDemoWriters[kDemoClient]),
            {"demo-topics-client", "--relays", relays, "--seen", file_of(kDemoClient, "").string()},
            "");
        !started) {
      return started;
    }
    return await("ready", "a client calls a relay");
  }

  /// All four found the domain, since one of its topics is logged; then the last one leaves.
  Result<void> found() {
    std::vector<std::string> names(kDemoWriters.begin(), kDemoWriters.begin() + kDemoClient);
    const Result<std::vector<int>> ports = free_loopback_ports(names.size() + 2);
    if (!ports) return std::unexpected(ports.error());
    for (std::size_t i = names.size(); i < ports->size(); ++i) {
      relays_.push_back("127.0.0.1:" + std::to_string((*ports)[i]));
    }
    members_ = to_text(loopback_addresses(names, *ports));
    for (std::size_t who = 0; who <= kDemoLate; ++who) {
      if (Result<void> started = start(who, ""); !started) return started;
    }
    if (Result<void> ready = await("ready", "four participants found a domain"); !ready) {
      return ready;
    }
    if (Result<void> told = processes_.back().tell({{"do", "leave"}}); !told) return told;
    if (Result<void> left = await_end(processes_.back()); !left) return left;
    processes_.pop_back();
    return {};
  }

  Result<void> tell_all(const json& order) {
    for (DemoProcess& process : processes_) {
      if (process.was_killed()) continue;
      if (Result<void> told = process.tell(order); !told) return told;
    }
    return {};
  }

  /// Each that lives writes a last sample to each topic, and waits for those of the others.
  Result<void> finish() {
    json writers = json::array();
    for (std::size_t who = 0; who < kDemoClient; ++who) {
      if (who != kDemoKilled) writers.push_back(who);
    }
    if (Result<void> told = tell_all({{"do", "finish"}, {"writers", writers}}); !told) return told;
    if (Result<void> done = await("done", "all read what is left"); !done) return done;
    if (Result<void> told = tell_all({{"do", "leave"}}); !told) return told;
    for (DemoProcess& process : processes_) {
      if (process.was_killed()) continue;
      if (Result<void> ended = await_end(process); !ended) return ended;
    }
    return {};
  }

  /// Until all that live say so.
  Result<void> await(const std::string& state, const std::string& note) {
    const std::int64_t deadline_ns = now_ns() + kStallNs;
    const auto is_there = [&](const DemoProcess& process) {
      return process.was_killed() || process.report().state == state;
    };
    while (!std::ranges::all_of(processes_, is_there)) {
      if (now_ns() > deadline_ns) return stalled(state);
      if (Result<void> looked = look(deadline_ns, note); !looked) return looked;
    }
    return {};
  }

  Result<void> watch_until(std::int64_t deadline_ns, const std::string& note) {
    while (now_ns() < deadline_ns) {
      if (Result<void> looked = look(deadline_ns, note); !looked) return looked;
    }
    return {};
  }

  Result<void> await_end(DemoProcess& process) {
    const std::int64_t deadline_ns = now_ns() + kStallNs;
    while (process.running()) {
      if (interrupted() != 0) return fail(ErrorCode::stopped, "interrupted");
      if (now_ns() > deadline_ns) return stalled("ended");
      process.wait_for_end(deadline_ns);
    }
    if (process.succeeded()) return {};
    return fail(ErrorCode::peer_lost, process.failure());
  }

  /// Waits a moment for reports, and shows them.
  Result<void> look(std::int64_t deadline_ns, const std::string& note) {
    if (interrupted() != 0) return fail(ErrorCode::stopped, "interrupted");
    std::vector<pollfd> inputs;
    for (const DemoProcess& process : processes_) {
      if (process.was_killed()) continue;
      inputs.push_back({.fd = process.input_fd(), .events = POLLIN, .revents = 0});
    }
    poll_until(inputs, std::min(deadline_ns, now_ns() + kLookNs));
    for (DemoProcess& process : processes_) {
      if (process.was_killed()) continue;
      if (Result<void> heard = process.hear(); !heard) return heard;
    }
    if (table_.visible()) table_.show(note + "\n" + text());
    return {};
  }

  [[nodiscard]] std::string text() const {
    Table table({"participant", "unordered", "atomic", "stored", "logged", "view"});
    for (const DemoProcess& process : processes_) {
      std::vector<std::string> row = {process.name()};
      for (const std::uint64_t count : process.report().seen) row.push_back(grouped(count));
      row.push_back(process.was_killed() ? "killed" : process.report().view);
      table.add(std::move(row));
    }
    return table.text();
  }

  [[nodiscard]] std::unexpected<Error> stalled(const std::string& state) const {
    std::string who;
    for (const DemoProcess& process : processes_) {
      if (process.was_killed() || process.report().state == state) continue;
      who += "\n" + process.failure();
    }
    return fail(ErrorCode::timed_out, "not all were '" + state + "' in time:" + who);
  }

  const DemoTopicsOptions& options_;
  const fs::path folder_;
  std::string members_;
  std::vector<std::string> relays_;     // of the first members
  std::vector<DemoProcess> processes_;  // the founders first
  LiveTable table_;
};

/// How much each reader saw, and each writer has had acknowledged.
std::string seen_text(const std::vector<Seen>& all) {
  Table table({"samples seen by", "unordered", "atomic", "stored", "logged"});
  for (std::size_t who = 0; who < all.size(); ++who) {
    std::vector<std::string> row = {std::string(kDemoWriters[who]) +
                                    (who == kDemoKilled ? " (killed)" : "")};
    for (std::size_t topic = 0; topic < kDemoTopics.size(); ++topic) {
      const bool reads = who != kDemoClient || topic == kDemoStored || topic == kDemoLogged;
      row.push_back(reads ? grouped(all[who].samples[topic].size()) : "-");
    }
    table.add(std::move(row));
  }
  return table.text();
}

int give_up(const Error& error, TemporaryFolder& folder) {
  if (interrupted() != 0) {
    log_error("interrupted; the participants were stopped");
    return 128 + interrupted();
  }
  folder.keep();
  log_error(error.message);
  log_error("what each saw and said is kept in " + folder.path().string());
  return kExitError;
}

}  // namespace

int demo_topics(const DemoTopicsOptions& options) {
  NodeOptions node;
  if (const Result<void> known = set_fabric(node, options.fabric); !known) {
    return report(known.error());
  }
  note_interrupt();
  Result<TemporaryFolder> folder = TemporaryFolder::create("tutti-demo");
  if (!folder) return report(folder.error());
  if (!print(
          "participants a, b, c, and late, which joins later; a client at a relay of b; fabric " +
          options.fabric + "; topics: unordered, atomic, stored, logged\n")) {
    return kExitError;
  }
  std::optional<TopicsDemo> demo(std::in_place, options, folder->path());
  const Result<void> ran = demo->run();
  if (!ran) return give_up(ran.error(), *folder);
  const Result<std::vector<Seen>> seen = demo->seen();
  demo.reset();  // its table goes before the other one is printed
  if (!seen) return give_up(seen.error(), *folder);
  const Result<std::string> verdict = check_seen(*seen);
  if (!verdict) return give_up(verdict.error(), *folder);
  return print(*verdict + seen_text(*seen)) ? kExitOk : kExitError;
}

}  // namespace tutti::cli
