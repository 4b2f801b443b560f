/// \file sim.cpp
/// `tutti sim`: runs seeds of the simulated world on all processors, and reports which ones failed
/// and how.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>
#include <vector>

#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/exit_code.hpp"
#include "cli/log.hpp"
#include "cli/sim/options.hpp"
#include "cli/terminal.hpp"
#include "sim/figure/figures.hpp"
#include "sim/run.hpp"
#include "sim/story/story.hpp"
#include "sim/trace.hpp"

namespace tutti::cli {
namespace {

struct Totals {
  std::uint64_t seeds = 0;
  std::uint64_t unsafe = 0;
  std::uint64_t unfinished = 0;
  std::uint64_t changed = 0;  // another hash the second time
  std::uint64_t passes = 0;
  std::uint64_t views = 0;
  std::uint64_t messages = 0;
  sim::Delays delays{};
  std::array<std::uint64_t, sim::kChangeKinds> worst_seed{};
  std::array<std::uint64_t, sim::kFailpoints.size() + 1> deaths{};  // by failpoint
};

// "2.50 (seed 7)" of so many changes.
std::string worst_of(const Totals& totals, sim::ChangeKind of) {
  const auto kind = static_cast<std::size_t>(of);
  const std::uint64_t worst = totals.delays.worst[kind];
  if (totals.delays.counted[kind] == 0) return "none seen";
  return sim::in_delays(worst) + " (seed " + std::to_string(totals.worst_seed[kind]) + ", " +
         grouped(totals.delays.counted[kind]) + " seen)";
}

class Run {
 public:
  Run(const SeedRange& range, const SimKind& kind, bool twice)
      : range_(range), kind_(kind), twice_(twice) {}

  void on_all(std::uint32_t jobs) {
    std::vector<std::jthread> workers;
    for (std::uint32_t job = 0; job < jobs; ++job) workers.emplace_back([this] { work(); });
  }

  [[nodiscard]] int report() {
    progress_.clear();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const Totals& all = totals_;
    std::string text = "longest change of view, in one-way delays: after a suspicion " +
                       worst_of(all, sim::ChangeKind::suspicion) + ", after a request " +
                       worst_of(all, sim::ChangeKind::request) + ", if its leader died " +
                       worst_of(all, sim::ChangeKind::leader_died) + "\n";
    std::string deaths;
    for (const auto& [point, name] : sim::kFailpoints) {
      const std::uint64_t count = all.deaths[static_cast<std::size_t>(point)];
      if (count != 0) deaths += ' ' + std::string(name) + ' ' + grouped(count);
    }
    if (!deaths.empty()) text += "died when:" + deaths + "\n";
    text += grouped(all.seeds) + " seeds, " + grouped(all.unsafe + all.unfinished + all.changed) +
            " violations; " + grouped(all.views) + " views, " + grouped(all.messages) +
            " messages, " + grouped(all.passes) + " passes; " +
            grouped(static_cast<std::uint64_t>(static_cast<double>(all.seeds) * 60 / seconds)) +
            " seeds a minute";
    if (!print(text + "\n")) return kExitError;
    if (all.unsafe + all.changed != 0) return kExitUnsafe;
    return all.unfinished != 0 ? kExitUnfinished : kExitOk;
  }

 private:
  void work() {
    for (;;) {
      // Counted from 0: after the last seed there may be no larger number.
      const std::uint64_t index = next_.fetch_add(1);
      if (index > range_.last - range_.first) return;
      const std::uint64_t seed = range_.first + index;
      const sim::Options options = kind_.options(seed);
      const sim::Outcome outcome = sim::run(options);
      const bool same = !twice_ || sim::run(options).hash == outcome.hash;
      const std::lock_guard lock(mutex_);
      add(seed, options, outcome, same);
    }
  }

  void add(std::uint64_t seed, const sim::Options& options, const sim::Outcome& outcome,
           bool same) {
    ++totals_.seeds;
    totals_.passes += outcome.passes;
    totals_.views += outcome.views;
    totals_.messages += outcome.messages;
    totals_.unsafe += outcome.verdict == sim::Verdict::unsafe ? 1 : 0;
    totals_.unfinished += outcome.verdict == sim::Verdict::unfinished ? 1 : 0;
    totals_.changed += same ? 0 : 1;
    totals_.deaths[static_cast<std::size_t>(options.faults.failpoint)] += outcome.deaths;
    for (std::size_t kind = 0; kind < sim::kChangeKinds; ++kind) {
      const std::uint64_t worst = outcome.delays.worst[kind];
      std::uint64_t& known = totals_.worst_seed[kind];
      // Of two alike the first, however the seeds were shared out.
      if (worst > totals_.delays.worst[kind] ||
          (worst == totals_.delays.worst[kind] && (known == 0 || seed < known))) {
        known = seed;
      }
      totals_.delays.worst[kind] = std::max(totals_.delays.worst[kind], worst);
      totals_.delays.counted[kind] += outcome.delays.counted[kind];
    }
    if (outcome.verdict != sim::Verdict::good || !same) {
      progress_.clear();
      log_error(
          "seed " + std::to_string(seed) + ": " +
          (same ? outcome.text : "two runs of it differ: something depends on more than the seed") +
          "\n  (" + to_string(options) + ")\n  again: tutti sim " + kind_.text() + " --replay " +
          std::to_string(seed) + " --trace");
    }
    const double count = static_cast<double>(range_.last - range_.first) + 1;
    progress_.show(static_cast<double>(totals_.seeds) / count,
                   grouped(totals_.unsafe + totals_.unfinished) + " violations");
  }

  const SeedRange range_;
  const SimKind kind_;
  const bool twice_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::atomic<std::uint64_t> next_{0};  // counted from range_.first
  std::mutex mutex_;
  Totals totals_;
  Progress progress_;
};

int replay(std::uint64_t seed, const SimKind& kind, bool trace) {
  const sim::Options options = kind.options(seed);
  std::string text = "seed " + std::to_string(seed) + ": " + to_string(options) + "\n";
  const sim::Outcome outcome = trace ? sim::run_traced(options, text) : sim::run(options);
  text += "hash " + std::to_string(outcome.hash) + ", " + grouped(outcome.passes) +
          " passes, view " + std::to_string(outcome.views) + ": " +
          (outcome.verdict == sim::Verdict::good ? "good" : outcome.text) + "\n";
  if (!print(text)) return kExitError;
  if (outcome.verdict == sim::Verdict::unsafe) return kExitUnsafe;
  return outcome.verdict == sim::Verdict::unfinished ? kExitUnfinished : kExitOk;
}

int tell_story(const std::string& path) {
  constexpr std::size_t kLongest = 1 << 20;
  std::ifstream file(path);
  std::string text(kLongest + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.empty() || text.size() > kLongest) {
    log_error("--story: " + path +
              " is no story: it is empty, longer than 1 MiB, or cannot be read");
    return kExitUsage;
  }
  const Result<std::string> told = sim::retell(text);
  if (!told) {
    log_error("--story: " + path + ", " + told.error().message);
    return kExitUsage;
  }
  return print(*told) ? kExitOk : kExitError;
}

int draw_figure(const std::string& name) {
  const Result<const sim::Figure*> figure = sim::figure_from(name);
  if (!figure) {
    log_error("--figure: " + figure.error().message);
    return kExitUsage;
  }
  return print((*figure)->draw()) ? kExitOk : kExitError;
}

int run_sim(const SimWords& words) {
  if (!words.story.empty()) return tell_story(words.story);
  if (words.figure) return draw_figure(*words.figure);
  const Result<SeedRange> range = seeds_from(words.seeds);
  const Result<SimKind> kind = kind_from(words);
  for (const auto* error : {range ? nullptr : &range.error(), kind ? nullptr : &kind.error()}) {
    if (error == nullptr) continue;
    log_error(error->message);
    return kExitUsage;
  }
  if (words.replay) return replay(*words.replay, *kind, words.trace);
  Run run(*range, *kind, words.twice);
  run.on_all(words.jobs != 0 ? words.jobs : std::max(1U, std::thread::hardware_concurrency()));
  return run.report();
}

std::string about_names() {
  std::string text = "Scenarios:\n";
  for (const sim::Scenario& scenario : sim::scenarios()) {
    text += "  " + std::string(scenario.name) + ": " + std::string(scenario.about) + "\n";
  }
  text += "Figures:\n";
  for (const sim::Figure& figure : sim::figures()) {
    text += "  " + std::string(figure.name) + ": " + std::string(figure.about) + "\n";
  }
  return text +
         "Exit status: 0 all good, 2 wrong usage, 4 a safety violation, 5 a run that did not "
         "finish.\n";
}

}  // namespace

void add_sim(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("sim", "Run the protocol in a simulated world with faults, seed by seed");
  auto words = std::make_shared<SimWords>();
  command->add_option("--seeds", words->seeds, "a range of seeds, A..B")->capture_default_str();
  command->add_option("--scenario", words->scenario, "the kind of runs, see below")
      ->capture_default_str();
  command->add_option(
      "--level", words->level,
      "level of each run's first group: unordered, agreed, atomic, durable, where all groups are "
      "logged (default: drawn)");
  command
      ->add_option(
          "--order", words->order,
          "order of the groups that have one: round_robin, token_ring, lcr (which is atomic)")
      ->capture_default_str();
  command->add_flag("--durable-quorum", words->durable_quorum,
                    "groups at level durable wait for a majority of the logs only (default: in "
                    "some seeds of the scenarios with logs)");
  command->add_flag("--copied", words->copied, "put each node of a run on a host of its own");
  CLI::Option* seed =
      command->add_option("--replay", words->replay, "run only this seed, and print its options");
  command->add_flag("--trace", words->trace, "with --replay: print all events")->needs(seed);
  command->add_flag("--twice", words->twice, "run each seed twice: both runs must be equal");
  command
      ->add_option("--jobs", words->jobs,
                   "how many seeds run at a time, 1 to 256 (default: one per processor)")
      ->check(whole_number(1, 256));
  command->add_option(
      "--story", words->story,
      "run this story (docs/stories), and print it with what the members really do");
  command
      ->add_option(
          "--figure", words->figure,
          "print this simulated figure, see below: members on links of a rate; takes up to "
          "a minute")
      ->excludes("--story", "--replay", "--seeds", "--scenario", "--level", "--order", "--copied");
  command->footer(about_names());
  command->callback([words, &status] { status = run_sim(*words); });
}

}  // namespace tutti::cli
