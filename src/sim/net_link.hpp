/// \file net_link.hpp
/// One direction of a connection in the simulated network, and what is posted along it: the state
/// of Net, which alone changes it (net.hpp). Threads: those of Net.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "fabric/post_queue.hpp"
#include "sim/row.hpp"

namespace tutti::sim {

/// Words, or data that are still in the poster's row.
struct NetPost {
  std::uint64_t at_ns = 0;  // when it begins to land; the largest number: not known yet
  std::uint64_t offset = 0;
  std::uint32_t words = 0;
  std::uint32_t landed = 0;  // of them
  std::uint32_t next = 0;    // which lands next; then next + stride, ... modulo words
  std::uint32_t stride = 1;  // at most words
  bool torn = false;         // of the next word, some bytes have landed
  bool rings = false;
  bool frame = false;            // seen whole, when the reader polls
  std::vector<std::byte> bytes;  // of a publish() or frame; empty for a write()
};

/// From one node to another. It outlives connections.
struct NetLink {
  std::uint64_t connections = 0;
  bool open = false;
  bool held = false;
  bool disordered = false;
  bool is_new = false;    // the poster has yet to learn of it
  bool posts_to = false;  // the poster has met the reader
  bool reads = false;     // and the reader the poster
  bool shared = false;
  const std::byte* from = nullptr;  // the poster's row
  std::uint32_t poster = 0;         // its slot
  std::uint32_t reader = 0;
  std::unique_ptr<Row> replica;
  std::deque<NetPost> posts;
  std::size_t late = 0;  // of a closed link: how many may still land
  std::uint64_t last_at_ns = 0;
  std::unique_ptr<PostQueue> queue;  // where no order is promised
  std::size_t unknown = 0;           // posts of which the poster does not know that they landed
  std::vector<std::uint64_t> known_at_ns;  // it learns so of some

  [[nodiscard]] bool waits() const { return held || !reads; }
};

}  // namespace tutti::sim
