#include "base/crc32c.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "base/prng.hpp"

namespace tutti {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(Crc32c, HasThePublishedValues) {  // RFC 3720, B.4
  EXPECT_EQ(crc32c({}), 0U);
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xe3069283U);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32)), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte{0xff})), 0x62a8ab43U);
}

TEST(Crc32c, IsTheSameByTableAndByInstruction) {
  Prng random(1);
  std::vector<std::byte> bytes(300);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  for (std::size_t from = 0; from < 16; ++from) {
    for (std::size_t size = 0; from + size <= bytes.size(); ++size) {
      const auto part = std::span(bytes).subspan(from, size);
      ASSERT_EQ(crc32c(part), crc32c_by_table(part));
    }
  }
}

TEST(Crc32c, GoesOnWhereItStopped) {
  const auto all = bytes_of("Tutti: all together, in parts");
  for (std::size_t cut = 0; cut <= all.size(); ++cut) {
    EXPECT_EQ(crc32c(all.subspan(cut), crc32c(all.first(cut))), crc32c(all));
    EXPECT_EQ(crc32c_by_table(all.subspan(cut), crc32c_by_table(all.first(cut))), crc32c(all));
  }
}

}  // namespace
}  // namespace tutti
