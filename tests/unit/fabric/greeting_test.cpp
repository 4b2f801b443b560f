// What comes by rdma_cm may be anybody's: only a whole greeting is taken for one.
#include "fabric/verbs/greeting.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tutti::verbs {
namespace {

constexpr Greeting kGreeting{.from = 0x1111222233334444,
                             .to = 0x5555666677778888,
                             .region = 0x7f0012345000,
                             .region_bytes = 1U << 20,
                             .rkey = 0xdeadbeef,
                             .slot = 7};

TEST(Greeting, IsReadBackAlsoWithPaddingBehindIt) {
  const auto bytes = encode_greeting(kGreeting);
  EXPECT_EQ(decode_greeting(bytes).value(), kGreeting);
  std::vector<std::byte> padded(bytes.begin(), bytes.end());
  padded.resize(56);
  EXPECT_EQ(decode_greeting(padded).value(), kGreeting);
}

TEST(Greeting, OtherBytesAreRefused) {
  const auto bytes = encode_greeting(kGreeting);
  EXPECT_EQ(decode_greeting({}).error().code, ErrorCode::mismatch);
  EXPECT_FALSE(decode_greeting(std::span(bytes).first(kGreetingBytes - 1)));
  const std::vector<std::byte> zeros(56);
  EXPECT_FALSE(decode_greeting(zeros));
  auto changed = bytes;
  changed[0] ^= std::byte{1};
  EXPECT_FALSE(decode_greeting(changed));
}

}  // namespace
}  // namespace tutti::verbs
