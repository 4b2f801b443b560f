/// \file expected.hpp
/// What a log should have, kept beside it by a test in the plainest way, and the comparison.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "log/batch.hpp"
#include "log/format.hpp"
#include "log/read.hpp"
#include "log/writer.hpp"
#include "support/payload.hpp"

namespace tutti::log::testing {

inline const std::string kDirectory = "/state/group";

inline Identity some_identity() { return {.node = "a", .group = "log"}; }

/// A record that owns its bytes.
struct Entry {
  std::uint64_t seq = 0;
  std::uint64_t view = 0;
  std::uint32_t sender = 0;
  bool tick = false;
  std::vector<std::byte> data{};
  bool operator==(const Entry&) const = default;
};

inline Entry entry_of(const Record& record) {
  return {.seq = record.seq,
          .view = record.view,
          .sender = record.sender,
          .tick = record.tick,
          .data = {record.data.begin(), record.data.end()}};
}

inline Record record_of(const Entry& entry) {
  return {.seq = entry.seq,
          .view = entry.view,
          .sender = entry.sender,
          .tick = entry.tick,
          .data = entry.data};
}

/// A record whose bytes are a function of the seed.
inline Entry make_entry(std::uint64_t seq, std::size_t bytes, std::uint64_t seed,
                        std::uint64_t view = 1) {
  Entry entry{.seq = seq,
              .view = view,
              .sender = static_cast<std::uint32_t>(seed % 5),
              .tick = seed % 7 == 0,
              .data = std::vector<std::byte>(bytes)};
  tutti::testing::fill_payload(entry.data, seed);
  return entry;
}

inline void add_all(Batch& batch, const std::vector<Entry>& entries) {
  for (const Entry& entry : entries) batch.add(record_of(entry));
}

/// What the entry adds to the digest (LF4): sealed alone, for a place where no log has it.
inline std::uint64_t digest_of_entry(const Entry& entry) {
  const RecordHeader header{.crc = 0,
                            .length = static_cast<std::uint32_t>(entry.data.size()),
                            .seq = entry.seq,
                            .view = entry.view,
                            .sender = entry.sender,
                            .flags = entry.tick ? kTickFlag : 0};
  std::vector<std::byte> bytes(bytes_of_record(entry.data.size()));
  std::memcpy(bytes.data(), &header, sizeof header);
  std::ranges::copy(entry.data, bytes.begin() + sizeof header);
  return seal(bytes, 1, 8);
}

/// A log as it should be: all records that it has had and that were not cut, also those that were
/// released.
struct Expected {
  std::uint64_t next = 0;
  std::uint64_t needed = 0;  ///< records from this number on may not be missing
  std::uint64_t digest = 0;  ///< up to next
  std::vector<Entry> entries{};
  std::vector<std::uint64_t> begins{0};  ///< where it began, and behind gaps

  void append(const std::vector<Entry>& more) {
    for (const Entry& entry : more) {
      digest += digest_of_entry(entry);
      entries.push_back(entry);
    }
    next += more.size();
  }
  void begin_at(std::uint64_t seq) {
    if (begins.back() == next) begins.pop_back();  // it had nothing
    begins.push_back(seq);
    next = seq;
  }
  void cut_to(std::uint64_t seq) {
    while (!entries.empty() && entries.back().seq >= seq) entries.pop_back();
    while (begins.size() > 1 && begins.back() > seq) begins.pop_back();
    next = entries.empty() ? begins.back() : std::max(entries.back().seq + 1, begins.back());
    needed = std::min(needed, next);
    digest = 0;
    for (const Entry& entry : entries) digest += digest_of_entry(entry);
  }
};

/// A log that was read.
struct Contents {
  Reading reading{};
  std::vector<Entry> entries{};
};

inline Result<Contents> read_contents(const Disk& disk, const std::string& directory = kDirectory) {
  Contents contents;
  auto reading = read_log(disk, directory, [&](const Record& record, std::uint64_t) {
    contents.entries.push_back(entry_of(record));
    return true;
  });
  if (!reading) return std::unexpected(reading.error());
  contents.reading = std::move(*reading);
  return contents;
}

/// Why the log is not as expected; empty if it is.
inline std::string difference(const Contents& found, const Expected& expected) {
  const Reading& reading = found.reading;
  const auto text = [](std::uint64_t number) { return std::to_string(number); };
  if (reading.damage) return "damaged: " + to_string(*reading.damage);
  if (reading.next != expected.next) {
    return "ends at " + text(reading.next) + " instead of " + text(expected.next);
  }
  if (reading.digest != expected.digest) return "has another digest";
  const auto first = std::ranges::lower_bound(expected.entries, reading.first, {}, &Entry::seq);
  const auto needed = std::ranges::lower_bound(expected.entries, expected.needed, {}, &Entry::seq);
  if (first > needed) {
    return "begins at " + text(reading.first) + ", behind record " + text(needed->seq);
  }
  const std::span<const Entry> due(first, expected.entries.end());
  if (found.entries.size() != due.size()) {
    return "has " + text(found.entries.size()) + " records instead of " + text(due.size());
  }
  for (std::size_t i = 0; i < due.size(); ++i) {
    if (found.entries[i] != due[i]) return "record " + text(due[i].seq) + " is another one";
  }
  return {};
}

/// Opens, or says why not.
inline std::unique_ptr<Writer> open_writer(Disk& disk, WriterOptions options = {},
                                           const std::string& directory = kDirectory) {
  auto writer = Writer::open(disk, directory, some_identity(), options);
  if (!writer) {
    ADD_FAILURE() << writer.error().message;
    return nullptr;
  }
  return std::move(*writer);
}

}  // namespace tutti::log::testing
