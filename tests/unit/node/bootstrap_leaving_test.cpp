/// \file bootstrap_leaving_test.cpp
/// Members that die, fall silent or close in the middle of a handshake, at each of its stages: the
/// slot is free again and the next one gets in; nobody hangs, nobody else is harmed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <optional>

#include "fabric/host.hpp"
#include "fabric/shm/fd_passing.hpp"
#include "members.hpp"

namespace tutti {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

enum class Stage : std::uint8_t {
  connected,
  half_a_hello,
  hello,
  agreed,
  agreed_by_tcp,  // nothing is left to do: the other end has handed over
  row_unread,
  row_given,  // the other end has handed over
};

constexpr std::array kStages{Stage::connected, Stage::half_a_hello,  Stage::hello,
                             Stage::agreed,    Stage::agreed_by_tcp, Stage::row_unread,
                             Stage::row_given};

std::string name_of(Stage stage) {
  constexpr std::array kNames{"Connected",   "HalfAHello", "Hello",   "Agreed",
                              "AgreedByTcp", "RowUnread",  "RowGiven"};
  return kNames[static_cast<std::size_t>(stage)];
}

bool is_handed_over(Stage stage) {
  return stage == Stage::agreed_by_tcp || stage == Stage::row_given;
}

// A hand-driven member that comes as far as a stage and no further.
struct Half {
  RawPeer peer;
  UniqueFd listener{};
  UniqueFd unix_end{};

  Half(RawPeer raw, const TestMember& as, std::uint64_t incarnation, bool calls, Stage stage)
      : peer(std::move(raw)) {
    Hello mine = hello_of(as, incarnation, calls ? "a" : "");
    if (!calls) {
      mine.carriers["shm"] = random_socket_name().value();
      listener = listen_abstract(mine.carriers["shm"]).value();
    }
    if (stage == Stage::agreed_by_tcp) {
      mine.fabric = "tcp";
      mine.carriers.erase("shm");
    }
    if (stage != Stage::connected) greet(mine, stage);
    if (stage != Stage::row_unread && stage != Stage::row_given) return;
    unix_end = calls ? connect_abstract(theirs.carriers.at("shm")).value() : accept_row();
    await_input(unix_end.get());
    if (stage != Stage::row_given) return;
    EXPECT_TRUE(receive_offer(unix_end.get()).value());
    const int row = as.row.read_only_fd().get();
    EXPECT_TRUE(
        send_offer(unix_end.get(), incarnation, theirs.incarnation, row, as.doorbell.get()));
  }

  void greet(const Hello& mine, Stage stage) {
    const std::string frame = encode_hello(mine).value();
    peer.send(stage == Stage::half_a_hello ? frame.substr(0, frame.size() / 2) : frame);
    if (stage == Stage::half_a_hello) return;
    theirs = peer.receive_hello().value();
    EXPECT_EQ(peer.receive_verdict().kind, Verdict::Kind::agreed);
    if (stage != Stage::hello) peer.send(encode_verdict());
  }

  [[nodiscard]] UniqueFd accept_row() const {
    await_input(listener.get());
    return std::move(*accept_same_user(listener.get()).value());
  }

  void leave(bool abruptly) {
    if (abruptly) {
      peer.reset();
    } else {
      peer.close();
    }
    listener = UniqueFd();
    unix_end = UniqueFd();
  }

  Hello theirs{};
};

class Leaving : public ::testing::TestWithParam<Stage> {
 protected:
  [[nodiscard]] Half half_b() { return {RawPeer(addresses[0].address), b, 1, true, GetParam()}; }

  // The hand-driven one is gone; a knows what it was handed over.
  void expect_that_b_gets_in() {
    if (is_handed_over(GetParam())) {
      EXPECT_EQ(a.await(1).incarnation, 1U);
      EXPECT_FALSE(a.alive(1));
      a.release(1);
    }
    b.start();
    EXPECT_EQ(a.await(1).incarnation, b.incarnation);
    EXPECT_EQ(b.await(0).incarnation, a.incarnation);
  }

  std::vector<MemberAddress> addresses = loopback_members(3);
  TestMember a{addresses, 0};
  TestMember b{addresses, 1};
  TestMember c{addresses, 2};
};

TEST_P(Leaving, OfTheCallerFreesItsSlot) {
  for (const bool abruptly : {false, true}) {
    a.start();
    half_b().leave(abruptly);
    expect_that_b_gets_in();
    a.stop();
    b.stop();
  }
}

TEST_P(Leaving, OfTheOneThatIsCalledLetsItsCallerTryAgain) {
  for (const bool abruptly : {false, true}) {
    {
      const RawServer server(addresses[0].address);
      b.start();
      Half(server.accept(), a, 1, false, GetParam()).leave(abruptly);
      if (is_handed_over(GetParam())) {
        EXPECT_EQ(b.await(0).incarnation, 1U);
        b.release(0);
      }
    }
    a.start();
    EXPECT_EQ(a.await(1).incarnation, b.incarnation);
    EXPECT_EQ(b.await(0).incarnation, a.incarnation);
    a.stop();
    b.stop();
  }
}

TEST_P(Leaving, InSilenceFreesTheSlot) {
  if (is_handed_over(GetParam())) return;  // it is the fabric's
  a.silence_limit = 2s;
  a.start();
  const Half silent = half_b();
  expect_that_b_gets_in();
}

TEST_P(Leaving, InSilenceOfTheOneThatIsCalledLetsItsCallerTryAgain) {
  if (is_handed_over(GetParam())) return;  // it is the fabric's
  b.silence_limit = 2s;
  std::optional<Half> silent;
  {
    const RawServer server(addresses[0].address);
    b.start();
    silent.emplace(server.accept(), a, 1, false, GetParam());
  }
  a.start();
  EXPECT_EQ(a.await(1).incarnation, b.incarnation);
  EXPECT_EQ(b.await(0).incarnation, a.incarnation);
}

TEST_P(Leaving, OfTheBootstrapItselfNeitherHangsNorHarmsTheOthers) {
  a.start();
  c.start();
  a.await(2);
  c.await(0);
  Half caught = half_b();
  a.stop();
  caught.peer.wait_for_close();
  EXPECT_FALSE(c.bootstrap().failure());
  c.release(0);
  a.start();
  EXPECT_EQ(c.await(0).incarnation, a.incarnation);
  b.start();
  EXPECT_EQ(a.await(1).incarnation, b.incarnation);
  EXPECT_EQ(c.await(1).incarnation, b.incarnation);
}

TEST_P(Leaving, OfTheCallingBootstrapNeitherHangsNorHarmsTheOthers) {
  const RawServer server(addresses[0].address);
  b.start();
  Half caught(server.accept(), a, 1, false, GetParam());
  b.stop();
  caught.peer.wait_for_close();
  b.start();
  c.start();
  EXPECT_EQ(b.await(2).incarnation, c.incarnation);
}

INSTANTIATE_TEST_SUITE_P(At, Leaving, ::testing::ValuesIn(kStages),
                         [](const auto& test) { return name_of(test.param); });

class Rows : public ::testing::Test {
 protected:
  std::vector<MemberAddress> addresses = loopback_members(2);
  TestMember a{addresses, 0};
  TestMember b{addresses, 1};
};

TEST_F(Rows, AMemberThatGivesUpBeforeItHandsOverItsRowSaysWhy) {
  a.start();
  Half half(RawPeer(addresses[0].address), b, 1, true, Stage::agreed);
  half.peer.send(encode_verdict({ErrorCode::system, "b has no memory"}));
  a.await_trouble(": it refused us: b has no memory");
  EXPECT_FALSE(a.bootstrap().failure());
}

TEST_F(Rows, OfSomeoneElseAreRefused) {
  a.start();
  Half half(RawPeer(addresses[0].address), b, 1, true, Stage::row_unread);
  const int row = b.row.read_only_fd().get();
  ASSERT_TRUE(send_offer(half.unix_end.get(), 2, half.theirs.incarnation, row, b.doorbell.get()));
  EXPECT_THAT(half.peer.receive_verdict().error.message, HasSubstr("a and b cannot share memory"));
  half.peer.close();
  a.await_trouble(": a and b cannot share memory: the row that came belongs to someone else");
  EXPECT_FALSE(a.bootstrap().failure());
}

TEST_F(Rows, OfSomeoneElseDoNotEndAMemberThatRuns) {
  a.start();
  a.bootstrap().set_running();
  Half half(RawPeer(addresses[0].address), b, 1, true, Stage::row_unread);
  ASSERT_EQ(::send(half.unix_end.get(), "x", 1, 0), 1);
  EXPECT_EQ(half.peer.receive_verdict().kind, Verdict::Kind::refused);
  b.start();
  EXPECT_EQ(a.await(1).incarnation, b.incarnation);
  EXPECT_FALSE(a.bootstrap().failure());
}

TEST_F(Rows, AreWhereTheHelloSaysOrTheCallerTriesAgain) {
  {
    const RawServer server(addresses[0].address);
    b.start();
    RawPeer called = server.accept();
    Hello hello = hello_of(a, 1, "");
    hello.carriers["shm"] = random_socket_name().value();  // where nobody listens
    called.send(encode_hello(hello).value() + encode_verdict());
    ASSERT_TRUE(called.receive_hello());
    EXPECT_EQ(called.receive_verdict().kind, Verdict::Kind::agreed);
    called.close();
    b.await_trouble("b and a cannot share memory");
  }
  a.start();
  EXPECT_EQ(b.await(0).incarnation, a.incarnation);
}

TEST_F(Rows, OfTheFabricStayInTheSocket) {
  b.node.fabric = FabricChoice::tcp;
  a.start();
  RawPeer client(addresses[0].address);
  client.send(encode_hello(hello_of(b, 1)).value() + encode_verdict() + "data");
  const auto& connection = *made_by<TcpConnection>(a.await(1));
  await_input(connection.socket.get());
  std::array<char, 8> bytes{};
  EXPECT_EQ(::recv(connection.socket.get(), bytes.data(), bytes.size(), 0), 4);
  EXPECT_STREQ(bytes.data(), "data");
}

}  // namespace
}  // namespace tutti
