/// \file bootstrap_leaving_test.cpp
/// Members that die or give up in the middle of the start: the others say so, and none waits.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "members.hpp"
#include "node/bootstrap/address.hpp"
#include "node/bootstrap/fd_passing.hpp"
#include "node/bootstrap/host.hpp"

namespace tutti {
namespace {

using ::testing::HasSubstr;

// Says hello and that the pair agrees; returns what the other end said.
Hello shake_hands(RawClient& client, const TestMember& as, std::uint64_t incarnation) {
  client.send(encode_hello(hello_of(as, incarnation)).value() + encode_verdict());
  Result<Hello> theirs = client.receive_hello();
  EXPECT_TRUE(theirs);
  EXPECT_EQ(client.receive_verdict(), "");
  return theirs.value_or(Hello{});
}

void await_input(const UniqueFd& fd) {
  pollfd entry{.fd = fd.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&entry, 1, -1), 1);
}

// One connection to `address`: sends `bytes` and no more, reads until the other end closes.
void answer_once(const std::string& address, const std::string& bytes) {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Address parts = address_from(address).value();
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_port = htons(parts.port);
  ASSERT_EQ(::inet_pton(AF_INET, parts.host.c_str(), &here.sin_addr), 1);
  const int on = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  const UniqueFd socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  ASSERT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
  ::shutdown(socket.get(), SHUT_WR);
  std::array<char, 4096> scratch{};
  while (::recv(socket.get(), scratch.data(), scratch.size(), 0) > 0) {
  }
}

class Leaving : public ::testing::Test {
 protected:
  void SetUp() override { c.node.fabric = FabricChoice::tcp; }

  [[nodiscard]] RawClient call_a() const { return RawClient(addresses[0].address); }

  // b's end of the row swap with a.
  UniqueFd swap_rows_with(const Hello& theirs) {
    UniqueFd fd = connect_abstract(theirs.unix_name).value();
    await_input(fd);
    EXPECT_TRUE(receive_offer(fd.get()).value());
    const int row = b.row.read_only_fd().get();
    EXPECT_TRUE(send_offer(fd.get(), 1, theirs.incarnation, row, b.doorbell.get()));
    return fd;
  }

  void expect_that_a_loses(const std::string& name) {
    EXPECT_THAT(a.outcome(), HasSubstr("member '" + name + "' left while the members met: "));
    EXPECT_EQ(a.result().error().code, ErrorCode::peer_lost);
  }

  // All that a waits for after b: c comes, by TCP, and agrees.
  void expect_that_a_meets_c() {
    RawClient third = call_a();
    (void)shake_hands(third, c, 3);
    third.send(encode_verdict());
    EXPECT_EQ(a.outcome(), "met");
  }

  std::vector<MemberAddress> addresses = loopback_members(3);
  TestMember a{addresses, 0};
  TestMember b{addresses, 1};
  TestMember c{addresses, 2};
};

TEST_F(Leaving, BeforeTheRowsAreSwapped) {
  a.start();
  RawClient client = call_a();
  (void)shake_hands(client, b, 1);
  client.close();
  expect_that_a_loses("b");
}

TEST_F(Leaving, WithTheOtherRowUnread) {
  a.start();
  RawClient client = call_a();
  const Hello theirs = shake_hands(client, b, 1);
  UniqueFd fd = connect_abstract(theirs.unix_name).value();
  await_input(fd);
  client.close();
  fd = UniqueFd();  // the unread row makes this a reset
  expect_that_a_loses("b");
}

TEST_F(Leaving, WithoutListeningForTheRow) {
  Hello dead = hello_of(a, 1);
  dead.to = "";
  dead.unix_name = random_socket_name().value();
  b.start();
  answer_once(addresses[0].address, encode_hello(dead).value() + encode_verdict());
  EXPECT_THAT(b.outcome(), HasSubstr("member 'a' left while the members met: "));
  EXPECT_EQ(b.result().error().code, ErrorCode::peer_lost);
}

TEST_F(Leaving, ByTcpWhenReadyEndsTheWaitForOthers) {
  b.node.fabric = FabricChoice::tcp;
  a.start();
  RawClient client = call_a();
  client.send(encode_hello(hello_of(b, 1)).value() + encode_verdict() + encode_verdict());
  ASSERT_TRUE(client.receive_hello());
  EXPECT_EQ(client.receive_verdict(), "");
  client.close();
  expect_that_a_loses("b");
}

TEST_F(Leaving, ByShmWhenReadyEndsTheWaitForOthers) {
  a.start();
  RawClient client = call_a();
  UniqueFd fd = swap_rows_with(shake_hands(client, b, 1));
  client.send(encode_verdict());
  client.close();
  fd = UniqueFd();
  expect_that_a_loses("b");
}

TEST_F(Leaving, ByShmWhenReadyMayStillSayWhy) {
  a.start();
  RawClient client = call_a();
  UniqueFd fd = swap_rows_with(shake_hands(client, b, 1));
  client.send(encode_verdict() + encode_verdict({ErrorCode::peer_lost, "b has lost c"}));
  fd = UniqueFd();
  EXPECT_EQ(a.outcome(), "b has lost c");
}

// The whole of it: c dies after it has met b and before it meets a.
TEST_F(Leaving, OfOneThatOnlyAnotherHasMetEndsTheStartOfAll) {
  for (const FabricChoice fabric : {FabricChoice::tcp, FabricChoice::automatic}) {
    const std::vector<MemberAddress> fresh = loopback_members(3);
    TestMember first(fresh, 0);
    TestMember second(fresh, 1);
    TestMember third(fresh, 2);
    first.node.fabric = second.node.fabric = fabric;
    third.node.fabric = FabricChoice::tcp;
    first.start();
    second.start();
    RawClient client(fresh[1].address);
    Hello hello = hello_of(third, 3);
    hello.to = "b";
    client.send(encode_hello(hello).value() + encode_verdict());
    ASSERT_TRUE(client.receive_hello());
    EXPECT_EQ(client.receive_verdict(), "");
    EXPECT_EQ(client.receive_verdict(), "");  // b has met a and c, and has told a so
    client.close();
    const std::string lost = "member 'c' left while the members met: ";
    EXPECT_THAT(second.outcome(), HasSubstr(lost));
    EXPECT_THAT(first.outcome(),
                HasSubstr(fabric == FabricChoice::tcp ? "member 'b' left while the members met: "
                                                      : "b gave up the start: " + lost));
    EXPECT_EQ(first.result().error().code, ErrorCode::peer_lost);
  }
}

TEST_F(Leaving, IsNotWhatAPeerDoesThatIsDoneFirst) {
  a.start();
  RawClient client = call_a();
  const UniqueFd fd = swap_rows_with(shake_hands(client, b, 1));
  client.send(encode_verdict());
  client.close();  // of an shm pair only the unix socket is kept
  expect_that_a_meets_c();
}

TEST_F(Leaving, IsNotSeenInDataThatComesEarlyAndTheDataStays) {
  b.node.fabric = FabricChoice::tcp;
  a.start();
  RawClient client = call_a();
  (void)shake_hands(client, b, 1);
  client.send(encode_verdict() + "data");
  expect_that_a_meets_c();
  const auto& connections = a.result()->tcp;
  const auto to_b = std::ranges::find(connections, Rank{1}, &TcpConnection::peer);
  ASSERT_NE(to_b, connections.end());
  await_input(to_b->socket);
  std::array<char, 8> bytes{};
  EXPECT_EQ(::recv(to_b->socket.get(), bytes.data(), bytes.size(), 0), 4);
  EXPECT_STREQ(bytes.data(), "data");
}

// Ends once a has logged `expected`; else at a's start_timeout, with another error.
class Progress : public Leaving {
 protected:
  void expect_logged(const std::string& expected) {
    b.node.fabric = FabricChoice::tcp;
    RawClient* client = nullptr;
    std::atomic<bool> met = false;
    a.node.log = [&](LogLevel, std::string_view text) {
      if (text == expected && met) client->close();
    };
    a.start();
    RawClient called = call_a();
    (void)shake_hands(called, b, 1);
    client = &called;
    met = true;
    expect_that_a_loses("b");
  }
};

TEST_F(Progress, NamesOnlyThoseThatHaveNotBeenMet) {
  expect_logged("waiting for c (" + addresses[2].address + ")");
}

TEST_F(Progress, SaysThatAMetPeerWaitsForOthers) {
  a.node.members.pop_back();
  b.node.members.pop_back();
  expect_logged("waiting for b, which waits for others");
}

}  // namespace
}  // namespace tutti
