/// \file landing_net.hpp
/// A network whose posts land one aligned 8-byte word at a time between any two loads of the
/// target's protocol code, as a NIC's would: F-order per pair and nothing more.
///
/// Nothing lands by itself: before_load() and the target's poll() let a random part of what is on
/// its way land. A write() reads the poster's row as late as each word lands (F-data). With
/// `guard_first` it breaks F-order on purpose: publish() overtakes the data before it.
/// Threads: one for all members.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/prng.hpp"
#include "fabric/fabric.hpp"
#include "support/aligned_row.hpp"
#include "support/landing_memory.hpp"

namespace tutti::testing {

struct LandingOptions {
  std::uint64_t seed = 1;
  bool guard_first = false;  ///< the planted fault
};

class LandingNet final : public BetweenLoads {
 public:
  LandingNet(const std::vector<std::size_t>& row_bytes, const LandingOptions& options);

  [[nodiscard]] std::unique_ptr<Fabric> fabric(Slot slot, const std::byte* own_row);

  void before_load(Slot reader) override;

 private:
  class LandingFabric;
  struct Post {
    std::uint64_t offset = 0;
    std::vector<std::byte> words;     // of a publish(); empty for a write()
    std::vector<std::uint32_t> left;  // words that have still to land, in the order drawn
    std::uint64_t bytes = 0;
  };
  struct Link {
    const std::byte* from = nullptr;  // the poster's row
    AlignedRow replica;
    std::deque<Post> posts;
  };

  [[nodiscard]] Link& link(std::uint32_t from, std::uint32_t to) {
    return links_[from * nodes_ + to];
  }
  void hold(Link& link, Post post);
  std::size_t land(Link& link, std::size_t words);
  static void land_word(Link& link, const Post& post, std::uint32_t word);
  std::size_t land_some(std::uint32_t target);

  std::size_t nodes_;
  LandingOptions options_;
  Prng random_;
  std::vector<Link> links_;  // [from * nodes + to]
};

}  // namespace tutti::testing
