/// \file tcp_fabric_test.cpp
/// What TcpFabric makes of a connection that ends badly.
#include "fabric/tcp/tcp_fabric.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <utility>
#include <vector>

#include "fabric/tcp/frame.hpp"

namespace tutti {
namespace {

constexpr std::uint64_t kTcpEpoch = 7;
constexpr std::size_t kTcpRowBytes = 1 << 20;
constexpr Slot kTcpPeer{1};

/// `receive_bytes`: what the second one's kernel holds, about; 0: its own choice.
std::pair<int, int> connected_sockets(int receive_bytes = 0) {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (receive_bytes > 0) {
    EXPECT_EQ(::setsockopt(listener.get(), SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(int)), 0);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t bytes = sizeof(address);
  EXPECT_EQ(::bind(listener.get(), generic, bytes), 0);
  EXPECT_EQ(::listen(listener.get(), 1), 0);
  EXPECT_EQ(::getsockname(listener.get(), generic, &bytes), 0);
  const int connecting = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(::connect(connecting, generic, bytes), 0);
  return {connecting, ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)};
}

TcpConnection connection(int fd, std::uint64_t epoch = kTcpEpoch) {
  return {.peer = kTcpPeer, .socket = UniqueFd(fd), .row_bytes = kTcpRowBytes, .epoch = epoch};
}

std::unique_ptr<TcpFabric> make(Sleeper& sleeper, const std::byte* row, int fd) {
  auto fabric = TcpFabric::create(sleeper, row, kTcpRowBytes).value();
  EXPECT_TRUE(fabric->attach(connection(fd)));
  return fabric;
}

/// A fabric whose peer is a bare socket, which may send anything.
class TcpFabricTest : public ::testing::Test {
 protected:
  TcpFabricTest() {
    auto [ours, theirs] = connected_sockets();
    stranger = UniqueFd(theirs);
    fabric = make(*sleeper, row.data(), ours);
  }

  void send(const void* bytes, std::size_t count) {
    ASSERT_EQ(::send(stranger.get(), bytes, count, MSG_NOSIGNAL), static_cast<ssize_t>(count));
  }

  /// Polls until the peer is lost.
  std::string reason_of_loss() {
    for (;;) {
      fabric->poll();
      const std::vector<PeerLoss> losses = fabric->take_losses();
      if (losses.empty()) continue;
      EXPECT_EQ(losses.size(), 1U);
      EXPECT_EQ(losses[0].peer, kTcpPeer);
      return losses[0].reason;
    }
  }

  void send_data(std::uint64_t offset, const std::vector<char>& data,
                 std::uint64_t epoch = kTcpEpoch) {
    const tcp::FrameHeader header =
        tcp::make_header(tcp::kDataMagic, static_cast<std::uint32_t>(data.size()), epoch, offset);
    send(&header, sizeof(header));
    send(data.data(), data.size());
  }

  std::vector<std::byte> row = std::vector<std::byte>(kTcpRowBytes);
  std::unique_ptr<Sleeper> sleeper = Sleeper::create().value();
  UniqueFd stranger;
  std::unique_ptr<TcpFabric> fabric;
};

TEST_F(TcpFabricTest, LosesAPeerThatSendsGarbage) {
  send("GET / HTTP/1.1\r\nHost: somebody else\r\n\r\n", 39);
  EXPECT_EQ(reason_of_loss(), "sent a corrupt frame: it does not begin as a frame does");
  char byte;
  EXPECT_LE(::recv(stranger.get(), &byte, 1, 0), 0) << "and closes its connection";
}

TEST_F(TcpFabricTest, LosesAPeerThatStopsInTheMiddleOfAFrame) {
  const tcp::FrameHeader header = tcp::make_header(tcp::kDataMagic, 1000, kTcpEpoch, 4096);
  send(&header, sizeof(header));
  send("abc", 3);
  stranger = UniqueFd();
  EXPECT_EQ(reason_of_loss(), "connection closed in the middle of a frame");
}

TEST_F(TcpFabricTest, HearsAPeerWhoseWordsHaveNotComeYet) {
  const std::uint64_t before = fabric->heard(kTcpPeer);
  for (std::uint64_t at = 0; at < 4; ++at) {
    send_data(4096 + at * 200'000, std::vector<char>(200'000, 'x'));
  }
  while (fabric->heard(kTcpPeer) < before + 4) fabric->poll();
  stranger = UniqueFd();
  static_cast<void>(reason_of_loss());
  const std::uint64_t last = fabric->heard(kTcpPeer);
  fabric->poll();
  EXPECT_EQ(fabric->heard(kTcpPeer), last);
}

TEST_F(TcpFabricTest, AppliesAllThatCameBeforeTheEnd) {
  const std::vector<char> data(200'000, 'x');
  for (std::uint64_t at = 0; at < 4; ++at) send_data(4096 + at * 200'000, data);
  stranger = UniqueFd();
  EXPECT_EQ(reason_of_loss(), "its process ended or closed the connection");
  EXPECT_EQ(fabric->row(kTcpPeer)[4096 + 4 * 200'000 - 1], std::byte{'x'});
}

TEST_F(TcpFabricTest, AppliesAllThatCameBeforeAReset) {
  // Unread bytes at the stranger's side make its close a reset.
  fabric->write(kTcpPeer, {4096, 100});
  fabric->flush();
  char byte = 0;
  ASSERT_EQ(::recv(stranger.get(), &byte, 1, 0), 1);
  send_data(4096, std::vector<char>(20'000, 'x'));
  stranger = UniqueFd();
  for (int i = 0; i < 10; ++i) {
    fabric->write(kTcpPeer, {4096, 100});
    fabric->flush();  // fails: but what arrived is not lost
  }
  EXPECT_EQ(reason_of_loss(), "its process ended or closed the connection");
  EXPECT_EQ(fabric->row(kTcpPeer)[4096 + 20'000 - 1], std::byte{'x'});
  EXPECT_TRUE(fabric->drained());
}

TEST_F(TcpFabricTest, IsDrainedOnceThePeersKernelHasEverything) {
  auto [ours, theirs] = connected_sockets(16 * 1024);
  stranger = UniqueFd(theirs);
  fabric = make(*sleeper, row.data(), ours);
  constexpr std::uint32_t kBytes = 200'000;
  fabric->write(kTcpPeer, {4096, kBytes});
  while (fabric->counters().writes == 0) fabric->poll();
  EXPECT_FALSE(fabric->drained()) << "all has been sent, but not received";

  std::vector<char> received(sizeof(tcp::FrameHeader) + kBytes);
  ASSERT_EQ(::recv(stranger.get(), received.data(), received.size(), MSG_WAITALL),
            static_cast<ssize_t>(received.size()));
  while (!fabric->drained()) fabric->poll();
}

TEST_F(TcpFabricTest, IsDrainedWhenThePeerIsGone) {
  fabric->write(kTcpPeer, {4096, 100});
  fabric->flush();
  stranger = UniqueFd();
  reason_of_loss();
  EXPECT_TRUE(fabric->drained());
}

TEST_F(TcpFabricTest, CountsFramesOfOtherEpochsAndDropsThem) {
  const tcp::FrameHeader header = tcp::make_header(tcp::kDataMagic, 3, kTcpEpoch - 1, 4096);
  send(&header, sizeof(header));
  send("abc", 3);
  send_data(4096, {'x'});
  while (fabric->poll() == 0) {
  }
  EXPECT_EQ(fabric->stale_frames(), 1U);
  EXPECT_EQ(fabric->row(kTcpPeer)[4096], std::byte{'x'});
  EXPECT_EQ(fabric->row(kTcpPeer)[4097], std::byte{0});
}

TEST_F(TcpFabricTest, RefusesWhatIsNoTcpConnection) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  const UniqueFd other(pair[1]);
  const auto empty = TcpFabric::create(*sleeper, row.data(), kTcpRowBytes).value();
  const Result<void> attached = empty->attach(connection(pair[0]));
  ASSERT_FALSE(attached);
  EXPECT_EQ(attached.error().code, ErrorCode::invalid_argument);
  char byte = 0;
  EXPECT_EQ(::recv(other.get(), &byte, 1, MSG_DONTWAIT), 0) << "and closes it";
  EXPECT_TRUE(empty->attach(connection(connected_sockets().first))) << "the slot is still free";
}

TEST_F(TcpFabricTest, RefusesASecondConnectionInOneSlotAndClosesIt) {
  auto [ours, theirs] = connected_sockets();
  const UniqueFd second(theirs);
  const Result<void> again = fabric->attach(connection(ours));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::invalid_argument);
  char byte = 0;
  EXPECT_EQ(::recv(second.get(), &byte, 1, 0), 0);
  send_data(4096, {'x'});
  while (fabric->poll() == 0) {
  }
  EXPECT_EQ(fabric->row(kTcpPeer)[4096], std::byte{'x'}) << "the first stays";
}

TEST_F(TcpFabricTest, RefusesRowsWithoutAHeader) {
  EXPECT_FALSE(TcpFabric::create(*sleeper, row.data(), 8));
  const auto empty = TcpFabric::create(*sleeper, row.data(), kTcpRowBytes).value();
  TcpConnection bad = connection(connected_sockets().first);
  bad.row_bytes = 8;
  const Result<void> attached = empty->attach(std::move(bad));
  ASSERT_FALSE(attached);
  EXPECT_EQ(attached.error().code, ErrorCode::mismatch);
}

TEST_F(TcpFabricTest, DropsFramesOfTheConnectionBefore) {
  send_data(4096, {'x'});
  while (fabric->poll() == 0) {
  }
  fabric->detach(kTcpPeer);
  auto [ours, theirs] = connected_sockets();
  stranger = UniqueFd(theirs);
  ASSERT_TRUE(fabric->attach(connection(ours, kTcpEpoch + 1)));
  EXPECT_EQ(fabric->row(kTcpPeer)[4096], std::byte{0});
  send_data(4096, {'y', 'y'}, kTcpEpoch);
  send_data(4097, {'z'}, kTcpEpoch + 1);
  while (fabric->poll() == 0) {
  }
  EXPECT_EQ(fabric->row(kTcpPeer)[4096], std::byte{0});
  EXPECT_EQ(fabric->row(kTcpPeer)[4097], std::byte{'z'});
  EXPECT_EQ(fabric->stale_frames(), 1U);
  fabric->detach(kTcpPeer);
  EXPECT_EQ(fabric->stale_frames(), 1U) << "counted on over the detach";
}

TEST_F(TcpFabricTest, DetachForgetsWhatWaitsAndTheLossNotTaken) {
  fabric->write(kTcpPeer, {4096, 100});
  EXPECT_FALSE(fabric->drained());
  stranger = UniqueFd();
  for (int i = 0; i < 100; ++i) fabric->poll();
  fabric->write(kTcpPeer, {4096, 100});
  const FabricCounters before = fabric->counters();
  fabric->detach(kTcpPeer);
  fabric->detach(kTcpPeer);
  fabric->detach(Slot{77});
  EXPECT_TRUE(fabric->drained());
  EXPECT_TRUE(fabric->take_losses().empty());
  EXPECT_EQ(fabric->counters().writes, before.writes);
  EXPECT_EQ(fabric->counters().bytes, before.bytes);
}

TEST_F(TcpFabricTest, WaitsOfADetachedPeerEndWithoutHarm) {
  fabric->arm();
  fabric->detach(kTcpPeer);
  auto [ours, theirs] = connected_sockets();
  stranger = UniqueFd(theirs);
  ASSERT_TRUE(fabric->attach(connection(ours)));
  send_data(4096, {'x'});
  while (fabric->row(kTcpPeer)[4096] != std::byte{'x'}) {
    sleeper->sleep(std::chrono::hours(1));
    fabric->poll();
    fabric->arm();
  }
  fabric->disarm();
}

}  // namespace
}  // namespace tutti
