#include "history/recorder.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <thread>
#include <vector>

#include "history/event_file.hpp"
#include "history/history.hpp"
#include "history/reader.hpp"
#include "unit/history/files.hpp"

namespace tutti::history::testing {
namespace {

std::vector<Event> events_of(const HistoryFile& file) {
  return {file.history().events.begin(), file.history().events.end()};
}

TEST(Recorder, WhatIsWrittenIsRead) {
  const TemporaryFolder folder;
  const std::vector<Event> events = random_events(1000, 1);
  auto recorder = recorder_to(folder / "a");
  for (const Event& event : events) recorder->append(event);
  ASSERT_TRUE(recorder->close());
  const auto file = HistoryFile::open(folder / "a");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(events_of(*file), events);
  EXPECT_EQ(file->history().identity.name, "alpha");
  EXPECT_EQ(file->history().identity.node, 7);
  EXPECT_EQ(file->history().identity.incarnation, 0x123456789abcdef0U);
  EXPECT_EQ(file->history().identity.boot_time_ns, 99U);
  EXPECT_FALSE(file->history().crashed);
  EXPECT_EQ(file->cut_bytes() + file->cut_events() + file->unwritten(), 0U);
}

TEST(Recorder, GoesOnOverManyPieces) {
  const TemporaryFolder folder;
  const std::vector<Event> events = random_events(3 * EventFile::kPieceSlots + 17, 2);
  auto recorder = recorder_to(folder / "a");
  for (const Event& event : events) recorder->append(event);
  ASSERT_TRUE(recorder->close());
  ASSERT_TRUE(recorder->close());
  const auto file = HistoryFile::open(folder / "a");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(events_of(*file), events);
  EXPECT_EQ(std::filesystem::file_size(folder / "a"), sizeof(FileHeader) + events.size() * 64);
}

TEST(Recorder, EndsExactlyAtAPiece) {
  constexpr std::size_t kFirstPiece = EventFile::kPieceSlots - kHeaderSlots;
  const TemporaryFolder folder;
  for (const std::size_t count : {kFirstPiece - 1, kFirstPiece, kFirstPiece + 1}) {
    const std::vector<Event> events = random_events(count, 3);
    auto recorder = recorder_to(folder / "a");
    for (const Event& event : events) recorder->append(event);
    ASSERT_TRUE(recorder->close());
    const auto file = HistoryFile::open(folder / "a");
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(events_of(*file), events);
  }
}

TEST(Recorder, PutsInWhoseEventItIs) {
  auto recorder = Recorder::in_memory(some_identity());
  recorder->append(make_event(EventKind::wedge, {.view = 3, .time_ns = 4, .group = 5}));
  ASSERT_EQ(recorder->events().size(), 1U);
  EXPECT_EQ(recorder->events()[0].node, 7);
  EXPECT_EQ(recorder->events()[0].incarnation, some_identity().incarnation);
  EXPECT_EQ(history_of(*recorder).events.size(), 1U);
  EXPECT_EQ(history_of(*recorder).source, "alpha");
}

TEST(Recorder, CutsANameThatIsTooLong) {
  const TemporaryFolder folder;
  Identity identity = some_identity();
  identity.name = std::string(1000, 'x');
  auto recorder = Recorder::to_file(folder / "a", identity);
  ASSERT_TRUE(recorder);
  ASSERT_TRUE((*recorder)->close());
  const auto file = HistoryFile::open(folder / "a");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->history().identity.name, std::string(255, 'x'));
}

TEST(Recorder, SaysWhereItCannotWrite) {
  const auto recorder = Recorder::to_file("/nonexistent/folder/file", some_identity());
  ASSERT_FALSE(recorder);
  EXPECT_NE(recorder.error().message.find("/nonexistent/folder/file"), std::string::npos);
}

/// `threads` append at once; each thread's events must all be there, in its order.
void append_at_once(Recorder& recorder, std::uint16_t threads, std::uint64_t each) {
  std::vector<std::thread> running;
  running.reserve(threads);
  for (std::uint16_t thread = 0; thread < threads; ++thread) {
    running.emplace_back([&recorder, thread, each] {
      for (std::uint64_t i = 1; i <= each; ++i) {
        recorder.append(make_send({.view = i, .time_ns = i, .group = thread}, Ticket{i},
                                  static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i)));
      }
    });
  }
  for (std::thread& thread : running) thread.join();
}

void expect_all(std::span<const Event> events, std::uint16_t threads, std::uint64_t each) {
  ASSERT_EQ(events.size(), threads * each);
  std::vector<std::uint64_t> last(threads);
  for (const Event& event : events) {
    ASSERT_LT(event.group, threads);
    ASSERT_EQ(event.number, ++last[event.group]);
    ASSERT_EQ(event.view, event.number);
    ASSERT_EQ(event.crc, static_cast<std::uint32_t>(event.number));
  }
}

TEST(Recorder, SeveralThreadsAppendAtOnce) {
  const TemporaryFolder folder;
  for (const std::uint16_t threads : {2, 3, 8}) {
    const std::uint64_t each = 100'000 / threads;
    auto recorder = recorder_to(folder / "a");
    append_at_once(*recorder, threads, each);
    ASSERT_TRUE(recorder->close());
    const auto file = HistoryFile::open(folder / "a");
    ASSERT_TRUE(file) << file.error().message;
    expect_all(file->history().events, threads, each);
  }
}

TEST(Recorder, SeveralThreadsAppendAtOnceInMemory) {
  auto recorder = Recorder::in_memory(some_identity());
  append_at_once(*recorder, 4, 10'000);
  expect_all(recorder->events(), 4, 10'000);
}

// E1.
TEST(Recorder, NothingIsLostWhenTheProcessIsKilled) {
  const TemporaryFolder folder;
  const std::vector<Event> events = random_events(EventFile::kPieceSlots + 100, 5);
  const pid_t child = ::fork();
  if (child == 0) {
    auto recorder = Recorder::to_file(folder / "a", some_identity());
    for (const Event& event : events) (*recorder)->append(event);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto file = HistoryFile::open(folder / "a");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->history().crashed);
  EXPECT_EQ(events_of(*file), events);
}

// E3: a limit on the size of files stands for a full disk.
TEST(Recorder, SaysWhatWasLostWhenThereIsNoSpace) {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 2 * 1024 * 1024, .rlim_max = 2 * 1024 * 1024};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto recorder = Recorder::to_file(folder / "a", some_identity());
    for (const Event& event : random_events(3 * EventFile::kPieceSlots, 6)) {
      (*recorder)->append(event);
    }
    const auto closed = (*recorder)->close();
    const bool told = !closed && closed.error().message.find("lost") != std::string::npos &&
                      (*recorder)->lost() == EventFile::kPieceSlots + kHeaderSlots;
    ::_exit(told ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const auto file = HistoryFile::open(folder / "a");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->history().lost, EventFile::kPieceSlots + kHeaderSlots);
  std::vector<Event> expected = random_events(3 * EventFile::kPieceSlots, 6);
  expected.resize(2 * EventFile::kPieceSlots - kHeaderSlots);
  EXPECT_EQ(events_of(*file), expected);
}

}  // namespace
}  // namespace tutti::history::testing
