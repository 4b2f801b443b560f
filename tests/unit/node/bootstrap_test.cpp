/// \file bootstrap_test.cpp
/// Members that are started find each other.
#include "node/bootstrap/bootstrap.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "descriptors.hpp"
#include "members.hpp"
#include "support/sanitized.hpp"

namespace tutti {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto kUnchanged = [](TestMember&, std::size_t) {};
constexpr auto kByTcp = [](TestMember& m, std::size_t) { m.node.fabric = FabricChoice::tcp; };

void expect_close_on_exec(const UniqueFd& fd) {
  EXPECT_NE(::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC, 0);
}

const ShmConnection* shm_to(const TestMember& member, std::uint32_t slot) {
  return made_by<ShmConnection>(*member.connection(slot));
}

const TcpConnection* tcp_to(const TestMember& member, std::uint32_t slot) {
  return made_by<TcpConnection>(*member.connection(slot));
}

// The row that came shows what its owner wrote, and the doorbell wakes its owner.
void expect_shm(const TestMember& here, const TestMember& there, std::uint32_t slot) {
  const ShmConnection* connection = shm_to(here, slot);
  ASSERT_NE(connection, nullptr);
  EXPECT_EQ(connection->peer, Slot{slot});
  expect_close_on_exec(connection->socket);
  expect_close_on_exec(connection->row_fd);
  expect_close_on_exec(connection->doorbell);
  EXPECT_EQ(connection->row_bytes, there.row.size());
  const Result<Segment> row =
      Segment::map_peer(UniqueFd(::dup(connection->row_fd.get())), connection->row_bytes);
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ(row->data()[8191], there.row.data()[8191]);
  const std::uint64_t one = 1;
  EXPECT_EQ(::write(connection->doorbell.get(), &one, sizeof one), 8);
  std::uint64_t rung = 0;
  EXPECT_EQ(::read(there.doorbell.get(), &rung, sizeof rung), 8);
}

void expect_tcp(const TcpConnection& connection) {
  expect_close_on_exec(connection.socket);
  int on = 0;
  socklen_t size = sizeof on;
  EXPECT_EQ(::getsockopt(connection.socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, &size), 0);
  EXPECT_NE(on, 0);
  EXPECT_NE(::fcntl(connection.socket.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST(Bootstrap, ThreeMembersOfOneHostShareTheirRows) {
  const auto members = start_members(3, kUnchanged);
  for (const auto& member : members) ASSERT_EQ(member->outcome(), "met");
  for (const auto& here : members) {
    EXPECT_EQ(here->bootstrap().awaited(), "");
    for (std::uint32_t slot = 0; slot < 3; ++slot) {
      if (members[slot] == here) continue;
      EXPECT_EQ(here->connection(slot)->incarnation, members[slot]->incarnation);
      expect_shm(*here, *members[slot], slot);
    }
  }
}

TEST(Bootstrap, ThreeMembersConnectByTcpAndLeaveNoByteBehind) {
  const auto members = start_members(3, kByTcp);
  for (const auto& member : members) ASSERT_EQ(member->outcome(), "met");
  std::vector<std::uint64_t> epochs;
  for (std::uint32_t a = 0; a < 3; ++a) {
    for (std::uint32_t b = 0; b < 3; ++b) {
      if (a == b) continue;
      const TcpConnection* here = tcp_to(*members[a], b);
      const TcpConnection* there = tcp_to(*members[b], a);
      ASSERT_TRUE(here != nullptr && there != nullptr);
      expect_tcp(*here);
      EXPECT_EQ(here->peer, Slot{b});
      EXPECT_EQ(here->row_bytes, members[b]->row.size());
      EXPECT_EQ(here->epoch, there->epoch);
      EXPECT_NE(here->epoch, 0U);
      if (a < b) epochs.push_back(here->epoch);
      char byte = 'x';
      EXPECT_EQ(::send(here->socket.get(), &byte, 1, 0), 1);
      byte = 0;
      await_input(there->socket.get());
      EXPECT_EQ(::recv(there->socket.get(), &byte, 1, 0), 1);
      EXPECT_EQ(byte, 'x');
      EXPECT_EQ(::recv(there->socket.get(), &byte, 1, MSG_DONTWAIT), -1);
    }
  }
  std::ranges::sort(epochs);
  EXPECT_EQ(std::ranges::adjacent_find(epochs), epochs.end());
}

TEST(Bootstrap, EachPairTakesTheTransportThatBothAccept) {
  const auto members = start_members(3, [](TestMember& m, std::size_t slot) {
    if (slot == 2) m.node.fabric = FabricChoice::tcp;
  });
  for (const auto& member : members) ASSERT_EQ(member->outcome(), "met");
  EXPECT_NE(shm_to(*members[0], 1), nullptr);
  EXPECT_NE(tcp_to(*members[0], 2), nullptr);
  EXPECT_NE(shm_to(*members[1], 0), nullptr);
  EXPECT_NE(tcp_to(*members[1], 2), nullptr);
  EXPECT_NE(tcp_to(*members[2], 0), nullptr);
  EXPECT_NE(tcp_to(*members[2], 1), nullptr);
}

TEST(Bootstrap, OneMemberWaitsForNobody) {
  const auto members = start_members(1, kUnchanged);
  EXPECT_EQ(members[0]->outcome(), "met");
  EXPECT_EQ(members[0]->bootstrap().awaited(), "");
}

TEST(Bootstrap, SixteenMembersMeet) {
  const auto members = start_members(16, kUnchanged);
  for (const auto& member : members) ASSERT_EQ(member->outcome(), "met");
}

TEST(Bootstrap, MembersMeetInWhateverOrderTheyAreStarted) {
  std::array<std::size_t, 4> order{0, 1, 2, 3};
  do {
    const std::vector<MemberAddress> addresses = loopback_members(4);
    std::vector<std::unique_ptr<TestMember>> members;
    for (std::size_t slot = 0; slot < 4; ++slot) {
      members.push_back(std::make_unique<TestMember>(addresses, slot));
      if (slot == 1) members[1]->node.fabric = FabricChoice::tcp;
    }
    for (const std::size_t slot : order) members[slot]->start();
    for (const auto& member : members) ASSERT_EQ(member->outcome(), "met");
  } while (std::ranges::next_permutation(order).found);
}

TEST(Bootstrap, HostNamesAreResolved) {
  std::vector<MemberAddress> addresses = loopback_members(2);
  for (MemberAddress& member : addresses) {
    member.address = "localhost" + member.address.substr(member.address.rfind(':'));
  }
  TestMember a(addresses, 0);
  TestMember b(addresses, 1);
  a.start();
  b.start();
  EXPECT_EQ(a.outcome(), "met");
  EXPECT_EQ(b.outcome(), "met");
}

TEST(Bootstrap, AHostThatDoesNotResolveIsOnlyTrouble) {
  std::vector<MemberAddress> addresses = loopback_members(3);
  addresses[0].address = "no-such-host.invalid:7001";
  TestMember b(addresses, 1);
  TestMember c(addresses, 2);
  b.start();
  c.start();
  b.await(2);
  c.await(1);
  c.await_trouble("a (no-such-host.invalid:7001: cannot resolve host 'no-such-host.invalid'");
}

TEST(Bootstrap, HellosLargerThanSocketBuffersPass) {
  // To read and compare them takes many times as long with a sanitizer.
  constexpr std::size_t kGroups = tutti::testing::kSanitized ? 600 : 1800;
  for (const FabricChoice fabric : {FabricChoice::automatic, FabricChoice::tcp}) {
    const auto members = start_members(2, [&](TestMember& m, std::size_t) {
      m.node.fabric = fabric;
      m.groups.resize(kGroups);
      for (std::size_t i = 0; i < m.groups.size(); ++i) {
        m.groups[i].name = std::string(250, 'g') + std::to_string(i);
      }
    });
    for (const auto& member : members) EXPECT_EQ(member->outcome(), "met");
  }
}

TEST(Bootstrap, AnAddressInUseIsNamed) {
  const std::vector<MemberAddress> addresses = loopback_members(2);
  TestMember first(addresses, 0);
  first.start();
  TestMember second(addresses, 0);
  const Result<void> started = second.try_start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::system);
  EXPECT_THAT(started.error().message,
              AllOf(HasSubstr("cannot listen at " + addresses[0].address), HasSubstr("in use")));
  TestMember b(addresses, 1);
  b.start();
  EXPECT_EQ(first.outcome(), "met");
  EXPECT_EQ(b.outcome(), "met");
}

TEST(Bootstrap, AnAddressOfAnotherHostIsNamed) {
  std::vector<MemberAddress> addresses = loopback_members(2);
  for (const char* address : {"192.0.2.1:7001", "no-such-host.invalid:7001"}) {
    addresses[0].address = address;
    const Result<void> started = TestMember(addresses, 0).try_start();
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().message, HasSubstr(std::string("cannot listen at ") + address));
  }
}

TEST(Bootstrap, WhoIsMissingIsListedWithTheReason) {
  const auto addresses = loopback_members(3);
  TestMember b(addresses, 1);
  b.start();
  b.await_trouble("a (" + addresses[0].address + ": connection refused at ");
  EXPECT_THAT(b.bootstrap().awaited(),
              HasSubstr("c (" + addresses[2].address + ": it never connected to us)"));
  const std::string c_is = ", c (" + addresses[2].address + ": it never connected to us)";
  b.await_log(LogLevel::info, c_is);
  EXPECT_THAT(b.logged(LogLevel::info)[0], HasSubstr("waiting for a (" + addresses[0].address));
  TestMember c(addresses, 2);
  c.start();
  b.await(2);
  EXPECT_THAT(b.bootstrap().awaited(), ::testing::Not(HasSubstr("c (")));
  b.await_log(LogLevel::info, "waiting for a (" + addresses[0].address +
                                  ": connection refused at " + addresses[0].address + ")");
}

TEST(Bootstrap, OfManyThatAreMissingSomeAreNamedAndTheRestCounted) {
  std::vector<MemberAddress> addresses = loopback_members(2);
  while (addresses.size() < 256) {
    addresses.push_back({"m" + std::to_string(addresses.size()), "127.0.0.1:1"});
  }
  TestMember a(addresses, 0);
  a.start();
  const std::string awaited = a.bootstrap().awaited();
  EXPECT_THAT(awaited, ::testing::StartsWith("b (" + addresses[1].address + ": it never"));
  EXPECT_THAT(awaited,
              ::testing::EndsWith("m8 (127.0.0.1:1: it never connected to us) and 247 more"));
  a.await_log(LogLevel::info, "m8 (127.0.0.1:1: it never connected to us) and 247 more");
}

TEST(Bootstrap, NewsAreAnnouncedOnce) {
  const auto addresses = loopback_members(2);
  TestMember a(addresses, 0);
  TestMember b(addresses, 1);
  a.start();
  EXPECT_FALSE(a.bootstrap().has_news());
  b.start();
  a.await(1);
  EXPECT_TRUE(a.bootstrap().take_arrivals().empty());
}

TEST(Bootstrap, NothingStaysOpenAfterwards) {
  const std::size_t before = open_descriptors();
  {
    const auto members = start_members(2, [](TestMember& m, std::size_t slot) {
      if (slot == 1) m.groups[0].window_messages = 16;
    });
    for (const auto& member : members) EXPECT_NE(member->outcome(), "met");
    const auto met = start_members(3, kUnchanged);
    for (const auto& member : met) EXPECT_EQ(member->outcome(), "met");
  }
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace tutti
