/// \file restart_links_test.cpp
/// Nodes are linked, and linked again: RL1 to RL4 of node/restart/links.hpp.
#include "node/restart/links.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <string>

#include "base/unique_fd.hpp"
#include "link_nodes.hpp"

namespace tutti {
namespace {

using ::testing::HasSubstr;

// Text that shows if a piece of it is missing or at another place.
std::string long_text(std::size_t size, std::uint32_t seed) {
  std::string text(size, '\0');
  for (char& c : text) {
    seed = seed * 1664525 + 1013904223;
    c = static_cast<char>(seed >> 24U);
  }
  return text;
}

class LinksOfTwo : public ::testing::Test {
 protected:
  void start_both() {
    a.start();
    b.start();
    EXPECT_EQ(a.next(1), "up");
    EXPECT_EQ(b.next(0), "up");
  }

  void expect_talk() {
    a.send(1, "from a");
    b.send(0, "from b");
    EXPECT_EQ(a.next(1), "from b");
    EXPECT_EQ(b.next(0), "from a");
  }

  LinkRequest request(std::uint64_t life) { return {.from = "b", .to = "a", .life = life}; }
  const std::string& address() { return addresses[0].address; }

  std::vector<MemberAddress> addresses = loopback_members(2);
  LinkNode a{addresses, 0};
  LinkNode b{addresses, 1};
};

TEST_F(LinksOfTwo, CarryMessagesInOrderBothWays) {
  start_both();
  EXPECT_EQ(a.links().trouble(1), "");
  EXPECT_EQ(b.links().trouble(0), "");
  const auto send_many = [](LinkNode& from, std::uint32_t to) {
    from.on_thread([&] {
      for (int i = 0; i < 1000; ++i) from.links().send(to, message_of(std::string(i % 7, 'x')));
      for (int i = 0; i < 1000; ++i) from.links().send(to, message_of(std::to_string(i)));
    });
  };
  send_many(a, 1);
  send_many(b, 0);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(a.next(1), std::string(i % 7, 'x'));
    EXPECT_EQ(b.next(0), std::string(i % 7, 'x'));
  }
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(a.next(1), std::to_string(i));
    EXPECT_EQ(b.next(0), std::to_string(i));
  }
}

TEST_F(LinksOfTwo, CarryLargeMessages) {
  start_both();
  const std::string one = long_text(20U << 20, 1);
  const std::string other = long_text((20U << 20) + 1, 2);
  a.send(1, one);
  b.send(0, other);
  b.send(0, "more");
  EXPECT_TRUE(a.next(1) == other);
  EXPECT_EQ(a.next(1), "more");
  EXPECT_TRUE(b.next(0) == one);
}

// Whoever starts first: the higher slot goes on calling.
TEST_F(LinksOfTwo, ComeAboutWhenTheLowerSlotStartsLater) {
  b.start();
  b.await_trouble(0, "connection refused at " + address());
  a.start();
  EXPECT_EQ(a.next(1), "up");
  EXPECT_EQ(b.next(0), "up");
  expect_talk();
}

TEST_F(LinksOfTwo, EndWithANodeAndComeAgainWithIt) {
  start_both();
  b.stop();
  EXPECT_EQ(a.next(1), "down");
  EXPECT_THAT(a.links().trouble(1), HasSubstr("the last link ended: "));
  a.send(1, "lost");
  b.start();
  EXPECT_EQ(a.next(1), "up");
  EXPECT_EQ(b.next(0), "up");
  expect_talk();
  a.stop();
  EXPECT_EQ(b.next(0), "down");
  a.start();
  EXPECT_EQ(a.next(1), "up");
  EXPECT_EQ(b.next(0), "up");
  expect_talk();
}

// An incarnation ends, and the next one begins later: links are the node's, not of either.
TEST_F(LinksOfTwo, OutliveTheBootstraps) {
  start_both();
  a.member.stop();
  b.member.stop();
  expect_talk();
  a.member.start();
  b.member.start();
  expect_talk();
  EXPECT_EQ(a.left(1), 0U);
}

TEST_F(LinksOfTwo, ComeAboutOnceTheBootstrapIsBack) {
  a.start();
  a.member.stop();
  b.start();
  b.await_trouble(0, "connection refused at " + address());
  a.member.start();
  EXPECT_EQ(a.next(1), "up");
  EXPECT_EQ(b.next(0), "up");
  expect_talk();
}

TEST_F(LinksOfTwo, AreReplacedByACallOfTheSameProcess) {
  a.start();
  RawPeer first = ask_for_link(address(), request(7));
  EXPECT_EQ(first.receive_verdict().kind, Verdict::Kind::agreed);
  EXPECT_EQ(a.next(1), "up");
  first.send(link_frame("one"));
  EXPECT_EQ(a.next(1), "one");
  RawPeer second = ask_for_link(address(), request(7));
  EXPECT_EQ(second.receive_verdict().kind, Verdict::Kind::agreed);
  EXPECT_EQ(a.next(1), "down");
  EXPECT_EQ(a.next(1), "up");
  first.wait_for_close();
  second.send(link_frame("two"));
  EXPECT_EQ(a.next(1), "two");
  a.send(1, "three");
  EXPECT_EQ(second.receive(9), link_frame("three"));
  EXPECT_EQ(a.left(1), 0U);
}

TEST_F(LinksOfTwo, AreNotReplacedByACallOfAnotherProcess) {
  start_both();
  RawPeer other = ask_for_link(address(), request(8));
  const Verdict verdict = other.receive_verdict();
  EXPECT_EQ(verdict.kind, Verdict::Kind::not_now);
  EXPECT_THAT(verdict.error.message, HasSubstr("another 'b' is linked with it"));
  other.wait_for_close();
  expect_talk();
}

TEST_F(LinksOfTwo, LetAnotherProcessInOnceTheFirstIsGone) {
  a.start();
  RawPeer first = ask_for_link(address(), request(7));
  EXPECT_EQ(first.receive_verdict().kind, Verdict::Kind::agreed);
  EXPECT_EQ(a.next(1), "up");
  b.start();
  b.await_trouble(0, "it says that another 'b' is linked with it");
  first.reset();
  EXPECT_EQ(a.next(1), "down");
  EXPECT_EQ(a.next(1), "up");
  EXPECT_EQ(b.next(0), "up");
  expect_talk();
}

// A machine that crashes says nothing: the kernel has to ask for it.
TEST_F(LinksOfTwo, NoticeLosses) {
  UniqueFd socket;
  a.member.take_link = [&, take = a.member.take_link](LinkCall call) {
    socket = duplicate(call.socket.get());
    take(std::move(call));
  };
  start_both();
  const auto option = [&](int level, int name) {
    int value = 0;
    socklen_t size = sizeof value;
    EXPECT_EQ(::getsockopt(socket.get(), level, name, &value, &size), 0);
    return value;
  };
  EXPECT_EQ(option(SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(option(IPPROTO_TCP, TCP_KEEPIDLE), 5);
  EXPECT_EQ(option(IPPROTO_TCP, TCP_KEEPINTVL), 1);
  EXPECT_EQ(option(IPPROTO_TCP, TCP_KEEPCNT), 5);
  EXPECT_EQ(option(IPPROTO_TCP, TCP_USER_TIMEOUT), 10'000);
}

TEST_F(LinksOfTwo, ThatAreClosedWhileBusyTellNothingMore) {
  start_both();
  const std::string text = long_text(4U << 20, 3);
  a.send(1, text);
  EXPECT_TRUE(b.next(0) == text);
  b.on_thread([&] {
    for (int i = 0; i < 8; ++i) b.links().send(0, message_of(text));
    b.links().close();
    b.links().send(0, message_of("nobody hears this"));
  });
  for (std::string event = a.next(1); event != "down"; event = a.next(1)) {
    EXPECT_TRUE(event == text);
  }
  a.close();
  b.on_thread([] {});
  EXPECT_EQ(b.left(0), 0U);
}

TEST_F(LinksOfTwo, MayBeClosedInAnEvent) {
  for (const std::string when : {"up", "message", "down"}) {
    LinkNode c(addresses, 0);
    c.also = [&](std::uint32_t, const std::string& event) {
      if (event == when) c.links().close();
    };
    c.start();
    RawPeer peer = ask_for_link(address(), request(7));
    EXPECT_EQ(peer.receive_verdict().kind, Verdict::Kind::agreed);
    EXPECT_EQ(c.next(1), "up");
    if (when != "up") {
      peer.send(link_frame("message") + link_frame("message"));
      EXPECT_EQ(c.next(1), "message");
    }
    // What a link has not read yet is lost when it goes down.
    if (when == "down") {
      EXPECT_EQ(c.next(1), "message");
    }
    RawPeer again = ask_for_link(address(), request(7));
    again.wait_for_close();
    if (when == "down") {
      EXPECT_EQ(c.next(1), "down");
    }
    c.on_thread([] {});
    EXPECT_EQ(c.left(1), 0U) << when;
  }
}

TEST_F(LinksOfTwo, EndWhenAMessageIsTooLarge) {
  start_both();
  a.send(1, std::string((64U << 20) + 1, 'x'));
  EXPECT_EQ(a.next(1), "down");
  EXPECT_EQ(b.next(0), "down");
  EXPECT_EQ(a.next(1), "up");  // b calls again
  EXPECT_EQ(b.next(0), "up");
  expect_talk();
}

TEST_F(LinksOfTwo, EndWhenTheOtherDoesNotRead) {
  a.start();
  RawPeer mute = ask_for_link(address(), request(7));
  EXPECT_EQ(mute.receive_verdict().kind, Verdict::Kind::agreed);
  EXPECT_EQ(a.next(1), "up");
  a.on_thread([&] {
    for (int i = 0; i < 5; ++i) a.links().send(1, std::vector<std::byte>(60U << 20));
  });
  EXPECT_EQ(a.next(1), "down");
  EXPECT_THAT(a.links().trouble(1), HasSubstr("it does not read what is sent to it"));
}

TEST(LinksOfThree, JoinEachPair) {
  const std::vector<MemberAddress> addresses = loopback_members(3);
  LinkNode a(addresses, 0);
  LinkNode b(addresses, 1);
  LinkNode c(addresses, 2);
  const std::array nodes{&c, &a, &b};
  for (LinkNode* node : nodes) node->start();
  for (LinkNode* node : nodes) {
    for (std::uint32_t slot = 0; slot < 3; ++slot) {
      if (node->member.node.name == addresses[slot].name) continue;
      EXPECT_EQ(node->next(slot), "up");
      node->send(slot, "for " + addresses[slot].name);
    }
  }
  for (LinkNode* node : nodes) {
    for (std::uint32_t slot = 0; slot < 3; ++slot) {
      if (node->member.node.name == addresses[slot].name) continue;
      EXPECT_EQ(node->next(slot), "for " + node->member.node.name);
    }
  }
  b.stop();
  EXPECT_EQ(a.next(1), "down");
  EXPECT_EQ(c.next(1), "down");
  a.send(2, "still");
  EXPECT_EQ(c.next(0), "still");
}

}  // namespace
}  // namespace tutti
