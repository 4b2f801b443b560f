/// \file bootstrap_test.cpp
/// Members meet, or all of them learn why not.
#include "node/bootstrap/bootstrap.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "members.hpp"

namespace tutti {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr auto kUnchanged = [](TestMember&, std::size_t) {};

void expect_close_on_exec(const UniqueFd& fd) {
  EXPECT_NE(::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC, 0);
}

// The row that came shows what its owner wrote, and the doorbell wakes its owner.
void expect_shm(const ShmConnection& connection, const TestMember& peer) {
  expect_close_on_exec(connection.socket);
  expect_close_on_exec(connection.row_fd);
  expect_close_on_exec(connection.doorbell);
  EXPECT_EQ(connection.row_bytes, peer.row.size());
  const Result<Segment> row =
      Segment::map_peer(UniqueFd(::dup(connection.row_fd.get())), connection.row_bytes);
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ(row->data()[8191], peer.row.data()[8191]);
  const std::uint64_t one = 1;
  EXPECT_EQ(::write(connection.doorbell.get(), &one, sizeof one), 8);
  std::uint64_t rung = 0;
  EXPECT_EQ(::read(peer.doorbell.get(), &rung, sizeof rung), 8);
}

void expect_tcp(const TcpConnection& connection) {
  expect_close_on_exec(connection.socket);
  int on = 0;
  socklen_t size = sizeof on;
  EXPECT_EQ(::getsockopt(connection.socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, &size), 0);
  EXPECT_NE(on, 0);
  EXPECT_NE(::fcntl(connection.socket.get(), F_GETFL) & O_NONBLOCK, 0);
}

const TcpConnection* tcp_to(const Cluster& cluster, std::uint32_t rank) {
  const auto at = std::ranges::find(cluster.tcp, Rank{rank}, &TcpConnection::peer);
  return at == cluster.tcp.end() ? nullptr : &*at;
}

TEST(Bootstrap, ThreeMembersOfOneHostShareTheirRows) {
  const auto members = start_members(3, kUnchanged);
  for (const auto& member : members) ASSERT_EQ(member->outcome(), "met");
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const Cluster& cluster = *members[rank]->result();
    EXPECT_NE(cluster.epoch, 0U);
    EXPECT_EQ(cluster.epoch, members[0]->result()->epoch);
    EXPECT_TRUE(cluster.tcp.empty());
    ASSERT_EQ(cluster.shm.size(), 2U);
    for (const ShmConnection& connection : cluster.shm) {
      EXPECT_NE(connection.peer.value, rank);
      expect_shm(connection, *members[connection.peer.value]);
    }
  }
}

TEST(Bootstrap, ThreeMembersConnectByTcpAndLeaveNoByteBehind) {
  const auto members =
      start_members(3, [](TestMember& m, std::size_t) { m.node.fabric = FabricChoice::tcp; });
  for (const auto& member : members) ASSERT_EQ(member->outcome(), "met");
  for (std::uint32_t a = 0; a < 3; ++a) {
    EXPECT_TRUE(members[a]->result()->shm.empty());
    for (std::uint32_t b = 0; b < 3; ++b) {
      if (a == b) continue;
      const TcpConnection* here = tcp_to(*members[a]->result(), b);
      const TcpConnection* there = tcp_to(*members[b]->result(), a);
      ASSERT_TRUE(here != nullptr && there != nullptr);
      expect_tcp(*here);
      EXPECT_EQ(here->row_bytes, members[b]->row.size());
      char byte = 'x';
      EXPECT_EQ(::send(here->socket.get(), &byte, 1, 0), 1);
      byte = 0;
      const int flags = ::fcntl(there->socket.get(), F_GETFL);
      ::fcntl(there->socket.get(), F_SETFL, flags & ~O_NONBLOCK);
      EXPECT_EQ(::recv(there->socket.get(), &byte, 1, 0), 1);
      EXPECT_EQ(byte, 'x');
      EXPECT_EQ(::recv(there->socket.get(), &byte, 1, MSG_DONTWAIT), -1);
      ::fcntl(there->socket.get(), F_SETFL, flags);
    }
  }
}

TEST(Bootstrap, EachPairTakesTheTransportThatBothAccept) {
  const auto members = start_members(3, [](TestMember& m, std::size_t rank) {
    if (rank == 2) m.node.fabric = FabricChoice::tcp;
  });
  for (const auto& member : members) ASSERT_EQ(member->outcome(), "met");
  EXPECT_EQ(members[0]->result()->shm.size(), 1U);
  EXPECT_EQ(members[0]->result()->tcp.size(), 1U);
  EXPECT_EQ(members[1]->result()->shm.size(), 1U);
  EXPECT_EQ(members[1]->result()->tcp.size(), 1U);
  EXPECT_EQ(members[2]->result()->tcp.size(), 2U);
}

TEST(Bootstrap, OneMemberStartsAtOnce) {
  const auto members = start_members(1, kUnchanged);
  ASSERT_EQ(members[0]->outcome(), "met");
  EXPECT_NE(members[0]->result()->epoch, 0U);
  EXPECT_EQ(members[0]->result()->groups.size(), 1U);
}

TEST(Bootstrap, SixteenMembersMeet) {
  const auto members = start_members(16, kUnchanged);
  for (const auto& member : members) {
    ASSERT_EQ(member->outcome(), "met");
    EXPECT_EQ(member->result()->shm.size(), 15U);
    EXPECT_EQ(member->result()->epoch, members[0]->result()->epoch);
  }
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

TEST(Bootstrap, EveryMemberLearnsWhatTheOthersDeclared) {
  const auto members = start_members(3, [](TestMember& m, std::size_t rank) {
    m.groups[0].on_delivery = [](std::span<const Message>) {};
    m.groups[0].window_bytes = 1000000;
    if (rank == 1) return;
    m.groups.emplace_back();
    m.groups[1].name = "pair";
    m.groups[1].members = {"c", "a"};
  });
  for (const auto& member : members) ASSERT_EQ(member->outcome(), "met");
  for (const auto& member : members) {
    const auto& groups = member->result()->groups;
    ASSERT_EQ(groups.size(), 3U);
    EXPECT_EQ(groups[0].size(), 2U);
    EXPECT_EQ(groups[1].size(), 1U);
    EXPECT_EQ(groups[2].size(), 2U);
    EXPECT_EQ(groups[2][1].members, (std::vector<std::string>{"c", "a"}));
    EXPECT_EQ(groups[0][0].senders, (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(groups[0][0].window_bytes, 1U << 20U);
    EXPECT_FALSE(groups[0][0].on_delivery);
  }
}

TEST(Bootstrap, HellosLargerThanSocketBuffersPass) {
  const auto members = start_members(2, [](TestMember& m, std::size_t) {
    m.groups.resize(1800);
    for (std::size_t i = 0; i < m.groups.size(); ++i) {
      m.groups[i].name = std::string(250, 'g') + std::to_string(i);
    }
  });
  for (const auto& member : members) EXPECT_EQ(member->outcome(), "met");
}

TEST(Bootstrap, AnAddressInUseIsNamed) {
  const std::vector<MemberAddress> addresses = loopback_members(2);
  // The first one still waits for others when a second one is started as the same member.
  TestMember first(addresses, 0);
  first.start();
  RawClient listening(addresses[0].address);
  TestMember second(addresses, 0);
  second.start();
  EXPECT_THAT(second.outcome(),
              AllOf(HasSubstr("cannot listen at " + addresses[0].address), HasSubstr("in use")));
  TestMember b(addresses, 1);
  b.start();
  EXPECT_EQ(first.outcome(), "met");
  EXPECT_EQ(b.outcome(), "met");
}

TEST(Bootstrap, MissingMembersAreListedWithTheReason) {
  const auto addresses = loopback_members(3);
  TestMember b(addresses, 1);
  b.node.start_timeout = 1200ms;
  b.start();
  EXPECT_THAT(b.outcome(),
              AllOf(HasSubstr("start_timeout of 1.200 s"),
                    HasSubstr("a (" + addresses[0].address + ": connection refused at "),
                    HasSubstr("c (" + addresses[2].address + ": it never connected to us)")));
  EXPECT_EQ(b.result().error().code, ErrorCode::unreachable);
  ASSERT_FALSE(b.logged(LogLevel::info).empty());
  EXPECT_EQ(b.logged(LogLevel::info)[0],
            "waiting for a (" + addresses[0].address + "), c (" + addresses[2].address + ")");
}

TEST(Bootstrap, AllMembersLearnWhoIsMissing) {
  const auto addresses = loopback_members(3);
  TestMember a(addresses, 0);
  TestMember b(addresses, 1);
  b.node.start_timeout = 400ms;  // long before a's, but b tells a
  a.start();
  b.start();
  EXPECT_THAT(a.outcome(), AllOf(HasSubstr("b gave up the start"), HasSubstr("c (")));
  EXPECT_THAT(b.outcome(), HasSubstr("c ("));
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for (int fd = 0; fd < 1024; ++fd) count += ::fcntl(fd, F_GETFD) >= 0 ? 1U : 0U;
  return count;
}

TEST(Bootstrap, NothingStaysOpenAfterwards) {
  const auto run = [] {
    const auto members = start_members(2, [](TestMember& m, std::size_t rank) {
      if (rank == 1) m.groups[0].window_messages = 16;
    });
    for (const auto& member : members) EXPECT_NE(member->outcome(), "met");
    const auto met = start_members(3, kUnchanged);
    for (const auto& member : met) EXPECT_EQ(member->outcome(), "met");
  };
  const std::size_t before = open_descriptors();
  run();
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace tutti
