/// \file sample_store.hpp
/// The samples of one topic that one participant keeps in memory, for all its readers that take.
///
/// Samples lie in chunks that are counted: a loan keeps its chunk, so taking copies nothing, and a
/// sample that is evicted stays readable for who has it. Each sample has an ordinal, its number in
/// the topic here: 1, 2, ...; a reader's place is the ordinal of the next sample that it wants.
///
/// Invariants:
///  SS1  The limits hold after every call: per key `depth`, in all max_samples and max_bytes. The
///       oldest goes first. A sample that is larger than max_bytes is never kept.
///  SS2  With `waits_for_readers` a sample is kept until all readers have passed it: add() says
///       that there is no room, and changes nothing, where SS1 would need it.
///  SS3  Chunks take at most twice as much memory as the samples that are kept, each rounded up to
///       its alignment, and 256 KiB more; loans come on top.
///  SS4  Every sample with a position of low_position() or more that was added is here.
/// Threads: one at a time; bytes of loans may be read at any time. No clock.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>

#include "tutti/dds/sample.hpp"

namespace tutti::dds {

struct StoreLimits {
  std::uint32_t depth = 0;  ///< of each key; 0: no limit
  std::uint32_t max_samples = 100'000;
  std::uint64_t max_bytes = 64ULL << 20;
  std::uint64_t max_age_ns = 0;    ///< by source timestamps; 0: no limit
  bool keyed = false;              ///< else all samples have one key
  bool waits_for_readers = false;  ///< SS2
  bool keeps_taken = true;         ///< false: what all readers have passed goes
  std::uint32_t alignment = 8;     ///< of payloads
};

class SampleStore {
 public:
  struct Arrival {
    SampleInfo info{};  ///< lost_before counts for nothing
    std::uint64_t key = 0;
    std::span<const std::byte> payload{};
  };
  struct Entry {
    std::uint64_t ordinal = 0;
    std::uint64_t key = 0;
    LoanedBytes::Sample sample{};  ///< data null: it was evicted
    struct Chunk* chunk = nullptr;
    std::uint64_t gap_end = 0;  ///< entries directly before it that were erased had lower positions
  };

  explicit SampleStore(const StoreLimits& limits);
  ~SampleStore();
  SampleStore(const SampleStore&) = delete;
  SampleStore& operator=(const SampleStore&) = delete;

  /// False: SS2.
  [[nodiscard]] bool add(const Arrival& arrival);
  /// What is older than max_age goes, in the order of arrival.
  void expire(std::uint64_t now_ns);
  /// All goes, also what readers have not passed.
  void clear();
  /// What was added with that ordinal or a higher one goes: it is not what was sent. low_position()
  /// is not above `position` then.
  void take_back(std::uint64_t ordinal, std::uint64_t position);

  using ReaderId = std::uint64_t;
  /// A reader whose place is that ordinal. It passes by what is added with a position before
  /// `first`: of a reader that knows a position that was not delivered here yet.
  [[nodiscard]] ReaderId open(std::uint64_t ordinal, std::uint64_t first = 0);
  void close(ReaderId reader);
  [[nodiscard]] std::uint64_t place(ReaderId reader) const { return readers_.at(reader); }
  void move_to(ReaderId reader, std::uint64_t ordinal);
  /// Adds the next samples to `into`, at most `max`. lost_before of the first says how many were
  /// evicted before the reader came to them.
  void take(ReaderId reader, std::size_t max, LoanedBytes& into);

  /// Of the next sample that is added.
  [[nodiscard]] std::uint64_t end() const { return next_; }
  /// Of the oldest one that is kept; end() if none is.
  [[nodiscard]] std::uint64_t begin() const;
  /// Of the first one that is kept with that position or a higher one; end() if none is.
  [[nodiscard]] std::uint64_t ordinal_at(std::uint64_t position) const;
  /// Where a reader begins that wants samples from that position on: what is missing behind it is
  /// counted when it takes. Of samples before front_position() nobody knows how many are missing.
  [[nodiscard]] std::uint64_t ordinal_from(std::uint64_t position) const;
  [[nodiscard]] std::uint64_t front_position() const { return front_position_; }
  /// A sample with that ordinal or a higher one is kept.
  [[nodiscard]] bool has_from(std::uint64_t ordinal) const;
  [[nodiscard]] std::uint64_t low_position() const { return low_position_; }
  /// The store has all samples from that position on: of a store that begins there.
  void begin_at(std::uint64_t position) {
    low_position_ = end_position_ = front_position_ = position;
  }
  /// Every sample that was added has a lower position, and what is added later none of these.
  [[nodiscard]] std::uint64_t end_position() const { return end_position_; }
  /// Of the oldest sample that is kept; of samples with keys newer ones may be gone. low_position()
  /// if none is kept.
  [[nodiscard]] std::uint64_t oldest_position() const;

  [[nodiscard]] std::size_t samples() const { return samples_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t chunk_bytes() const { return chunk_bytes_; }
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const Entry& entry : entries_) {
      if (entry.sample.data != nullptr) visit(entry);
    }
  }

 private:
  [[nodiscard]] bool fits(const Arrival& arrival) const;
  [[nodiscard]] std::uint64_t first_unread() const;
  [[nodiscard]] bool has_places() const {
    return !limits_.keeps_taken || limits_.waits_for_readers;
  }
  void come_to(std::uint64_t place);
  void leave(std::uint64_t place);
  [[nodiscard]] Entry* find(std::uint64_t ordinal);
  [[nodiscard]] std::size_t padded(std::size_t size) const;
  std::byte* room(std::uint32_t size, struct Chunk*& chunk);
  void evict(Entry& entry);
  void evict_oldest();
  void pop_front();
  void drop_front();
  void drop_taken();
  void pass_by(std::uint64_t position);
  void repack();

  const StoreLimits limits_;
  std::deque<Entry> entries_;                                            // by ordinal
  std::unordered_map<std::uint64_t, std::deque<std::uint64_t>> by_key_;  // with depth and keys
  std::map<struct Chunk*, std::shared_ptr<struct Chunk>> chunks_;
  struct Chunk* current_ = nullptr;
  std::map<ReaderId, std::uint64_t> readers_;
  // Readers that have passed all that was added, and want nothing before that position.
  std::map<ReaderId, std::uint64_t> ahead_;
  std::map<std::uint64_t, std::size_t> places_;  // of readers_, where they matter: how many each
  ReaderId next_reader_ = 1;
  std::uint64_t next_ = 1;
  std::uint64_t low_position_ = 0;
  std::uint64_t end_position_ = 0;
  // What was added with this position or a higher one has an entry, or was erased behind the first.
  std::uint64_t front_position_ = 0;
  std::uint64_t last_gap_end_ = 0;  // Entry::gap_end of the next one
  std::size_t samples_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t room_ = 0;  // what the samples take of chunks
  std::uint64_t chunk_bytes_ = 0;
};

}  // namespace tutti::dds
