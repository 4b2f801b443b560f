#include "history/reader.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "history/file_header.hpp"
#include "unit/history/files.hpp"

namespace tutti::history::testing {
namespace {

class Reader : public ::testing::Test {
 protected:
  /// The bytes of a good file.
  std::string good(const std::vector<Event>& events) {
    auto recorder = recorder_to(path);
    for (const Event& event : events) recorder->append(event);
    EXPECT_TRUE(recorder->close());
    return read_bytes(path);
  }

  Result<HistoryFile> open(const std::string& bytes) {
    write_bytes(path, bytes);
    return HistoryFile::open(path);
  }

  void expect_refused(const std::string& bytes, const std::string& offset) {
    const auto file = open(bytes);
    ASSERT_FALSE(file);
    for (const std::string& part : {path.string(), "at byte " + offset}) {
      EXPECT_NE(file.error().message.find(part), std::string::npos) << file.error().message;
    }
  }

  TemporaryFolder folder;
  const std::filesystem::path path = folder / "file";
};

void set_closed(std::string& bytes, char closed) { bytes[offsetof(FileHeader, closed)] = closed; }

// HR2.
TEST_F(Reader, ReadsWhatIsThereWhereverTheFileIsCut) {
  const std::vector<Event> events = random_events(6, 1);
  for (const bool crashed : {false, true}) {
    std::string bytes = good(events);
    set_closed(bytes, crashed ? 0 : 1);
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
      SCOPED_TRACE(size);
      if (size < sizeof(FileHeader)) {
        expect_refused(bytes.substr(0, size), std::to_string(size));
        continue;
      }
      const auto file = open(bytes.substr(0, size));
      ASSERT_TRUE(file) << file.error().message;
      const std::size_t whole = (size - sizeof(FileHeader)) / 64;
      const auto& read = file->history().events;
      EXPECT_TRUE(std::equal(read.begin(), read.end(), events.begin(),
                             events.begin() + static_cast<std::ptrdiff_t>(whole)));
      EXPECT_EQ(file->cut_bytes(), (size - sizeof(FileHeader)) % 64);
      EXPECT_EQ(file->cut_events(), crashed ? 0 : events.size() - whole);
      EXPECT_EQ(file->history().crashed, crashed);
    }
  }
}

TEST_F(Reader, DropsReservedSpaceAfterACrash) {
  const std::vector<Event> events = random_events(5, 2);
  std::string bytes = good(events);
  set_closed(bytes, 0);
  bytes.append(1000, '\0');
  const auto file = open(bytes);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->history().events.size(), 5U);
}

TEST_F(Reader, CountsEventsThatWereNeverFinished) {
  std::vector<Event> events = random_events(5, 3);
  std::string bytes = good(events);
  bytes[sizeof(FileHeader) + 2 * 64] = 0;  // the kind of the third
  expect_refused(bytes, "320");
  set_closed(bytes, 0);
  const auto file = open(bytes);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->unwritten(), 1U);
  EXPECT_EQ(file->history().events.size(), 5U);
}

TEST_F(Reader, RefusesGarbageAndNamesFileAndOffset) {
  const std::string bytes = good(random_events(5, 4));
  std::string other = bytes;
  other[3] = 'x';
  expect_refused(other, "0");
  other = bytes;
  other[offsetof(FileHeader, version)] = 9;
  expect_refused(other, "8");
  other = bytes;
  other[offsetof(FileHeader, header_bytes)] = 9;
  expect_refused(other, "12");
  other = bytes;
  other[sizeof(FileHeader) + 64] = '\x7f';  // a kind
  expect_refused(other, "384");
  other = bytes;
  other[sizeof(FileHeader) + 2 * 64 + offsetof(Event, node)] ^= 1;
  expect_refused(other, "448");
  other = bytes;
  other[sizeof(FileHeader) + 3 * 64 + offsetof(Event, incarnation)] ^= 1;
  expect_refused(other, "512");
  expect_refused(bytes + "x", "640");
  expect_refused(bytes + std::string(64, 'x'), "640");
}

TEST_F(Reader, RefusesWhatIsNoFile) {
  const auto none = HistoryFile::open("/nonexistent");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("/nonexistent"), std::string::npos);
  for (const char* name : {"/dev/null", "/"}) {
    const auto other = HistoryFile::open(name);
    ASSERT_FALSE(other);
    EXPECT_NE(other.error().message.find("not a regular file"), std::string::npos);
  }
}

// HR1.
TEST_F(Reader, NoContentsMakeItCrash) {
  const std::string bytes = good(random_events(20, 5));
  Prng random(6);
  for (int run = 0; run < 2000; ++run) {
    std::string other = bytes.substr(0, random.below(bytes.size() + 1));
    for (std::uint64_t flips = random.below(4); flips > 0 && !other.empty(); --flips) {
      other[random.below(other.size())] = static_cast<char>(random.next());
    }
    const auto file = open(other);
    if (file) {
      EXPECT_LE(file->history().events.size(), 20U);
    } else {
      EXPECT_NE(file.error().message.find(path.string()), std::string::npos);
    }
  }
}

TEST_F(Reader, ReleasedPagesComeBack) {
  const std::vector<Event> events = random_events(10'000, 7);
  const auto file = open(good(events));
  ASSERT_TRUE(file);
  const auto read = file->history().events;
  release_pages(read);
  EXPECT_TRUE(std::equal(read.begin(), read.end(), events.begin(), events.end()));
}

}  // namespace
}  // namespace tutti::history::testing
