/// What only the shared-memory fabric has: processes that die, doorbells, descriptors from a peer.
#include "fabric/shm/shm_fabric.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <utility>

#include "fabric/row_header.hpp"

namespace tutti {
namespace {

constexpr std::size_t kShmRowBytes = 4096;
constexpr Slot kShmPeer{1};
constexpr std::chrono::hours kNeverByItself{1};

/// Our side of one pair; the peer's side is played by the test.
class ShmFabricTest : public ::testing::Test {
 protected:
  void SetUp() override { connect(); }

  /// A new pair of sockets.
  void connect() {
    int sockets[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, sockets), 0);
    own_socket_ = UniqueFd(sockets[0]);
    peer_socket_ = UniqueFd(sockets[1]);
  }

  ShmConnection connection() {
    return {.peer = kShmPeer,
            .socket = std::move(own_socket_),
            .row_fd = duplicate(peer_row_.read_only_fd().get()),
            .doorbell = duplicate(peer_->doorbell_fd()),
            .row_bytes = kShmRowBytes};
  }

  std::unique_ptr<ShmFabric> make() {
    auto fabric = ShmFabric::create(*sleeper_, own_row_).value();
    EXPECT_TRUE(fabric->attach(connection()));
    return fabric;
  }

  /// How often the peer's doorbell was rung since it was asked last.
  std::uint64_t rings() {
    std::uint64_t count = 0;
    if (::read(peer_->doorbell_fd(), &count, sizeof count) < 0) return 0;
    return count;
  }

  void set_asleep(std::uint64_t value) {
    reinterpret_cast<RowHeader*>(peer_row_.data())->asleep = value;
  }

  static void post(ShmFabric& fabric) {
    fabric.publish(kShmPeer, 64, {});
    fabric.flush();
  }

  /// A process that holds the peer's socket and does nothing.
  pid_t fork_peer() {
    const pid_t child = ::fork();
    if (child == 0) {
      own_socket_ = UniqueFd();
      for (;;) ::pause();
    }
    peer_socket_ = UniqueFd();
    return child;
  }

  Segment own_row_ = Segment::create(kShmRowBytes).value();
  Segment peer_row_ = Segment::create(kShmRowBytes).value();
  std::unique_ptr<Sleeper> sleeper_ = Sleeper::create().value();
  std::unique_ptr<Sleeper> peer_ = Sleeper::create().value();
  UniqueFd own_socket_;
  UniqueFd peer_socket_;
};

TEST_F(ShmFabricTest, WakesASleeperWhenAPeersProcessIsKilled) {
  const pid_t child = fork_peer();
  const auto fabric = make();
  fabric->arm();
  fabric->poll();
  ASSERT_TRUE(fabric->take_losses().empty());
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  std::vector<PeerLoss> losses;
  while (losses.empty()) {
    sleeper_->sleep(kNeverByItself);
    fabric->poll();
    losses = fabric->take_losses();
  }
  EXPECT_EQ(losses.size(), 1U);
  EXPECT_EQ(losses[0].peer, kShmPeer);
  EXPECT_EQ(losses[0].reason, "its process ended or closed the connection");
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST_F(ShmFabricTest, NoticesADeadProcessAlsoWhileItOnlyPolls) {
  const pid_t child = fork_peer();
  const auto fabric = make();
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  std::size_t losses = 0;
  for (std::uint32_t i = 0; i < 3 * ShmFabric::kPollsPerCheck; ++i) {
    fabric->poll();
    losses += fabric->take_losses().size();
  }
  EXPECT_EQ(losses, 1U);
}

// As where so many want the processor that a poll comes once in a while.
TEST_F(ShmFabricTest, NoticesADeadProcessWithFewPollsOverALongTime) {
  const pid_t child = fork_peer();
  const auto fabric = make();
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  std::size_t losses = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  while (std::chrono::steady_clock::now() < end) {  // several ticks of the coarse clock
  }
  for (std::uint32_t i = 0; i < ShmFabric::kPollsPerLook; ++i) {
    fabric->poll();
    losses += fabric->take_losses().size();
  }
  EXPECT_EQ(losses, 1U);
}

TEST_F(ShmFabricTest, NoticesAPeerThatWasGoneBeforeItStarted) {
  peer_socket_ = UniqueFd();
  const auto fabric = make();
  sleeper_->sleep(kNeverByItself);
  fabric->poll();
  EXPECT_EQ(fabric->take_losses().size(), 1U);
}

TEST_F(ShmFabricTest, RingsOnlySleepersAndOncePerSleep) {
  const auto fabric = make();
  post(*fabric);
  EXPECT_EQ(rings(), 0U);
  set_asleep(1);
  fabric->flush();
  EXPECT_EQ(rings(), 0U) << "nothing was posted";
  post(*fabric);
  post(*fabric);
  EXPECT_EQ(rings(), 1U);
  set_asleep(2);
  post(*fabric);
  EXPECT_EQ(rings(), 0U);
  set_asleep(3);
  post(*fabric);
  EXPECT_EQ(rings(), 1U);
  EXPECT_EQ(fabric->counters().doorbells, 2U);
}

// F-fence: nothing keeps a process from writing its own row but that nobody looks there any more.
TEST_F(ShmFabricTest, AZombieProcessWritesOnAndTheCopyAloneKeepsItOut) {
  auto* const word = reinterpret_cast<std::atomic<std::uint64_t>*>(peer_row_.data() + 64);
  const pid_t zombie = ::fork();
  if (zombie == 0) {
    own_socket_ = UniqueFd();
    for (;;) word->fetch_add(1, std::memory_order_release);
  }
  peer_socket_ = UniqueFd();
  const auto fabric = make();
  const auto* const seen =
      reinterpret_cast<const std::atomic<std::uint64_t>*>(fabric->row(kShmPeer) + 64);
  while (seen->load(std::memory_order_acquire) == 0) fabric->poll();
  fabric->fence(kShmPeer);
  const std::uint64_t last = seen->load(std::memory_order_acquire);
  const std::uint64_t written = word->load(std::memory_order_acquire);
  while (word->load(std::memory_order_acquire) < written + 1000) fabric->poll();
  EXPECT_EQ(seen->load(std::memory_order_acquire), last);
  ASSERT_EQ(::kill(zombie, SIGKILL), 0);
  EXPECT_EQ(::waitpid(zombie, nullptr, 0), zombie);
}

TEST_F(ShmFabricTest, DoesNotRingAPeerItHasFenced) {
  const auto fabric = make();
  fabric->fence(kShmPeer);
  set_asleep(1);
  post(*fabric);
  EXPECT_EQ(rings(), 0U);
  char byte = 0;
  EXPECT_EQ(::recv(peer_socket_.get(), &byte, 1, MSG_DONTWAIT), 0) << "the peer sees a hang-up";
}

TEST_F(ShmFabricTest, LeavesNothingBehindOnTheSleeper) {
  auto fabric = make();
  peer_socket_ = UniqueFd();
  fabric.reset();
  sleeper_->wake();
  sleeper_->sleep(kNeverByItself);
  sleeper_->sleep(std::chrono::milliseconds(1));
}

TEST_F(ShmFabricTest, RingsThePeerAttachedNextForTheSleepThatTheOneBeforeWasRungFor) {
  const auto fabric = make();
  set_asleep(1);
  post(*fabric);
  ASSERT_EQ(rings(), 1U);
  fabric->publish(kShmPeer, 64, {});
  fabric->detach(kShmPeer);
  EXPECT_TRUE(fabric->drained()) << "posts go with the peer";
  connect();
  ASSERT_TRUE(fabric->attach(connection()));
  fabric->flush();
  EXPECT_EQ(rings(), 0U) << "nothing was posted to this one";
  post(*fabric);
  EXPECT_EQ(rings(), 1U);
  EXPECT_EQ(fabric->counters().doorbells, 2U) << "counted on over the detach";
  EXPECT_EQ(fabric->counters().writes, 2U);
}

TEST_F(ShmFabricTest, RefusesASecondPeerInOneSlotAndHangsUpOnIt) {
  const auto fabric = make();
  const UniqueFd first = std::move(peer_socket_);
  connect();
  const Result<void> again = fabric->attach(connection());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::invalid_argument);
  char byte = 0;
  EXPECT_EQ(::recv(peer_socket_.get(), &byte, 1, MSG_DONTWAIT), 0);
  EXPECT_LT(::recv(first.get(), &byte, 1, MSG_DONTWAIT), 0) << "the first stays";
  set_asleep(1);
  post(*fabric);
  EXPECT_EQ(rings(), 1U);
}

TEST_F(ShmFabricTest, RefusesABadRowSaysWhoseAndKeepsTheSlotFree) {
  const auto fabric = ShmFabric::create(*sleeper_, own_row_).value();
  for (const std::size_t bytes : {2 * kShmRowBytes, std::size_t{8}}) {
    ShmConnection bad = connection();
    bad.row_bytes = bytes;
    const Result<void> attached = fabric->attach(std::move(bad));
    ASSERT_FALSE(attached);
    EXPECT_EQ(attached.error().code, ErrorCode::mismatch);
    EXPECT_EQ(attached.error().message.find("slot 1"), 0U) << attached.error().message;
    char byte = 0;
    EXPECT_EQ(::recv(peer_socket_.get(), &byte, 1, MSG_DONTWAIT), 0);
    connect();
  }
  EXPECT_TRUE(fabric->attach(connection()));
}

TEST_F(ShmFabricTest, ForgetsAHangUpOfADetachedPeer) {
  const auto fabric = make();
  peer_socket_ = UniqueFd();
  sleeper_->sleep(kNeverByItself);  // its hang-up was noticed
  fabric->poll();                   // and its loss found, but not taken
  fabric->detach(kShmPeer);
  fabric->detach(kShmPeer);
  fabric->detach(Slot{77});
  connect();
  ASSERT_TRUE(fabric->attach(connection()));
  fabric->poll();
  EXPECT_TRUE(fabric->take_losses().empty());
  peer_socket_ = UniqueFd();
  std::vector<PeerLoss> losses;
  while (losses.empty()) {
    sleeper_->sleep(kNeverByItself);
    fabric->poll();
    losses = fabric->take_losses();
  }
  EXPECT_EQ(losses.size(), 1U);
}

TEST_F(ShmFabricTest, SurvivesAHangUpHandledAfterTheDetach) {
  const auto fabric = make();
  peer_socket_ = UniqueFd();
  fabric->detach(kShmPeer);
  for (int i = 0; i < 5; ++i) sleeper_->sleep(std::chrono::nanoseconds(0));
  fabric->poll();
  EXPECT_TRUE(fabric->take_losses().empty());
}

TEST_F(ShmFabricTest, RefusesAnOwnRowThatPeersCannotMap) {
  const Segment mapped =
      Segment::map_peer(duplicate(own_row_.read_only_fd().get()), kShmRowBytes).value();
  const auto fabric = ShmFabric::create(*sleeper_, mapped);
  ASSERT_FALSE(fabric);
  EXPECT_EQ(fabric.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace tutti
