// P6, P7: the disk fails once, at each operation of a trace, in each way, and works again after it.
// The call that met it says so and names a file; the writer does nothing more; and what it had
// reported as synced is there for the next one, also after a power loss.
#include <gtest/gtest.h>

#include <functional>
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
using tutti::testing::DiskStep;
using tutti::testing::SimDisk;

constexpr int kFaultSteps = 40;

// Which of the two is on the disk; nothing: neither.
const Expected* found_on(const SimDisk& disk, const Possible& possible, std::string& why) {
  const Result<Contents> found = read_contents(disk);
  why = found ? difference(*found, possible.after) : found.error().message;
  if (why.empty()) return &possible.after;
  if (!found) return nullptr;
  const std::string before = difference(*found, possible.before);
  if (before.empty()) return &possible.before;
  why += "; " + before;
  return nullptr;
}

// The log opens on that disk, has one of the two, keeps it, and can be written on.
void expect_goes_on(SimDisk& disk, const Possible& possible, const char* when) {
  SCOPED_TRACE(when);
  const auto writer = open_writer(disk, small_segments(99));
  ASSERT_NE(writer, nullptr);
  std::string why;
  const Expected* found = found_on(disk, possible, why);
  ASSERT_NE(found, nullptr) << why;
  Expected now = *found;
  EXPECT_EQ(writer->next(), now.next);
  for (const std::uint64_t image : {SimDisk::kNothingKept, SimDisk::kAllKept, std::uint64_t{77}}) {
    const auto left = disk.after_power_loss(image);
    EXPECT_NE(found_on(*left, {now, now}, why), nullptr) << "image " << image << ": " << why;
  }
  Batch batch;
  add_all(batch, {make_entry(now.next, 50, 5)});
  ASSERT_TRUE(writer->write(batch));
  now.append({make_entry(now.next, 50, 5)});
  const auto left = disk.after_power_loss(SimDisk::kNothingKept);
  EXPECT_NE(found_on(*left, {now, now}, why), nullptr) << why;
}

// WL2: no call does anything to the disk.
void expect_ended(Writer& writer, const std::uint64_t& operations, const Possible& possible) {
  const std::uint64_t before = operations;
  const std::uint64_t next = writer.next();
  EXPECT_TRUE(next == possible.before.next || next == possible.after.next) << next;
  Batch batch;
  add_all(batch, {make_entry(next, 10, 1)});
  EXPECT_FALSE(writer.write(batch));
  EXPECT_FALSE(writer.prepare(4096));
  EXPECT_FALSE(writer.rest());
  EXPECT_FALSE(writer.release_before(next));
  EXPECT_FALSE(writer.cut_to(next));
  EXPECT_FALSE(writer.begin_at(next + 5));
  EXPECT_FALSE(writer.close());
  EXPECT_EQ(operations, before) << "something was tried again";
  EXPECT_EQ(writer.next(), next);
}

// One run, in which the `at`-th operation of the kind meets that fate. False: there are not so
// many.
bool fails_once(std::uint64_t seed, std::uint64_t at, DiskFate fate,
                const std::function<bool(const DiskOperation&)>& of_kind) {
  std::uint64_t operations = 0;
  std::uint64_t matching = 0;
  DiskOperation failed{};
  bool preparing = false;
  const Trace* now = nullptr;  // once it is made
  Trace trace(seed, [&](const SimDisk&, const Possible&, const DiskOperation& operation) {
    ++operations;
    if (!of_kind(operation) || ++matching != at) return DiskFate::done;
    failed = operation;
    preparing = now != nullptr && now->preparing();
    return fate;
  });
  now = &trace;
  for (int i = 0; i < kFaultSteps && trace.ok(); ++i) trace.step();
  EXPECT_FALSE(trace.wrong());
  if (matching < at) return false;
  SCOPED_TRACE("seed " + std::to_string(seed) + ", operation " + std::to_string(at) + ", step " +
               std::to_string(static_cast<int>(failed.step)) + " of " + failed.path + ", fate " +
               std::to_string(static_cast<int>(fate)));
  EXPECT_EQ(trace.error().has_value(), !preparing) << "told, or not told";
  if (!trace.error()) {  // the log goes on
    expect_goes_on(*trace.disk().after_power_loss(at), trace.possible(), "without a spare file");
    return true;
  }
  EXPECT_NE(trace.error()->message.find(failed.path), std::string::npos) << trace.error()->message;
  Possible possible = trace.possible();
  if (trace.writer() != nullptr) {
    expect_ended(*trace.writer(), operations, possible);
    // It had done what counts, and says so.
    if (trace.writer()->next() != possible.before.next) possible.before = possible.after;
  }
  expect_goes_on(*trace.disk().after_process_end(), possible, "the next process");
  for (std::uint64_t image = 0; image < 5; ++image) {
    expect_goes_on(*trace.disk().after_power_loss(image), possible, "after a power loss");
  }
  return true;
}

void fail_each(DiskFate fate, const std::function<bool(const DiskOperation&)>& of_kind) {
  for (std::uint64_t seed = 1; seed <= (tutti::testing::kSanitized ? 1 : 3); ++seed) {
    std::uint64_t at = 1;
    while (fails_once(seed, at, fate, of_kind)) {
      if (::testing::Test::HasFailure()) return;
      ++at;
    }
    EXPECT_GT(at, 5U) << "there is nothing of this kind in the trace";
  }
}

TEST(Faults, OfEachChangeEndTheLogWithoutLoss) {
  fail_each(DiskFate::io_error, [](const DiskOperation& operation) { return operation.changes(); });
}

TEST(Faults, OfEachWriteWithoutSpaceEndTheLogWithoutLoss) {
  fail_each(DiskFate::no_space, [](const DiskOperation& operation) {
    return operation.step == DiskStep::write || operation.step == DiskStep::create;
  });
}

TEST(Faults, OfEachReadEndTheLogWithoutLoss) {
  fail_each(DiskFate::io_error,
            [](const DiskOperation& operation) { return !operation.changes(); });
}

// The current segment has room: what is written there, and the log, do not need the spare file yet.
TEST(Faults, OfAFullDiskEndTheLogOnlyOnceItsSegmentIsFull) {
  SimDisk disk;
  const auto writer = open_writer(disk, small_segments(1));
  ASSERT_NE(writer, nullptr);
  bool full = true;
  std::uint64_t spare_writes = 0;
  disk.on_operation([&](const DiskOperation& operation) {
    const bool spare = operation.path.ends_with("/spare");
    spare_writes += spare ? 1 : 0;
    return full && spare && operation.step == DiskStep::write ? DiskFate::no_space : DiskFate::done;
  });
  const auto write = [&] {
    Batch batch;
    add_all(batch, {make_entry(writer->next(), 3000, 1)});
    return writer->write(batch);
  };
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(write());
    EXPECT_EQ(writer->prepare(4096), false);
    ASSERT_TRUE(writer->rest());
  }
  EXPECT_FALSE(disk.has(kDirectory + "/spare")) << "it takes the last space";
  EXPECT_EQ(spare_writes, 3U) << "create, write, remove: not again with each write";
  full = false;
  ASSERT_TRUE(write()) << "there is space in time";
  EXPECT_EQ(writer->prepare(4096), true);
  full = true;
  EXPECT_EQ(writer->prepare(4096), false);
  Result<void> written;
  for (int i = 0; i < 4 && written; ++i) written = write();
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("/spare"), std::string::npos) << written.error().message;
  EXPECT_EQ(writer->next(), 6U);
  EXPECT_FALSE(writer->prepare(4096));
}

TEST(Faults, OfPermissionsEndTheLogWithoutLoss) {
  fail_each(DiskFate::refused, [](const DiskOperation& operation) {
    return operation.step != DiskStep::read && operation.step != DiskStep::sync;
  });
}

}  // namespace
}  // namespace tutti::log::testing
