#include "fabric/segment.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>

namespace tutti {
namespace {

constexpr std::size_t kSegmentBytes = 8192;

UniqueFd peer_fd(const Segment& segment) {
  return UniqueFd(::fcntl(segment.read_only_fd().get(), F_DUPFD_CLOEXEC, 0));
}

UniqueFd memory_file(std::size_t bytes, int seals) {
  UniqueFd fd(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
  EXPECT_EQ(::fcntl(fd.get(), F_ADD_SEALS, seals), 0);
  return fd;
}

TEST(Segment, StartsZeroedAndWholePagesLarge) {
  const Segment own = Segment::create(kSegmentBytes - 100).value();
  EXPECT_EQ(own.size(), kSegmentBytes);
  for (std::size_t i = 0; i < own.size(); ++i) ASSERT_EQ(own.data()[i], std::byte{0});
}

TEST(Segment, ShowsAPeerWhatItsOwnerWrites) {
  const Segment own = Segment::create(kSegmentBytes).value();
  const Segment peer = Segment::map_peer(peer_fd(own), kSegmentBytes).value();
  ASSERT_NE(own.data(), peer.data());
  own.data()[kSegmentBytes - 1] = std::byte{5};
  EXPECT_EQ(peer.data()[kSegmentBytes - 1], std::byte{5});
  EXPECT_FALSE(peer.read_only_fd());
}

TEST(Segment, RefusesImpossibleSizes) {
  EXPECT_EQ(Segment::create(0).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(Segment::create(~std::size_t{0}).error().code, ErrorCode::invalid_argument);
  const Segment own = Segment::create(kSegmentBytes).value();
  EXPECT_EQ(Segment::map_peer(peer_fd(own), 0).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(Segment::map_peer(peer_fd(own), ~std::size_t{0}).error().code,
            ErrorCode::invalid_argument);
}

TEST(Segment, RefusesAPeersFileThatCouldShrink) {
  const Result<Segment> unsealed = Segment::map_peer(memory_file(kSegmentBytes, 0), kSegmentBytes);
  ASSERT_FALSE(unsealed);
  EXPECT_EQ(unsealed.error().code, ErrorCode::mismatch);
  const Result<Segment> grow_only =
      Segment::map_peer(memory_file(kSegmentBytes, F_SEAL_GROW), kSegmentBytes);
  EXPECT_FALSE(grow_only);
  EXPECT_TRUE(Segment::map_peer(memory_file(kSegmentBytes, F_SEAL_SHRINK), kSegmentBytes));
}

TEST(Segment, RefusesWhatIsNoMemoryFile) {
  EXPECT_EQ(Segment::map_peer(UniqueFd(::open("/dev/zero", O_RDONLY)), kSegmentBytes).error().code,
            ErrorCode::system);
  EXPECT_EQ(Segment::map_peer(UniqueFd(), kSegmentBytes).error().code, ErrorCode::system);
}

TEST(Segment, RefusesAPeersFileThatIsTooSmall) {
  const Segment own = Segment::create(kSegmentBytes).value();
  const Result<Segment> peer = Segment::map_peer(peer_fd(own), kSegmentBytes + 1);
  ASSERT_FALSE(peer);
  EXPECT_EQ(peer.error().code, ErrorCode::mismatch);
  EXPECT_NE(peer.error().message.find("8192"), std::string::npos) << peer.error().message;
}

TEST(Segment, CannotBeMappedWritableBesidesByItsOwner) {
  const Segment own = Segment::create(kSegmentBytes).value();
  const int fd = own.read_only_fd().get();
  EXPECT_EQ(::mmap(nullptr, kSegmentBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
  // Nor through a descriptor opened anew for writing, nor by making a read-only mapping writable.
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  const UniqueFd writable(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (writable) {
    EXPECT_EQ(::mmap(nullptr, kSegmentBytes, PROT_READ | PROT_WRITE, MAP_SHARED, writable.get(), 0),
              MAP_FAILED);
    EXPECT_LT(::write(writable.get(), "x", 1), 0);
    EXPECT_NE(::ftruncate(writable.get(), 0), 0);
  }
  const Segment peer = Segment::map_peer(peer_fd(own), kSegmentBytes).value();
  EXPECT_NE(::mprotect(peer.data(), kSegmentBytes, PROT_READ | PROT_WRITE), 0);
}

TEST(Segment, OutlivesItsOwnerAtAPeer) {
  auto own = std::make_unique<Segment>(Segment::create(kSegmentBytes).value());
  const Segment peer = Segment::map_peer(peer_fd(*own), kSegmentBytes).value();
  own->data()[10] = std::byte{7};
  own.reset();
  EXPECT_EQ(peer.data()[10], std::byte{7});
}

TEST(Segment, FrozenShowsTheSameForEverAtTheSameAddress) {
  const Segment own = Segment::create(kSegmentBytes).value();
  Segment peer = Segment::map_peer(peer_fd(own), kSegmentBytes).value();
  const std::byte* address = peer.data();
  own.data()[0] = std::byte{1};
  own.data()[kSegmentBytes - 1] = std::byte{2};
  ASSERT_TRUE(peer.freeze());
  own.data()[0] = std::byte{3};
  own.data()[kSegmentBytes - 1] = std::byte{4};
  EXPECT_EQ(peer.data(), address);
  EXPECT_EQ(address[0], std::byte{1});
  EXPECT_EQ(address[kSegmentBytes - 1], std::byte{2});
  EXPECT_TRUE(peer.freeze()) << "twice does no harm";
  EXPECT_EQ(address[0], std::byte{1});
}

TEST(Segment, FrozenWhileItsOwnerWritesHasNoGuardBeforeItsData) {
  constexpr std::size_t kWords = 512;
  const Segment own = Segment::create(kWords * 8).value();
  const auto word = [](const Segment& segment, std::size_t i) {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(segment.data()) + i;
  };
  std::atomic<bool> stop = false;
  std::thread owner([&] {  // the guard, word 0, follows the data
    for (std::uint64_t round = 1; !stop; ++round) {
      for (std::size_t i = kWords - 1;; --i) {
        word(own, i)->store(round, std::memory_order_release);
        if (i == 0) break;
      }
    }
  });
  for (int i = 0; i < 100; ++i) {
    Segment peer = Segment::map_peer(peer_fd(own), kWords * 8).value();
    ASSERT_TRUE(peer.freeze());
    const std::uint64_t guard = word(peer, 0)->load(std::memory_order_relaxed);
    for (std::size_t j = 1; j < kWords; ++j) {
      EXPECT_GE(word(peer, j)->load(std::memory_order_relaxed), guard);
    }
  }
  stop = true;
  owner.join();
}

TEST(Segment, MovesItsMemoryAlong) {
  Segment first = Segment::create(kSegmentBytes).value();
  first.data()[0] = std::byte{1};
  const std::byte* address = first.data();
  Segment second(std::move(first));
  EXPECT_EQ(second.data(), address);
  Segment third = Segment::create(kSegmentBytes).value();
  third = std::move(second);
  EXPECT_EQ(third.data(), address);
  EXPECT_EQ(third.data()[0], std::byte{1});
  EXPECT_TRUE(third.read_only_fd());
}

}  // namespace
}  // namespace tutti
