/// \file deliveries_test.cpp
/// What `tutti run` prints of a batch that is overwritten while it is read.
#include "cli/run/deliveries.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace tutti::cli {
namespace {

// Printed to a pipe, in the place of standard output.
class Printed : public ::testing::Test {
 protected:
  Printed() {
    EXPECT_EQ(::pipe(ends_), 0);
    ::fcntl(ends_[1], F_SETPIPE_SZ, 1 << 20);  // holds all that a test prints
    saved_ = ::dup(STDOUT_FILENO);
    ::dup2(ends_[1], STDOUT_FILENO);
  }
  ~Printed() override {
    ::close(ends_[0]);
    ::close(ends_[1]);
    ::close(saved_);
  }

  // And standard output is as before.
  [[nodiscard]] std::string text() {
    ::dup2(saved_, STDOUT_FILENO);
    ::close(ends_[1]);
    std::string out;
    char some[4096];
    for (ssize_t got = 0; (got = ::read(ends_[0], some, sizeof some)) > 0;) {
      out.append(some, static_cast<std::size_t>(got));
    }
    return out;
  }

  static Message message(std::uint64_t seq, const std::string& text) {
    return {.seq = {seq},
            .data = reinterpret_cast<const std::byte*>(text.data()),
            .size = static_cast<std::uint32_t>(text.size()),
            .sender = {},
            .ticket = {},
            .view = 1};
  }

 private:
  int ends_[2] = {-1, -1};
  int saved_ = -1;
};

TEST_F(Printed, IsWhatWasSent) {
  Deliveries deliveries({"a"}, {}, nullptr);
  const std::string words = "one";
  const std::string more = "two";
  const std::vector<Message> batch = {message(0, words), message(1, more)};
  deliveries.deliver(batch, [] { return true; });
  EXPECT_EQ(text(), "0 a one\n1 a two\n");
}

// The question comes when the text is complete, so that no later change shows; and after one that
// is answered with no, nothing more is printed.
TEST_F(Printed, IsNothingOfABatchThatWasOverwritten) {
  Deliveries deliveries({"a"}, {}, nullptr);
  std::string words = "one";
  deliveries.deliver(std::vector{message(0, words)}, [&] {
    words.assign("XXX");  // just after it was found intact
    return true;
  });
  deliveries.deliver(std::vector{message(1, words)}, [] { return false; });
  deliveries.deliver(std::vector{message(2, words)}, [] { return true; });
  EXPECT_EQ(text(), "0 a one\n");
}

TEST_F(Printed, EndsWithTheLastPieceOfALargeBatchThatWasIntact) {
  Deliveries deliveries({"a"}, {}, nullptr);
  const std::string words(20'000, 'w');
  std::vector<Message> batch;
  for (std::uint64_t i = 0; i < 8; ++i) batch.push_back(message(i, words));
  int asked = 0;
  deliveries.deliver(batch, [&] { return ++asked == 1; });
  EXPECT_EQ(asked, 2);
  std::string ought;
  for (const char* const number : {"0", "1", "2", "3"}) {
    ought += std::string(number) + " a " + words + "\n";
  }
  EXPECT_EQ(text(), ought);
}

}  // namespace
}  // namespace tutti::cli
