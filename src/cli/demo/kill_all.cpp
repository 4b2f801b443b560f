#include "cli/demo/kill_all.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/prng.hpp"
#include "base/random.hpp"
#include "cli/clock.hpp"
#include "cli/demo/arguments.hpp"
#include "cli/demo/check.hpp"
#include "cli/demo/check_lives.hpp"
#include "cli/demo/check_logs.hpp"
#include "cli/demo/lives.hpp"
#include "cli/terminal.hpp"

namespace tutti::cli {
namespace {

constexpr std::uint64_t kFewRounds = 20;            // with more of them less is sent in each
constexpr std::uint64_t kBurst = 10;                // lines of each member every 2 ms
constexpr std::uint64_t kLastLines = 100;           // of each member in the last life
constexpr std::uint64_t kNewBytes = 200;            // some lines
constexpr std::uint64_t kRunNsMax = 100'000'000;    // under load, once all deliver new messages
constexpr std::uint64_t kStartNsMax = 400'000'000;  // of a life that is killed while it starts
constexpr std::uint64_t kApartNsMax = 30'000'000;   // between one and the next
constexpr std::uint64_t kStartKilledEvery = 3;      // lives

std::vector<MemberFiles> files_of(const Lives& lives) {
  std::vector<MemberFiles> files;
  for (const Lives::Member& member : lives.members()) {
    files.push_back({.member = member.name,
                     .input = {},
                     .output = member.output,
                     .log = member.state / kDemoGroup});
  }
  return files;
}

class KillAll {
 public:
  KillAll(const KillAllOptions& options, Lives lives, std::uint64_t seed)
      : options_(options), lives_(std::move(lives)), random_(seed) {}

  Result<void> run() {
    for (std::uint64_t round = 0; round < options_.rounds; ++round) {
      if (Result<void> lived = live_and_be_killed(); !lived) return lived;
    }
    return live_to_the_end();
  }

 private:
  Result<void> say(const std::string& text) {
    if (print(text)) return {};
    return fail(ErrorCode::system, "standard output takes nothing more");
  }

  // Every third life is killed before it may have delivered anything.
  Result<void> live_and_be_killed() {
    const std::int64_t begin_ns = now_ns();
    if (Result<void> started = lives_.start(options_.rounds > kFewRounds ? 1 : kBurst); !started) {
      return started;
    }
    const bool early = lives_.number() % kStartKilledEvery == 0;
    Result<void> ran = early ? Result<void>() : until_all_deliver(kNewBytes);
    const std::int64_t again_ns = now_ns() - begin_ns;
    if (ran) ran = lives_.let_run(now_ns() + below(early ? kStartNsMax : kRunNsMax));
    if (!ran) return ran;
    const Result<std::string> killed = kill_them();
    if (!killed) return std::unexpected(killed.error());
    const Result<LifeFound> found = known_.add(files_of(lives_), !early);
    if (!found) return std::unexpected(found.error());
    lives_.forget();
    const std::string what =
        early ? "killed while it started"
              : again(*found) + " after " + short_time(static_cast<double>(again_ns));
    return say("life " + std::to_string(lives_.number()) + ": " + what + ", " +
               grouped(found->new_lines) + " new ones; killed " + *killed + "\n");
  }

  Result<void> live_to_the_end() {
    const std::int64_t begin_ns = now_ns();
    if (Result<void> started = lives_.start(kBurst, kLastLines); !started) return started;
    if (Result<void> caught = until_all_deliver(1); !caught) return caught;
    const std::int64_t again_ns = now_ns() - begin_ns;
    lives_.let_end();
    if (Result<void> ended = lives_.wait_for_the_end(); !ended) return ended;
    const std::vector<MemberFiles> files = files_of(lives_);
    const Result<LifeFound> found = known_.add(files, true);
    if (!found) return std::unexpected(found.error());
    if (Result<void> same = check_identical(files); !same) return same;
    Result<void> whole = known_.check_lines(lives_.number(), kLastLines, files);
    if (!whole) return whole;
    if (Result<void> logs = check_logs(files); !logs) return logs;
    return say("life " + std::to_string(lives_.number()) + ": " + again(*found) + " after " +
               short_time(static_cast<double>(again_ns)) + ", " + grouped(found->new_lines) +
               " new ones; ended in order\nnothing is lost: what any member delivered, all of "
               "them delivered again in each later life, in the same order and once; their logs "
               "are the same, record by record, " +
               grouped(found->known_lines + found->new_lines) + " in all\n");
  }

  // What was known, and that much more.
  Result<void> until_all_deliver(std::uint64_t more) {
    return lives_.wait_until(
        [this, more] { return lives_.least_printed() >= known_.bytes() + more; });
  }

  // In any order, at different moments. The names, in that order.
  Result<std::string> kill_them() {
    std::vector<std::size_t> order(options_.members.size());
    std::iota(order.begin(), order.end(), 0U);
    std::string names;
    for (std::size_t left = order.size(); left > 0; --left) {
      std::swap(order[left - 1], order[random_.below(left)]);
      lives_.kill(order[left - 1]);
      names += (names.empty() ? "" : ", ") + options_.members[order[left - 1]];
      if (left == 1) break;
      if (Result<void> ran = lives_.let_run(now_ns() + below(kApartNsMax)); !ran) {
        return std::unexpected(ran.error());
      }
    }
    return names;
  }

  static std::string again(const LifeFound& found) {
    if (found.known_lines == 0) return "founded, all deliver";
    return "all have " + grouped(found.known_lines) + " messages again";
  }

  std::int64_t below(std::uint64_t bound) {
    return static_cast<std::int64_t>(random_.below(bound));
  }

  const KillAllOptions& options_;
  Lives lives_;
  Prng random_;
  KnownSequence known_;
};

}  // namespace

Result<void> kill_all(const KillAllOptions& options, const std::filesystem::path& folder) {
  const Result<std::uint64_t> seed = random_u64();
  if (!seed) return std::unexpected(seed.error());
  Result<Lives> lives = Lives::found(options.members, options.words, folder);
  if (!lives) return std::unexpected(std::move(lives.error()));
  return KillAll(options, std::move(*lives), *seed).run();
}

}  // namespace tutti::cli
