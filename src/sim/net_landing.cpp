// How posts land in replicas: word by word, between any two reads of their owner.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/assert.hpp"
#include "fabric/control_record.hpp"
#include "sim/net.hpp"
#include "sst/memory.hpp"

namespace tutti::sim {
namespace {

// Of a word: which bytes of it land first.
constexpr std::array<std::uint64_t, 4> kSomeBytes{0x00000000000000FF, 0xFF00000000000000,
                                                  0x00000000FFFFFFFF, 0xFFFF0000FF00FF00};

}  // namespace

// All whose time is over has landed; what is in its time lands word by word in land_words().
std::size_t Net::land_due(std::uint32_t to) {
  std::size_t landed = 0;
  for (std::uint32_t from = 0; from < slots_; ++from) {
    if (first_at_ns_[to * slots_ + from] <= now_ns_) landed += land_due_of(link(from, to));
  }
  count_landing(to);
  return landed;
}

std::size_t Net::land_due_of(Link& way) {
  std::size_t landed = 0;
  while (!way.posts.empty() && way.posts.front().at_ns + options_.landing_ns <= now_ns_) {
    const std::size_t before = way.posts.size();
    if (way.posts.front().frame) land_frame(way);
    while (way.posts.size() == before) land_word(way);
    ++landed;
  }
  return landed;
}

void Net::count_landing(std::uint32_t to) {
  busy_[to] &= kInterruptible;
  const auto first = first_at_ns_.begin() + std::ptrdiff_t{to} * slots_;
  busy_[to] += static_cast<std::uint32_t>(std::count_if(
      first, first + slots_, [this](std::uint64_t at_ns) { return at_ns <= now_ns_; }));
}

// In a pass that is interrupted, time goes on.
void Net::set_interruptible(std::uint32_t node, bool interruptible) {
  busy_[node] = interruptible ? kInterruptible : 0;
  count_landing(node);
}

void Net::before_busy_load(std::uint32_t node) {
  if ((busy_[node] & kInterruptible) != 0) [[unlikely]]
    interrupt_(node);
  if ((busy_[node] & ~kInterruptible) != 0) land_words(node);
}

void Net::land_words(std::uint32_t reader) {
  // One number for all: this is called at every load.
  const std::uint64_t drawn = random_.next();
  const auto from = static_cast<std::uint32_t>((drawn >> 32) * slots_ >> 32);
  // One branch: the first of two would be taken at random.
  if ((drawn % 2 == 0) | (first_at_ns_[reader * slots_ + from] > now_ns_)) return;
  land_words_of(link(from, reader), drawn);
}

void Net::land_words_of(Link& way, std::uint64_t drawn) {
  std::uint64_t words = drawn / 2 % 4 == 0 ? drawn / 8 % 64 : 1 + drawn / 8 % 2;
  const auto due = [&] { return !way.posts.empty() && way.posts.front().at_ns <= now_ns_; };
  for (; words > 0 && due(); --words) {
    const Post& first = way.posts.front();
    if (first.frame) return;
    land_word(way);
  }
  if (!due()) --busy_[way.reader];
}

void Net::land_word(Link& way) {
  Post& first = way.posts.front();
  const std::size_t offset = std::size_t{first.next} * 8;
  TUTTI_ASSERT(first.offset + offset < row_bytes_, first.offset, offset);
  const std::byte* from =
      first.bytes.empty() ? way.from + first.offset + offset : &first.bytes[offset];
  std::byte* const to = way.replica->data() + first.offset + offset;
  const std::uint64_t word = NativeMemory::load(from);
  if (options_.torn && first.bytes.empty() && !std::exchange(first.torn, !first.torn)) {
    const std::uint64_t there = kSomeBytes[random_.below(kSomeBytes.size())];
    return store_cell(to, (word & there) | (NativeMemory::load(to) & ~there));
  }
  store_cell(to, word);
  first.next += first.stride;
  if (first.next >= first.words) first.next -= first.words;
  if (++first.landed == first.words) has_landed(way);
}

// The reader has checked that it is whole (fabric/ofi/control_ring.hpp).
void Net::land_frame(Link& way) {
  const std::span<const std::byte> frame = way.posts.front().bytes;
  for (std::size_t at = 0; at < frame.size();) {
    ControlRecord record;
    std::memcpy(&record, &frame[at], sizeof record);
    at += sizeof record;
    for (const std::size_t end = at + record.bytes; at < end; at += 8, record.offset += 8) {
      TUTTI_ASSERT(record.offset < row_bytes_, record.offset);
      store_cell(way.replica->data() + record.offset, NativeMemory::load(&frame[at]));
    }
  }
  has_landed(way);
}

void Net::has_landed(Link& way) {
  const Post& first = way.posts.front();
  const std::uint64_t over_ns = first.at_ns + options_.landing_ns;
  if (first.rings && over_ns > now_ns_) rings_at_ns_[way.reader].push_back(over_ns);
  way.posts.pop_front();
  note_first(way);
  if (!way.open && way.late > 0) --way.late;
  if (way.queue == nullptr) return;
  const std::uint64_t known_ns = draw_arrival(0);
  way.known_at_ns.push_back(known_ns);
  note_late(way, known_ns);  // what it guards waits as long
  static_cast<void>(wake_(way.poster, known_ns));
}

}  // namespace tutti::sim
