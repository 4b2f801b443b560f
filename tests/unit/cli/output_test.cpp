#include "cli/output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <thread>

namespace tutti::cli {
namespace {

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends;
  EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  return ends;
}

TEST(Output, KeepsWhatWasAppendedUntilItIsFlushed) {
  const auto [reader, writer] = make_pipe();
  Output output(writer, "a pipe");
  output.append("line ");
  output.append(std::uint64_t{18446744073709551615U});
  EXPECT_EQ(output.written_bytes(), 0U);
  output.flush();
  std::array<char, 64> text;
  const ssize_t count = read(reader, text.data(), text.size());
  EXPECT_EQ(std::string_view(text.data(), static_cast<std::size_t>(count)),
            "line 18446744073709551615");
  output.close();
  ::close(reader);
}

TEST(Output, PutsShortWritesTogether) {
  const auto [reader, writer] = make_pipe();
  fcntl(writer, F_SETPIPE_SZ, 4096);
  std::string sent;
  std::thread sender([&sent, fd = writer] {
    Output output(fd, "a pipe");
    for (int i = 0; i < 100'000; ++i) {
      sent += std::to_string(i) + "\n";
      output.append(static_cast<std::uint64_t>(i));
      output.append("\n");
      output.flush_if_large();
    }
    const std::string large(1 << 20, 'x');  // more than the buffer holds
    sent += large;
    output.append(large);
    output.close();
    EXPECT_FALSE(output.failed());
  });
  std::string received;
  std::array<char, 777> block;
  for (ssize_t count = 1; count > 0;) {
    count = read(reader, block.data(), block.size());
    if (count > 0) received.append(block.data(), static_cast<std::size_t>(count));
  }
  sender.join();
  EXPECT_TRUE(received == sent);
  ::close(reader);
}

TEST(Output, WaitsForADescriptorThatDoesNotBlock) {
  const auto [reader, writer] = make_pipe();
  fcntl(writer, F_SETFL, O_NONBLOCK);
  constexpr std::size_t kBytes = 1 << 20;
  std::thread sender([fd = writer] {
    Output output(fd, "a pipe");
    output.append(std::string(kBytes, 'x'));
    output.close();
    EXPECT_FALSE(output.failed());
  });
  std::size_t received = 0;
  std::array<char, 4096> block;
  for (ssize_t count = 1; count > 0;) {
    count = read(reader, block.data(), block.size());
    received += static_cast<std::size_t>(count);
  }
  sender.join();
  EXPECT_EQ(received, kBytes);
  ::close(reader);
}

TEST(Output, SaysThatTheDiskIsFull) {
  Output output(open("/dev/full", O_WRONLY | O_CLOEXEC), "standard output");
  output.append("text");
  EXPECT_FALSE(output.failed());
  output.flush();
  ASSERT_TRUE(output.failed());
  EXPECT_TRUE(output.error().starts_with("cannot write to standard output: No space left"));
  EXPECT_NE(output.error().find("free some space"), std::string::npos);
  output.append("more");
  output.close();  // and does not hang, nor change its mind
  EXPECT_EQ(output.written_bytes(), 0U);
}

TEST(Output, SaysThatTheReaderHasGone) {
  signal(SIGPIPE, SIG_IGN);
  const auto [reader, writer] = make_pipe();
  ::close(reader);
  Output output(writer, "standard output");
  output.append("text");
  output.flush();
  ASSERT_TRUE(output.failed());
  EXPECT_NE(output.error().find("has ended"), std::string::npos) << output.error();
  output.close();
}

}  // namespace
}  // namespace tutti::cli
