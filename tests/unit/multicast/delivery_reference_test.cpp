/// Delivery against a dumb reference: random rings, seen in random portions.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "base/prng.hpp"
#include "unit/multicast/forged_delivery.hpp"

namespace tutti::testing {
namespace {

struct Planned {
  std::uint64_t round;
  std::uint32_t sender;
  std::uint32_t bytes;
  bool abandoned;
  const std::byte* data = nullptr;  // once written
};

/// A sender's records, as many as fit the ring once, with nulls here and there; sizes stay the same
/// for a while, so that blocks of them are delivered at once, and then change.
std::vector<Planned> plan(std::uint32_t sender, std::uint64_t first_round, Prng& random) {
  std::vector<Planned> records;
  std::uint64_t round = first_round;
  auto bytes = static_cast<std::uint32_t>(random.below(129));
  const std::uint64_t null_one_in = 1 + random.below(30);
  const std::uint64_t change_one_in = 1 + random.below(30);
  const std::uint64_t abandon_one_in = 1 + random.below(60);
  for (std::uint64_t i = random.below(300); i > 0; --i) {
    if (random.one_in(null_one_in)) round += random.below(6);
    if (random.one_in(change_one_in)) bytes = static_cast<std::uint32_t>(random.below(129));
    records.push_back({round++, sender, bytes, random.one_in(abandon_one_in)});
  }
  return records;
}

/// What a run is compared with: where delivery stands, one position at a time.
struct Reference {
  std::vector<std::vector<Planned>> plans;  // by sender
  std::vector<std::size_t> next;            // by sender: record
  std::uint64_t position = 0;               // round * senders + sender
  std::vector<Planned> delivered;

  // Goes on as far as these bounds allow.
  void advance(const std::vector<SenderBounds>& bounds) {
    for (;; ++position) {
      const std::uint64_t round = position / plans.size();
      const std::uint64_t s = position % plans.size();
      const bool record = next[s] < bounds[s].records && plans[s][next[s]].round == round;
      if (round >= (record ? bounds[s].stable : bounds[s].known)) return;
      if (!record) continue;
      const Planned& one = plans[s][next[s]++];
      if (!one.abandoned) delivered.push_back(one);
    }
  }
};

void expect_same(const std::vector<Message>& messages, const std::vector<Planned>& reference) {
  ASSERT_EQ(messages.size(), reference.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    ASSERT_EQ(messages[i].seq.value, i);
    ASSERT_EQ(messages[i].sender.value, reference[i].sender);
    ASSERT_EQ(messages[i].size, reference[i].bytes);
    ASSERT_EQ(messages[i].data, reference[i].data);
  }
}

void compare(std::uint64_t seed) {
  Prng random(seed);
  const auto senders = static_cast<std::uint32_t>(1 + random.below(4));
  ForgedOptions options{.members = senders, .sender_ranks = {}, .ring_granules = 1024};
  for (std::uint32_t s = 0; s < senders; ++s) options.sender_ranks.push_back(s);
  ForgedDelivery group(options);
  Reference reference{.plans = {}, .next = std::vector<std::size_t>(senders), .delivered = {}};
  const std::uint64_t start = random.one_in(4) ? (1ULL << 32) - 20 : 0;
  for (std::uint32_t s = 0; s < senders; ++s) {
    reference.plans.push_back(plan(s, start, random));
    group.known(s, start);
  }
  reference.position = start * senders;
  group.run();

  std::vector<SenderBounds> bounds(senders, SenderBounds{0, start, start});
  std::vector<std::uint32_t> granules(senders);  // written and not delivered
  for (int step = 0; step < 400; ++step) {
    for (std::uint32_t s = 0; s < senders; ++s) {
      std::vector<Planned>& records = reference.plans[s];
      for (std::uint64_t n = random.below(40); n > 0 && bounds[s].records < records.size(); --n) {
        Planned& one = records[bounds[s].records];
        std::uint32_t live = 0;
        for (std::size_t r = reference.next[s]; r <= bounds[s].records; ++r) {
          live += record_granules(records[r].bytes);
        }
        if (live + record_granules(128) > options.ring_granules / 2) break;  // with any pad
        one.data = group.rings[s].put(one.bytes, one.round, one.abandoned ? kAbandonedBit : 0);
        ++bounds[s].records;
        bounds[s].known = one.round + 1;
      }
      if (bounds[s].records == records.size()) bounds[s].known += random.below(3);
      bounds[s].stable += random.below(bounds[s].known - bounds[s].stable + 1);
      group.bounds.set(SenderIndex{s}, bounds[s]);
    }
    while (group.run(1 + random.below(3))) {
    }
    reference.advance(bounds);
    ASSERT_EQ(group.delivery->position(), reference.position);
    ASSERT_EQ(group.messages.size(), reference.delivered.size());
  }
  ASSERT_EQ(group.delivery->corrupt(), kNobody);
  expect_same(group.messages, reference.delivered);
}

TEST(DeliveryReference, AgreesOnSequenceAndPosition) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    compare(seed);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tutti::testing
