/// \file directory_test.cpp
/// The state machines behind topics: which name is whose, and which topics a bundle carries. What
/// they read is input: no bytes upset them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "dds/bundle_topics.hpp"
#include "dds/directory.hpp"
#include "dds/record.hpp"

namespace tutti::dds {
namespace {

using Outcome = Directory::Outcome;

constexpr std::uint32_t kTopicsMax = 3;

Definition topic(const std::string& name, const std::string& bundle = "atomic") {
  Definition definition{.name = name};
  definition.type = {.name = "Reading", .hash = 42, .in_place_bytes = 16};
  definition.options.bundle = bundle;
  return definition;
}

class DirectoryTest : public ::testing::Test {
 protected:
  Directory::Answer claim(const Definition& definition, std::uint32_t sender = 0) {
    return directory.apply(MemberIndex{sender}, Directory::claim(definition, kTopicsMax));
  }
  Directory::Answer apply(const std::vector<std::byte>& record, std::uint32_t sender = 0) {
    return directory.apply(MemberIndex{sender}, record);
  }

  // As it is once the log's topics were announced.
  void SetUp() override {
    ASSERT_EQ(apply(Directory::announce({"logged", 0}, 1, nullptr)).outcome, Outcome::noted);
  }

  Directory directory{{"atomic", "logged"}, {"logged"}};
};

TEST_F(DirectoryTest, TheFirstClaimDecidesWhatATopicIs) {
  const auto first = claim(topic("a"));
  EXPECT_EQ(first.outcome, Outcome::created);
  EXPECT_EQ(first.key, (TopicKey{"atomic", 1}));
  const auto same = claim(topic("a"), 1);
  EXPECT_EQ(same.outcome, Outcome::joined);
  EXPECT_EQ(same.key, first.key);
  Definition other = topic("a");
  other.type.hash = 43;
  const auto differs = claim(other, 1);
  EXPECT_EQ(differs.outcome, Outcome::mismatch);
  ASSERT_TRUE(differs.wanted);
  EXPECT_EQ(differs.wanted->type.hash, 43U);
  const auto difference_of = difference(directory.find("a")->definition, *differs.wanted);
  ASSERT_TRUE(difference_of);
  EXPECT_TRUE(difference_of->type);
  Definition longer = topic("a");
  longer.options.history = keep_last(5);
  EXPECT_EQ(claim(longer).outcome, Outcome::mismatch);
  EXPECT_FALSE(difference(directory.find("a")->definition, longer)->type);
}

TEST_F(DirectoryTest, AClaimThatOnlyFindsCreatesNothingAndContradictsNobody) {
  const auto find = [this](const Definition& definition) {
    return apply(Directory::claim(definition, 0), 1);
  };
  EXPECT_EQ(find(topic("a")).outcome, Outcome::full);
  EXPECT_EQ(directory.find("a"), nullptr);
  const auto first = claim(topic("a"));
  EXPECT_EQ(find(topic("a")).outcome, Outcome::joined);
  EXPECT_EQ(find(topic("a")).key, first.key);
  Definition other = topic("a");
  other.options.history = keep_last(5);
  EXPECT_EQ(find(other).outcome, Outcome::mismatch);
  EXPECT_FALSE(find(other).wanted);
}

TEST_F(DirectoryTest, IdsAreOfABundleAndAreNotGivenAgain) {
  EXPECT_EQ(claim(topic("a")).key.id, 1U);
  EXPECT_EQ(claim(topic("b", "logged")).key.id, 1U);
  EXPECT_EQ(apply(Directory::release({"atomic", 1})).outcome, Outcome::released);
  EXPECT_EQ(directory.find("a"), nullptr);
  EXPECT_EQ(claim(topic("a")).key.id, 2U);
  EXPECT_EQ(apply(Directory::release({"atomic", 1})).outcome, Outcome::unknown);
}

TEST_F(DirectoryTest, AsManyTopicsAsAClaimAllows) {
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(claim(topic(name)).outcome, Outcome::created);
  }
  EXPECT_EQ(claim(topic("d")).outcome, Outcome::full);
  EXPECT_EQ(claim(topic("c")).outcome, Outcome::joined);
}

TEST_F(DirectoryTest, AnnouncementsOfALogComeBeforeNewIds) {
  const Definition old = topic("old", "logged");
  EXPECT_EQ(apply(Directory::announce({"logged", 0}, 8, nullptr)).outcome, Outcome::noted);
  EXPECT_EQ(apply(Directory::announce({"logged", 5}, 8, &old)).outcome, Outcome::created);
  EXPECT_EQ(apply(Directory::announce({"logged", 5}, 8, &old)).outcome, Outcome::joined);
  EXPECT_EQ(claim(topic("old", "logged")).key.id, 5U);
  EXPECT_EQ(claim(topic("new", "logged")).key.id, 8U);
  // Another topic of a name that is there: the newer one stays, for the older one was released.
  const Definition late = topic("new", "logged");
  EXPECT_EQ(apply(Directory::announce({"logged", 6}, 8, &late)).outcome, Outcome::unknown);
  EXPECT_TRUE(directory.is_released({"logged", 6}));
  // An id that it says is not used yet, or of another bundle.
  const Definition next = topic("next", "logged");
  EXPECT_EQ(apply(Directory::announce({"logged", 8}, 8, &next)).outcome, Outcome::malformed);
  EXPECT_EQ(apply(Directory::announce({"atomic", 1}, 8, &next)).outcome, Outcome::malformed);
  const Definition atomic = topic("next");  // a bundle without a log
  EXPECT_EQ(apply(Directory::announce({"atomic", 1}, 8, &atomic)).outcome, Outcome::malformed);
}

TEST_F(DirectoryTest, NoClaimIsDecidedBeforeEveryLogWasAnnounced) {
  directory = Directory({"atomic", "logged"}, {"logged"});
  EXPECT_EQ(directory.unannounced(), "logged");
  EXPECT_EQ(claim(topic("new", "logged")).outcome, Outcome::not_yet);
  EXPECT_EQ(claim(topic("old", "atomic")).outcome, Outcome::not_yet);  // the log may have the name
  const Definition old = topic("old", "logged");
  EXPECT_EQ(apply(Directory::announce({"logged", 5}, 8, &old)).outcome, Outcome::created);
  EXPECT_EQ(claim(topic("new", "logged")).outcome, Outcome::not_yet);  // there may be more
  Directory joiner({"atomic", "logged"}, {"logged"});
  ASSERT_TRUE(joiner.load(directory.save()));
  EXPECT_EQ(joiner.unannounced(), "logged");
  EXPECT_EQ(apply(Directory::announce({"logged", 0}, 8, nullptr)).outcome, Outcome::noted);
  EXPECT_EQ(directory.unannounced(), "");
  ASSERT_TRUE(joiner.load(directory.save()));
  EXPECT_EQ(joiner.unannounced(), "");
  EXPECT_EQ(claim(topic("old", "atomic")).outcome, Outcome::mismatch);
  EXPECT_EQ(claim(topic("new", "logged")).key.id, 8U);
}

TEST_F(DirectoryTest, AnAnnouncementThatComesLateBringsNoDeletedTopicBack) {
  const Definition gone = topic("gone", "logged");
  const TopicKey key = claim(gone).key;
  EXPECT_EQ(apply(Directory::release(key)).outcome, Outcome::released);
  EXPECT_EQ(apply(Directory::announce(key, key.id + 1, &gone)).outcome, Outcome::unknown);
  EXPECT_EQ(directory.find("gone"), nullptr);
  EXPECT_TRUE(directory.is_released(key));
  Directory joiner({"atomic", "logged"}, {"logged"});
  ASSERT_TRUE(joiner.load(directory.save()));
  EXPECT_TRUE(joiner.is_released(key));
  EXPECT_NE(claim(gone).key, key);
}

TEST_F(DirectoryTest, ATopicInUseStaysUntilItsReadersAndWritersAreGone) {
  const TopicKey key = claim(topic("a")).key;
  EXPECT_EQ(apply(Directory::endpoints(key, {1, 2}), 1).outcome, Outcome::noted);
  EXPECT_EQ(apply(Directory::endpoints(key, {1, 0}), 2).outcome, Outcome::noted);
  EXPECT_EQ(Directory::total(*directory.find(key)), (EndpointCounts{2, 2}));
  EXPECT_EQ(apply(Directory::release(key)).outcome, Outcome::in_use);
  const auto gone = directory.left(MemberIndex{1});
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone[0].second, (EndpointCounts{1, 2}));
  EXPECT_EQ(apply(Directory::release(key)).outcome, Outcome::in_use);
  EXPECT_EQ(apply(Directory::endpoints(key, {0, 0}), 2).before, (EndpointCounts{1, 0}));
  EXPECT_EQ(apply(Directory::release(key)).outcome, Outcome::released);
  EXPECT_EQ(apply(Directory::endpoints(key, {1, 0}), 2).outcome, Outcome::unknown);
}

TEST_F(DirectoryTest, AParticipantThatJoinsTakesOverAllOfIt) {
  const TopicKey key = claim(topic("a")).key;
  static_cast<void>(claim(topic("b", "logged")));
  static_cast<void>(apply(Directory::release({"logged", 1})));
  static_cast<void>(apply(Directory::endpoints(key, {1, 2}), 1));
  const std::vector<std::byte> state = directory.save();
  Directory joiner({"logged", "atomic"}, {"logged"});
  ASSERT_TRUE(joiner.load(state));
  EXPECT_EQ(joiner.save(), state);
  EXPECT_EQ(joiner.apply({}, Directory::claim(topic("c", "logged"), kTopicsMax)).key.id, 2U);
  Directory other({"atomic"});
  EXPECT_FALSE(other.load(state));  // other bundles
  for (std::size_t size = 0; size < state.size(); ++size) {
    EXPECT_FALSE(joiner.load(std::span(state).first(size))) << size;
  }
}

TEST_F(DirectoryTest, ADefinitionIsWantedOfATopicThatIsThere) {
  const TopicKey key = claim(topic("a")).key;
  const std::vector<std::byte> before = directory.save();
  const auto wanted = apply(Directory::want(key), 1);
  EXPECT_EQ(wanted.outcome, Outcome::wanted);
  EXPECT_EQ(wanted.key, key);
  EXPECT_EQ(wanted.name, "a");
  EXPECT_EQ(apply(Directory::want({"atomic", 2})).outcome, Outcome::marked);
  EXPECT_EQ(apply(Directory::want({"none", 1})).outcome, Outcome::marked);
  EXPECT_EQ(directory.save(), before);
}

// DD5.
TEST_F(DirectoryTest, ARecordOfAKindThatIsNotKnownChangesNothing) {
  const std::vector<std::byte> definition = Directory::claim(topic("a"), kTopicsMax);
  static_cast<void>(claim(topic("b")));
  const std::vector<std::byte> before = directory.save();
  for (const int kind : {0, 7, 8, 255}) {
    for (std::vector<std::byte> record : {definition, Directory::release({"atomic", 1})}) {
      record.front() = static_cast<std::byte>(kind);
      EXPECT_EQ(apply(record).outcome, Outcome::malformed);
    }
  }
  EXPECT_EQ(directory.save(), before);
}

TEST_F(DirectoryTest, NoBytesUpsetIt) {
  const std::vector<std::vector<std::byte>> records = {
      Directory::claim(topic("a"), kTopicsMax), Directory::release({"atomic", 1}),
      Directory::endpoints({"atomic", 1}, {1, 1}), Directory::want({"atomic", 1})};
  for (const auto& record : records) {
    for (std::size_t size = 0; size < record.size(); ++size) {
      const auto cut = std::span(record).first(size);
      EXPECT_EQ(directory.apply({}, cut).outcome, Outcome::malformed);
    }
  }
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes = records[random() % records.size()];
    for (int flips = 0; flips < 3; ++flips) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    static_cast<void>(directory.apply(MemberIndex{0}, bytes));
    EXPECT_LE(directory.topics().size(), 20'000U);
  }
  Directory copy({"atomic", "logged"}, {"logged"});
  EXPECT_TRUE(copy.load(directory.save()));  // it is still one
}

TEST(BundleTopics, TheFirstDefinitionOfAnIdCountsAndADeletedOneNever) {
  using Change = BundleTopics::Change;
  BundleTopics topics("atomic");
  EXPECT_EQ(topics.define(3, topic("a")), Change::defined);
  EXPECT_EQ(topics.define(3, topic("b")), Change::none);
  EXPECT_EQ(topics.find(3)->name, "a");
  EXPECT_EQ(topics.next_id(), 4U);
  EXPECT_EQ(topics.remove(3), Change::deleted);
  EXPECT_EQ(topics.define(3, topic("a")), Change::none);
  EXPECT_EQ(topics.find(3), nullptr);
  EXPECT_EQ(topics.remove(9), Change::none);  // before its definition
  EXPECT_EQ(topics.define(9, topic("a")), Change::none);
  EXPECT_EQ(topics.define(0, topic("a")), Change::malformed);
  EXPECT_EQ(topics.define(5, topic("a", "logged")), Change::malformed);
  EXPECT_EQ(topics.define(5, topic("c")), Change::defined);
  Encoder state;
  topics.save(state);
  BundleTopics joiner("atomic");
  Decoder in(state.written());
  ASSERT_TRUE(joiner.load(in));
  EXPECT_TRUE(in.done());
  EXPECT_EQ(joiner.next_id(), 10U);
  EXPECT_EQ(joiner.all(), topics.all());
  EXPECT_TRUE(joiner.is_deleted(9));
  for (std::size_t size = 0; size + 1 < state.written().size(); ++size) {
    Decoder cut(state.written().first(size));
    EXPECT_FALSE(joiner.load(cut));
    EXPECT_TRUE(joiner.all().empty());
  }
}

TEST(BundleTopics, AnIdFarBeyondTheOthersIsMalformed) {
  using Change = BundleTopics::Change;
  BundleTopics topics("atomic");
  EXPECT_EQ(topics.define(0xfffffffe, topic("a")), Change::malformed);
  EXPECT_EQ(topics.remove(0xfffffffe), Change::malformed);
  EXPECT_EQ(topics.define(1'000'002, topic("a")), Change::malformed);
  EXPECT_EQ(topics.next_id(), 1U);
  EXPECT_EQ(topics.define(1'000'001, topic("a")), Change::defined);
  EXPECT_EQ(topics.remove(2'000'000), Change::none);
  Encoder state;
  topics.save(state);
  BundleTopics joiner("atomic");
  Decoder in(state.written());
  ASSERT_TRUE(joiner.load(in));
  EXPECT_EQ(joiner.next_id(), 2'000'001U);
  Encoder forged;  // one topic, far away
  forged.number(std::uint32_t{0xfffffff0});
  forged.number(std::uint32_t{0});
  forged.number(std::uint32_t{1});
  forged.number(std::uint32_t{0xffffffef});
  topic("a").encode(forged);
  Decoder far(forged.written());
  EXPECT_FALSE(joiner.load(far));
}

TEST(Records, ASampleHasTheSizeAndPlaceOfItsType) {
  std::vector<std::byte> bytes(32);
  const RecordHeader header{
      .kind = 1, .flags = 0, .payload_at = 16, .topic = 7, .source_timestamp = 5};
  write_header(bytes.data(), header);
  const Record record = *read_record(bytes);
  EXPECT_TRUE(fits_type(record, 16, 8));
  EXPECT_TRUE(fits_type(record, 0, 16));
  EXPECT_FALSE(fits_type(record, 8, 8));
  EXPECT_FALSE(fits_type(record, 16, 32));
}

TEST(Records, WhatIsNoRecordIsRefused) {
  std::vector<std::byte> bytes(32);
  RecordHeader header{
      .kind = 1, .flags = kKeyedFlag, .payload_at = 24, .topic = 7, .source_timestamp = 5};
  write_header(bytes.data(), header);
  const auto record = read_record(bytes);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->payload.size(), 8U);
  EXPECT_EQ(record->header.topic, 7U);
  EXPECT_FALSE(read_record(std::span(bytes).first(23)));
  EXPECT_FALSE(read_record(std::span(bytes).first(15)));
  header.payload_at = 23;  // inside the key
  write_header(bytes.data(), header);
  EXPECT_FALSE(read_record(bytes));
  header.payload_at = 33;
  write_header(bytes.data(), header);
  EXPECT_FALSE(read_record(bytes));
  header.payload_at = 24;
  header.flags = 4;  // of a later version
  write_header(bytes.data(), header);
  EXPECT_FALSE(read_record(bytes));
  EXPECT_EQ(payload_offset(0, 1), 16U);
  EXPECT_EQ(payload_offset(kKeyedFlag, 16), 32U);
  EXPECT_EQ(payload_offset(0, 64), 64U);
}

TEST(Records, ASampleWithoutATimeStampIsShorter) {
  EXPECT_EQ(payload_offset(kUnstampedFlag, 8), 8U);
  EXPECT_EQ(payload_offset(kUnstampedFlag | kKeyedFlag, 8), 16U);
  EXPECT_EQ(payload_offset(kUnstampedFlag, 64), 64U);
  std::vector<std::byte> bytes(20, std::byte{0xff});
  const RecordHeader header{.kind = 1,
                            .flags = kUnstampedFlag | kKeyedFlag,
                            .payload_at = 16,
                            .topic = 7,
                            .source_timestamp = 5};
  EXPECT_EQ(write_header(bytes.data(), header), 8U);
  const std::uint64_t key = 9;
  std::memcpy(bytes.data() + 8, &key, sizeof key);
  const auto record = read_record(bytes);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->key, key);
  EXPECT_EQ(record->header.source_timestamp, 0U);
  EXPECT_EQ(record->payload.size(), 4U);
  EXPECT_FALSE(read_record(std::span(bytes).first(15)));
  EXPECT_FALSE(read_record(std::span(bytes).first(7)));
}

}  // namespace
}  // namespace tutti::dds
