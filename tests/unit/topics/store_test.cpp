/// \file store_test.cpp
/// The samples that a participant keeps: limits always hold, readers get each sample once or count
/// it as lost, and a loan stays readable. Random histories are compared with a plain list.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <random>
#include <vector>

#include "dds/sample_store.hpp"

namespace tutti::dds {
namespace {

SampleStore::Arrival arrival(const std::vector<std::byte>& payload, std::uint64_t position,
                             std::uint64_t key = 0) {
  SampleStore::Arrival out;
  out.info.position.value = position;
  out.info.source_timestamp = position;
  out.key = key;
  out.payload = payload;
  return out;
}

bool add(SampleStore& store, std::uint64_t position, std::uint64_t key = 0,
         std::size_t size = sizeof(std::uint64_t)) {
  std::vector<std::byte> payload(size);
  if (size >= sizeof position) std::memcpy(payload.data(), &position, sizeof position);
  return store.add(arrival(payload, position, key));
}

std::vector<std::uint64_t> positions(const LoanedBytes& taken) {
  std::vector<std::uint64_t> out;
  for (const auto& sample : taken) out.push_back(sample.info.position.value);
  return out;
}

std::vector<std::uint64_t> take(SampleStore& store, SampleStore::ReaderId reader,
                                std::size_t max = 1000) {
  LoanedBytes taken;
  store.take(reader, max, taken);
  return positions(taken);
}

using Positions = std::vector<std::uint64_t>;

// Compared with the least place of all readers.
TEST(SampleStore, WhatAllReadersHavePassedGoes) {
  std::mt19937 random(7);
  const auto below = [&](std::uint64_t end) { return end == 0 ? 0 : random() % end; };
  SampleStore store({.keeps_taken = false});
  std::map<SampleStore::ReaderId, std::uint64_t> places;  // of the next sample, from 1
  std::uint64_t next = 1;
  std::uint64_t first = 1;  // that is kept
  const auto reader_at = [&](std::uint64_t number) {
    return std::next(places.begin(), static_cast<std::ptrdiff_t>(number));
  };
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t what = below(100);
    if (what < 30) {
      ASSERT_TRUE(add(store, next++));
      continue;
    }
    if (what < 35 || places.empty()) {
      const std::uint64_t place = first + below(next - first + 1);
      places[store.open(place)] = place;
      continue;
    }
    const auto reader = reader_at(below(places.size()));
    if (what < 39) {
      store.close(reader->first);
      places.erase(reader);
    } else if (what < 42) {
      reader->second = std::max(reader->second, next - below(3));
      reader->second = std::min(reader->second, next);
      store.move_to(reader->first, reader->second);
    } else {
      const std::uint64_t count = std::min(below(4), next - reader->second);
      EXPECT_EQ(take(store, reader->first, count).size(), count);
      reader->second += count;
    }
    std::uint64_t least = next;
    for (const auto& [id, place] : places) least = std::min(least, place);
    first = std::max(first, least);
    ASSERT_EQ(store.samples(), next - first) << step;
  }
}

TEST(SampleStore, EachReaderHasItsOwnPlace) {
  SampleStore store({});
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_TRUE(add(store, i));
  const auto first = store.open(store.begin());
  const auto second = store.open(store.ordinal_at(3));
  EXPECT_EQ(take(store, first, 2), (Positions{0, 1}));
  EXPECT_EQ(take(store, second), (Positions{3, 4}));
  EXPECT_EQ(take(store, first), (Positions{2, 3, 4}));
  EXPECT_EQ(take(store, first), (Positions{}));
  ASSERT_TRUE(add(store, 9));
  EXPECT_EQ(take(store, second), (Positions{9}));
}

std::uint64_t lost_in(const LoanedBytes& taken) {
  std::uint64_t lost = 0;
  for (const auto& sample : taken) lost += sample.info.lost_before;
  return lost;
}

// What is missing behind the first sample is counted with the next one, and nowhere else.
TEST(SampleStore, AReaderFromAPositionCountsEachMissingSampleOnce) {
  SampleStore store({.depth = 1, .max_bytes = 100, .keyed = true});
  ASSERT_TRUE(add(store, 5, 1));
  ASSERT_TRUE(add(store, 7, 2));
  ASSERT_TRUE(add(store, 8, 3, 101));  // too large
  ASSERT_TRUE(add(store, 9, 2));       // evicts 7
  LoanedBytes taken;
  const auto reader = store.open(store.ordinal_from(5));
  EXPECT_EQ(store.front_position(), 0U);
  store.take(reader, 1, taken);
  EXPECT_EQ(lost_in(taken), 0U);
  store.take(reader, 1, taken);
  EXPECT_EQ(positions(taken), (Positions{5, 9}));
  EXPECT_EQ(lost_in(taken), 2U);
}

// Of a position that was not delivered here yet. What was evicted behind it counts.
TEST(SampleStore, AReaderIsGivenNothingBeforeItsPosition) {
  SampleStore store({.depth = 2});
  ASSERT_TRUE(add(store, 3));
  const auto reader = store.open(store.ordinal_from(6), 6);
  const auto other = store.open(store.ordinal_from(5), 5);
  ASSERT_TRUE(add(store, 4));
  ASSERT_TRUE(add(store, 5));
  EXPECT_EQ(take(store, reader), Positions{});
  EXPECT_EQ(take(store, other), Positions{5});
  for (const std::uint64_t position : {6, 7, 8}) ASSERT_TRUE(add(store, position));
  LoanedBytes taken;
  store.take(reader, 10, taken);
  EXPECT_EQ(positions(taken), (Positions{7, 8}));
  EXPECT_EQ(lost_in(taken), 1U);
}

TEST(SampleStore, SaysFromWhereOnItKnowsWhatIsMissing) {
  SampleStore store({.depth = 1});
  ASSERT_TRUE(add(store, 3));
  ASSERT_TRUE(add(store, 6));
  EXPECT_EQ(store.front_position(), 4U);
  EXPECT_EQ(store.ordinal_from(0), store.ordinal_at(6));
}

// 1 to 101 of the keys a, b, c and b again: entries of b before that of c are forgotten.
void fill_with_a_gap(SampleStore& store) {
  add(store, 1, 1);
  for (std::uint64_t position = 2; position <= 40; ++position) add(store, position, 2);
  add(store, 41, 3);
  for (std::uint64_t position = 42; position <= 101; ++position) add(store, position, 2);
}

TEST(SampleStore, ForgetsNoLossWhenTheFirstOneGoes) {
  SampleStore store({.depth = 1, .keyed = true});
  fill_with_a_gap(store);
  add(store, 102, 1);
  EXPECT_EQ(store.front_position(), 41U);  // so a reader from 10 on has a loss at its beginning
}

TEST(SampleStore, CountsNoLossBeforeTheReadersPosition) {
  SampleStore store({.depth = 1, .keyed = true});
  fill_with_a_gap(store);
  const SampleStore::ReaderId reader = store.open(store.ordinal_from(41));
  LoanedBytes taken;
  store.take(reader, 1, taken);
  EXPECT_EQ(positions(taken), Positions{41});
  EXPECT_EQ((*taken.begin()).info.lost_before, 0U);
}

// Those that are larger than all that may be kept leave entries, which are forgotten in turn.
TEST(SampleStore, CountsAllThatWereTooLarge) {
  SampleStore store({.max_bytes = 100});
  add(store, 1);
  for (std::uint64_t position = 2; position <= 200; ++position) add(store, position, 0, 200);
  add(store, 201);
  const SampleStore::ReaderId reader = store.open(store.ordinal_from(10));
  LoanedBytes taken;
  store.take(reader, 1, taken);
  EXPECT_EQ(positions(taken), Positions{201});
  EXPECT_GE((*taken.begin()).info.lost_before, 191U);
}

// SS4. What was added before it is here or was evicted by its limits; of what is taken back nothing
// counts, nor does what a log has there.
TEST(SampleStore, WhatIsTakenBackWasNeverThere) {
  SampleStore store({.max_samples = 3});
  for (std::uint64_t position = 1; position <= 4; ++position) ASSERT_TRUE(add(store, position));
  const auto reader = store.open(0);
  const std::uint64_t first = store.end();
  for (std::uint64_t position = 5; position <= 9; ++position) ASSERT_TRUE(add(store, position));
  store.take_back(first, 5);
  EXPECT_EQ(store.low_position(), 5U);
  EXPECT_EQ(take(store, reader), Positions{});
  EXPECT_EQ(store.samples(), 0U);
}

TEST(SampleStore, ALoanOutlivesWhatWasEvictedAndTheStore) {
  auto store = std::make_unique<SampleStore>(StoreLimits{.depth = 1});
  ASSERT_TRUE(add(*store, 7));
  LoanedBytes loan;
  store->take(store->open(store->begin()), 1, loan);
  for (std::uint64_t i = 100; i < 20'000; ++i) ASSERT_TRUE(add(*store, i));
  store.reset();
  std::uint64_t value = 0;
  std::memcpy(&value, loan[0].data, sizeof value);
  EXPECT_EQ(value, 7U);
}

TEST(SampleStore, KeepsTheNewestOfEachKeyAndCountsWhatAReaderMissed) {
  SampleStore store({.depth = 2, .keyed = true});
  const auto reader = store.open(store.begin());
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(add(store, i, i == 3 ? 1 : 2));
  LoanedBytes taken;
  store.take(reader, 10, taken);
  EXPECT_EQ(positions(taken), (Positions{3, 8, 9}));
  EXPECT_EQ(taken[0].info.lost_before, 3U);
  EXPECT_EQ(taken[1].info.lost_before, 4U);
  EXPECT_EQ(store.samples(), 3U);
  EXPECT_EQ(store.low_position(), 8U);
  EXPECT_EQ(store.oldest_position(), 3U);
  EXPECT_EQ(store.end_position(), 10U);
}

TEST(SampleStore, WaitsForTheSlowestReaderAndThenGoesOn) {
  SampleStore store({.max_samples = 3, .waits_for_readers = true, .keeps_taken = false});
  const auto slow = store.open(store.end());
  const auto fast = store.open(store.end());
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(add(store, i));
  EXPECT_FALSE(add(store, 3));
  EXPECT_EQ(take(store, fast), (Positions{0, 1, 2}));
  EXPECT_FALSE(add(store, 3));
  EXPECT_EQ(take(store, slow, 1), (Positions{0}));
  EXPECT_TRUE(add(store, 3));
  EXPECT_FALSE(add(store, 4));
  store.close(slow);
  EXPECT_TRUE(add(store, 4));
  EXPECT_EQ(take(store, fast), (Positions{3, 4}));
  EXPECT_EQ(store.samples(), 0U);
}

TEST(SampleStore, WhatIsLargerThanAllOfItIsLost) {
  SampleStore store({.max_bytes = 1024});
  const auto reader = store.open(store.end());
  ASSERT_TRUE(add(store, 0));
  ASSERT_TRUE(add(store, 1, 0, 2000));
  ASSERT_TRUE(add(store, 2));
  LoanedBytes taken;
  store.take(reader, 10, taken);
  EXPECT_EQ(positions(taken), (Positions{0, 2}));
  EXPECT_EQ(taken[1].info.lost_before, 1U);
}

TEST(SampleStore, WhatIsTooOldGoes) {
  SampleStore store({.max_age_ns = 10});
  for (std::uint64_t i = 100; i < 105; ++i) ASSERT_TRUE(add(store, i));
  store.expire(112);
  const auto reader = store.open(store.begin());
  EXPECT_EQ(take(store, reader), (Positions{102, 103, 104}));
}

TEST(SampleStore, AQuietTopicTakesLittle) {
  SampleStore store({});
  EXPECT_EQ(store.chunk_bytes(), 0U);
  ASSERT_TRUE(add(store, 0));
  EXPECT_LE(store.chunk_bytes(), 1024U);
}

TEST(SampleStore, PayloadsLieAsTheirTypeNeeds) {
  SampleStore store({.alignment = 64});
  const auto reader = store.open(store.begin());
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(add(store, i, 0, 8 + i));
  LoanedBytes taken;
  store.take(reader, 100, taken);
  for (const auto& sample : taken) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(sample.data) % 64, 0U);
  }
}

// What a store with these limits has, told by a list.
class PlainStore {
 public:
  explicit PlainStore(const StoreLimits& limits) : limits_(limits) {}

  void add(std::uint64_t position, std::uint64_t key, std::size_t size) {
    if (size > limits_.max_bytes) return;
    const auto of_key = [&] {
      return static_cast<std::size_t>(
          std::ranges::count_if(all_, [&](const One& one) { return one.key == key; }));
    };
    while (limits_.depth > 0 && of_key() >= limits_.depth) {
      all_.erase(std::ranges::find(all_, key, &One::key));
    }
    const auto bytes = [&] {
      std::size_t sum = 0;
      for (const One& one : all_) sum += one.size;
      return sum;
    };
    while (!all_.empty() &&
           (all_.size() >= limits_.max_samples || bytes() + size > limits_.max_bytes)) {
      all_.erase(all_.begin());
    }
    all_.push_back({position, key, size});
  }
  [[nodiscard]] Positions positions() const {
    Positions out;
    for (const One& one : all_) out.push_back(one.position);
    return out;
  }

 private:
  struct One {
    std::uint64_t position;
    std::uint64_t key;
    std::size_t size;
  };
  const StoreLimits limits_;
  std::vector<One> all_;
};

TEST(SampleStore, HasWhatAPlainListHas) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    StoreLimits limits;
    limits.depth = random() % 4;
    limits.keyed = random() % 2 == 0;
    limits.max_samples = 1 + random() % 40;
    limits.max_bytes = 1024 + random() % 20'000;
    SampleStore store(limits);
    PlainStore plain(limits);
    std::uint64_t seen = 0;
    std::uint64_t lost = 0;
    const auto reader = store.open(store.begin());
    std::uint64_t added = 0;
    for (; added < 500; ++added) {
      const std::uint64_t key = limits.keyed ? random() % 5 : 0;
      const std::size_t size = random() % 3 == 0 ? random() % 3000 : random() % 50;
      ASSERT_TRUE(add(store, added, key, size));
      plain.add(added, key, size);
      Positions kept;
      store.for_each([&](const SampleStore::Entry& entry) {
        kept.push_back(entry.sample.info.position.value);
      });
      ASSERT_EQ(kept, plain.positions()) << "seed " << seed;
      ASSERT_LE(store.bytes(), limits.max_bytes) << "seed " << seed;
      ASSERT_LE(store.chunk_bytes(), 2 * (store.bytes() + 8 * store.samples()) + (256U << 10))
          << "seed " << seed;
      if (random() % 8 != 0) continue;
      LoanedBytes taken;
      store.take(reader, 1 + random() % 10, taken);
      for (const auto& sample : taken) {
        lost += sample.info.lost_before;
        EXPECT_EQ(seen + lost, sample.info.position.value) << "seed " << seed;
        ++seen;
      }
    }
  }
}

}  // namespace
}  // namespace tutti::dds
