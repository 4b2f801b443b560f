// P4, P9, P10: whatever a power loss leaves, at any operation of the disk, also while the log is
// opened again, what is found is exactly the log before or after the call that was being made.
// TUTTI_CRASH_IMAGES=N makes about N images, instead of some thousands.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "log/read.hpp"
#include "log/writer.hpp"
#include "support/sanitized.hpp"
#include "support/sim_disk.hpp"
#include "unit/log/expected.hpp"
#include "unit/log/trace.hpp"

namespace tutti::log::testing {
namespace {

using tutti::testing::DiskFate;
using tutti::testing::DiskOperation;
using tutti::testing::SimDisk;

constexpr int kCrashSteps = tutti::testing::kSanitized ? 40 : 120;
constexpr std::uint64_t kImagesAtLeast = tutti::testing::kSanitized ? 200 : 1000;  // of each seed
constexpr int kRandomImages = 2;  // at each operation

std::uint64_t seeds() {
  std::uint64_t images = 0;
  if (const char* wish = std::getenv("TUTTI_CRASH_IMAGES")) {
    std::from_chars(wish, wish + std::strlen(wish), images);
  }
  return std::max<std::uint64_t>(tutti::testing::kSanitized ? 2 : 8, images / kImagesAtLeast);
}

// Reads and opens images; counts them, and stops at the first that is wrong.
class Judge {
 public:
  explicit Judge(std::uint64_t seed) : seeds_(seed) {}

  [[nodiscard]] bool content() const { return !wrong_; }
  [[nodiscard]] std::uint64_t images() const { return images_; }

  void at_operation(const SimDisk& disk, const Possible& possible, const DiskOperation& operation) {
    where_ = "step " + std::to_string(static_cast<int>(operation.step)) + " of " + operation.path;
    judge(disk, SimDisk::kNothingKept, possible);
    judge(disk, SimDisk::kAllKept, possible);
    for (int i = 0; i < kRandomImages; ++i) judge(disk, seeds_.next(), possible);
    judge_recovery(disk, seeds_.next(), possible);
    judge_process_end(disk, possible);
  }

 private:
  // Which of the two is there. Nothing: neither.
  [[nodiscard]] const Expected* match(const SimDisk& image, const Possible& possible,
                                      const char* when) {
    if (wrong_) return nullptr;
    const Result<Contents> found = read_contents(image);
    std::string why = found ? difference(*found, possible.after) : found.error().message;
    if (why.empty()) return &possible.after;
    if (found && difference(*found, possible.before).empty()) return &possible.before;
    if (found) why += "; " + difference(*found, possible.before);
    fail(when, why);
    return nullptr;
  }

  void fail(const char* when, const std::string& why) {
    if (!wrong_) ADD_FAILURE() << when << ", " << where_ << ", image " << image_ << ": " << why;
    wrong_ = true;
  }

  [[nodiscard]] std::unique_ptr<Writer> open(SimDisk& image, const char* when) {
    auto writer = Writer::open(image, kDirectory, some_identity(), small_segments(seeds_.next()));
    if (writer) return std::move(*writer);
    fail(when, writer.error().message);
    return nullptr;
  }

  // The directory was not made yet, or that was not on disk.
  bool is_gone(const SimDisk& image, const Possible& possible) {
    if (image.list(kDirectory)) return false;
    if (possible.before.next != 0) fail("before it is opened", "the directory is gone");
    return true;
  }

  void judge(const SimDisk& disk, std::uint64_t seed, const Possible& possible) {
    if (wrong_) return;
    ++images_;
    image_ = seed;
    const auto image = disk.after_power_loss(seed);
    if (is_gone(*image, possible)) return;
    const Expected* found = match(*image, possible, "before it is opened");
    if (found != nullptr) judge_open(*image, *found);
  }

  // What open() has found is durable, and the log can be written on.
  void judge_open(SimDisk& image, Expected now) {
    const auto writer = open(image, "opened");
    if (writer == nullptr) return;
    if (writer->next() != now.next || writer->digest() != now.digest) {
      return fail("opened", "the writer goes on somewhere else");
    }
    (void)match(*image.after_power_loss(SimDisk::kNothingKept), {now, now}, "durable once opened");
    (void)match(*image.after_power_loss(seeds_.next()), {now, now}, "durable once opened");
    const std::vector<Entry> more{make_entry(now.next, 100, image_),
                                  make_entry(now.next + 1, 7, 3)};
    Batch batch;
    add_all(batch, more);
    if (const auto written = writer->write(batch); !written) {
      return fail("written on", written.error().message);
    }
    now.append(more);
    (void)match(image, {now, now}, "written on");
    (void)match(*image.after_power_loss(seeds_.next()), {now, now}, "written on, durable");
  }

  // P10: the power is lost again, at each operation of opening.
  void judge_recovery(const SimDisk& disk, std::uint64_t seed, const Possible& possible) {
    if (wrong_) return;
    image_ = seed;
    const auto image = disk.after_power_loss(seed);
    if (is_gone(*image, possible)) return;
    const Expected* found = match(*image, possible, "before it is opened");
    if (found == nullptr) return;
    image->on_operation([&](const DiskOperation& operation) {
      if (operation.changes()) judge(*image, seeds_.next(), {*found, *found});
      return DiskFate::done;
    });
    (void)open(*image, "opened with stops");
  }

  // The process is killed, and the next one opens the log; the power is lost only then.
  void judge_process_end(const SimDisk& disk, const Possible& possible) {
    if (wrong_) return;
    image_ = 0;
    const auto same = disk.after_process_end();
    if (!same->list(kDirectory)) return;
    const Expected* found = match(*same, possible, "after a kill");
    if (found == nullptr) return;
    const auto writer = open(*same, "after a kill");
    if (writer == nullptr) return;
    const auto rested = writer->rest();
    if (!rested) return fail("after a kill", rested.error().message);
    for (int i = 0; i < 3; ++i) {
      (void)match(*same->after_power_loss(seeds_.next()), {*found, *found}, "a kill, a power loss");
    }
    (void)match(*same->after_power_loss(SimDisk::kNothingKept), {*found, *found},
                "a kill, a power loss");
    if (!wrong_) judge_open(*same->after_power_loss(seeds_.next()), *found);
  }

  Prng seeds_;
  bool wrong_ = false;
  std::uint64_t images_ = 0;
  std::uint64_t image_ = 0;
  std::string where_{};
};

class CrashImages : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(CrashImages, HaveTheLogBeforeOrAfterTheCall) {
  Judge judge(GetParam() << 32);
  Trace trace(GetParam(),
              [&](const SimDisk& disk, const Possible& possible, const DiskOperation& operation) {
                if (operation.changes()) judge.at_operation(disk, possible, operation);
                return DiskFate::done;
              });
  for (int i = 0; i < kCrashSteps && trace.ok() && judge.content(); ++i) trace.step();
  EXPECT_FALSE(trace.error()) << trace.error()->message;
  EXPECT_TRUE(trace.ok() && judge.content()) << "seed " << GetParam();
  EXPECT_GT(judge.images(), kImagesAtLeast);
  RecordProperty("images", std::to_string(judge.images()));
}

INSTANTIATE_TEST_SUITE_P(Seeds, CrashImages, ::testing::Range<std::uint64_t>(1, 1 + seeds()));

}  // namespace
}  // namespace tutti::log::testing
