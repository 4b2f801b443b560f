// Clients that do all they can against a relay: they are refused, and others are served.
#include <gtest/gtest.h>

#include <deque>
#include <thread>

#include "relay/server.hpp"
#include "unit/relay/fake_group.hpp"
#include "unit/relay/raw_client.hpp"
#include "unit/relay/some_frames.hpp"

namespace tutti::relay::testing {
namespace {

using namespace std::chrono_literals;

class Hostile : public ::testing::Test {
 protected:
  void start(dds::RelayOptions options = {}) {
    options.listen = "127.0.0.1:0";
    auto started = Server::start(*backend, options);
    ASSERT_TRUE(started) << started.error().message;
    server = std::move(*started);
  }
  [[nodiscard]] const std::string& address() const { return server->address(); }

  // A client as it should be gets its sample delivered.
  void expect_service(std::uint64_t id = 4711) {
    RawClient client(address());
    ASSERT_TRUE(client.hello(id));
    const std::uint64_t before = group.delivered().size();
    open(client, id);
    client.say(Publish{.nonce = id, .request = 1, .bytes = kPayload});
    const auto published = client.hear<Published>();
    ASSERT_TRUE(published);
    EXPECT_EQ(published->status, Status::delivered);
    EXPECT_EQ(group.delivered().size(), before + 1);
  }
  std::uint64_t open(RawClient& client, std::uint64_t nonce) {
    client.say(Find{1, "a"});
    client.say(Open{.nonce = nonce});
    const auto opened = client.hear<Opened>();
    EXPECT_TRUE(opened);
    return opened ? opened->session : kNone;
  }

  FakeGroup group{{"a"}, Service::stored};
  std::unique_ptr<Backend> backend = group.member("m");
  std::unique_ptr<Server> server{};
};

TEST_F(Hostile, BytesThatAreNoFrameEndTheConnection) {
  start();
  for (const std::string& garbage :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(4, '\xff') + "x", std::string(4, '\0'),
        std::string(100'000, '\x01')}) {
    RawClient client(address());
    client.send(garbage);
    EXPECT_TRUE(client.is_closed());
  }
  EXPECT_GE(server->statistics().malformed, 3U);
  expect_service();
}

TEST_F(Hostile, EachFrameBeforeHelloEndsTheConnection) {
  start();
  for (const NamedFrame& one : one_of_each()) {
    if (one.name == "hello") continue;
    RawClient client(address());
    client.say(one.frame);
    const auto bye = client.hear<Bye>();
    ASSERT_TRUE(bye) << one.name;
    EXPECT_EQ(bye->code, Code::malformed);
    EXPECT_TRUE(client.is_closed());
  }
  expect_service();
}

TEST_F(Hostile, FramesThatOnlyRelaysSayEndTheConnection) {
  start();
  std::size_t ended = 0;
  for (const NamedFrame& one : one_of_each()) {
    RawClient client(address());
    ASSERT_TRUE(client.hello(7));
    client.say(one.frame);
    client.say(Ping{77});
    const auto pong = client.hear<Pong>();
    ended += pong ? 0 : 1;
  }
  // hello again, 12 frames of relays, publish of no session's topic and bye.
  EXPECT_GE(ended, 12U);
  expect_service();
}

TEST_F(Hostile, ATokenAVersionAndAnIdOfZerosAreChecked) {
  start({.token = "secret"});
  for (const auto& [hello, code] :
       {std::pair{Hello{.client_high = 1, .token = "secreT"}, Code::token},
        {Hello{.client_high = 1}, Code::token},
        {Hello{.client_high = 1, .token = "secret and more"}, Code::token},
        {Hello{.version = 2, .client_high = 1, .token = "secret"}, Code::version},
        {Hello{.magic = 1, .client_high = 1, .token = "secret"}, Code::malformed},
        {Hello{.token = "secret"}, Code::malformed}}) {
    RawClient client(address());
    client.say(hello);
    const auto bye = client.hear<Bye>();
    ASSERT_TRUE(bye);
    EXPECT_EQ(bye->code, code) << bye->text;
  }
  RawClient client(address());
  EXPECT_TRUE(client.hello(1, "secret"));
}

TEST_F(Hostile, HalfAHelloAndAByteNowAndThenMustEndInTime) {
  start({.handshake_timeout = 200ms});
  std::vector<std::byte> hello;
  encode(Hello{.client_high = 1, .name = std::string(1000, 'x')}, hello);
  RawClient half(address());
  half.send(std::span(hello).first(20));
  RawClient slow(address());
  std::size_t sent = 0;
  // A byte at a time, for as long as the relay takes them; never the last one.
  while (sent + 1 < hello.size() && slow.send(std::span(hello).subspan(sent, 1))) {
    ++sent;
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_TRUE(slow.is_closed());
  EXPECT_TRUE(half.is_closed());
  EXPECT_EQ(server->statistics().timed_out, 2U);
  expect_service();
}

TEST_F(Hostile, ThousandsOfConnectionsLeaveRoomForAClient) {
  start({.clients_max = 64, .half_open_max = 16});
  std::deque<RawClient> crowd;
  for (int i = 0; i < 2000; ++i) {
    crowd.emplace_back(address());
    if (crowd.size() > 200) crowd.pop_front();
  }
  expect_service();
  EXPECT_LE(server->statistics().clients, 64U);
  // The newest 200 wait, of which 16 may.
  EXPECT_GE(server->statistics().refused, 180U);
}

TEST_F(Hostile, MoreClientsThanAllowedAreToldThatTheRelayIsBusy) {
  start({.clients_max = 2});
  RawClient one(address());
  RawClient two(address());
  ASSERT_TRUE(one.hello(1));
  ASSERT_TRUE(two.hello(2));
  RawClient three(address());
  const auto bye = three.hear<Bye>();
  ASSERT_TRUE(bye);
  EXPECT_EQ(bye->code, Code::busy);
}

TEST_F(Hostile, AClientThatNeverReadsCostsALimitedMemoryAndIsDisconnected) {
  start({.memory_per_client = 128 << 10, .frame_bytes_max = 60'000, .idle_timeout = 5s});
  RawClient deaf(address(), 4096);
  ASSERT_TRUE(deaf.hello(1));
  deaf.say(Find{1, "a"});
  deaf.say(Subscribe{.subscription = 1, .from = From::stored, .credit = 1'000'000});
  RawClient writer(address());
  ASSERT_TRUE(writer.hello(2));
  open(writer, 2);
  const std::vector<std::byte> bytes(50'000);
  for (std::uint64_t request = 1; request <= 500; ++request) {
    ASSERT_TRUE(writer.say(Publish{.nonce = 2, .request = request, .bytes = bytes}));
    ASSERT_TRUE(writer.hear<Published>());
  }
  // Members have delivered 25 MB; the relay took what the limits allow.
  while (server->statistics().clients != 1) {
    writer.say(Ping{1});
    ASSERT_TRUE(writer.hear<Pong>());
  }
  EXPECT_LT(server->statistics().bytes_out, 12U << 20);
  EXPECT_EQ(server->statistics().timed_out, 1U);
}

TEST_F(Hostile, AnothersSessionIsRefused) {
  start();
  RawClient owner(address());
  ASSERT_TRUE(owner.hello(1));
  const std::uint64_t session = open(owner, 42);
  owner.say(Publish{.nonce = 42, .request = 1, .bytes = kPayload});
  ASSERT_TRUE(owner.hear<Published>());
  for (const auto& [id, nonce] : {std::pair{2U, 42U}, {2U, 43U}, {1U, 43U}}) {
    RawClient thief(address());
    ASSERT_TRUE(thief.hello(id));
    thief.say(Find{1, "a"});
    thief.say(Open{.session = session, .nonce = nonce});
    const auto refused = thief.hear<Refused>();
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code, Code::expired);
    thief.say(Publish{.nonce = nonce, .request = 2, .bytes = kPayload});
    const auto again = thief.hear<Refused>();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->code, Code::expired);
  }
  EXPECT_EQ(group.delivered().size(), 1U);
  RawClient same(address());
  ASSERT_TRUE(same.hello(1));
  same.say(Find{1, "a"});
  same.say(Open{.session = session, .nonce = 42});
  const auto opened = same.hear<Opened>();
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->last, 1U);
}

TEST_F(Hostile, OldAndFarRequestsAreAnsweredAndNotDelivered) {
  start();
  RawClient client(address());
  ASSERT_TRUE(client.hello(1));
  open(client, 5);
  for (std::uint64_t request = 1; request <= 3; ++request) {
    client.say(Publish{.nonce = 5, .request = request, .bytes = kPayload});
    ASSERT_TRUE(client.hear<Published>());
  }
  client.say(Publish{.nonce = 5, .request = 2, .bytes = kPayload});
  const auto old = client.hear<Published>();
  ASSERT_TRUE(old);
  EXPECT_EQ(old->status, Status::duplicate);
  EXPECT_EQ(old->position, group.delivered()[1].position);
  for (const std::uint64_t far : {std::uint64_t{5}, ~std::uint64_t{0}}) {
    client.say(Publish{.nonce = 5, .request = far, .bytes = kPayload});
    const auto back = client.hear<GoBack>();
    ASSERT_TRUE(back);
    EXPECT_EQ(back->last, 3U);
  }
  EXPECT_EQ(group.delivered().size(), 3U);
}

TEST_F(Hostile, AnyNumberOfOpensAndSubscriptionsMeetsALimit) {
  start();
  RawClient client(address());
  ASSERT_TRUE(client.hello(1));
  client.say(Find{1, "a"});
  for (std::uint64_t nonce = 1; nonce <= 200; ++nonce) client.say(Open{.nonce = nonce});
  std::size_t refused = 0;
  for (std::uint32_t one = 1; one <= 400; ++one) client.say(Subscribe{.subscription = one});
  client.say(Ping{1});
  for (std::size_t i = 0; i < 136 + 144; ++i) refused += client.hear<Refused>() ? 1 : 0;
  EXPECT_EQ(refused, 136U + 144U);
  EXPECT_TRUE(client.hear<Pong>());
  EXPECT_EQ(group.sessions(), 64U);
}

TEST_F(Hostile, TheRateOfPublishesIsLimitedAndNothingIsLost) {
  start({.publishes_per_second = 200});
  RawClient client(address());
  ASSERT_TRUE(client.hello(1));
  open(client, 5);
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t request = 1; request <= 260; ++request) {
    client.say(Publish{.nonce = 5, .request = request, .bytes = kPayload});
  }
  for (std::uint64_t request = 1; request <= 260; ++request) {
    const auto published = client.hear<Published>();
    ASSERT_TRUE(published);
    EXPECT_EQ(published->request, request);
  }
  // The first 200 come out of what was saved up.
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 250ms);
}

}  // namespace
}  // namespace tutti::relay::testing
