/// \file options_test.cpp
/// Every wrong option is named, with its value and what would be legal.
#include "tutti/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace tutti {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

NodeOptions good_node() {
  NodeOptions node;
  node.name = "a";
  node.members = {{"a", "127.0.0.1:7001"}, {"b", "[::1]:7002"}, {"c", "host-3.example:7003"}};
  return node;
}

GroupOptions good_group() {
  GroupOptions group;
  group.name = "log";
  return group;
}

std::string node_error(const std::function<void(NodeOptions&)>& change) {
  NodeOptions node = good_node();
  change(node);
  const Result<void> r = node.validate();
  if (r) return "accepted";
  EXPECT_EQ(r.error().code, ErrorCode::invalid_argument);
  return r.error().message;
}

std::string group_error(const std::function<void(GroupOptions&)>& change) {
  GroupOptions group = good_group();
  change(group);
  const Result<void> r = group.validate();
  if (r) return "accepted";
  EXPECT_EQ(r.error().code, ErrorCode::invalid_argument);
  return r.error().message;
}

TEST(Options, GoodOnesAreAccepted) {
  EXPECT_TRUE(good_node().validate());
  EXPECT_TRUE(good_group().validate());
}

TEST(Options, WordsAreReadBack) {
  for (const Order order : {Order::none, Order::round_robin, Order::token_ring, Order::lcr}) {
    EXPECT_EQ(order_from(to_string(order)), order);
  }
  for (const Level level : {Level::unordered, Level::agreed, Level::atomic}) {
    EXPECT_EQ(level_from(to_string(level)), level);
  }
  for (const auto fabric : {FabricChoice::automatic, FabricChoice::shm, FabricChoice::tcp,
                            FabricChoice::verbs, FabricChoice::ofi}) {
    EXPECT_EQ(fabric_from(to_string(fabric)), fabric);
  }
  EXPECT_EQ(to_string(FabricChoice::automatic), "auto");
}

TEST(Options, AFabricIsReadWithWhatBelongsToIt) {
  NodeOptions node = good_node();
  for (const std::string text : {"auto", "ofi:tcp", "shm", "verbs", "ofi:tcp;ofi_rxm", "tcp"}) {
    EXPECT_TRUE(set_fabric(node, text)) << text;
    EXPECT_EQ(fabric_text(node), text);
    EXPECT_TRUE(node.validate()) << text;
  }
  ASSERT_TRUE(set_fabric(node, "ofi:tcp;ofi_rxm"));
  EXPECT_EQ(node.fabric, FabricChoice::ofi);
  EXPECT_EQ(node.provider, "tcp;ofi_rxm");
}

TEST(Options, AFabricThatIsNoneChangesNothing) {
  NodeOptions node = good_node();
  ASSERT_TRUE(set_fabric(node, "ofi:shm"));
  const auto refused = [&node](std::string_view text) {
    const Result<void> read = set_fabric(node, text);
    EXPECT_FALSE(read) << text;
    EXPECT_EQ(fabric_text(node), "ofi:shm") << text;
    return read ? "" : read.error().message;
  };
  EXPECT_THAT(refused("ofi"), HasSubstr("ofi:PROVIDER, such as 'ofi:tcp'"));
  EXPECT_THAT(refused("ofi:"), HasSubstr("ofi:PROVIDER"));
  EXPECT_EQ(refused("tcp:eth0"), "fabric 'tcp:eth0': nothing belongs after 'tcp'");
  EXPECT_THAT(refused("shm:"), HasSubstr("nothing belongs after 'shm'"));
  EXPECT_THAT(refused("ofi:a\nb"), HasSubstr("provider 'a?b' is not legal"));
  EXPECT_THAT(refused("ofi:" + std::string(65, 'x')), HasSubstr("legal: 1 .. 64 bytes"));
  EXPECT_THAT(refused("libfabric:tcp"), HasSubstr("fabric 'libfabric' is unknown"));
}

TEST(Options, AProviderGoesWithItsFabric) {
  EXPECT_THAT(node_error([](auto& n) { n.fabric = FabricChoice::ofi; }),
              HasSubstr("fabric 'ofi' needs one of libfabric's providers"));
  EXPECT_EQ(node_error([](auto& n) { n.provider = "tcp"; }),
            "provider is 'tcp' with fabric 'auto'; it goes with fabric 'ofi' only");
}

TEST(Options, AnRdmaDeviceGoesWithRdma) {
  const auto with = [](FabricChoice fabric) {
    return node_error([fabric](auto& n) {
      n.fabric = fabric;
      n.rdma_device = "mlx5_0:1:3";
    });
  };
  EXPECT_EQ(with(FabricChoice::verbs), "accepted");
  EXPECT_EQ(with(FabricChoice::automatic), "accepted");
  EXPECT_EQ(with(FabricChoice::tcp),
            "rdma_device is 'mlx5_0:1:3' with fabric 'tcp'; it goes with 'verbs' and 'auto' only");
}

TEST(Options, UnknownWordsListTheKnownOnes) {
  EXPECT_EQ(order_from("total").error().message,
            "order 'total' is unknown; known: round_robin, none, token_ring, lcr");
  EXPECT_EQ(level_from("safe").error().message,
            "level 'safe' is unknown; known: atomic, agreed, unordered, durable");
  EXPECT_EQ(fabric_from("ib").error().message,
            "fabric 'ib' is unknown; known: auto, shm, tcp, verbs, ofi");
}

TEST(Options, ValuesOutsideAnEnumerationAreRefused) {
  EXPECT_THAT(node_error([](auto& n) { n.fabric = static_cast<FabricChoice>(9); }),
              HasSubstr("fabric 9 is unknown"));
  EXPECT_THAT(node_error([](auto& n) { n.drive = static_cast<Drive>(9); }),
              HasSubstr("drive 9 is unknown"));
  EXPECT_THAT(group_error([](auto& g) { g.order = static_cast<Order>(9); }),
              HasSubstr("order 9 is unknown"));
  EXPECT_THAT(group_error([](auto& g) { g.level = static_cast<Level>(9); }),
              HasSubstr("level 9 is unknown"));
  EXPECT_THAT(group_error([](auto& g) { g.delivery = static_cast<DeliveryThread>(9); }),
              HasSubstr("delivery 9 is unknown"));
}

TEST(Options, MemberNamesAreLegalUniqueAndContainTheNode) {
  EXPECT_THAT(node_error([](auto& n) { n.name = "z"; }),
              HasSubstr("name 'z' is not among the members; members: a, b, c"));
  EXPECT_THAT(node_error([](auto& n) { n.name = ""; }), HasSubstr("legal: 1 .. 255 bytes"));
  EXPECT_THAT(node_error([](auto& n) { n.members[1].name = "b b"; }), HasSubstr("'b b'"));
  EXPECT_THAT(node_error([](auto& n) { n.members[1].name = std::string(256, 'x'); }),
              HasSubstr("255"));
  EXPECT_THAT(node_error([](auto& n) { n.members[1].name = "c"; }),
              HasSubstr("'c' stands there twice"));
  EXPECT_THAT(node_error([](auto& n) { n.members.clear(); }),
              HasSubstr("number of members is 0; legal: 1 .. 256"));
  EXPECT_THAT(node_error([](auto& n) {
                n.members.clear();
                for (int i = 0; i < 257; ++i) {
                  n.members.push_back({"m" + std::to_string(i), "h:" + std::to_string(1000 + i)});
                }
              }),
              HasSubstr("257"));
}

TEST(Options, NamesAreShownWithoutTheirControlCharacters) {
  for (const std::string& error :
       {node_error([](NodeOptions& node) { node.name = "a\x1b[2J"; }),
        node_error([](NodeOptions& node) { node.members[1].name = "a\x1b[2J"; }),
        node_error([](NodeOptions& node) { node.members[1].address = "a\x1b[2J:1"; }),
        group_error([](GroupOptions& group) { group.senders = {"a\x1b[2J"}; })}) {
    EXPECT_THAT(error, HasSubstr("'a?[2J"));
    EXPECT_EQ(error.find('\x1b'), std::string::npos);
  }
}

TEST(Options, AddressesAreCheckedAndUnique) {
  const auto with = [](const std::string& address) {
    return node_error([&](auto& n) { n.members[1].address = address; });
  };
  EXPECT_THAT(with("127.0.0.1"), AllOf(HasSubstr("b: address '127.0.0.1'"), HasSubstr("no port")));
  EXPECT_THAT(with("127.0.0.1:"), HasSubstr("no port"));
  EXPECT_THAT(with("[::1]"), HasSubstr("no port"));
  EXPECT_THAT(with(":7002"), HasSubstr("no host"));
  EXPECT_THAT(with("[]:7002"), HasSubstr("no host"));
  EXPECT_THAT(with("::1:7002"), HasSubstr("brackets"));
  EXPECT_THAT(with("h:0"), HasSubstr("port '0', which is not in 1 .. 65535"));
  EXPECT_THAT(with("h:65536"), HasSubstr("65536"));
  EXPECT_THAT(with("h:99999999999999"), HasSubstr("99999999999999"));
  EXPECT_THAT(with("h:-1"), HasSubstr("-1"));
  EXPECT_THAT(with("h:80x"), HasSubstr("80x"));
  EXPECT_THAT(with("h h:80"), HasSubstr("characters"));
  EXPECT_THAT(with(""), HasSubstr("no port"));
  EXPECT_THAT(with("127.0.0.1:07001"), HasSubstr("given to both a and b"));
  EXPECT_EQ(with("[fe80::1%eth0]:65535"), "accepted");
}

TEST(Options, TimesHaveRanges) {
  EXPECT_THAT(node_error([](auto& n) { n.start_timeout = 0ns; }),
              HasSubstr("start_timeout is 0 ns; legal: 1 ms .. 1 day"));
  EXPECT_THAT(node_error([](auto& n) { n.start_timeout = 25h; }), HasSubstr("start_timeout"));
  EXPECT_THAT(node_error([](auto& n) { n.idle.spin = 2s; }), HasSubstr("idle.spin"));
  EXPECT_THAT(node_error([](auto& n) { n.idle.yield = -1ns; }), HasSubstr("idle.yield is -1 ns"));
}

TEST(Options, SuspicionTakesAReasonableTime) {
  for (const std::chrono::nanoseconds time : {0ns, -1ns, std::chrono::nanoseconds(10ms) - 1ns}) {
    EXPECT_THAT(
        node_error([&](auto& n) { n.suspect_after = time; }),
        HasSubstr("suspect_after is " + std::to_string(time.count()) + " ns; legal: 10 ms .. 1 h"));
  }
  EXPECT_THAT(node_error([](auto& n) { n.suspect_after = 1h + 1ns; }), HasSubstr("suspect_after"));
  EXPECT_EQ(node_error([](auto& n) { n.slow_after = 0ns; }), "accepted");
  EXPECT_THAT(node_error([](auto& n) { n.slow_after = 999us; }),
              HasSubstr("slow_after is 999000 ns; legal: 0, or 1 ms .. 1 h"));
  EXPECT_EQ(node_error([](auto& n) { n.remove_after = 1s; }), "accepted");
  EXPECT_THAT(node_error([](auto& n) { n.remove_after = 999ms; }),
              HasSubstr("remove_after is 999000000 ns; legal: 0, or suspect_after"));
  EXPECT_EQ(node_error([](auto& n) { n.suspect_after = 10ms; }), "accepted");
  EXPECT_EQ(node_error([](auto& n) { n.suspect_after = 1h; }), "accepted");
}

TEST(Options, ALitmusHasAnEnd) {
  EXPECT_EQ(node_error([](auto& n) { n.litmus_rounds = 1'000'000; }), "accepted");
  EXPECT_THAT(node_error([](auto& n) { n.litmus_rounds = 1'000'001; }),
              HasSubstr("litmus_rounds is 1000001; legal: 0 .. 1000000"));
}

TEST(Options, RequestsHaveASize) {
  EXPECT_EQ(node_error([](auto& n) { n.request_max_bytes = kRequestBytesMax; }), "accepted");
  EXPECT_THAT(node_error([](auto& n) { n.request_max_bytes = kRequestBytesMax + 1; }),
              HasSubstr("request_max_bytes is 1048577; legal: 0 .. 1048576"));
  EXPECT_THAT(node_error([](auto& n) {
                n.on_request = [](const Request&) { return std::vector<std::byte>(); };
              }),
              HasSubstr("on_request is set, but request_max_bytes is 0"));
}

// Fewer could found two groups that know nothing of each other.
TEST(Options, FoundersAreMoreThanHalfOfTheMembers) {
  const auto with = [](std::uint32_t founders, std::size_t members) {
    return node_error([&](auto& n) {
      while (n.members.size() < members) {
        n.members.push_back(
            {"m" + std::to_string(n.members.size()), "h:" + std::to_string(1 + n.members.size())});
      }
      n.founders = founders;
    });
  };
  EXPECT_EQ(with(0, 3), "accepted") << "all of them";
  EXPECT_THAT(with(1, 3), HasSubstr("founders is 1; legal: 2 .. 3"));
  EXPECT_EQ(with(2, 3), "accepted");
  EXPECT_EQ(with(3, 3), "accepted");
  EXPECT_THAT(with(4, 3), HasSubstr("founders is 4; legal: 2 .. 3"));
  EXPECT_THAT(with(2, 4), HasSubstr("founders is 2; legal: 3 .. 4"));
  EXPECT_EQ(with(3, 4), "accepted");
  EXPECT_EQ(with(3, 5), "accepted");
}

TEST(Options, ReasonsForLeavingHaveWords) {
  EXPECT_EQ(to_string(LeftReason::left), "left");
  EXPECT_EQ(to_string(LeftReason::suspected), "suspected");
}

TEST(Options, LevelAndOrderMustMakeSense) {
  EXPECT_EQ(group_error([](auto& g) { g.level = Level::unordered; }),
            "group 'log': level 'unordered' goes with order 'none', not 'round_robin': it delivers "
            "on receipt, so there is nothing to order");
  EXPECT_THAT(
      group_error([](auto& g) { g.order = Order::none; }),
      HasSubstr("level 'atomic' goes with order 'round_robin', 'token_ring' or 'lcr', not 'none'"));
  EXPECT_EQ(group_error([](auto& g) {
              g.order = Order::none;
              g.level = Level::unordered;
            }),
            "accepted");
  EXPECT_EQ(group_error([](auto& g) { g.order = Order::lcr; }), "accepted");
  EXPECT_THAT(group_error([](auto& g) {
                g.order = Order::lcr;
                g.level = Level::agreed;
              }),
              HasSubstr("order 'lcr' goes with level 'atomic' or 'durable', not 'agreed'"));
  EXPECT_THAT(group_error([](auto& g) { g.level = Level::durable; }), HasSubstr("needs logged"));
  EXPECT_THAT(group_error([](auto& g) { g.logged = g.durable_quorum = true; }),
              HasSubstr("durable_quorum needs level 'durable'"));
  EXPECT_EQ(group_error([](auto& g) {
              g.level = Level::durable;
              g.logged = true;
              g.deliver_from = ~0ULL;
            }),
            "accepted");
  EXPECT_THAT(group_error([](auto& g) { g.deliver_from = 1; }),
              HasSubstr("deliver_from needs logged"));
}

TEST(Options, WindowsOfATokenRingMustMakeSenseTogether) {
  EXPECT_EQ(group_error([](auto& g) { g.order = Order::token_ring; }), "accepted");
  EXPECT_THAT(group_error([](auto& g) { g.personal_window = 0; }),
              HasSubstr("personal_window is 0; legal: 1 .. 16777216"));
  EXPECT_THAT(group_error([](auto& g) { g.accelerated_window = g.personal_window + 1; }),
              HasSubstr("accelerated_window is"));
  EXPECT_THAT(group_error([](auto& g) { g.global_window = g.personal_window - 1; }),
              HasSubstr("global_window is"));
  EXPECT_THAT(group_error([](auto& g) { g.maximum_gap = g.global_window - 1; }),
              HasSubstr("maximum_gap is"));
}

TEST(Options, GroupListsAreUniqueAndSendersAreMembers) {
  EXPECT_THAT(group_error([](auto& g) { g.members = {"a", "a"}; }),
              HasSubstr("members: 'a' stands there twice"));
  EXPECT_THAT(group_error([](auto& g) { g.senders = {"a", "b", "a"}; }),
              HasSubstr("senders: 'a' stands there twice"));
  EXPECT_THAT(group_error([](auto& g) {
                g.members = {"a", "b"};
                g.senders = {"c"};
              }),
              HasSubstr("senders: 'c' is not among the group's members"));
  EXPECT_THAT(group_error([](auto& g) { g.members = {"a b"}; }), HasSubstr("'a b'"));
}

TEST(Options, GroupNamesAreText) {
  for (const std::string& name :
       {std::string(), std::string(256, 'x'), std::string("a\nb"), std::string("\xff"),
        std::string("\xc0\x80"), std::string("\xed\xa0\x80"), std::string("\xe2\x82"),
        std::string("\xc2\x9b")}) {
    EXPECT_THAT(group_error([&](auto& g) { g.name = name; }), HasSubstr("group name of")) << name;
  }
  EXPECT_EQ(group_error([](auto& g) { g.name = "gr\xc3\xbc\xc3\x9f \xe2\x82\xac"; }), "accepted");
}

TEST(Options, SizesHaveRanges) {
  EXPECT_THAT(group_error([](auto& g) { g.message_max_bytes = 0; }),
              HasSubstr("message_max_bytes is 0; legal: 1 .. 16777216"));
  EXPECT_THAT(group_error([](auto& g) { g.message_max_bytes = (16U << 20U) + 1; }),
              HasSubstr("16777217"));
  EXPECT_THAT(group_error([](auto& g) { g.window_bytes = 4095; }),
              HasSubstr("window_bytes is 4095; legal: 4096 .. 1073741824"));
  EXPECT_THAT(group_error([](auto& g) { g.window_bytes = (1U << 30U) + 1; }),
              HasSubstr("window_bytes"));
  EXPECT_THAT(group_error([](auto& g) {
                g.message_max_bytes = 1025;
                g.window_bytes = 4096;
              }),
              AllOf(HasSubstr("message_max_bytes is 1025"), HasSubstr("legal: 1 .. 1024")));
  // The window is rounded up first.
  EXPECT_EQ(group_error([](auto& g) {
              g.message_max_bytes = 2048;
              g.window_bytes = 5000;
            }),
            "accepted");
  for (const std::uint32_t messages : {0U, 1U, 3U, (1U << 22U) + 1, 1U << 23U}) {
    EXPECT_THAT(group_error([&](auto& g) { g.window_messages = messages; }),
                HasSubstr("window_messages is " + std::to_string(messages) +
                          "; legal: a power of two, 2 .. 4194304"));
  }
  for (const std::uint32_t alignment : {0U, 4U, 24U, 8192U}) {
    EXPECT_THAT(group_error([&](auto& g) { g.alignment = alignment; }),
                HasSubstr("alignment is " + std::to_string(alignment) +
                          "; legal: a power of two, 8 .. 4096"));
  }
  EXPECT_THAT(group_error([](auto& g) {
                g.alignment = 4096;
                g.message_max_bytes = 1000;
                g.window_bytes = 8192;
              }),
              AllOf(HasSubstr("alignment is 4096"), HasSubstr("legal: 8 .. 2048")));
}

TEST(Options, TicksNeedAPeriodAnOrderAndSpaceForATime) {
  for (const std::chrono::nanoseconds every :
       {std::chrono::nanoseconds(-1), std::chrono::nanoseconds(999'999),
        std::chrono::nanoseconds(std::chrono::hours(25))}) {
    EXPECT_THAT(
        group_error([&](auto& g) { g.tick_every = every; }),
        HasSubstr("tick_every is " + std::to_string(every.count()) + " ns; legal: 1 ms .. 1 day"));
  }
  EXPECT_THAT(group_error([](auto& g) {
                g.tick_every = std::chrono::seconds(1);
                g.order = Order::none;
                g.level = Level::unordered;
              }),
              HasSubstr("tick_every is for groups with an order"));
  EXPECT_THAT(group_error([](auto& g) {
                g.tick_every = std::chrono::seconds(1);
                g.message_max_bytes = 7;
              }),
              HasSubstr("message_max_bytes is 7, less than the 8 bytes of a tick"));
}

}  // namespace
}  // namespace tutti
