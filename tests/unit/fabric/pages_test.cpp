#include "fabric/pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tutti {
namespace {

constexpr std::size_t kPagesBytes = 10'000;

bool all_zero(const Pages& pages) {
  return std::ranges::all_of(pages.bytes(), [](std::byte byte) { return byte == std::byte{0}; });
}

TEST(Pages, AreZeroAtFirst) {
  for (const auto make : {&Pages::writable, &Pages::read_only}) {
    const Result<Pages> pages = make(kPagesBytes);
    ASSERT_TRUE(pages);
    EXPECT_EQ(pages->bytes().size(), kPagesBytes);
    EXPECT_TRUE(all_zero(*pages));
  }
}

TEST(Pages, KeepWhatIsWrittenWhenTheyMove) {
  Pages pages = Pages::writable(kPagesBytes).value();
  pages.bytes()[kPagesBytes - 1] = std::byte{7};
  const std::byte* const there = pages.bytes().data();
  const Pages moved = std::move(pages);
  EXPECT_EQ(moved.bytes().data(), there);
  EXPECT_EQ(moved.bytes()[kPagesBytes - 1], std::byte{7});
}

TEST(Pages, SayThatThereIsNoMemory) {
  const Result<Pages> pages = Pages::writable(std::numeric_limits<std::size_t>::max() / 2);
  ASSERT_FALSE(pages);
  EXPECT_EQ(pages.error().code, ErrorCode::system);
}

}  // namespace
}  // namespace tutti
