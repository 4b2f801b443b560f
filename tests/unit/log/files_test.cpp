// What people, backups and disks do to the files of a log: it is refused with the file's name and
// left as it is, or read in full. It is never read in part as if it were whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/crc32c.hpp"
#include "log/read.hpp"
#include "log/writer.hpp"
#include "support/sim_disk.hpp"
#include "unit/log/expected.hpp"
#include "unit/log/sample_log.hpp"

namespace tutti::log::testing {
namespace {

using tutti::testing::DiskFate;
using tutti::testing::DiskOperation;
using tutti::testing::DiskStep;
using tutti::testing::SimDisk;

class LogFiles : public ::testing::Test {
 protected:
  LogFiles() { log_.writer.reset(); }

  // The error of opening, which must leave all files as they are.
  std::string refusal(Identity identity = some_identity()) {
    std::vector<std::vector<std::byte>> before;
    const auto names = disk().list(kDirectory);
    for (const std::string& name : *names) before.push_back(disk().contents(path_of(name)));
    auto writer = Writer::open(disk(), kDirectory, std::move(identity), small_segments(5));
    EXPECT_FALSE(writer) << "it was opened";
    EXPECT_EQ(*disk().list(kDirectory), *names);
    for (std::size_t i = 0; i < names->size(); ++i) {
      EXPECT_EQ(disk().contents(path_of((*names)[i])), before[i]) << (*names)[i];
    }
    return writer ? "" : writer.error().message;
  }

  // Opening says that this file is damaged.
  void expect_damage_of(const std::string& path) {
    const Result<Contents> found = read_contents(disk());
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_TRUE(found->reading.damage);
    EXPECT_EQ(found->reading.damage->file, path);
    const std::string why = refusal();
    EXPECT_NE(why.find(path), std::string::npos) << why;
    EXPECT_NE(why.find("offset"), std::string::npos) << why;
  }

  void expect_whole() {
    const Result<Contents> found = read_contents(disk());
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(difference(*found, log_.expected), "");
    EXPECT_NE(open_writer(disk(), small_segments(6)), nullptr);
  }

  static std::string path_of(const std::string& name) { return kDirectory + "/" + name; }
  SimDisk& disk() { return log_.disk; }

  SampleLog log_{};
};

TEST_F(LogFiles, ThatAreTooShortAreDamaged) {
  for (const std::string& path : log_.segments()) {
    const auto whole = disk().contents(path);
    const bool last = path == log_.segments().back();
    for (std::size_t size = 0; size < whole.size(); size += size < 4096 ? 1365 : 509) {
      SCOPED_TRACE(path + " with bytes: " + std::to_string(size));
      disk().put(path, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
      const Result<Contents> found = read_contents(disk());
      ASSERT_TRUE(found) << found.error().message;
      if (found->reading.damage || last) {
        expect_damage_of(path);
      } else {
        EXPECT_EQ(difference(*found, log_.expected), "");
      }
      if (HasFailure()) return;
    }
    disk().put(path, whole);
  }
  expect_whole();
}

TEST_F(LogFiles, ThatWereSwappedAreDamaged) {
  const auto paths = log_.segments();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    for (std::size_t j = i + 1; j < paths.size(); ++j) {
      const auto a = disk().contents(paths[i]);
      const auto b = disk().contents(paths[j]);
      disk().put(paths[i], b);
      disk().put(paths[j], a);
      expect_damage_of(paths[i]);
      disk().put(paths[i], a);
      disk().put(paths[j], b);
    }
  }
  expect_whole();
}

TEST_F(LogFiles, WithoutTheFirstAreALogThatReleasedIt) {
  const auto paths = log_.segments();
  disk().erase(paths[0]);
  const Result<Contents> found = read_contents(disk());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->reading.first, first_of_name(paths[1].substr(paths[1].rfind('/') + 1)));
  log_.expected.needed = found->reading.first;
  expect_whole();
}

TEST_F(LogFiles, WithoutOneInTheMiddleAreDamaged) {
  const auto paths = log_.segments();
  for (std::size_t i = 1; i + 1 < paths.size(); ++i) {
    const auto bytes = disk().contents(paths[i]);
    disk().erase(paths[i]);
    expect_damage_of(paths[i - 1]);
    disk().put(paths[i], bytes);
  }
  expect_whole();
}

TEST_F(LogFiles, WithoutTheLastAreDamaged) {
  for (auto paths = log_.segments(); paths.size() > 1; paths.pop_back()) {
    disk().erase(paths.back());
    expect_damage_of(paths[paths.size() - 2]);
  }
}

TEST_F(LogFiles, OfAnotherNodeOrGroupAreRefused) {
  for (const Identity& other : {Identity{"b", "log"}, Identity{"a", "logs"}}) {
    const std::string why = refusal(other);
    EXPECT_NE(why.find("'" + other.node + "'"), std::string::npos) << why;
    EXPECT_NE(why.find("'" + other.group + "'"), std::string::npos) << why;
    EXPECT_NE(why.find(kDirectory), std::string::npos) << why;
  }
  expect_whole();
}

TEST_F(LogFiles, OfTwoLogsInOneDirectoryAreRefused) {
  SimDisk other;
  auto writer = Writer::open(other, kDirectory, {.node = "b", .group = "log"}, small_segments(2));
  ASSERT_TRUE(writer);
  ASSERT_TRUE((*writer)->begin_at(log_.expected.next + 100));
  const std::string path = path_of(segment_name(log_.expected.next + 100));
  ASSERT_TRUE(other.has(path));
  disk().put(path, other.contents(path));
  const std::string why = refusal();
  EXPECT_NE(why.find(path), std::string::npos) << why;
  EXPECT_NE(why.find("node 'b'"), std::string::npos) << why;
}

TEST_F(LogFiles, OfAnotherVersionAreRefused) {
  const std::string path = log_.segments()[1];
  auto bytes = disk().contents(path);
  bytes[8] = std::byte{2};
  const std::uint32_t crc = crc32c(std::span(bytes).first(kHeaderBytes - 4));
  std::memcpy(bytes.data() + kHeaderBytes - 4, &crc, sizeof crc);
  disk().put(path, bytes);
  const std::string why = refusal();
  EXPECT_NE(why.find(path), std::string::npos) << why;
  EXPECT_NE(why.find("version 2"), std::string::npos) << why;
}

TEST_F(LogFiles, OfOthersStayAsTheyAre) {
  const std::vector<std::byte> text(100, std::byte{'x'});
  const std::vector<std::string> names{"README",    "cut-1", "1.log", "00000000000000000001.log~",
                                       "spare.old", "x"};
  for (const std::string& name : names) disk().put(path_of(name), text);
  expect_whole();
  for (const std::string& name : names) EXPECT_EQ(disk().contents(path_of(name)), text) << name;
}

TEST_F(LogFiles, ThatAreSpareMayHaveAnything) {
  const std::string spare = path_of("spare");
  const std::string segment = log_.segments().back();
  std::vector<std::byte> longer = disk().contents(segment);
  longer.resize(longer.size() + 8);
  std::vector<std::byte> half = disk().contents(segment);
  half.resize(half.size() / 2);
  for (const auto& content : {std::vector<std::byte>{}, half, longer, disk().contents(segment)}) {
    disk().put(spare, content);
    expect_whole();
    const auto writer = open_writer(disk(), small_segments(7 + content.size()));
    ASSERT_NE(writer, nullptr);
    Prng random(content.size());
    const std::size_t segments = log_.segments().size();
    while (log_.segments().size() == segments) {
      const Entry entry = make_entry(writer->next(), 900, random.next());
      Batch batch;
      batch.add(record_of(entry));
      ASSERT_TRUE(writer->write(batch));
      log_.expected.append({entry});
    }
    const auto found = read_contents(*disk().after_power_loss(SimDisk::kNothingKept));
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(difference(*found, log_.expected), "");
  }
}

TEST_F(LogFiles, HaveOneWriter) {
  const auto writer = open_writer(disk(), small_segments(8));
  ASSERT_NE(writer, nullptr);
  const std::string why = refusal();
  EXPECT_NE(why.find(kDirectory), std::string::npos) << why;
}

TEST_F(LogFiles, AreNamedByErrorsAlsoAfterTheyWereSpare) {
  const auto writer = open_writer(disk(), small_segments(9));
  ASSERT_NE(writer, nullptr);
  std::string path;
  disk().on_operation([&](const DiskOperation& operation) {
    return operation.step == DiskStep::write && log_.segments().size() > 4 ? DiskFate::no_space
                                                                           : DiskFate::done;
  });
  for (int i = 0; i < 100; ++i) {  // a segment has room for fewer
    Batch batch;
    batch.add(record_of(make_entry(writer->next(), 900, 1)));
    const Result<void> written = writer->write(batch);
    if (written) continue;
    // The mark, or the first batch that is appended.
    const auto paths = log_.segments();
    const std::string& why = written.error().message;
    EXPECT_TRUE(why.find(paths[3]) != std::string::npos || why.find(paths[4]) != std::string::npos)
        << why;
    return;
  }
  ADD_FAILURE() << "nothing failed";
}

TEST(EmptyDirectory, HasANewLog) {
  SimDisk disk;
  ASSERT_TRUE(disk.make_directory(kDirectory));
  const auto before = read_contents(disk);
  ASSERT_TRUE(before);
  EXPECT_FALSE(before->reading.damage);
  EXPECT_TRUE(before->reading.segments.empty());
  const auto writer = open_writer(disk, small_segments(1));
  ASSERT_NE(writer, nullptr);
  EXPECT_EQ(writer->first(), writer->next());
}

TEST(NoDirectory, IsAnErrorForAReader) {
  const SimDisk disk;
  const auto found = read_contents(disk);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find(kDirectory), std::string::npos);
}

}  // namespace
}  // namespace tutti::log::testing
