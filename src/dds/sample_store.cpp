#include "dds/sample_store.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

namespace tutti::dds {

// Memory for samples, filled from its beginning on.
struct Chunk {
  Chunk(std::size_t size, std::size_t align)
      : capacity(size),
        alignment(align),
        memory(static_cast<std::byte*>(::operator new(size, std::align_val_t(align)))) {}
  ~Chunk() { ::operator delete(memory, std::align_val_t(alignment)); }
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;

  const std::size_t capacity;
  const std::size_t alignment;
  std::byte* const memory;
  std::size_t used = 0;
  std::size_t kept = 0;  // samples of the store that lie in it
};

namespace {

constexpr std::size_t kChunkMin = 1024;
constexpr std::size_t kChunkMax = 64 * 1024;
constexpr std::size_t kTombsMin = 64;

}  // namespace

SampleStore::SampleStore(const StoreLimits& limits) : limits_(limits) {}
SampleStore::~SampleStore() = default;

bool SampleStore::add(const Arrival& arrival) {
  const std::uint64_t size = arrival.payload.size();
  if (size > limits_.max_bytes) {  // SS1
    low_position_ = end_position_ = arrival.info.position.value + 1;
    entries_.push_back({.ordinal = next_++,
                        .sample = {.info = arrival.info},
                        .gap_end = std::exchange(last_gap_end_, 0)});
    if (!ahead_.empty()) pass_by(arrival.info.position.value);
    drop_front();
    return true;
  }
  if (limits_.waits_for_readers && !fits(arrival)) return false;  // SS2
  if (limits_.depth > 0) {
    if (!limits_.keyed) {
      while (samples_ >= limits_.depth) evict_oldest();
    } else {
      std::deque<std::uint64_t>& of_key = by_key_[arrival.key];
      while (of_key.size() >= limits_.depth) {
        evict(*find(of_key.front()));  // takes it out of the queue, which is not empty then
        if (limits_.depth == 1) break;
      }
    }
  }
  while (samples_ > 0 && (samples_ >= limits_.max_samples || bytes_ + size > limits_.max_bytes)) {
    evict_oldest();
  }
  drop_front();
  if (chunk_bytes_ > 2 * room_ + 2 * kChunkMax) repack();  // SS3
  end_position_ = arrival.info.position.value + 1;
  Entry entry{.ordinal = next_++, .key = limits_.keyed ? arrival.key : 0};
  std::byte* const data = room(static_cast<std::uint32_t>(size), entry.chunk);
  if (size > 0) std::memcpy(data, arrival.payload.data(), size);
  entry.sample = {data, static_cast<std::uint32_t>(size), arrival.info};
  entry.sample.info.lost_before = 0;
  entry.gap_end = std::exchange(last_gap_end_, 0);
  if (limits_.keyed && limits_.depth > 0) by_key_[entry.key].push_back(entry.ordinal);
  ++samples_;
  bytes_ += size;
  room_ += padded(size);
  entries_.push_back(entry);
  if (!ahead_.empty()) [[unlikely]]
    pass_by(arrival.info.position.value);
  return true;
}

void SampleStore::take_back(std::uint64_t ordinal, std::uint64_t position) {
  const auto first = std::ranges::lower_bound(entries_, ordinal, {}, &Entry::ordinal);
  for (auto at = first; at != entries_.end(); ++at) {
    if (at->sample.data != nullptr) evict(*at);
  }
  drop_front();
  low_position_ = std::min(low_position_, position);
}

// Whether what has to go for it was passed by all readers (SS2).
bool SampleStore::fits(const Arrival& arrival) const {
  std::size_t samples = samples_;
  std::uint64_t bytes = bytes_;
  const std::uint64_t unread = first_unread();
  for (const Entry& entry : entries_) {
    const bool has_room =
        samples < limits_.max_samples && bytes + arrival.payload.size() <= limits_.max_bytes;
    if (has_room || entry.ordinal >= unread) return has_room;
    if (entry.sample.data == nullptr) continue;
    --samples;
    bytes -= entry.sample.size;
  }
  return true;
}

std::uint64_t SampleStore::first_unread() const {
  return places_.empty() ? next_ : std::min(next_, places_.begin()->first);
}

// A relay has a reader for each client: so the first place is kept, not looked for.
void SampleStore::come_to(std::uint64_t place) {
  if (has_places()) ++places_[place];
}

void SampleStore::leave(std::uint64_t place) {
  if (!has_places()) return;
  const auto at = places_.find(place);
  if (--at->second == 0) places_.erase(at);
}

void SampleStore::expire(std::uint64_t now_ns) {
  if (limits_.max_age_ns == 0) return;
  for (Entry& entry : entries_) {
    if (entry.sample.data == nullptr) continue;
    if (entry.sample.info.source_timestamp + limits_.max_age_ns >= now_ns) break;
    evict(entry);
  }
  drop_front();
}

void SampleStore::clear() {
  for (Entry& entry : entries_) {
    if (entry.sample.data != nullptr) evict(entry);
  }
  drop_front();
}

SampleStore::ReaderId SampleStore::open(std::uint64_t ordinal, std::uint64_t first) {
  readers_[next_reader_] = ordinal;
  if (first > end_position_) ahead_[next_reader_] = first;
  come_to(ordinal);
  return next_reader_++;
}

// Of the sample that was just added.
void SampleStore::pass_by(std::uint64_t position) {
  std::erase_if(ahead_, [&](const auto& one) {
    if (position < one.second) {
      leave(std::exchange(readers_.at(one.first), next_));
      come_to(next_);
    }
    return position >= one.second;
  });
}

void SampleStore::close(ReaderId reader) {
  leave(readers_.at(reader));
  readers_.erase(reader);
  ahead_.erase(reader);
  drop_taken();
}

void SampleStore::move_to(ReaderId reader, std::uint64_t ordinal) {
  leave(std::exchange(readers_.at(reader), ordinal));
  come_to(ordinal);
  drop_taken();
}

void SampleStore::take(ReaderId reader, std::size_t max, LoanedBytes& into) {
  std::uint64_t& place = readers_.at(reader);
  const std::uint64_t before = place;
  auto at = std::ranges::lower_bound(entries_, place, {}, &Entry::ordinal);
  std::shared_ptr<const void> keeper;
  const Chunk* kept = nullptr;
  for (; at != entries_.end() && max > 0; ++at) {
    if (at->sample.data == nullptr) continue;
    if (at->chunk != kept) {
      kept = at->chunk;
      keeper = chunks_.at(at->chunk);
    }
    LoanedBytes::Sample sample = at->sample;
    sample.info.lost_before = at->ordinal - place;
    into.add(sample, keeper);
    place = at->ordinal + 1;
    --max;
  }
  // What came last and was evicted, or is too large, shows with the sample after it.
  if (place != before) {
    leave(before);
    come_to(place);
  }
  drop_taken();
}

std::uint64_t SampleStore::begin() const {
  for (const Entry& entry : entries_) {
    if (entry.sample.data != nullptr) return entry.ordinal;
  }
  return next_;
}

std::uint64_t SampleStore::oldest_position() const {
  for (const Entry& entry : entries_) {
    if (entry.sample.data != nullptr) return entry.sample.info.position.value;
  }
  return low_position_;
}

std::uint64_t SampleStore::ordinal_at(std::uint64_t position) const {
  const auto at = std::ranges::lower_bound(
      entries_, position, {}, [](const Entry& entry) { return entry.sample.info.position.value; });
  for (auto here = at; here != entries_.end(); ++here) {
    if (here->sample.data != nullptr) return here->ordinal;
  }
  return next_;
}

std::uint64_t SampleStore::ordinal_from(std::uint64_t position) const {
  const auto at = std::ranges::lower_bound(
      entries_, position, {}, [](const Entry& entry) { return entry.sample.info.position.value; });
  const std::uint64_t gap_end = at == entries_.end() ? last_gap_end_ : at->gap_end;
  // Entries were erased there: so as not to miss one, all of that gap count.
  if (gap_end > position && at != entries_.begin()) return std::prev(at)->ordinal + 1;
  return at == entries_.end() ? next_ : at->ordinal;
}

bool SampleStore::has_from(std::uint64_t ordinal) const {
  // The newest entry is of a sample that is kept, but for what expired or was released.
  for (auto at = entries_.rbegin(); at != entries_.rend() && at->ordinal >= ordinal; ++at) {
    if (at->sample.data != nullptr) return true;
  }
  return false;
}

SampleStore::Entry* SampleStore::find(std::uint64_t ordinal) {
  const auto at = std::ranges::lower_bound(entries_, ordinal, {}, &Entry::ordinal);
  return at != entries_.end() && at->ordinal == ordinal ? &*at : nullptr;
}

std::size_t SampleStore::padded(std::size_t size) const {
  const std::size_t unit = std::max<std::size_t>(limits_.alignment, 8);
  return (std::max<std::size_t>(size, 1) + unit - 1) / unit * unit;
}

std::byte* SampleStore::room(std::uint32_t size, Chunk*& chunk) {
  const std::size_t alignment = std::max<std::size_t>(limits_.alignment, 8);
  const std::size_t needed = padded(size);
  if (current_ == nullptr || current_->capacity - current_->used < needed) {
    Chunk* const full = current_;
    // Small at first: a topic that is quiet takes little.
    const std::size_t wanted =
        full == nullptr ? kChunkMin : std::clamp(full->capacity * 2, kChunkMin, kChunkMax);
    auto made = std::make_shared<Chunk>(std::max(wanted, needed), alignment);
    current_ = made.get();
    chunk_bytes_ += made->capacity;
    chunks_.emplace(current_, std::move(made));
    if (full != nullptr && full->kept == 0) {
      chunk_bytes_ -= full->capacity;
      chunks_.erase(full);
    }
  }
  std::byte* const data = current_->memory + current_->used;
  current_->used += needed;
  ++current_->kept;
  chunk = current_;
  return data;
}

void SampleStore::evict(Entry& entry) {
  low_position_ = std::max(low_position_, entry.sample.info.position.value + 1);  // SS4
  --samples_;
  bytes_ -= entry.sample.size;
  room_ -= padded(entry.sample.size);
  entry.sample.data = nullptr;
  Chunk* const chunk = entry.chunk;
  if (--chunk->kept == 0 && chunk != current_) {
    chunk_bytes_ -= chunk->capacity;
    chunks_.erase(chunk);
  }
  if (!limits_.keyed || limits_.depth == 0) return;
  const auto of_key = by_key_.find(entry.key);
  std::erase(of_key->second, entry.ordinal);
  if (of_key->second.empty()) by_key_.erase(of_key);
}

void SampleStore::evict_oldest() {
  drop_front();
  if (!entries_.empty()) evict(entries_.front());
  drop_front();
}

void SampleStore::pop_front() {
  front_position_ = std::max(front_position_, entries_.front().sample.info.position.value + 1);
  entries_.pop_front();
  const std::uint64_t gap_end = entries_.empty() ? last_gap_end_ : entries_.front().gap_end;
  front_position_ = std::max(front_position_, gap_end);
}

// Entries of what was evicted are kept only behind one that was not; and of these at most as many
// as there are others.
void SampleStore::drop_front() {
  while (!entries_.empty() && entries_.front().sample.data == nullptr) pop_front();
  if (entries_.size() <= 2 * samples_ + kTombsMin) return;
  std::uint64_t gap_end = 0;
  for (Entry& entry : entries_) {
    if (entry.sample.data == nullptr) {
      gap_end = entry.sample.info.position.value + 1;
    } else {
      entry.gap_end = std::max(entry.gap_end, std::exchange(gap_end, 0));
    }
  }
  last_gap_end_ = std::max(last_gap_end_, gap_end);
  std::erase_if(entries_, [](const Entry& entry) { return entry.sample.data == nullptr; });
}

void SampleStore::drop_taken() {
  if (limits_.keeps_taken) return;
  const std::uint64_t unread = first_unread();
  while (!entries_.empty() && entries_.front().ordinal < unread) {
    if (entries_.front().sample.data != nullptr) evict(entries_.front());
    pop_front();
  }
}

// SS3: few samples of many chunks move into chunks of their own.
void SampleStore::repack() {
  const auto old = std::move(chunks_);
  chunks_.clear();
  current_ = nullptr;
  chunk_bytes_ = 0;
  for (Entry& entry : entries_) {
    if (entry.sample.data == nullptr) continue;
    const std::byte* const from = entry.sample.data;
    std::byte* const data = room(entry.sample.size, entry.chunk);
    if (entry.sample.size > 0) std::memcpy(data, from, entry.sample.size);
    entry.sample.data = data;
  }
}

}  // namespace tutti::dds
