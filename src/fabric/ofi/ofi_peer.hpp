/// \file ofi_peer.hpp
/// One peer of an OfiFabric: its window, which it writes, our end of it, what is queued for it.
///
/// Invariant: while `alive` is false nothing is registered for it, its endpoint and its bell are
/// closed, the queue is empty.
/// Threads: the predicate thread only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "fabric/ofi/bell.hpp"
#include "fabric/ofi/control_ring.hpp"
#include "fabric/ofi/endpoint.hpp"
#include "fabric/ofi/greeting.hpp"
#include "fabric/ofi/ofi_fabric.hpp"
#include "fabric/ofi/window.hpp"
#include "fabric/pages.hpp"
#include "fabric/post_queue.hpp"

namespace tutti {

struct OfiFabric::Peer {
  Peer(Slot peer_slot, std::uint64_t number, std::size_t row_bytes, Ordering ordering,
       Pages&& window_pages, Pages&& mirror_pages)
      : slot(peer_slot),
        attachment(number),
        window(std::move(window_pages)),
        mirror(std::move(mirror_pages)),
        words(reinterpret_cast<ofi::WindowWords*>(window.bytes().data() +
                                                  ofi::window_control(row_bytes))),
        queue({.words = Words::framed, .ordering = ordering}),
        writer(mirror.bytes().first(ofi::kRingBytes)),
        reader(window.bytes().subspan(ofi::window_ring(row_bytes), ofi::kRingBytes),
               window.bytes().first(row_bytes)) {}

  /// From now on nothing comes in or goes out.
  void close() {
    alive = false;
    queue.clear();
    // First: whoever looks whether we are there (`fragile`) must not find an endpoint that is not.
    bell.reset();
    window_region.reset();
    endpoint_watch.reset();
    endpoint.reset();
    own_row_region.reset();
    mirror_region.reset();
  }

  [[nodiscard]] bool all_acknowledged() const { return signalled == 0 && unsignalled == 0; }

  Slot slot;
  std::uint64_t attachment;
  Pages window;
  Pages mirror;             // the ring at the peer (RingWriter), then the words we write there
  ofi::WindowWords* words;  // in the window
  PostQueue queue;
  ofi::RingWriter writer;
  ofi::RingReader reader;

  ofi::Greeting ours;
  std::optional<ofi::Greeting> theirs;
  bool fragile = false;    // see Provider::is_fragile_within_a_process
  bool rings = false;      // only the bell wakes it, and us for it
  bool unnoticed = false;  // and what it writes lands without our doing, as ours does there
  bool calls = false;      // it is ours to open the connection
  bool connected = false;  // the endpoint can be written through
  bool said_open = false;  // the first write went out
  bool opened = false;     // and came through
  bool alive = true;
  std::string failure;  // why it is to be reported lost
  bool failed_by_provider = false;

  std::uint32_t signalled = 0;          // writes whose completion is to come
  std::uint32_t unsignalled = 0;        // writes since the last signalled one
  std::uint64_t acknowledged = 0;       // of the peer's ring: what it was told
  std::uint64_t rung = 0;               // the value of its `asleep` that was answered last
  std::uint64_t next_asleep = 1;        // of ours: never used before
  std::uint64_t told_asleep = 0;        // what it was told, and has not rung for; 0: nothing
  std::uint64_t known_asleep = 0;       // what it knows of that (`unnoticed`)
  bool posted = false;                  // since it was last asked whether it sleeps
  std::uint64_t next_alive = 1;         // the next value of its `alive`
  std::uint64_t bytes_since_alive = 0;  // of data, since it was told so

  // Closed in close() order: the registration that lets the peer write goes first.
  ofi::Owned<fid_mr> mirror_region;
  ofi::Owned<fid_mr> own_row_region;
  std::optional<ofi::Endpoint> endpoint;
  std::optional<ofi::Watch> endpoint_watch;  // of a datagram endpoint's queue
  ofi::Owned<fid_mr> window_region;
  std::optional<ofi::Bell> bell;
};

}  // namespace tutti
