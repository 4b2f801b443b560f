/// \file hello_compare_test.cpp
/// What must agree between two members, and which carrier they take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "hellos.hpp"

namespace tutti {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The error of a's check against a changed b; b's own check must fail over the same field.
std::string mismatch(const std::function<void(Hello& a, Hello& b)>& change,
                     const std::string& field) {
  Hello a = hello("a", 1);
  Hello b = hello("b", 2);
  change(a, b);
  const Result<void> at_a = compatible(a, b);
  const Result<void> at_b = compatible(b, a);
  if (at_a || at_b) return "accepted";
  EXPECT_EQ(at_a.error().code, ErrorCode::mismatch);
  EXPECT_THAT(at_a.error().message, HasSubstr(field));
  EXPECT_THAT(at_b.error().message, HasSubstr(field));
  return at_a.error().message;
}

TEST(Compatible, MembersWithTheSameOptionsAre) {
  const Result<void> r = compatible(hello("a", 1), hello("b", 2));
  EXPECT_TRUE(r) << r.error().message;
}

TEST(Compatible, VersionsMustBeEqual) {
  EXPECT_EQ(mismatch([](Hello&, Hello& b) { b.library_version = "2.0"; }, "version"),
            "version of Tutti is '1.2.3' at a but '2.0' at b; it must be the same at all members");
  EXPECT_THAT(mismatch([](Hello&, Hello& b) { b.protocol = kOtherVersion; }, "protocol version"),
              HasSubstr("is " + std::to_string(kProtocolVersion) + " at a but " +
                        std::to_string(kOtherVersion) + " at b"));
}

TEST(Compatible, MemberListsMustBeEqual) {
  EXPECT_THAT(mismatch([](Hello&, Hello& b) { b.members[2].address = "h:9"; }, "address of c"),
              HasSubstr("'h:3' at a but 'h:9' at b"));
  EXPECT_THAT(mismatch([](Hello&, Hello& b) { b.members[2].name = "d"; }, "member list"),
              HasSubstr("'c' at a but 'd' at b"));
  EXPECT_THAT(mismatch(
                  [](Hello&, Hello& b) {
                    b.members.pop_back();
                    b.groups.clear();
                  },
                  "number of members"),
              HasSubstr("3 at a but 2 at b"));
}

TEST(Compatible, RoundsOfTheLitmusMustBeEqual) {
  EXPECT_THAT(mismatch([](Hello&, Hello& b) { b.litmus_rounds = 7; }, "litmus_rounds"),
              HasSubstr("is 0 at a but 7 at b"));
}

TEST(Compatible, SizesOfRequestsMustBeEqual) {
  EXPECT_THAT(mismatch([](Hello&, Hello& b) { b.request_max_bytes = 64; }, "request_max_bytes"),
              HasSubstr("is 0 at a but 64 at b"));
}

TEST(Compatible, EachGroupOptionMustBeEqual) {
  const auto with = [](const std::string& field, const std::function<void(GroupOptions&)>& change) {
    return mismatch([&](Hello&, Hello& b) { change(b.groups[0]); }, "group 'log': " + field);
  };
  EXPECT_EQ(with("level", [](auto& g) { g.level = Level::agreed; }),
            "group 'log': level is 'atomic' at a but 'agreed' at b; it must be the same at all "
            "members");
  EXPECT_THAT(with("order", [](auto& g) { g.order = Order::none; }),
              HasSubstr("'round_robin' at a but 'none' at b"));
  EXPECT_THAT(with("message_max_bytes", [](auto& g) { g.message_max_bytes = 9; }),
              HasSubstr("is 65536 at a but 9 at b"));
  EXPECT_THAT(with("window_bytes", [](auto& g) { g.window_bytes = 8192; }), HasSubstr("8192"));
  EXPECT_THAT(with("window_messages", [](auto& g) { g.window_messages = 8; }), HasSubstr("8 at b"));
  EXPECT_THAT(with("alignment", [](auto& g) { g.alignment = 64; }),
              HasSubstr("8 at a but 64 at b"));
  EXPECT_THAT(with("tick_every", [](auto& g) { g.tick_every = std::chrono::seconds(1); }),
              HasSubstr("0 at a but 1000000000 at b"));
  EXPECT_THAT(with("personal_window", [](auto& g) { g.personal_window = 9; }), HasSubstr("9 at b"));
  EXPECT_THAT(with("accelerated_window", [](auto& g) { g.accelerated_window = 9; }),
              HasSubstr("9 at b"));
  EXPECT_THAT(with("global_window", [](auto& g) { g.global_window = 9000; }),
              HasSubstr("9000 at b"));
  EXPECT_THAT(with("maximum_gap", [](auto& g) { g.maximum_gap = 99999; }), HasSubstr("99999 at b"));
  EXPECT_THAT(with("members", [](auto& g) { g.members = {"a", "b"}; }),
              HasSubstr("'a,b,c' at a but 'a,b' at b"));
  EXPECT_THAT(with("senders", [](auto& g) { g.senders = {"a"}; }), HasSubstr("'a' at b"));
}

TEST(Compatible, EveryMemberHasJoinedAllGroups) {
  EXPECT_EQ(mismatch([](Hello&, Hello& b) { b.groups.clear(); }, "has not joined"),
            "group 'log': a has joined it, but b has not joined it; every member joins all groups "
            "before start");
  EXPECT_THAT(
      mismatch([](Hello&, Hello& b) { b.groups.push_back(group("x", {"b", "c"})); }, "group 'x'"),
      HasSubstr("a has not joined it"));
}

TEST(Compatible, PeersAreWhoTheyShouldBe) {
  EXPECT_THAT(mismatch([](Hello& a, Hello&) { a.to = "c"; }, "wrong peer"),
              HasSubstr("'a' called the address of 'c' but 'b' answered there"));
  EXPECT_THAT(mismatch([](Hello&, Hello& b) { b.name = "a"; }, "member 'a'"),
              HasSubstr("two processes"));
  EXPECT_THAT(mismatch([](Hello& a, Hello& b) { a.incarnation = b.incarnation; }, "itself"),
              HasSubstr("leads back"));
  EXPECT_THAT(mismatch([](Hello&, Hello& b) { b.name = "z"; }, "member"), ::testing::_);
}

// The name of the carrier that joins the two, or why there is none; the same at both.
std::string carrier_of(const Hello& a, const Hello& b) {
  const Result<const CarrierKind*> here = choose_carrier(a, b);
  const Result<const CarrierKind*> there = choose_carrier(b, a);
  EXPECT_EQ(here.has_value(), there.has_value());
  EXPECT_EQ(here.has_value(), compatible(a, b).has_value());
  if (!here || !there) return here.error().message;
  EXPECT_EQ(*here, *there);
  return std::string((*here)->name);
}

// A node with that fabric. `rdma`: where it is called by RDMA; empty: it has no device.
Hello hello_with(const std::string& name, const std::string& fabric, const std::string& rdma = {}) {
  Hello h = hello(name, name == "a" ? 1 : 2);
  h.fabric = fabric;
  h.carriers.clear();
  const bool any = fabric == "auto";
  if (any || fabric == "shm") h.carriers["shm"] = "";
  if (any || fabric == "tcp") h.carriers["tcp"] = "";
  if (!rdma.empty()) h.carriers["verbs"] = rdma;
  if (fabric.starts_with("ofi:")) h.carriers["ofi"] = fabric.substr(4);
  return h;
}

TEST(Carriers, SharedMemoryNeedsBothToWantItOnOneHost) {
  const auto pair = [](const char* fa, const char* fb, bool far) {
    Hello b = hello_with("b", fb);
    if (far) b.host.boot_id = "other";
    return carrier_of(hello_with("a", fa), b);
  };
  EXPECT_EQ(pair("auto", "auto", false), "shm");
  EXPECT_EQ(pair("auto", "auto", true), "tcp");
  EXPECT_EQ(pair("shm", "auto", false), "shm");
  EXPECT_EQ(pair("tcp", "auto", false), "tcp");
  EXPECT_EQ(pair("tcp", "tcp", false), "tcp");
  EXPECT_EQ(pair("shm", "tcp", false),
            "fabric is 'shm' at a and 'tcp' at b: they have none in common; 'auto' takes what both "
            "can");
  EXPECT_EQ(pair("shm", "auto", true),
            "fabric is 'shm' at a and 'auto' at b, but shared memory cannot join them: they run on "
            "different hosts; 'auto' takes TCP between such members");
}

TEST(Carriers, LibfabricNeedsTheSameProviderAtBoth) {
  const auto pair = [](const char* fa, const char* fb, bool far) {
    Hello b = hello_with("b", fb);
    if (far) b.host.boot_id = "other";
    return carrier_of(hello_with("a", fa), b);
  };
  EXPECT_EQ(pair("ofi:tcp", "ofi:tcp", false), "ofi");
  EXPECT_EQ(pair("ofi:tcp", "ofi:tcp", true), "ofi");
  EXPECT_EQ(pair("ofi:shm", "ofi:shm", false), "ofi");
  EXPECT_THAT(pair("ofi:shm", "ofi:shm", true), HasSubstr("different hosts"));
  EXPECT_EQ(pair("ofi:tcp", "ofi:tcp;ofi_rxm", false),
            "fabric is 'ofi:tcp' at a and 'ofi:tcp;ofi_rxm' at b: libfabric joins members with the "
            "same provider only; it must be the same at all members");
  for (const char* other : {"auto", "shm", "tcp", "verbs"}) {
    EXPECT_EQ(pair(other, "ofi:tcp", false),
              std::string("fabric is '") + other +
                  "' at a and 'ofi:tcp' at b: libfabric joins members with the same provider only; "
                  "it must be the same at all members");
  }
}

TEST(Carriers, LibfabricNeedsAddressesOfOneKind) {
  const auto pair = [](const std::string& provider, const char* at_a, const char* at_b) {
    Hello a = hello_with("a", "ofi:" + provider);
    Hello b = hello_with("b", "ofi:" + provider);
    a.members = b.members = {{"a", at_a}, {"b", at_b}, {"c", "h:3"}};
    return carrier_of(a, b);
  };
  EXPECT_EQ(pair("tcp", "10.0.0.1:1", "[fd00::2]:1"),
            "a is at 10.0.0.1:1 and b at [fd00::2]:1, but libfabric joins IPv4 with IPv4 only, and "
            "IPv6 with IPv6");
  EXPECT_EQ(pair("tcp", "10.0.0.1:1", "10.0.0.2:1"), "ofi");
  EXPECT_EQ(pair("tcp", "[fd00::1]:1", "[fd00::2]:1"), "ofi");
  EXPECT_EQ(pair("tcp", "host-of-a:1", "[fd00::2]:1"), "ofi") << "it may have such an address";
  EXPECT_EQ(pair("tcp", "10.0.0.1:1", "[10.0.0.2]:1"), "ofi");
  EXPECT_THAT(pair("verbs;ofi_rxm", "10.0.0.1:1", "[fe80::2%eth0]:1"), HasSubstr("IPv6 with IPv6"));
  for (const char* other : {"shm", "efa"}) {
    EXPECT_EQ(pair(other, "127.0.0.1:1", "[::1]:1"), "ofi") << "has other addresses";
  }
}

TEST(Carriers, RdmaNeedsADeviceAtBoth) {
  struct End {
    const char* fabric;
    const char* rdma;
  };
  const auto pair = [](End ea, End eb, bool far) {
    Hello b = hello_with("b", eb.fabric, eb.rdma);
    if (far) b.host.boot_id = "other";
    return carrier_of(hello_with("a", ea.fabric, ea.rdma), b);
  };
  EXPECT_EQ(pair({"verbs", "1:1"}, {"verbs", "2:2"}, false), "verbs");
  EXPECT_EQ(pair({"verbs", "1:1"}, {"auto", "2:2"}, false), "verbs");
  EXPECT_EQ(pair({"auto", "1:1"}, {"auto", "2:2"}, true), "verbs");
  EXPECT_EQ(pair({"auto", "1:1"}, {"auto", "2:2"}, false), "shm");
  EXPECT_EQ(pair({"auto", "1:1"}, {"auto", ""}, true), "tcp");
  EXPECT_EQ(pair({"auto", "1:1"}, {"tcp", ""}, true), "tcp");
  EXPECT_EQ(pair({"verbs", "1:1"}, {"auto", ""}, true),
            "fabric is 'verbs' at a and 'auto' at b: they have none in common; b has no RDMA "
            "device that works");
  for (const char* other : {"shm", "tcp"}) {
    EXPECT_THAT(pair({"verbs", "1:1"}, {other, ""}, false),
                HasSubstr("they have none in common; 'verbs' is for all members or for none"));
  }
}

TEST(Carriers, OfAPairThatCannotBeConnectedTheNextOneIsTaken) {
  const Hello a = hello_with("a", "auto", "1:1");
  Hello b = hello_with("b", "auto", "2:2");
  b.host.boot_id = "other";
  const CarrierKind* first = choose_carrier(a, b).value();
  EXPECT_EQ(first->name, "verbs");
  EXPECT_TRUE(first->falls_back);
  EXPECT_EQ(choose_carrier(a, b, first).value()->name, "tcp");
  EXPECT_FALSE(choose_carrier(hello_with("a", "verbs", "1:1"), b, first));
}

TEST(Carriers, SharedMemoryNeedsOneUserAndNetworkNamespace) {
  Hello a = hello("a", 1);
  Hello b = hello("b", 2);
  a.fabric = "shm";
  a.carriers.erase("tcp");
  b.host.user = 7;
  EXPECT_THAT(choose_carrier(a, b).error().message, HasSubstr("different users"));
  b.host = a.host;
  b.host.network_namespace = 7;
  EXPECT_THAT(choose_carrier(a, b).error().message, HasSubstr("network namespaces"));
  a.host.boot_id = b.host.boot_id = "";
  EXPECT_THAT(choose_carrier(a, b).error().message, HasSubstr("cannot tell its host"));
}

}  // namespace
}  // namespace tutti
