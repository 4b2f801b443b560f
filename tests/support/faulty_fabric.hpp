/// \file faulty_fabric.hpp
/// Wraps a fabric and makes it as bad as the contract allows, by seed: posts land late, late by a
/// different time at each peer, and in pieces. For tests; usually around a local fabric.
///
/// Keeps F-order and F-control per pair: a post begins to land when the one before has landed
/// wholly. Uses up F-order's freedom within a post (a publish() lands word by word, a write() piece
/// by piece, both in random order and over several polls) and F-data's (a write() reads the row as
/// late as it lands). What waits counts as not drained(); arm() lets all of it land, because a
/// sleeping node does not poll.
/// Threads: as the fabric inside.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "base/prng.hpp"
#include "fabric/fabric.hpp"

namespace tutti::testing {

struct FaultyOptions {
  std::uint64_t seed = 1;
  std::uint32_t delay_polls_max = 8;  ///< half of the posts wait up to so many polls of their own
  std::uint32_t pieces_max = 16;      ///< of one write; 1: data lands whole
  bool split_publish = true;          ///< a publish of several words lands word by word
  bool tells_losses = true;           ///< false: nobody hears of them for as long as the test lasts
};

class FaultyFabric final : public Fabric {
 public:
  FaultyFabric(std::unique_ptr<Fabric> inner, const FaultyOptions& options);

  /// Cuts the link: drops what waits, fences the peer, reports it lost here. At the other side the
  /// fabric inside reports what it makes of that.
  void cut(Slot peer);

  [[nodiscard]] const std::byte* row(Slot peer) const override { return inner_->row(peer); }
  [[nodiscard]] std::byte* replica(Slot peer) override { return inner_->replica(peer); }
  void write(Slot peer, Extent data) override;
  void publish(Slot peer, std::uint64_t offset, std::span<const std::byte> words) override;
  void flush() override { inner_->flush(); }
  std::size_t poll() override;
  [[nodiscard]] bool drained() const override;
  [[nodiscard]] std::vector<PeerLoss> take_losses() override;
  void fence(Slot peer) override;
  void hang_up(Slot peer) override;
  void arm() override;
  void disarm() override { inner_->disarm(); }
  [[nodiscard]] FabricCounters counters() const override { return inner_->counters(); }

 private:
  struct Post {
    std::vector<std::byte> words;  // of a publish(); empty for a write()
    std::vector<Extent> pieces;    // what has still to land, taken from the back
    std::uint64_t offset = 0;
    std::uint32_t delay_polls = 0;  // counted from when it is first in its queue
  };
  struct Queue {
    std::deque<Post> posts;
    bool lost = false;
  };

  [[nodiscard]] Queue& queue(Slot peer);
  void hold(Slot peer, Post post);
  void cut_data(const Extent& data, std::vector<Extent>& pieces);
  void shuffle(std::vector<Extent>& pieces);
  void advance(Slot peer, Queue& waiting);
  void land(Slot peer, const Post& post, const Extent& piece);
  void drop(Slot peer);

  std::unique_ptr<Fabric> inner_;
  FaultyOptions options_;
  Prng random_;
  std::vector<Queue> queues_;  // by rank
  std::vector<PeerLoss> losses_;
};

}  // namespace tutti::testing
