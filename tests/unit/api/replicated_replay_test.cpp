// A replicated state machine of a group that is logged: what comes from the log, of earlier views
// and earlier runs of this very member, goes the way of all commands.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "cluster.hpp"
#include "node/group_sends.hpp"
#include "replicated_sum.hpp"
#include "support/loopback.hpp"

namespace tutti {
namespace {

// As Replicated encodes the command, for the numbers of its process.
std::vector<std::byte> command(std::uint64_t number, std::uint64_t add) {
  std::vector<std::byte> bytes(2 * sizeof number);
  std::memcpy(bytes.data(), &number, sizeof number);
  std::memcpy(bytes.data() + sizeof number, &add, sizeof add);
  return bytes;
}

Message logged(std::uint64_t seq, std::uint64_t view, std::uint32_t sender,
               const std::vector<std::byte>& bytes, Ticket ticket = {}) {
  return {.seq = {seq},
          .data = bytes.data(),
          .size = static_cast<std::uint32_t>(bytes.size()),
          .sender = {sender},
          .ticket = ticket,
          .view = view};
}

TEST(ReplicatedReplay, RebuildsTheStateFromMessagesOfEarlierRuns) {
  auto node = Node::create({.name = "a", .members = loopback_members(1)});
  ASSERT_TRUE(node);
  auto sum = Replicated<Sum>::join(*node, small_group(Level::atomic));
  ASSERT_TRUE(sum);
  const auto value = [&] { return sum->query([](const Sum& machine) { return machine.value; }); };

  // How a log calls the callback, without a log.
  const DeliveryCallback& deliver = GroupSends::core_of(sum->group()).options().on_delivery;
  const std::vector<std::byte> one = command(1, 10);
  const std::vector<std::byte> again = command(1, 200);  // of the next run: numbers begin anew
  const std::vector<std::byte> others = command(1, 3000);
  const std::vector<std::byte> nonsense(3);
  const std::vector<std::byte> tick(8);
  deliver(std::vector<Message>{logged(0, 1, 0, one), logged(1, 1, 0, tick, kTickTicket)});
  deliver(std::vector<Message>{logged(2, 5, 0, again), logged(3, 5, 0, nonsense)});
  deliver(std::vector<Message>{logged(4, 9, 7, others)});  // of a rank that this view has not
  EXPECT_EQ(value(), 3210U);

  ASSERT_TRUE(node->start());
  const Result<std::uint64_t> reply = sum->execute({40'000}, kPatience);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(*reply, 43'210U) << "it goes on from what was in the log";
  EXPECT_TRUE(node->stop(kPatience));
}

}  // namespace
}  // namespace tutti
