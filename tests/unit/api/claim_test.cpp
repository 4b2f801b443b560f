/// \file claim_test.cpp
/// What a sender gets that has to wait for space.
#include <gtest/gtest.h>

#include "cluster.hpp"

namespace tutti {
namespace {

// Space that comes just as the sender goes to sleep is claimed once, not a second time.
TEST(Claim, ThatHadToWaitTakesTheNextTicket) {
  TestCluster cluster(
      {.members = 2,
       .idle = {.spin = 0ns, .yield = 0ns},
       .groups = {{.name = "log", .window_messages = 2, .on_delivery = [](const auto&) {}}}});
  cluster.start();
  for (std::uint64_t n = 1; n <= 100'000; ++n) {
    const Result<Ticket> ticket = cluster.group(0).send("x", kPatience);
    ASSERT_TRUE(ticket) << ticket.error().message;
    ASSERT_EQ(ticket->value, n);
  }
  for (const Result<void>& stopped : cluster.stop()) {
    EXPECT_TRUE(stopped) << stopped.error().message;
  }
}

}  // namespace
}  // namespace tutti
