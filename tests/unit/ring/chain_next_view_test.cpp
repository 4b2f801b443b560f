/// The member before goes two views on while its lane is read: CN3, LW3.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "ring/lcr/frame.hpp"
#include "sst/lane_words.hpp"
#include "support/landing_memory.hpp"
#include "unit/multicast/forged_member.hpp"
#include "unit/ring/forged_chain.hpp"

namespace tutti::testing {
namespace {

constexpr std::uint64_t kView = 3;
constexpr std::uint32_t kMessageBytes = 24;

// Of three members the first has put two frames into its lane: each has a record of the last one.
// The second one takes them. Before one of its loads the first goes into view 5, whose lane is the
// same, and puts another frame there.
class LaneOfTwoViewsOn final : private BetweenLoads {
 public:
  explicit LaneOfTwoViewsOn(std::uint64_t at_load) : at_load_(at_load) {
    for (std::uint32_t m = 0; m < 3; ++m) table_.epoch(m, kView);
    std::uint32_t at = 0;
    for (std::uint32_t record = 0; record < 2; ++record) at = put(at, record, 'a');
    store_cell(table_.control(0) + words_.lane(), at);
    GroupShape shape = table_.shape(1);
    shape.view = kView;
    SendRing ring(shape.own_ring, shape.ring_granules, shape.window_records);
    Bounds bounds(shape.senders());
    MulticastCounters counters;
    Multicast<LandingMemory> multicast(shape, {this, Slot{1}}, &ring, bounds, counters);
    Outbox out;
    for (int i = 0; i < 3; ++i) multicast.step(out);
    accused = multicast.violation().has_value();
    received = table_.received(1, 2);
  }

  /// All records that the second member says it has are those of its view.
  [[nodiscard]] bool are_whole() {
    const std::byte* at = table_.replica(1, 2).data();
    for (std::uint64_t record = 0; record < received; ++record) {
      const RecordHeader header = unpack_header(NativeMemory::load(at));
      if (header.length_and_flags != kMessageBytes || at[kGranule] != std::byte{'a'}) return false;
      at += record_granules(kMessageBytes) * kGranule;
    }
    return true;
  }
  [[nodiscard]] bool over() const { return loads_ <= at_load_; }
  bool accused = false;
  std::uint64_t received = 0;

 private:
  // A frame with the record of that number; returns where the next one begins.
  std::uint32_t put(std::uint32_t at, std::uint32_t record, char text) {
    const Frame frame{.sender = SenderIndex{2},
                      .granules = record_granules(kMessageBytes),
                      .with_bytes = true,
                      .begin = std::uint64_t{record} * record_granules(kMessageBytes),
                      .sent = pack(SentState{.records = record + 1, .rounds = record + 1})};
    std::byte* const lane = table_.lane(0).data();
    for (const std::uint64_t header : pack_frame(frame)) store_cell(lane + at++ * kGranule, header);
    store_cell(lane + at * kGranule, pack_header({kMessageBytes, 0}));
    std::memset(lane + (at + 1) * kGranule, text, kMessageBytes);
    return at + record_granules(kMessageBytes);
  }
  void before_load(Slot /*reader*/) override {
    if (loads_++ != at_load_) return;
    table_.epoch(0, 0);
    store_cell(table_.control(0) + words_.lane(), 0);
    table_.epoch(0, kView + 2);
    // Here nulls came first, and the frames are of another length.
    store_cell(table_.control(0) + words_.lane(), put(kFrameHeader, 7, 'b'));
    const Frame nulls{.sender = SenderIndex{2}, .begin = 9, .sent = pack(SentState{.rounds = 40})};
    std::uint32_t at = 0;
    for (const std::uint64_t header : pack_frame(nulls)) {
      store_cell(table_.lane(0).data() + at++ * kGranule, header);
    }
  }

  const std::uint64_t at_load_;
  std::uint64_t loads_ = 0;
  ForgedTable table_{ForgedChain::chain()};
  const LaneWords words_{3};
};

TEST(ChainNextView, NoFrameOfALaterViewCountsWheneverTheMemberBeforeMovesOn) {
  std::uint64_t at = 0;
  std::uint64_t most = 0;
  for (;; ++at) {
    LaneOfTwoViewsOn world(at);
    ASSERT_FALSE(world.accused) << "it moved on before load " << at;
    ASSERT_LE(world.received, 2U) << "it moved on before load " << at;
    ASSERT_TRUE(world.are_whole()) << "it moved on before load " << at;
    most = std::max(most, world.received);
    if (world.over()) break;
  }
  EXPECT_EQ(most, 2U) << "nothing is lost if it moves on late enough";
  EXPECT_GT(at, 20U) << "so many loads there were to come between";
}

}  // namespace
}  // namespace tutti::testing
