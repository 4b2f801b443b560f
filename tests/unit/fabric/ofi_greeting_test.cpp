// What peers tell each other before they write: bytes of a stranger are refused, and so is a peer
// that has too little room for our row or uses another provider.
#include "fabric/ofi/greeting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace tutti::ofi {
namespace {

using ::testing::HasSubstr;

Greeting greeting() {
  return {.epoch = 7,
          .row_bytes = 65536,
          .base = 0x7f0000001000,
          .key = 42,
          .token = 43,
          .provider = "tcp",
          .address = std::string("\x02\x00\x1f\x90", 4)};
}

TEST(OfiGreeting, BytesAndBack) {
  const Result<Greeting> read = decode(encode(greeting()));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->epoch, 7U);
  EXPECT_EQ(read->row_bytes, 65536U);
  EXPECT_EQ(read->base, 0x7f0000001000U);
  EXPECT_EQ(read->key, 42U);
  EXPECT_EQ(read->token, 43U);
  EXPECT_EQ(read->provider, "tcp");
  EXPECT_EQ(read->address, greeting().address);
}

TEST(OfiGreeting, EveryDamagedByteIsFound) {
  const GreetingBytes good = encode(greeting());
  for (std::size_t i = 0; i < good.size(); ++i) {
    GreetingBytes bad = good;
    bad[i] ^= std::byte{0x41};
    EXPECT_FALSE(decode(bad)) << i;
  }
  EXPECT_FALSE(decode(GreetingBytes{}));
}

TEST(OfiGreeting, OnesThatGoTogetherAreTaken) {
  EXPECT_TRUE(check_greeting(greeting(), greeting(), 65536));
  EXPECT_TRUE(check_greeting(greeting(), greeting(), 64));
}

TEST(OfiGreeting, TooLittleMemoryForOurRowIsRefused) {
  const Result<void> checked = check_greeting(greeting(), greeting(), 65544);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::mismatch);
  EXPECT_THAT(checked.error().message, HasSubstr("65536"));
  EXPECT_THAT(checked.error().message, HasSubstr("65544"));
}

TEST(OfiGreeting, AnotherProviderIsRefused) {
  Greeting other = greeting();
  other.provider = "verbs\n";
  const Result<void> checked = check_greeting(greeting(), other, 64);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::mismatch);
  EXPECT_THAT(checked.error().message, HasSubstr("'verbs?'"));
  EXPECT_THAT(checked.error().message, HasSubstr("'tcp'"));
}

TEST(OfiGreeting, AnotherConnectionsIsRefused) {
  Greeting other = greeting();
  other.epoch = 8;
  EXPECT_FALSE(check_greeting(greeting(), other, 64));
}

}  // namespace
}  // namespace tutti::ofi
