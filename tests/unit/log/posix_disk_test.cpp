// The disks of this machine, in a temporary directory.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "log/disk.hpp"
#include "log/writer.hpp"
#include "unit/log/expected.hpp"

namespace tutti::log::testing {
namespace {

mode_t mode_of(const std::string& path) {
  struct stat found{};
  EXPECT_EQ(::stat(path.c_str(), &found), 0) << path;
  return found.st_mode & 07777;
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

class PosixDiskTest : public ::testing::Test {
 protected:
  PosixDiskTest() {
    std::string name = (std::filesystem::temp_directory_path() / "tutti-log-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no temporary directory";
    root_ = name;
  }
  ~PosixDiskTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  std::string root_{};
  const std::unique_ptr<Disk> disk_ = posix_disk();
};

TEST_F(PosixDiskTest, MakesWhatOnlyItsUserMayRead) {
  ASSERT_TRUE(disk_->make_directory(root_ + "/a/b/c"));
  ASSERT_TRUE(disk_->make_directory(root_ + "/a/b/c"));
  for (const char* path : {"/a", "/a/b", "/a/b/c"}) EXPECT_EQ(mode_of(root_ + path), 0700U) << path;
  ASSERT_TRUE(disk_->create(root_ + "/a/file"));
  EXPECT_EQ(mode_of(root_ + "/a/file"), 0600U);
  const auto lock = disk_->lock(root_ + "/a");
  ASSERT_TRUE(lock) << lock.error().message;
  EXPECT_EQ(mode_of(root_ + "/a/LOCK"), 0600U);
}

TEST_F(PosixDiskTest, WritesAndReadsFiles) {
  const std::string path = root_ + "/file";
  auto file = disk_->create(path);
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->write(5, bytes_of("hello")));
  ASSERT_TRUE((*file)->sync());
  EXPECT_EQ((*file)->size(), 10U);
  std::vector<std::byte> in(10);
  ASSERT_TRUE((*file)->read(0, in));
  EXPECT_EQ(in, bytes_of(std::string(5, '\0') + "hello"));
  const auto again = disk_->open(path, Access::read);
  ASSERT_TRUE(again);
  ASSERT_TRUE((*again)->read(5, std::span(in).first(5)));
  const auto behind = (*again)->read(6, std::span(in).first(5));
  ASSERT_FALSE(behind);
  EXPECT_NE(behind.error().message.find(path), std::string::npos);
  EXPECT_FALSE((*again)->write(0, bytes_of("x"))) << "it was opened to be read";
  ASSERT_TRUE(disk_->create(path));
  EXPECT_EQ((*again)->size(), 0U);
}

TEST_F(PosixDiskTest, ListsFilesInOrderWithoutDirectories) {
  for (const char* name : {"/b", "/c", "/a"}) ASSERT_TRUE(disk_->create(root_ + name));
  ASSERT_TRUE(disk_->make_directory(root_ + "/d"));
  EXPECT_EQ(disk_->list(root_).value(), (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_TRUE(disk_->rename(root_ + "/a", root_ + "/c"));
  ASSERT_TRUE(disk_->remove(root_ + "/b"));
  ASSERT_TRUE(disk_->sync_directory(root_));
  EXPECT_EQ(disk_->list(root_).value(), (std::vector<std::string>{"c"}));
}

TEST_F(PosixDiskTest, NamesWhatItCouldNotDo) {
  const std::string gone = root_ + "/gone";
  ASSERT_TRUE(disk_->create(root_ + "/file"));
  const auto names = [&](const auto& result, const std::string& path) {
    return !result && result.error().code == ErrorCode::system &&
           result.error().message.find(path) != std::string::npos;
  };
  EXPECT_TRUE(names(disk_->list(gone), gone));
  EXPECT_TRUE(names(disk_->open(gone, Access::read), gone));
  EXPECT_TRUE(names(disk_->open(gone, Access::write), gone));
  EXPECT_TRUE(names(disk_->create(gone + "/file"), gone));
  EXPECT_TRUE(names(disk_->rename(gone, root_ + "/there"), gone));
  EXPECT_TRUE(names(disk_->remove(gone), gone));
  EXPECT_TRUE(names(disk_->sync_directory(gone), gone));
  EXPECT_TRUE(names(disk_->lock(gone), gone));
  EXPECT_TRUE(names(disk_->make_directory(root_ + "/file"), root_ + "/file"));
  EXPECT_TRUE(names(disk_->make_directory(root_ + "/file/below"), root_ + "/file"));
}

TEST_F(PosixDiskTest, SaysWhoHoldsADirectory) {
  auto held = disk_->lock(root_);
  ASSERT_TRUE(held);
  const auto second = posix_disk()->lock(root_);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find(root_), std::string::npos) << second.error().message;
  EXPECT_NE(second.error().message.find(std::to_string(::getpid())), std::string::npos)
      << second.error().message;
  held->reset();
  EXPECT_TRUE(disk_->lock(root_));
}

TEST_F(PosixDiskTest, GivesTheLockOfAProcessThatWasKilledToTheNext) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto held = disk_->lock(root_);
    const char byte = held ? 'y' : 'n';
    if (::write(ready[1], &byte, 1) == 1) ::pause();
    ::_exit(1);
  }
  char byte = 0;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  const auto refused = disk_->lock(root_);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(std::to_string(child)), std::string::npos)
      << refused.error().message;
  ::kill(child, SIGKILL);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(disk_->lock(root_));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(PosixDiskTest, HasALogWhoseSecondWriterIsRefused) {
  const std::string directory = root_ + "/log";
  auto writer = open_writer(*disk_, {.segment_bytes = 16 << 10}, directory);
  ASSERT_NE(writer, nullptr);
  const auto second = Writer::open(*disk_, directory, some_identity(), {.segment_bytes = 16 << 10});
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find(std::to_string(::getpid())), std::string::npos)
      << second.error().message;
  const auto names = disk_->list(directory);
  for (const std::string& name : *names) EXPECT_EQ(mode_of(directory + "/" + name), 0600U) << name;
  writer.reset();
  EXPECT_NE(open_writer(*disk_, {.segment_bytes = 16 << 10}, directory), nullptr);
}

TEST_F(PosixDiskTest, EndsALogWhoseDirectoryWasRemoved) {
  const std::string directory = root_ + "/log";
  const auto writer = open_writer(*disk_, {.segment_bytes = 16 << 10}, directory);
  ASSERT_NE(writer, nullptr);
  std::filesystem::remove_all(directory);
  Result<void> written;
  for (int i = 0; i < 100 && written; ++i) {  // a segment has room for fewer
    Batch batch;
    batch.add(record_of(make_entry(writer->next(), 900, 1)));
    written = writer->write(batch);
  }
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find(directory), std::string::npos) << written.error().message;
  EXPECT_FALSE(writer->rest());
}

TEST_F(PosixDiskTest, EndsALogWhoseDirectoryWasMovedAwayAndLeavesTheOneInItsPlace) {
  const std::string directory = root_ + "/log";
  const WriterOptions options{.segment_bytes = 16 << 10};
  const auto write = [](Writer& writer) {
    Batch batch;
    batch.add(record_of(make_entry(writer.next(), 3000, 1)));
    return writer.write(batch);
  };
  const auto first = open_writer(*disk_, options, directory);
  ASSERT_NE(first, nullptr);
  ASSERT_TRUE(write(*first));
  ASSERT_TRUE(first->prepare(options.segment_bytes));
  std::filesystem::rename(directory, directory + ".old");
  const auto second = open_writer(*disk_, options, directory);
  ASSERT_NE(second, nullptr);
  ASSERT_TRUE(second->prepare(options.segment_bytes));
  Result<void> written;
  for (int i = 0; i < 100 && written; ++i) written = write(*first);
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find(directory), std::string::npos) << written.error().message;
  EXPECT_TRUE(std::filesystem::exists(directory + "/spare"));
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(write(*second));
  for (const auto& [path, next] :
       {std::pair(directory, second->next()), std::pair(directory + ".old", first->next())}) {
    const auto found = read_log(*disk_, path);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_FALSE(found->damage) << to_string(*found->damage);
    EXPECT_EQ(found->next, next);
  }
}

TEST_F(PosixDiskTest, RefusesAPipeInsteadOfWaitingForIt) {
  for (const std::string& name : {segment_name(0), std::string("spare")}) {
    const std::string pipe = root_ + "/" + name;
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const auto writer = Writer::open(*disk_, root_, some_identity(), {.segment_bytes = 16 << 10});
    ASSERT_FALSE(writer) << name;
    EXPECT_NE(writer.error().message.find(pipe), std::string::npos) << writer.error().message;
    EXPECT_FALSE(disk_->create(pipe));
    ASSERT_EQ(::unlink(pipe.c_str()), 0);
  }
}

// Files with holes: more than there is memory, in nearly no space.
TEST_F(PosixDiskTest, HasALogWhoseFilesMaySayThatTheyAreHuge) {
  const WriterOptions options{.segment_bytes = 16 << 10};
  auto writer = open_writer(*disk_, options, root_);
  ASSERT_NE(writer, nullptr);
  for (int i = 0; i < 5; ++i) {  // three to a segment
    Batch batch;
    batch.add(record_of(make_entry(writer->next(), 3000, 1)));
    ASSERT_TRUE(writer->write(batch));
  }
  writer.reset();
  constexpr std::uintmax_t kHuge = 4ULL << 40;
  std::filesystem::resize_file(root_ + "/" + segment_name(0), kHuge);
  const auto older = read_log(*disk_, root_);
  ASSERT_TRUE(older) << older.error().message;
  EXPECT_FALSE(older->damage);
  EXPECT_EQ(older->next, 5U);
  std::filesystem::resize_file(root_ + "/" + segment_name(3), kHuge);
  const auto newest = read_log(*disk_, root_);
  ASSERT_TRUE(newest) << newest.error().message;
  ASSERT_TRUE(newest->damage);
  EXPECT_NE(newest->damage->what.find("it had 16384"), std::string::npos) << newest->damage->what;
  EXPECT_EQ(newest->next, 5U);
  const auto repaired = open_writer(*disk_, {.segment_bytes = 16 << 10, .repair = true}, root_);
  ASSERT_NE(repaired, nullptr);
  EXPECT_EQ(repaired->next(), 5U);
}

TEST_F(PosixDiskTest, GivesWhatRootMakesToTheOwnerOfTheDirectory) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  const std::string directory = root_ + "/log";
  ASSERT_TRUE(disk_->make_directory(directory));
  ASSERT_EQ(::chown(directory.c_str(), 1234, 4321), 0);
  ASSERT_NE(open_writer(*disk_, {.segment_bytes = 16 << 10}, directory), nullptr);
  const auto names = disk_->list(directory);
  EXPECT_EQ(names->size(), 2U);
  for (const std::string& name : *names) {
    struct stat found{};
    ASSERT_EQ(::stat((directory + "/" + name).c_str(), &found), 0) << name;
    EXPECT_EQ(found.st_uid, 1234U) << name;
    EXPECT_EQ(found.st_gid, 4321U) << name;
  }
}

TEST_F(PosixDiskTest, RefusesADirectoryThatMayNotBeWritten) {
  if (::geteuid() == 0) GTEST_SKIP() << "nothing is refused to root";
  const std::string directory = root_ + "/log";
  ASSERT_TRUE(disk_->make_directory(directory));
  ASSERT_EQ(::chmod(directory.c_str(), 0500), 0);
  const auto writer = Writer::open(*disk_, directory, some_identity());
  ASSERT_FALSE(writer);
  EXPECT_NE(writer.error().message.find(directory), std::string::npos) << writer.error().message;
}

}  // namespace
}  // namespace tutti::log::testing
