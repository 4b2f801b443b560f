// What OfiFabric makes of a peer that says wrong things, and what a closed registration does to
// whoever still writes (F-fence).
#include "fabric/ofi/ofi_fabric.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "fabric/ofi/endpoint.hpp"
#include "fabric/ofi/greeting.hpp"
#include "unit/fabric/ofi_pair.hpp"

namespace tutti {
namespace {

using testing::eventually;
using ::testing::HasSubstr;
using testing::kOfiEpoch;
using testing::kOfiRowBytes;
using testing::OfiPair;

constexpr Slot kStrangersSlot{1};

/// A fabric whose peer is a bare socket, which may say anything.
class OfiFabricTest : public ::testing::Test {
 protected:
  OfiFabricTest() { attach_a_stranger(); }

  void attach_a_stranger() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    stranger = UniqueFd(ends[1]);
    EXPECT_TRUE(fabric->attach({.peer = kStrangersSlot,
                                .socket = UniqueFd(ends[0]),
                                .row_bytes = kOfiRowBytes,
                                .epoch = kOfiEpoch}));
  }

  /// What the fabric told the stranger.
  ofi::Greeting heard() {
    ofi::GreetingBytes bytes;
    EXPECT_EQ(::recv(stranger.get(), bytes.data(), bytes.size(), MSG_WAITALL),
              static_cast<ssize_t>(bytes.size()));
    return ofi::decode(bytes).value();
  }

  void say(const ofi::GreetingBytes& bytes) {
    EXPECT_EQ(::send(stranger.get(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
  }

  std::string loss() {
    std::vector<PeerLoss> losses;
    EXPECT_TRUE(eventually([&] {
      fabric->poll();
      losses = fabric->take_losses();
      return !losses.empty();
    }));
    return losses.size() == 1 ? losses[0].reason : "";
  }

  std::vector<std::uint64_t> row = std::vector<std::uint64_t>(kOfiRowBytes / 8);
  std::unique_ptr<Sleeper> sleeper = Sleeper::create().value();
  std::unique_ptr<OfiFabric> fabric =
      OfiFabric::create(*sleeper, std::as_bytes(std::span(row)), "tcp", "127.0.0.1").value();
  UniqueFd stranger;
};

TEST_F(OfiFabricTest, TellsWhereItsMemoryIs) {
  const ofi::Greeting greeting = heard();
  EXPECT_EQ(greeting.epoch, kOfiEpoch);
  EXPECT_EQ(greeting.row_bytes, kOfiRowBytes);
  EXPECT_EQ(greeting.provider, "tcp");
  EXPECT_FALSE(greeting.address.empty());
  EXPECT_FALSE(fabric->is_open(kStrangersSlot));
}

TEST_F(OfiFabricTest, APeerThatRegistersTooLittleMemoryIsLost) {
  ofi::Greeting greeting = heard();
  greeting.row_bytes = kOfiRowBytes - 8;
  say(ofi::encode(greeting));
  EXPECT_THAT(loss(), HasSubstr("it has registered 65528 bytes for our row, which has 65536"));
  EXPECT_TRUE(fabric->drained());
}

TEST_F(OfiFabricTest, APeerWithAnotherProviderIsLost) {
  ofi::Greeting greeting = heard();
  greeting.provider = "verbs";
  say(ofi::encode(greeting));
  EXPECT_THAT(loss(), HasSubstr("'verbs' where we use 'tcp'"));
}

TEST_F(OfiFabricTest, APeerThatSaysRubbishIsLost) {
  ofi::GreetingBytes rubbish{};
  rubbish.fill(std::byte{0x5a});
  say(rubbish);
  EXPECT_THAT(loss(), HasSubstr("malformed"));
}

TEST_F(OfiFabricTest, APeerAtAnAddressWhereNobodyListensIsLost) {
  ofi::Greeting greeting = heard();
  // Another port of this host, and the last: its address is behind ours, so it is ours to call it.
  greeting.address.replace(sizeof(sa_family_t), sizeof(in_port_t), "\xff\xff");
  say(ofi::encode(greeting));
  EXPECT_NE(loss(), "");
}

// libfabric reads as much of an address as its family says.
class OfiAddress : public OfiFabricTest, public ::testing::WithParamInterface<std::string> {};
const std::string kLonger(reinterpret_cast<const char*>(std::array{sa_family_t{AF_INET6}}.data()),
                          sizeof(sa_family_t));
INSTANTIATE_TEST_SUITE_P(NotLikeOurs, OfiAddress,
                         ::testing::Values("", kLonger, kLonger + std::string(14, '\x7f'),
                                           std::string(16, '\x7f'), std::string(28, '\x7f')));

TEST_P(OfiAddress, OfAPeerThatCannotBeIsALoss) {
  ofi::Greeting greeting = heard();
  greeting.address = GetParam();
  say(ofi::encode(greeting));
  EXPECT_THAT(loss(), HasSubstr("the address that it gives"));
}

TEST_F(OfiFabricTest, APeerWithOurOwnAddressIsLost) {
  say(ofi::encode(heard()));
  EXPECT_THAT(loss(), HasSubstr("the address that it gives"));
}

TEST_F(OfiFabricTest, APeerThatHangsUpBeforeItSaysAnythingIsLost) {
  fabric->write(kStrangersSlot, {4096, 100});
  fabric->flush();
  EXPECT_FALSE(fabric->drained());
  stranger = UniqueFd();
  EXPECT_EQ(loss(), "its process ended or closed the connection");
  EXPECT_TRUE(fabric->drained());
}

// The same two met again: a call that was for the first time is not taken for the second.
TEST_F(OfiFabricTest, ACallForAnEarlierAttachmentIsRefused) {
  const ofi::Greeting first = heard();
  fabric->detach(kStrangersSlot);
  attach_a_stranger();
  const ofi::Greeting second = heard();
  ASSERT_EQ(second.epoch, first.epoch);
  const auto caller = ofi::Station::open("tcp", "127.0.0.1").value();
  const auto outcome_of_a_call = [&](std::uint64_t token) {
    const auto endpoint = ofi::Endpoint::calling(*caller, 1, second.address, token).value();
    std::optional<ofi::ConnectionEvent> event;
    EXPECT_TRUE(eventually([&] {
      fabric->poll();
      event = caller->next_event();
      return event.has_value();
    }));
    return event->kind;
  };
  EXPECT_EQ(outcome_of_a_call(first.token), ofi::ConnectionEvent::Kind::ended);
  EXPECT_EQ(outcome_of_a_call(second.token), ofi::ConnectionEvent::Kind::connected);
}

TEST_F(OfiFabricTest, ARowWithoutAHeaderIsRefused) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd other(ends[1]);
  const Result<void> attached = fabric->attach(
      {.peer = Slot{2}, .socket = UniqueFd(ends[0]), .row_bytes = 8, .epoch = kOfiEpoch});
  ASSERT_FALSE(attached);
  EXPECT_EQ(attached.error().code, ErrorCode::mismatch);
}

TEST(OfiFabricOfOneProcess, APeerThatGoesWhileItsWayIsOpenedIsNotTouched) {
  // Which of the two writes first is drawn anew in each round.
  for (int round = 0; round < 10; ++round) {
    // Over shared memory: each reaches into the other's, which is gone with its endpoint.
    OfiPair one("shm");
    for (const auto& fabric : one.fabrics) fabric->poll();  // no first write goes through
    ASSERT_FALSE(one.fabrics[0]->is_open(Slot{1}) || one.fabrics[1]->is_open(Slot{0}));
    one.fabrics[0].reset();
    std::vector<PeerLoss> losses;
    ASSERT_TRUE(eventually([&] {
      one.fabrics[1]->poll();
      losses = one.fabrics[1]->take_losses();
      return !losses.empty();
    }));
    EXPECT_EQ(losses[0].peer, Slot{0});
  }
}

/// Two connected endpoints, and memory that the second one lets the first one write.
class OfiZombie : public ::testing::Test {
 protected:
  void SetUp() override {
    writer.emplace(
        ofi::Endpoint::calling(*ours, 1, theirs->listener_address().value(), kOfiEpoch).value());
    bool connected = false;
    ASSERT_TRUE(eventually([&] {
      while (auto event = theirs->next_event()) {
        if (event->kind != ofi::ConnectionEvent::Kind::called) continue;
        EXPECT_EQ(event->token, kOfiEpoch);
        target.emplace(ofi::Endpoint::answering(*theirs, 2, *event->request).value());
      }
      while (auto event = ours->next_event()) {
        connected = connected || event->kind == ofi::ConnectionEvent::Kind::connected;
      }
      return connected && target.has_value();
    }));
  }

  /// Writes a word and waits for what becomes of it: its error, "" if it landed.
  std::string write(std::uint64_t value, std::uint64_t key) {
    word[0] = value;
    std::string error = "nothing";
    const ofi::Write write{.from = reinterpret_cast<const std::byte*>(word.data()),
                           .bytes = 8,
                           .to = ours->provider().base_of(memory()),
                           .key = key,
                           .signalled = true};
    if (writer->write(write) == ofi::Outcome::failed) return writer->error();
    EXPECT_TRUE(eventually([&] {
      static_cast<void>(theirs->completions()->progress());
      const auto ended = ours->completions()->progress();
      if (!ended.empty()) error = ended.front().error;
      return error != "nothing";
    }));
    return error;
  }
  std::span<std::byte> memory() { return std::as_writable_bytes(std::span(shown)); }

  std::array<std::uint64_t, 512> shown{};
  std::array<std::uint64_t, 1> word{};
  std::unique_ptr<ofi::Station> ours = ofi::Station::open("tcp", "127.0.0.1").value();
  std::unique_ptr<ofi::Station> theirs = ofi::Station::open("tcp", "127.0.0.1").value();
  std::optional<ofi::Endpoint> writer, target;
};

TEST_F(OfiZombie, WritesNothingOnceTheRegistrationIsClosed) {
  ofi::Owned<fid_mr> region = theirs->provider().expose(memory(), nullptr).value();
  const std::uint64_t key = fi_mr_key(region.get());
  EXPECT_EQ(write(5, key), "");
  EXPECT_EQ(shown[0], 5U);
  region.reset();
  EXPECT_NE(write(6, key), "") << "the connection was still open";
  EXPECT_EQ(shown[0], 5U);
}

TEST_F(OfiZombie, DoesNotReachTheNextRegistrationOfTheSameMemory) {
  ofi::Owned<fid_mr> region = theirs->provider().expose(memory(), nullptr).value();
  const std::uint64_t key = fi_mr_key(region.get());
  region.reset();
  region = theirs->provider().expose(memory(), nullptr).value();
  EXPECT_NE(fi_mr_key(region.get()), key);
  EXPECT_NE(write(6, key), "");
  EXPECT_EQ(shown[0], 0U);
}

}  // namespace
}  // namespace tutti
