// Requests between members: replies, errors, limits, and what a call may be made from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>

#include "cluster.hpp"
#include "gate.hpp"
#include "tutti/async.hpp"

namespace tutti {
namespace {

using ::testing::HasSubstr;

Result<std::vector<std::byte>> echo(const Request& request) {
  if (request.text() == "fail") return fail(ErrorCode::stopped, "will not, h\xc3\xa9las");
  return bytes_of(std::string(request.from) + ":" + std::string(request.text()));
}

TestCluster::Adjust answering(const RequestHandler& handler = echo, std::uint32_t bytes = 1024) {
  return [handler, bytes](std::size_t, NodeOptions& options) {
    options.request_max_bytes = bytes;
    options.on_request = handler;
  };
}

class Requesting : public ::testing::TestWithParam<FabricChoice> {};

TEST_P(Requesting, GetsTheReplyOfTheMemberThatIsAsked) {
  TestCluster cluster({.fabric = GetParam()}, answering());
  cluster.start();
  for (std::size_t from = 0; from < 3; ++from) {
    for (std::size_t to = 0; to < 3; ++to) {
      if (from == to) continue;
      const std::string text = std::string(from * 300 + to, 'x');
      const auto reply = cluster.node(from).send_to(cluster.life(to).name, text, kPatience);
      ASSERT_TRUE(reply) << reply.error().message;
      EXPECT_EQ(reply->text(), cluster.life(from).name + ":" + text);
    }
  }
  expect_ok(cluster.stop());
}

TEST_P(Requesting, GetsTheErrorOfTheHandler) {
  TestCluster cluster({.members = 2, .fabric = GetParam()}, answering());
  cluster.start();
  const auto reply = cluster.node(0).send_to("b", "fail", kPatience);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::refused);
  EXPECT_EQ(reply.error().message, "will not, h\xc3\xa9las");
  expect_ok(cluster.stop());
}

// More than fits into a lane, so that lanes go round and callers wait for space.
TEST_P(Requesting, GoesBothWaysFromManyThreadsAtOnce) {
  TestCluster cluster({.members = 2, .fabric = GetParam()}, answering());
  cluster.start();
  std::atomic<int> replies{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        const auto from = static_cast<std::size_t>(t % 2);
        for (int i = 0; i < 500; ++i) {
          std::string text = std::to_string(t) + "." + std::to_string(i);
          text.resize(text.size() + static_cast<std::size_t>(i % 900), '.');
          const auto reply =
              cluster.node(from).send_to(cluster.life(1 - from).name, text, kPatience);
          ASSERT_TRUE(reply) << reply.error().message;
          ASSERT_EQ(reply->text(), cluster.life(from).name + ":" + text);
          ++replies;
        }
      });
    }
  }
  EXPECT_EQ(replies, 2000);
  expect_ok(cluster.stop());
}

INSTANTIATE_TEST_SUITE_P(, Requesting, ::testing::Values(FabricChoice::shm, FabricChoice::tcp),
                         [](const auto& of) { return std::string(to_string(of.param)); });

TEST(Requests, HaveAsManyBytesAsTheOptionSays) {
  TestCluster cluster({.members = 2}, answering(
                                          [](const Request& request) {
                                            const bool more = request.text() == "more";
                                            return std::vector<std::byte>(more ? 65 : 64);
                                          },
                                          64));
  cluster.start();
  const auto whole = cluster.node(0).send_to("b", std::string(64, 'x'), kPatience);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->bytes().size(), 64U);
  const auto empty = cluster.node(0).send_to("b", "", kPatience);
  EXPECT_TRUE(empty) << empty.error().message;
  const auto longer = cluster.node(0).send_to("b", std::string(65, 'x'), kPatience);
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(longer.error().message, HasSubstr("the request has 65 bytes; legal: 0 .. 64"));
  const auto reply = cluster.node(0).send_to("b", "more", kPatience);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::refused);
  EXPECT_THAT(reply.error().message, HasSubstr("a reply of 65 bytes; legal: 0 .. 64"));
  expect_ok(cluster.stop());
}

TEST(Requests, ToNobodyAreErrors) {
  TestCluster cluster({.founders = 2}, answering());
  EXPECT_EQ(cluster.node(0).send_to("b", "x", 1s).error().code, ErrorCode::unreachable);
  cluster.start({0, 1});
  const auto code_of = [&](std::string_view member) {
    return cluster.node(0).send_to(member, "x", kPatience).error().code;
  };
  EXPECT_EQ(code_of("a"), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of("nobody"), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of("c"), ErrorCode::unreachable);
  cluster.start({2});
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1, 2}); }));
  const auto reply = cluster.node(0).send_to("c", "x", kPatience);
  EXPECT_TRUE(reply) << reply.error().message;
  expect_ok(cluster.stop());
}

TEST(Requests, AreOffUnlessAskedFor) {
  TestCluster cluster({.members = 2});
  cluster.start();
  const auto reply = cluster.node(0).send_to("b", "x", kPatience);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(reply.error().message, HasSubstr("request_max_bytes is 0"));
  expect_ok(cluster.stop());
}

TEST(Requests, ToAMemberWithoutAHandlerAreRefused) {
  TestCluster cluster({.members = 2}, answering(nullptr));
  cluster.start();
  const auto reply = cluster.node(0).send_to("b", "x", kPatience);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::refused);
  EXPECT_THAT(reply.error().message, HasSubstr("'b' answers no requests: it has no on_request"));
  expect_ok(cluster.stop());
}

// A slow handler fills the lanes of its callers, and its late reply is dropped.
TEST(Requests, ToASlowHandlerRunOutOfSpaceAndTime) {
  Gate gate;
  gate.shut();
  TestCluster cluster({.members = 2}, answering([&](const Request& request) {
                        gate.pass();
                        return echo(request);
                      }));
  cluster.start();
  while (!gate.reached()) {  // one that b comes to too late is not handled
    EXPECT_EQ(cluster.node(0).send_to("b", "late", 10ms).error().code, ErrorCode::timed_out);
  }
  const std::string large(1000, 'x');
  std::atomic<int> replies{0};
  int sent = 0;
  Result<void> next;
  while (next = cluster.node(0).send_to("b", std::as_bytes(std::span(large)), kPatience,
                                        [&](const Result<Reply>& reply) {
                                          EXPECT_TRUE(reply);
                                          ++replies;
                                        }),
         next) {
    ASSERT_LT(++sent, 100);
  }
  EXPECT_GE(sent, 3);
  EXPECT_EQ(next.error().code, ErrorCode::no_space);
  const auto waited = cluster.node(0).send_to("b", large, 10ms);
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, ErrorCode::timed_out);
  EXPECT_THAT(waited.error().message, HasSubstr("there was no space"));
  const auto other = cluster.node(1).send_to("a", "x", kPatience);
  EXPECT_TRUE(other) << other.error().message;
  gate.open();
  ASSERT_TRUE(until([&] { return replies == sent; }));
  EXPECT_EQ(cluster.node(0).send_to("b", "now", kPatience)->text(), "a:now");
  expect_ok(cluster.stop());
}

TEST(Requests, WhoseCallersWaitNoMoreAreNotHandled) {
  Gate gate;
  gate.shut();
  std::vector<std::string> handled;
  TestCluster cluster({.members = 2}, answering([&](const Request& request) {
                        if (request.from == "b") return echo(request);
                        gate.pass();
                        handled.emplace_back(request.text());
                        return echo(request);
                      }));
  cluster.start();
  const std::string text = "first";
  auto first = reply_future(cluster.node(0), "b", std::as_bytes(std::span(text)), kPatience);
  ASSERT_TRUE(until([&] { return gate.reached(); }));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(cluster.node(0).send_to("b", "late", 10ms).error().code, ErrorCode::timed_out);
  }
  // What a has written came to b before its second reply: b took it while it read the first one.
  EXPECT_TRUE(cluster.node(1).send_to("a", "x", kPatience));
  EXPECT_TRUE(cluster.node(1).send_to("a", "y", kPatience));
  const auto over = std::chrono::steady_clock::now() + 10ms;
  ASSERT_TRUE(until([&] { return std::chrono::steady_clock::now() >= over; }));
  gate.open();
  EXPECT_EQ(cluster.node(0).send_to("b", "now", kPatience)->text(), "a:now");
  EXPECT_EQ(first.get()->text(), "a:first");
  expect_ok(cluster.stop());
  EXPECT_THAT(handled, ::testing::ElementsAre("first", "now"));
}

TEST(Requests, WithAHandlerRunOutOfTimeToo) {
  Gate gate;
  gate.shut();
  TestCluster cluster({.members = 2}, answering([&](const Request& request) {
                        gate.pass();
                        return echo(request);
                      }));
  cluster.start();
  const std::string text = "x";
  auto late = reply_future(cluster.node(0), "b", std::as_bytes(std::span(text)), 10ms);
  auto soon = reply_future(cluster.node(0), "b", std::as_bytes(std::span(text)), kPatience);
  EXPECT_EQ(late.get().error().code, ErrorCode::timed_out);
  gate.open();
  const Result<Reply> reply = soon.get();
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text(), "a:x");
  EXPECT_FALSE(cluster.node(0).send_to("b", std::as_bytes(std::span(text)), 1s, nullptr));
  expect_ok(cluster.stop());
}

// In the handler of a request, a request that waits would wait for its own thread.
TEST(Requests, InsideACallbackDoNotWait) {
  TestCluster* nodes = nullptr;
  std::promise<std::string> back;
  TestCluster cluster(
      {.members = 2}, answering([&](const Request& request) {
        if (request.from == "b") return echo(request);
        const auto refused = nodes->node(1).send_to("a", "x", kPatience);
        const auto sent = nodes->node(1).send_to(
            "a", request.bytes, kPatience, [&](const Result<Reply>& outcome) {
              back.set_value(outcome ? std::string(outcome->text()) : outcome.error().message);
            });
        EXPECT_TRUE(sent) << sent.error().message;
        return Result<std::vector<std::byte>>(
            bytes_of(refused ? "waited" : refused.error().message));
      }));
  nodes = &cluster;
  cluster.start();
  const auto reply = cluster.node(0).send_to("b", "q", kPatience);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_THAT(std::string(reply->text()),
              HasSubstr("Node::send_to was called inside the request callback of node 'b'"));
  EXPECT_EQ(back.get_future().get(), "b:q");
  expect_ok(cluster.stop());
}

TEST(Requests, GoOnWhileTheCallerDrives) {
  TestCluster cluster({.members = 2}, [](std::size_t member, NodeOptions& options) {
    answering()(member, options);
    if (member == 0) options.drive = Drive::caller;
  });
  cluster.start();
  for (int i = 0; i < 100; ++i) {
    const auto reply = cluster.node(0).send_to("b", std::to_string(i), kPatience);
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->text(), "a:" + std::to_string(i));
  }
  std::atomic<bool> done{false};
  std::jthread asks([&] {
    const auto reply = cluster.node(1).send_to("a", "x", kPatience);
    EXPECT_TRUE(reply) << reply.error().message;
    done = true;
  });
  while (!done) {
    cluster.node(0).poll();
    cluster.node(0).wait(10ms);
  }
  expect_ok(cluster.stop());
}

}  // namespace
}  // namespace tutti
