/// \file late_claim_test.cpp
/// Claims that end in the instant in which their node is destroyed: each is either late, and keeps
/// the memory until it has ended, or in time, and keeps nothing.
#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cluster.hpp"
#include "mapped_rows.hpp"
#include "support/effort.hpp"
#include "support/loopback.hpp"

namespace tutti {
namespace {

// So many that some end before, some while and some after the node counts them.
constexpr std::uint32_t kClaims = 1U << 16;

// At the clock, between two of them: so that the last ones end after the node.
constexpr int kLooks = 8;

enum class End : std::uint8_t { commit, drop };

// A node in a group of its own, with all those claims; then it is destroyed while a thread ends
// them, the newest first: so the node takes none.
void destroy_while_claims_end(End how) {
  auto node = Node::create({.name = "a",
                            .members = loopback_members(1),
                            .fabric = FabricChoice::shm,
                            .start_timeout = kPatience});
  ASSERT_TRUE(node) << node.error().message;
  auto joined = node->join({.name = "log",
                            .message_max_bytes = 8,
                            .window_bytes = 4 * 1024 * 1024,
                            .window_messages = kClaims,
                            .on_delivery = [](const auto&) {}});
  ASSERT_TRUE(joined) << joined.error().message;
  std::optional<Group> group = *joined;
  joined = fail(ErrorCode::stopped, "the handle is in the other place");
  const Result<void> started = node->start();
  ASSERT_TRUE(started) << started.error().message;
  std::vector<Claim> claims(kClaims);
  for (Claim& claim : claims) {
    claim = group->try_claim(8);
    ASSERT_TRUE(claim);
  }
  if (how == End::drop) group.reset();  // then nothing but the claims keeps the memory
  std::latch begun(2);
  std::thread ender([&] {
    begun.arrive_and_wait();
    while (!claims.empty()) {
      if (how == End::commit) group->commit(std::move(claims.back()));
      claims.pop_back();
      for (int look = 0; look < kLooks; ++look) static_cast<void>(std::chrono::steady_clock::now());
    }
  });
  begun.arrive_and_wait();
  {
    const Node gone = std::move(*node);
  }
  ender.join();
}

class LateClaims : public ::testing::TestWithParam<End> {};

INSTANTIATE_TEST_SUITE_P(ThatEndBy, LateClaims, ::testing::Values(End::commit, End::drop),
                         [](const auto& how) {
                           return std::string(how.param == End::commit ? "commit" : "drop");
                         });

TEST_P(LateClaims, KeepTheMemoryJustAsLongAsTheyAreOpen) {
  const std::size_t mapped = mapped_rows();
  const testing::Effort effort;
  for (int round = 0; round < 20 && !effort.spent(); ++round) {
    destroy_while_claims_end(GetParam());
    ASSERT_EQ(mapped_rows(), mapped) << "round " << round;
  }
}

}  // namespace
}  // namespace tutti
