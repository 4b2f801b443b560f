/// \file message_test.cpp
/// What a message says of itself, messages built in place, and barriers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "cluster.hpp"
#include "gate.hpp"
#include "replicated_sum.hpp"
#include "support/loopback.hpp"

namespace tutti {
namespace {

using ::testing::HasSubstr;

struct Quote {
  std::uint32_t symbol = 0;
  std::uint64_t price = 0;
  bool operator==(const Quote&) const = default;
};

/// What one member was told with its messages.
struct Notes {
  struct Note {
    std::uint32_t sender = 0;
    std::uint64_t ticket = 0;
    std::uint64_t view = 0;
    std::string text{};
    std::optional<Quote> quote{};
  };
  void take(std::span<const Message> batch) {
    const std::lock_guard lock(mutex);
    for (const Message& message : batch) {
      const auto* quote = message.as<Quote>();
      notes.push_back({message.sender.value, message.ticket.value, message.view,
                       std::string(message.text()),
                       quote == nullptr ? std::nullopt : std::optional(*quote)});
    }
  }
  std::vector<Note> all() {
    const std::lock_guard lock(mutex);
    return notes;
  }
  std::mutex mutex;
  std::vector<Note> notes;
};

class Messages : public ::testing::TestWithParam<Order> {
 protected:
  Messages()
      : cluster_({.groups = {group()}, .adjust_group = [this](std::size_t member, auto& options) {
                    options.on_delivery = [this, member](std::span<const Message> batch) {
                      notes_[member].take(batch);
                    };
                  }}) {
    cluster_.start();
  }
  static GroupOptions group() {
    GroupOptions group = small_group();
    group.order = GetParam();
    return group;
  }
  Ticket send(std::size_t member, const std::string& text) {
    const Result<Ticket> ticket = cluster_.group(member).send(text, kPatience);
    EXPECT_TRUE(ticket) << ticket.error().message;
    return ticket ? *ticket : Ticket{};
  }
  /// Waits until the member has been delivered a message of that text.
  std::optional<Notes::Note> find(std::size_t member, const std::string& text) {
    std::optional<Notes::Note> found;
    EXPECT_TRUE(until([&] {
      const std::vector<Notes::Note> notes = notes_[member].all();
      const auto at = std::ranges::find(notes, text, &Notes::Note::text);
      if (at != notes.end()) found = *at;
      return found.has_value();
    })) << text;
    return found;
  }

  std::array<Notes, 3> notes_;
  TestCluster cluster_;
};

INSTANTIATE_TEST_SUITE_P(Of, Messages,
                         ::testing::Values(Order::round_robin, Order::token_ring, Order::lcr),
                         [](const auto& order) { return std::string(to_string(order.param)); });

// Of the sender's own the ticket, also of a message that a later view delivers, and behind claims
// that were given up.
TEST_P(Messages, SayTheirTicketAndView) {
  static_cast<void>(cluster_.group(0).try_claim(8));  // abandoned
  const Ticket first = send(0, "first");
  EXPECT_EQ(first, Ticket{2});
  EXPECT_EQ(find(0, "first")->ticket, 2U);
  EXPECT_EQ(find(1, "first")->ticket, 0U) << "it is another member's";
  EXPECT_EQ(find(1, "first")->view, 1U);
  cluster_.kill(2);
  ASSERT_TRUE(until([&] { return cluster_.are_in_view_of({0, 1}); }));
  const Ticket second = send(0, "second");
  EXPECT_EQ(find(0, "second")->ticket, second.value);
  EXPECT_EQ(find(1, "second")->view, 2U);
  EXPECT_EQ(send(1, "other"), Ticket{1});
  EXPECT_EQ(find(1, "other")->ticket, 1U);
  EXPECT_EQ(find(0, "other")->ticket, 0U);
}

TEST_P(Messages, AreBuiltInPlace) {
  Group& group = cluster_.group(0);
  ASSERT_TRUE(group.emplace<Quote>(kPatience, 7U, std::uint64_t{41}));
  send(0, "end");
  static_cast<void>(find(1, "end"));
  const std::vector<Notes::Note> notes = notes_[1].all();
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0].quote, (Quote{7, 41}));
  EXPECT_EQ(notes[1].quote, std::nullopt) << "that has another size";
}

// With the newest claim, and with one that another was made after.
TEST_P(Messages, MayBeShorterThanTheirClaim) {
  Group& group = cluster_.group(0);
  Result<Claim> long_one = group.claim(64, kPatience);
  Result<Claim> behind = group.claim(64, kPatience);
  ASSERT_TRUE(long_one && behind);
  std::ranges::copy(std::as_bytes(std::span("one", 3)), long_one->data());
  std::ranges::copy(std::as_bytes(std::span("second", 6)), behind->data());
  EXPECT_EQ(group.commit(std::move(*behind), 6), Ticket{2});
  EXPECT_EQ(group.commit(std::move(*long_one), 3), Ticket{1});
  Result<Claim> third = group.claim(16, kPatience);
  ASSERT_TRUE(third);
  EXPECT_EQ(group.commit(std::move(*third), 17), Ticket{0}) << "more than was claimed";
  send(0, "end");
  for (const std::size_t member : {0U, 1U, 2U}) {
    static_cast<void>(find(member, "end"));
    const std::vector<Notes::Note> notes = notes_[member].all();
    ASSERT_EQ(notes.size(), 3U);
    EXPECT_EQ(notes[0].text, "one");
    EXPECT_EQ(notes[1].text, "second");
  }
}

TEST(Barrier, WaitsForWhatOthersHaveDelivered) {
  Gate gate;
  TestCluster cluster({.members = 2, .groups = {small_group(Level::atomic, DeliveryThread::own)}});
  cluster.life(1).in_delivery = [&] { gate.pass(); };
  cluster.start();
  gate.shut();
  const Result<Ticket> ticket = cluster.group(0).send("x", kPatience);
  ASSERT_TRUE(ticket);
  ASSERT_TRUE(cluster.group(0).wait(*ticket, kPatience)) << "delivered at member 0";
  ASSERT_TRUE(until([&] { return gate.reached(); }));
  const Result<void> early = cluster.group(1).barrier(std::chrono::milliseconds(20));
  EXPECT_EQ(early ? ErrorCode{} : early.error().code, ErrorCode::timed_out);
  gate.open();
  ASSERT_TRUE(cluster.group(1).barrier(kPatience));
  EXPECT_EQ(cluster.deliveries(1).size(), 1U);
  for (const Result<void>& stopped : cluster.stop()) {
    EXPECT_TRUE(stopped) << stopped.error().message;
  }
  EXPECT_EQ(cluster.deliveries(0).size(), 1U) << "a barrier is no message";
}

TEST(Barrier, IsRefusedWhereItWouldMeanNothing) {
  TestCluster cluster({.members = 2, .groups = {small_group(Level::unordered)}});
  EXPECT_FALSE(cluster.group(0).barrier(kPatience)) << "not started";
  cluster.start();
  const Result<void> unordered = cluster.group(0).barrier(kPatience);
  ASSERT_FALSE(unordered);
  EXPECT_THAT(unordered.error().message, HasSubstr("a barrier needs Level::atomic"));
}

TEST(Barrier, IsRefusedInsideACallbackBeforeItSendsAnything) {
  std::optional<Error> refused;
  TestCluster cluster({.members = 1, .groups = {small_group()}});
  cluster.life(0).in_delivery = [&] {
    const Result<void> inside = cluster.group(0).barrier(kPatience);
    if (!inside) refused = inside.error();
  };
  cluster.start();
  ASSERT_TRUE(cluster.group(0).send("x", kPatience));
  for (const Result<void>& stopped : cluster.stop()) EXPECT_TRUE(stopped);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, ErrorCode::in_callback);
  EXPECT_THAT(refused->message, HasSubstr("Group::barrier was called inside"));
}

TEST(Barrier, MakesAQueryLatest) {
  const std::vector<MemberAddress> members = loopback_members(1);
  Result<Node> node = Node::create({.name = "a", .members = members});
  ASSERT_TRUE(node);
  auto sum = Replicated<Sum>::join(*node, small_group());
  ASSERT_TRUE(sum && node->start());
  ASSERT_TRUE(sum->execute({5}, kPatience));
  const Result<std::uint64_t> value =
      sum->query_latest([](const Sum& of) { return of.value; }, kPatience);
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(*value, 5U);
  bool called = false;
  EXPECT_TRUE(sum->query_latest([&](const Sum&) { called = true; }, kPatience));
  EXPECT_TRUE(called);
  EXPECT_TRUE(node->stop(kPatience));
}

}  // namespace
}  // namespace tutti
