/// \file alignment_test.cpp
/// GroupOptions::alignment: the data of each message lies on it, at its sender and at every member,
/// on every fabric; types of that alignment are built and read in place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "cluster.hpp"

namespace tutti {
namespace {

using ::testing::HasSubstr;

bool is_aligned(const void* data, std::size_t to) {
  return reinterpret_cast<std::uintptr_t>(data) % to == 0;
}

struct Case {
  FabricChoice fabric;
  std::uint32_t alignment;
  Order order = Order::round_robin;
  Level level = Level::atomic;
};

class Alignment : public ::testing::TestWithParam<Case> {
 protected:
  Alignment() : cluster_({.members = 3, .fabric = GetParam().fabric, .groups = {options()}}) {}

  static GroupOptions options() {
    const Case& of = GetParam();
    return {.name = "log",
            .order = of.order,
            .level = of.level,
            .message_max_bytes = 1000,
            .window_bytes = std::uint64_t{16} * std::max(of.alignment, 512U),
            .alignment = of.alignment,
            .delivery = DeliveryThread::application};
  }

  TestCluster cluster_;
};

// The window is small: rings wrap around several times.
TEST_P(Alignment, HoldsAtTheSenderAndAtEveryMember) {
  constexpr std::uint32_t kMessages = 200;
  const std::uint32_t alignment = GetParam().alignment;
  cluster_.start();
  std::vector<std::thread> takers;
  std::atomic<std::uint32_t> wrong = 0;
  for (std::size_t member = 0; member < 3; ++member) {
    takers.emplace_back([&, member] {
      for (std::uint32_t taken = 0; taken < 3 * kMessages;) {
        Result<Batch> batch = cluster_.group(member).take(kDeliveryBatchMax, kPatience);
        ASSERT_TRUE(batch) << batch.error().message;
        for (const Message& message : *batch) {
          const bool whole = message.size >= 1 && message.data[0] == std::byte{'x'};
          if (!is_aligned(message.data, alignment) || !whole) ++wrong;
        }
        taken += static_cast<std::uint32_t>(batch->size());
      }
    });
  }
  std::vector<std::thread> senders;
  for (std::size_t member = 0; member < 3; ++member) {
    senders.emplace_back([&, member] {
      for (std::uint32_t i = 0; i < kMessages; ++i) {
        Result<Claim> claim = cluster_.group(member).claim(1 + i * 37 % 1000, kPatience);
        ASSERT_TRUE(claim) << claim.error().message;
        if (!is_aligned(claim->data(), alignment)) ++wrong;
        claim->data()[0] = std::byte{'x'};
        const std::uint32_t used = i % 3 == 0 ? 1 : claim->size();
        ASSERT_NE(cluster_.group(member).commit(std::move(*claim), used).value, 0U);
      }
    });
  }
  for (std::thread& thread : senders) thread.join();
  for (std::thread& thread : takers) thread.join();
  EXPECT_EQ(wrong, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    OnFabrics, Alignment,
    ::testing::Values(Case{FabricChoice::shm, 64}, Case{FabricChoice::shm, 4096},
                      Case{FabricChoice::tcp, 32}, Case{FabricChoice::tcp, 4096},
                      Case{FabricChoice::ofi, 64},
                      Case{FabricChoice::tcp, 64, Order::token_ring, Level::agreed},
                      Case{FabricChoice::tcp, 256, Order::lcr}));

struct alignas(64) Vector {
  float values[16];
};

TEST(AlignedTypes, AreBuiltAndReadInPlace) {
  TestCluster cluster(
      {.members = 2,
       .groups = {{.name = "log", .alignment = 64, .delivery = DeliveryThread::application}}});
  cluster.start();
  ASSERT_TRUE(cluster.group(0).emplace<Vector>(kPatience, Vector{{1.5F, 2.5F}}));
  Result<Batch> batch = cluster.group(1).take(1, kPatience);
  ASSERT_TRUE(batch) << batch.error().message;
  const Vector* vector = (*batch)[0].as<Vector>();
  ASSERT_NE(vector, nullptr);
  EXPECT_EQ(vector->values[1], 2.5F);
}

TEST(AlignedTypes, AreRefusedByGroupsThatAreAlignedToLess) {
  TestCluster cluster({.members = 1, .groups = {{.name = "log", .alignment = 32}}});
  cluster.start();
  const Result<Ticket> refused = cluster.group(0).emplace<Vector>(kPatience);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().message,
              HasSubstr("a type that is aligned to 64 bytes is not for messages aligned to 32"));
}

}  // namespace
}  // namespace tutti
