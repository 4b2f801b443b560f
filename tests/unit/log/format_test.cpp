// The bytes of a segment, which other versions must be able to read. The numbers below were made by
// another program, from the description in log/format.hpp.
#include "log/format.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "log/read.hpp"
#include "log/writer.hpp"
#include "support/sim_disk.hpp"
#include "unit/log/expected.hpp"
#include "unit/log/trace.hpp"

namespace tutti::log::testing {
namespace {

using tutti::testing::SimDisk;

constexpr std::uint64_t kSalt = 0x1122334455667788;
constexpr std::uint64_t kFirst = 0x0102030405060708;

const std::string kHeaderHex =
    "54555454494c4f4701000000001000000700000000000000"
    "88776655443322110807060504030201005000000000000000000100000000002a00000000000000"
    "0100000005000300"
    "616c7068610000000000000000000000";
const std::string kHeaderCrcHex = "c46d11c3";
const std::string kRecordHex =
    "468e47880500000008070605040302010900000000000000030000000000000068656c6c6f000000";
const std::string kTickHex = "b09d7e6200000000090706050403020109000000000000000200000001000000";
const std::string kCommitHex =
    "4caf8f88100000000a07060504030201090000000000000002000000020000000010000000000000"
    "0750ad61779526e0";

std::string hex(std::span<const std::byte> bytes) {
  std::string out;
  for (const std::byte byte : bytes) {
    out += "0123456789abcdef"[std::to_integer<int>(byte >> 4)];
    out += "0123456789abcdef"[std::to_integer<int>(byte & std::byte{15})];
  }
  return out;
}

Segment golden_segment() {
  return {.identity = {.node = "alpha", .group = "log"},
          .number = 7,
          .salt = kSalt,
          .first = kFirst,
          .digest = 0x5000,
          .bytes = 65536,
          .begins = true,
          .before = 42};
}

std::vector<std::byte> text(const std::string& words) {
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

std::vector<Entry> golden_entries() {
  return {{.seq = kFirst, .view = 9, .sender = 3, .data = text("hello")},
          {.seq = kFirst + 1, .view = 9, .sender = 2, .tick = true}};
}

TEST(Format, HasTheHeaderThatWasWrittenDown) {
  const std::string header = encode_header(golden_segment());
  const auto bytes = std::as_bytes(std::span(header));
  ASSERT_EQ(bytes.size(), kHeaderBytes);
  EXPECT_EQ(hex(bytes.first(88)), kHeaderHex);
  EXPECT_EQ(hex(bytes.last(4)), kHeaderCrcHex);
  EXPECT_EQ(header.substr(328, 4), std::string("log\0", 4));
  const Result<Segment> back = decode_header(bytes);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->identity, golden_segment().identity);
  EXPECT_EQ(back->number, 7U);
  EXPECT_EQ(back->salt, kSalt);
  EXPECT_EQ(back->first, kFirst);
  EXPECT_EQ(back->digest, 0x5000U);
  EXPECT_EQ(back->bytes, 65536U);
  EXPECT_TRUE(back->begins);
  EXPECT_EQ(back->before, 42U);
}

// The batch of golden_entries(), for offset 4096 of golden_segment(), as a writer leaves it.
std::vector<std::byte> written_batch() {
  SimDisk disk;
  const auto salt = [] { return Result<std::uint64_t>(kSalt); };
  auto writer = Writer::open(disk, kDirectory, {.node = "alpha", .group = "log"},
                             {.segment_bytes = 65536, .salts = salt});
  EXPECT_TRUE(writer);
  if (!writer) return {};
  EXPECT_TRUE((*writer)->begin_at(kFirst));
  Batch batch;
  add_all(batch, golden_entries());
  EXPECT_TRUE((*writer)->write(batch));
  const auto bytes = disk.contents(kDirectory + "/" + segment_name(kFirst));
  return bytes.size() < 8192 ? bytes : std::vector(bytes.begin() + kHeaderBytes, bytes.end());
}

TEST(Format, HasTheRecordsThatWereWrittenDown) {
  const auto bytes = written_batch();
  ASSERT_GE(bytes.size(), 120U);
  EXPECT_EQ(hex(std::span(bytes).subspan(0, 40)), kRecordHex);
  EXPECT_EQ(hex(std::span(bytes).subspan(40, 32)), kTickHex);
}

TEST(Format, HasTheCommitThatWasWrittenDown) {
  // The digest that was before the batch is 0x5000 in what was written down.
  std::vector<std::byte> commit(kCommitBytes);
  const RecordHeader header{.crc = 0,
                            .length = sizeof(Commit),
                            .seq = kFirst + 2,
                            .view = 9,
                            .sender = 2,
                            .flags = kCommitFlag};
  std::uint64_t digest = 0x5000;
  for (const Entry& entry : golden_entries()) digest += digest_of_entry(entry);
  const Commit data{.begins = kHeaderBytes, .digest = digest};
  std::memcpy(commit.data(), &header, sizeof header);
  std::memcpy(commit.data() + sizeof header, &data, sizeof data);
  EXPECT_EQ(seal(commit, kSalt, kHeaderBytes + 72), 0U);
  EXPECT_EQ(hex(commit), kCommitHex);
}

TEST(Format, FindsARecordOnlyAtItsPlaceAndWithItsSalt) {
  const auto batch = written_batch();
  ASSERT_GE(batch.size(), 120U);
  const auto found = find_record(batch, kSalt, kHeaderBytes);
  ASSERT_TRUE(found);
  EXPECT_EQ(entry_of(found->record()), golden_entries()[0]);
  EXPECT_FALSE(find_record(batch, kSalt, kHeaderBytes + 8));
  EXPECT_FALSE(find_record(batch, kSalt + 1, kHeaderBytes));
  for (std::size_t bytes = 0; bytes < 40; ++bytes) {
    EXPECT_FALSE(find_record(std::span(batch).first(bytes), kSalt, kHeaderBytes)) << bytes;
  }
}

TEST(Format, FindsNoRecordInRubbish) {
  Prng random(1);
  std::vector<std::byte> bytes(4096);
  for (int i = 0; i < 2000; ++i) {
    for (std::byte& byte : bytes) {
      byte = random.one_in(2) ? std::byte{0} : static_cast<std::byte>(random.next());
    }
    EXPECT_FALSE(find_record(std::span(bytes).first(random.below(4097)), random.next(), 4096));
    EXPECT_FALSE(decode_header(std::span(bytes).first(random.below(4097))));
  }
}

TEST(Format, NamesSegmentsByTheirFirstRecord) {
  EXPECT_EQ(segment_name(42), "00000000000000000042.log");
  EXPECT_EQ(first_of_name(segment_name(~0ULL)), ~0ULL);
  EXPECT_EQ(first_of_name(segment_name(0)), 0U);
  for (const char* name : {"", "42.log", "0000000000000000004x.log", "00000000000000000042.lox",
                           "00000000000000000042.log~", "99999999999999999999.log",
                           "-0000000000000000042.log", "+0000000000000000042.log", "spare"}) {
    EXPECT_FALSE(first_of_name(name)) << name;
  }
}

TEST(Format, KeepsRecordsOfEachSize) {
  SimDisk disk;
  std::vector<Entry> entries;
  std::uint64_t seq = 0;
  for (const std::size_t bytes : {0, 1, 7, 8, 9, 15, 16, 17, 4095, 4096, 300'000}) {
    entries.push_back(make_entry(seq, bytes, seq * 3 + 1));
    ++seq;
  }
  auto writer = open_writer(disk, {.segment_bytes = 1 << 20});
  ASSERT_NE(writer, nullptr);
  Expected expected;
  expected.append(entries);
  Batch batch;
  add_all(batch, entries);
  ASSERT_TRUE(writer->write(batch));
  EXPECT_TRUE(batch.empty());
  const auto found = read_contents(disk);
  ASSERT_TRUE(found);
  EXPECT_EQ(difference(*found, expected), "");
}

TEST(Format, ReadsALogWhoseRecordsAreCopiesOfItsFile) {
  SimDisk disk;
  Expected expected;
  auto writer = open_writer(disk, small_segments(3));
  ASSERT_NE(writer, nullptr);
  for (std::uint64_t i = 0; i < 40; ++i) {
    Entry entry = make_entry(i, 40, i);
    const auto file = disk.contents(kDirectory + "/" + segment_name(writer->first()));
    // The last one's records and commit, at every distance modulo 8, and headers.
    const std::size_t at = i % 3 == 0 ? i % 16 : kHeaderBytes + i % 16;
    entry.data.assign(file.begin() + static_cast<std::ptrdiff_t>(at),
                      file.begin() + static_cast<std::ptrdiff_t>(at + 5000));
    expected.append({entry});
    Batch batch;
    add_all(batch, {entry});
    ASSERT_TRUE(writer->write(batch));
    const auto torn = disk.after_power_loss(SimDisk::kNothingKept);
    const auto found = read_contents(*torn);
    ASSERT_TRUE(found);
    ASSERT_EQ(difference(*found, expected), "") << i;
  }
}

TEST(Format, HasOneDigestForTheSameRecordsHoweverTheyWereWritten) {
  std::vector<Entry> entries;
  for (std::uint64_t i = 0; i < 300; ++i) entries.push_back(make_entry(i, i * 7 % 400, i));
  Expected expected;
  expected.append(entries);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SimDisk disk;
    Prng random(seed);
    auto writer = open_writer(
        disk, {.segment_bytes = (16 << 10) * seed, .salts = small_segments(seed).salts});
    ASSERT_NE(writer, nullptr);
    Batch batch;
    for (const Entry& entry : entries) {
      batch.add(record_of(entry));
      if (random.one_in(5)) {
        ASSERT_TRUE(writer->write(batch));
      }
    }
    ASSERT_TRUE(writer->write(batch));
    EXPECT_EQ(writer->digest(), expected.digest) << seed;
  }
}

}  // namespace
}  // namespace tutti::log::testing
