/// \file verbs_peer.hpp
/// One peer of a VerbsFabric: its pair, what waits for it, and the work requests, filled in as far
/// as they are always the same.
///
/// Invariants: while `alive` is false the queue pair is in error and the queue empty. Work requests
/// are numbered from 1; those up to `completed` have landed.
/// Threads: the predicate thread only.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "fabric/post_queue.hpp"
#include "fabric/verbs/fd_watch.hpp"
#include "fabric/verbs/pair.hpp"
#include "fabric/verbs/verbs_fabric.hpp"

namespace tutti {

struct VerbsFabric::Peer {
  Peer(Sleeper& sleeper, Slot peer_slot, std::shared_ptr<verbs::Pair> connected)
      : slot(peer_slot), pair(std::move(connected)), watch(sleeper, pair->events->fd) {
    for (std::size_t i = 0; i < chain.size(); ++i) {
      chain[i] = {};
      chain[i].sg_list = &pieces[i];
      chain[i].wr.rdma.rkey = pair->remote_key;
    }
  }

  [[nodiscard]] std::uint64_t room() const { return pair->depth - (posted - completed); }
  [[nodiscard]] std::uint64_t bell() const {
    // Acquire: pairs with nothing of ours, the peer's device writes it.
    return pair->bell().load(std::memory_order_acquire);
  }
  /// A slot for a copy of words; null if all are under way.
  [[nodiscard]] std::byte* free_copy() const {
    if (copy_of[next_copy] > completed) return nullptr;
    return pair->staging.bytes().data() + next_copy * verbs::kStagingSlotBytes;
  }

  Slot slot;
  std::shared_ptr<verbs::Pair> pair;
  verbs::FdWatch watch;  // of what rdma_cm says
  PostQueue queue{{.words = Words::placed, .ordering = Ordering::writes}};
  bool alive = true;
  std::string failure;  // why it has to be lost, found in the middle of something

  std::array<ibv_send_wr, kChainMax> chain;
  std::array<ibv_sge, kChainMax> pieces{};
  std::uint64_t posted = 0;     // work requests so far
  std::uint64_t completed = 0;  // known to have landed
  std::uint64_t signalled = 0;  // the last one whose completion was asked for
  std::array<std::uint64_t, verbs::kStagingSlots> copy_of{};  // the work request that uses it last
  std::size_t next_copy = 0;
  std::size_t copies_unsignalled = 0;

  std::uint64_t bytes_since_alive = 0;              // of data, since the peer was told that we live
  std::uint64_t alive_said = 0;                     // what it was told
  std::array<std::uint64_t, kChainMax> alive_in{};  // by index in the chain

  // The peer's bell, which we ring.
  std::uint64_t rung = 0;      // the number that was answered last
  std::uint64_t owed = 0;      // the last work request that the peer may have to be woken for
  std::uint64_t answered = 0;  // up to here it has been (VW2)
  // Our bell at the peer.
  std::uint64_t raised = 0;  // its number
  bool is_raised = false;    // and it was not rung yet (VW1)
};

}  // namespace tutti
