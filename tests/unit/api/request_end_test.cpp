// How requests end whose member, or whose caller, goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "cluster.hpp"
#include "gate.hpp"
#include "tutti/async.hpp"

namespace tutti {
namespace {

using ::testing::HasSubstr;

// The handler of b is held up until the test lets it go; the others answer.
struct RequestUnderWay {
  explicit RequestUnderWay(const ClusterOptions& options)
      : cluster(options, [this](std::size_t member, NodeOptions& node) {
          node.request_max_bytes = 1024;
          node.on_request = [this, member](const Request& request) {
            if (member == 1) gate.pass();
            return Result<std::vector<std::byte>>(bytes_of(request.text()));
          };
        }) {
    gate.shut();
    cluster.start();
  }
  // One call that waits, whose request b handles, and one with a handler.
  void ask() {
    waits = std::async(std::launch::async,
                       [this] { return cluster.node(0).send_to("b", "x", kPatience); });
    ASSERT_TRUE(until([&] { return gate.reached(); }));
    handled = reply_future(cluster.node(0), "b", {}, kPatience);
  }
  void expect_both(ErrorCode code) {
    for (auto* one : {&waits, &handled}) {
      const Result<Reply> outcome = one->get();
      ASSERT_FALSE(outcome);
      EXPECT_EQ(outcome.error().code, code) << outcome.error().message;
    }
  }

  Gate gate;
  std::future<Result<Reply>> waits;
  std::future<Result<Reply>> handled;
  TestCluster cluster;
};

class RequestEnd : public ::testing::TestWithParam<FabricChoice> {};

TEST_P(RequestEnd, OfAMemberThatIsKilledIsAnErrorOfEachCall) {
  RequestUnderWay way({.fabric = GetParam()});
  way.ask();
  std::jthread kills([&] { way.cluster.kill(1); });  // waits for the handler
  way.expect_both(ErrorCode::peer_lost);
  way.gate.open();
  kills.join();
  ASSERT_TRUE(until([&] { return way.cluster.are_in_view_of({0, 2}); }));
  EXPECT_EQ(way.cluster.node(0).send_to("b", "x", 1s).error().code, ErrorCode::unreachable);
  EXPECT_EQ(way.cluster.node(0).send_to("c", "x", kPatience)->text(), "x");
  way.cluster.renew(1, [](std::size_t, NodeOptions& options) {
    options.join_only = true;
    options.request_max_bytes = 1024;
    options.on_request = [](const Request&) {
      return Result<std::vector<std::byte>>(bytes_of("again"));
    };
  });
  way.cluster.start({1});
  ASSERT_TRUE(until([&] { return way.cluster.are_in_view_of({0, 1, 2}); }));
  EXPECT_EQ(way.cluster.node(0).send_to("b", "x", kPatience)->text(), "again");
  expect_ok(way.cluster.stop());
}

TEST_P(RequestEnd, OfAMemberThatLeavesIsAnErrorOfEachCall) {
  RequestUnderWay way({.fabric = GetParam()});
  way.ask();
  std::jthread leaves([&] { static_cast<void>(way.cluster.leave(1)); });
  way.expect_both(ErrorCode::peer_lost);
  way.gate.open();
  leaves.join();
  EXPECT_EQ(way.cluster.node(0).send_to("c", "x", kPatience)->text(), "x");
  expect_ok(way.cluster.stop());
}

INSTANTIATE_TEST_SUITE_P(, RequestEnd, ::testing::Values(FabricChoice::shm, FabricChoice::tcp),
                         [](const auto& of) { return std::string(to_string(of.param)); });

TEST(RequestCaller, ThatIsDestroyedEndsItsCalls) {
  RequestUnderWay way({});
  way.handled = reply_future(way.cluster.node(0), "b", {}, kPatience);
  ASSERT_TRUE(until([&] { return way.gate.reached(); }));
  way.cluster.kill(0);
  EXPECT_EQ(way.handled.get().error().code, ErrorCode::stopped);
  way.gate.open();
  ASSERT_TRUE(until([&] { return way.cluster.are_in_view_of({1, 2}); }));
  EXPECT_EQ(way.cluster.node(2).send_to("b", "x", kPatience)->text(), "x");
}

TEST(RequestCaller, ThatStopsEndsItsCalls) {
  RequestUnderWay way({.members = 2});
  way.ask();
  std::jthread opens([&] { way.expect_both(ErrorCode::stopped), way.gate.open(); });
  // Node 1 finishes, so node 0 can stop; node 1 stops only after that.
  way.cluster.group(1).finish();
  expect_ok({way.cluster.node(0).stop(kPatience)});
  expect_ok(way.cluster.stop());
  EXPECT_EQ(way.cluster.node(0).send_to("b", "x", 1s).error().code, ErrorCode::stopped);
}

// The others are well: it is this member that is gone.
TEST(RequestCaller, ThatLeavesIsNotToldThatTheOtherIsLost) {
  RequestUnderWay way({});
  way.ask();
  std::jthread opens([&] { way.expect_both(ErrorCode::stopped), way.gate.open(); });
  EXPECT_TRUE(way.cluster.leave(0));
  EXPECT_EQ(way.cluster.node(0).send_to("b", "x", 1s).error().code, ErrorCode::stopped);
}

TEST(RequestCaller, ThatIsInNoViewYetSendsNothing) {
  TestCluster cluster({.members = 2},
                      [](std::size_t, NodeOptions& options) { options.request_max_bytes = 64; });
  EXPECT_EQ(cluster.node(0).send_to("b", "x", 1s).error().code, ErrorCode::unreachable);
  EXPECT_EQ(reply_future(cluster.node(0), "b", {}, 1s).get().error().code, ErrorCode::unreachable);
}

// RC3: what a handler that is not taken refers to goes without the lock.
TEST(RequestHandlers, ThatAreRefusedMayAskWhenTheyAreDestroyed) {
  struct AsksAtItsEnd {
    AsksAtItsEnd(Node& of, std::atomic<bool>& done) : node(of), asked(done) {}
    ~AsksAtItsEnd() {
      static_cast<void>(node.send_to("b", {}, kPatience, [](const Result<Reply>&) {}));
      asked = true;
    }
    Node& node;
    std::atomic<bool>& asked;
  };
  std::atomic<bool> asked = false;
  RequestUnderWay way({.members = 2});
  Node& node = way.cluster.node(0);
  const std::vector<std::byte> large(64);
  std::size_t taken = 0;
  while (node.send_to("b", large, kPatience, [](const Result<Reply>&) {})) ++taken;
  EXPECT_NE(taken, 0U);
  const Result<void> refused = node.send_to("b", large, kPatience,
                                            [asks = std::make_unique<AsksAtItsEnd>(node, asked)](
                                                const Result<Reply>&) { ADD_FAILURE(); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::no_space);
  EXPECT_TRUE(asked);
  way.gate.open();
}

TEST(RequestHandlers, ThatThrowFailTheirNode) {
  TestCluster cluster({}, [](std::size_t, NodeOptions& options) {
    options.request_max_bytes = 64;
    options.on_request = [](const Request&) -> Result<std::vector<std::byte>> {
      throw std::runtime_error("out of ideas");
    };
  });
  cluster.start();
  const auto reply = cluster.node(0).send_to("b", "x", kPatience);
  ASSERT_FALSE(reply);
  ASSERT_TRUE(cluster.node(1).failure());
  EXPECT_THAT(cluster.node(1).failure()->message,
              HasSubstr("the request callback of node 'b' failed: it threw: out of ideas"));
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 2}); }));
}

TEST(RequestHandlers, OfRepliesThatThrowFailTheirNode) {
  TestCluster cluster({.members = 2},
                      [](std::size_t, NodeOptions& options) { options.request_max_bytes = 64; });
  cluster.start();
  ASSERT_TRUE(cluster.node(0).send_to(
      "b", {}, kPatience, [](const Result<Reply>&) { throw std::runtime_error("no"); }));
  ASSERT_TRUE(until([&] { return cluster.node(0).failure().has_value(); }));
  EXPECT_THAT(cluster.node(0).failure()->message, HasSubstr("a reply handler of node 'a'"));
}

}  // namespace
}  // namespace tutti
