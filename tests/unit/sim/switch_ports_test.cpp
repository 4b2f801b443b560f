#include "sim/switch_ports.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tutti::sim {
namespace {

using Arrivals = std::vector<std::uint64_t>;

// 1 byte takes 8 ns; a frame has 100 bytes of payload and 25 more.
constexpr PortOptions kLinks{.megabits = 1'000, .frame_bytes = 100, .frame_extra = 25};
constexpr PortOptions kCopying{
    .megabits = 1'000, .frame_bytes = 100, .frame_extra = 25, .multicast = true};
constexpr std::uint64_t kFrameNs = 1'000;
constexpr std::uint64_t kDelayNs = 5'000;

// By receiver, in the order in which they came.
std::vector<Arrivals> all_arrivals(SwitchPorts& ports, std::size_t nodes) {
  std::vector<Arrivals> out(nodes);
  while (const auto arrival = ports.next_arrival(SwitchPorts::kNever - 1)) {
    out[arrival->to].push_back(arrival->at_ns);
  }
  return out;
}

TEST(SwitchPorts, AFrameIsOnTwoLinksOneAfterTheOther) {
  SwitchPorts ports(2, kLinks, kDelayNs);
  ports.send(7, {.from = 0, .to = 1, .bytes = 100});
  EXPECT_EQ(all_arrivals(ports, 2)[1], Arrivals{7 + kFrameNs + kDelayNs + kFrameNs});
}

TEST(SwitchPorts, FramesOfAPostUseBothLinksAtOnce) {
  SwitchPorts ports(2, kLinks, kDelayNs);
  ports.send(0, {.from = 0, .to = 1, .bytes = 1'000});
  EXPECT_EQ(all_arrivals(ports, 2)[1], Arrivals{10 * kFrameNs + kDelayNs + kFrameNs});
}

TEST(SwitchPorts, ASenderServesItsQueuesInTurn) {
  SwitchPorts ports(3, kLinks, kDelayNs);
  ports.send(0, {.from = 0, .to = 1, .bytes = 1'000});
  ports.send(0, {.from = 0, .to = 2, .bytes = 100});
  const std::vector<Arrivals> at = all_arrivals(ports, 3);
  EXPECT_EQ(at[2], Arrivals{2 * kFrameNs + kDelayNs + kFrameNs});
  EXPECT_EQ(at[1], Arrivals{11 * kFrameNs + kDelayNs + kFrameNs});
}

TEST(SwitchPorts, FramesOfTwoSendersShareTheLinkToAReceiver) {
  SwitchPorts ports(3, kLinks, kDelayNs);
  ports.send(0, {.from = 0, .to = 2, .bytes = 1'000});
  ports.send(0, {.from = 1, .to = 2, .bytes = 100});
  EXPECT_EQ(all_arrivals(ports, 3)[2],
            (Arrivals{kFrameNs + kDelayNs + 2 * kFrameNs, kFrameNs + kDelayNs + 11 * kFrameNs}));
}

TEST(SwitchPorts, ASwitchThatCopiesGetsDataOnceAndWordsForEach) {
  SwitchPorts ports(3, kCopying, kDelayNs);
  for (const std::uint32_t to : {1U, 2U}) {
    ports.send(0, {.from = 0, .to = to, .offset = 64, .bytes = 100, .data = true});
    ports.send(0, {.from = 0, .to = to, .offset = 8, .bytes = 100});
  }
  const std::vector<Arrivals> at = all_arrivals(ports, 3);
  EXPECT_EQ(at[1], (Arrivals{2 * kFrameNs + kDelayNs, 3 * kFrameNs + kDelayNs}));
  EXPECT_EQ(at[2], (Arrivals{2 * kFrameNs + kDelayNs, 4 * kFrameNs + kDelayNs}));
}

// A batch that wraps around its ring.
TEST(SwitchPorts, CopiesTwoPiecesOfData) {
  SwitchPorts ports(3, kCopying, kDelayNs);
  for (const std::uint32_t to : {1U, 2U}) {
    ports.send(0, {.from = 0, .to = to, .offset = 640, .bytes = 100, .data = true});
    ports.send(0, {.from = 0, .to = to, .offset = 64, .bytes = 100, .data = true});
  }
  const Arrivals both{2 * kFrameNs + kDelayNs, 3 * kFrameNs + kDelayNs};
  EXPECT_EQ(all_arrivals(ports, 3)[2], both);
}

TEST(SwitchPorts, ACopyDoesNotOvertakeWhatItsReceiverIsSentAlready) {
  SwitchPorts ports(3, kCopying, kDelayNs);
  ports.send(0, {.from = 0, .to = 1, .offset = 64, .bytes = 100, .data = true});
  ports.send(0, {.from = 0, .to = 2, .offset = 8, .bytes = 1'000});
  ports.send(0, {.from = 0, .to = 2, .offset = 64, .bytes = 100, .data = true});
  EXPECT_EQ(all_arrivals(ports, 3)[2],
            (Arrivals{12 * kFrameNs + kDelayNs, 13 * kFrameNs + kDelayNs}));
}

TEST(SwitchPorts, WhatIsWrittenAgainLaterIsNotACopy) {
  SwitchPorts ports(3, kCopying, kDelayNs);
  ports.send(0, {.from = 0, .to = 1, .offset = 64, .bytes = 100, .data = true});
  ports.send(1, {.from = 0, .to = 2, .offset = 64, .bytes = 100, .data = true});
  EXPECT_EQ(all_arrivals(ports, 3)[2], Arrivals{2 * kFrameNs + kDelayNs + kFrameNs});
}

TEST(SwitchPorts, TellsOfAPostOnceItsLastFrameIsAtTheSwitch) {
  SwitchPorts ports(2, kLinks, kDelayNs);
  EXPECT_EQ(ports.next_ns(), SwitchPorts::kNever);
  ports.send(0, {.from = 0, .to = 1, .bytes = 200});
  EXPECT_FALSE(ports.next_arrival(2 * kFrameNs + kDelayNs - 1));
  const auto arrival = ports.next_arrival(2 * kFrameNs + kDelayNs);
  ASSERT_TRUE(arrival);
  EXPECT_EQ(arrival->at_ns, 3 * kFrameNs + kDelayNs);
}

}  // namespace
}  // namespace tutti::sim
