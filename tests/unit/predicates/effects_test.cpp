/// The list of what a pass asks of the fabric. W1 .. W3 are the invariants of effects.hpp.
#include "predicates/effects.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "mock_fabric.hpp"

namespace tutti {
namespace {

// Writes down what is posted, in order: a word is its value.
class NotingFabric : public ::testing::NiceMock<MockFabric> {
 public:
  NotingFabric() {
    ON_CALL(*this, write).WillByDefault([this](Slot peer, Extent data) {
      notes.push_back("data " + std::to_string(data.offset) + " to " + std::to_string(peer.value));
    });
    ON_CALL(*this, publish)
        .WillByDefault([this](Slot peer, std::uint64_t offset, std::span<const std::byte> words) {
          std::string note = "words " + std::to_string(offset) + ":";
          for (std::size_t at = 0; at < words.size(); at += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, words.data() + at, sizeof word);
            note += " " + std::to_string(word);
          }
          notes.push_back(note + " to " + std::to_string(peer.value));
        });
    ON_CALL(*this, flush).WillByDefault([this] { notes.emplace_back("flush"); });
  }

  std::vector<std::string> notes;
};

using Notes = std::vector<std::string>;

std::span<const std::byte> as_words(const std::vector<std::uint64_t>& values) {
  return std::as_bytes(std::span(values));
}

class EffectsTest : public ::testing::Test {
 protected:
  NotingFabric fabric;
  Effects effects{fabric};
};

TEST_F(EffectsTest, NothingIsPostedBeforeTheListIsCarriedOut) {
  effects.write(Slot{1}, {64, 8});
  effects.flush();
  EXPECT_TRUE(fabric.notes.empty());
  EXPECT_FALSE(effects.empty());
  effects.carry_out();
  EXPECT_EQ(fabric.notes, (Notes{"data 64 to 1", "flush"}));
  EXPECT_TRUE(effects.empty());
  effects.carry_out();
  EXPECT_EQ(fabric.notes.size(), 2U) << "once";
}

TEST_F(EffectsTest, W1EachPeerGetsTheDataBeforeTheWords) {
  const std::vector<std::uint64_t> guard{7};
  const std::array<Extent, 2> data{{{64, 8}, {128, 8}}};
  const Effects::Words words{256, as_words(guard)};
  effects.push(std::array{Slot{1}, Slot{2}}, data, {&words, 1});
  effects.publish(Slot{3}, 512, as_words(guard));
  effects.carry_out();
  EXPECT_EQ(fabric.notes,
            (Notes{"data 64 to 1", "data 128 to 1", "words 256: 7 to 1", "data 64 to 2",
                   "data 128 to 2", "words 256: 7 to 2", "words 512: 7 to 3"}));
}

TEST_F(EffectsTest, W2WordsAreThoseOfTheMomentInWhichTheyWereAskedFor) {
  std::vector<std::uint64_t> words{1, 2};
  std::vector<Slot> peers{Slot{4}};
  const Effects::Words block{0, as_words(words)};
  effects.push(peers, {}, {&block, 1});
  words[0] = 3;
  peers[0] = Slot{5};
  effects.push(peers, {}, {&block, 1});
  effects.carry_out();
  EXPECT_EQ(fabric.notes, (Notes{"words 0: 1 2 to 4", "words 0: 3 2 to 5"}));
}

TEST_F(EffectsTest, NobodyToPostToIsNoEffect) {
  const Extent data{0, 8};
  effects.push({}, {&data, 1}, {});
  EXPECT_TRUE(effects.empty());
}

TEST(EffectsThatAreFull, W3AreCarriedOutFirst) {
  NotingFabric fabric;
  Effects effects(fabric, 2, 64);
  const std::vector<std::uint64_t> words(4);
  effects.publish(Slot{1}, 0, as_words(words));
  EXPECT_EQ(fabric.notes.size(), 0U);
  effects.publish(Slot{1}, 1, as_words(words));
  EXPECT_EQ(fabric.notes.size(), 1U) << "there is no room for the bytes of both";
  effects.flush();
  EXPECT_EQ(fabric.notes.size(), 1U);
  effects.flush();
  EXPECT_EQ(fabric.notes.size(), 3U) << "there is no room for a third effect";
  effects.carry_out();
  EXPECT_EQ(fabric.notes,
            (Notes{"words 0: 0 0 0 0 to 1", "words 1: 0 0 0 0 to 1", "flush", "flush"}));
}

}  // namespace
}  // namespace tutti
