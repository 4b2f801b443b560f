// Losses, fences and sleep of an OfiFabric.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "fabric/ofi/ofi_peer.hpp"
#include "fabric/peers.hpp"

namespace tutti {
namespace {

// A look at the connections costs system calls: so often it does not show.
constexpr std::uint32_t kPollsPerLook = 4096;
// So often the coarse clock is read: where others have the processor, polls are far apart.
constexpr std::uint32_t kPollsPerClock = 8;

// Many times as long as adapters take to acknowledge a write.
constexpr std::chrono::microseconds kAwaitKnown{100};

}  // namespace

// Rarely, unless the Sleeper was told that there is something, or a connection is being made.
void OfiFabric::look_around() {
  ++polls_;
  bool now = false;
  for (ofi::Watch& watch : watches_) now = watch.take_fired() || now;
  for (const auto& peer : peers_) {
    if (!peer->alive) continue;
    now = peer->bell->take_fired() || now || !peer->opened;
    if (peer->endpoint_watch) static_cast<void>(peer->endpoint_watch->take_fired());
  }
  if (!now) {
    if (polls_ % kPollsPerClock != 0) return;
    timespec time;
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    const bool later = time.tv_sec != last_look_.tv_sec || time.tv_nsec != last_look_.tv_nsec;
    if (!later && polls_ < kPollsPerLook) return;
    last_look_ = time;
  }
  polls_ = 0;
  take_events();
  sockets_.clear();
  for (const auto& peer : peers_) {
    if (peer->alive) sockets_.push_back({.fd = peer->bell->fd(), .events = POLLIN, .revents = 0});
  }
  if (sockets_.empty() || ::poll(sockets_.data(), sockets_.size(), 0) <= 0) return;
  for (const auto& peer : peers_) {
    if (peer->alive) listen_to(*peer);
  }
}

void OfiFabric::listen_to(Peer& peer) {
  if (peer.bell->read() || (!peer.failure.empty() && !peer.failed_by_provider)) return;
  // A better reason than what the provider makes of it.
  peer.failure = kPeerClosed;
}

void OfiFabric::provider_failed(Peer& peer, const std::string& what) {
  if (!peer.failure.empty()) return;
  peer.failure = "libfabric's provider '" + peer.ours.provider + "' " + what;
  peer.failed_by_provider = true;
}

void OfiFabric::lose_the_failed() {
  for (const auto& peer : peers_) {
    if (!peer->alive || peer->failure.empty()) continue;
    listen_to(*peer);
    static_cast<void>(receive(*peer));
    lose(*peer, std::move(peer->failure));
  }
}

void OfiFabric::lose(Peer& peer, std::string reason) {
  peer.close();
  losses_.push_back({peer.slot, std::move(reason)});
}

void OfiFabric::fence(Slot peer) {
  Peer& target = peer_at(peer);
  if (target.alive) target.close();
}

void OfiFabric::hang_up(Slot peer) {
  Peer& target = peer_at(peer);
  if (!target.alive) return;
  static_cast<void>(receive(target));  // what it said last
  if (target.alive) target.close();
}

void OfiFabric::arm() {
  armed_ = true;
  for (const auto& peer : peers_) {
    if (!peer->alive) continue;
    wait_for(*peer);
    tell_asleep(*peer);
  }
  await_known();
  // Last: what was told before has completions, which are to wake nobody.
  bool may = station_->may_sleep();
  for (const auto& peer : peers_) may = (!peer->alive || may_sleep(*peer)) && may;
  for (ofi::Watch& watch : watches_) watch.wait();
  if (!may) sleeper_.wake();
}

void OfiFabric::wait_for(Peer& peer) {
  peer.bell->wait();
  if (peer.endpoint_watch) peer.endpoint_watch->wait();
}

// Asking makes progress: what lands by it is seen by the poll that follows arm(), so it is not
// asked again after that.
bool OfiFabric::may_sleep(const Peer& peer) const {
  if (!peer.rings) {
    const bool has_own = peer.endpoint && peer.endpoint->completions() != nullptr;
    return !has_own || peer.endpoint->completions()->may_sleep();
  }
  // Nothing tells when the peer has opened its way, nor the peer when we have.
  if (!peer.opened) return !peer.connected;
  // What waits here for room leaves by polling only.
  if (!peer.queue.empty()) return false;
  if (peer.told_asleep == 0) return false;
  // It may have to be rung for what we posted.
  return !peer.unnoticed || (peer.known_asleep == peer.told_asleep && !peer.posted);
}

// Where writes land unnoticed, the peer must know that we sleep before we look for the last time:
// what we do not see then landed later, so that the peer, who looks at our word when it is told so,
// rings. A peer that does not answer in time keeps us awake.
void OfiFabric::await_known() {
  const auto is_waited_for = [](const auto& peer) {
    return peer->alive && peer->unnoticed && peer->known_asleep != peer->told_asleep &&
           peer->failure.empty();
  };
  std::chrono::steady_clock::time_point end{};
  while (std::ranges::any_of(peers_, is_waited_for)) {
    const auto now = std::chrono::steady_clock::now();
    if (end == std::chrono::steady_clock::time_point{}) end = now + kAwaitKnown;
    if (now > end) return;
    progress();
  }
}

// What a peer was told stands until it rings for it, also while we are awake: then it rings once in
// vain. So a peer that sleeps itself is not told again and again what it does not hear.
void OfiFabric::tell_asleep(Peer& peer) {
  if (!peer.rings || !peer.opened || !is_usable(peer)) return;
  if (peer.bell->take_rung()) peer.told_asleep = 0;
  if (peer.told_asleep != 0) return;
  // An older value that overtakes a newer one would leave us asleep: then we stay awake.
  if (!station_->provider().keeps_newer_words()) return;
  if (!tell(peer, Word::asleep, peer.next_asleep)) return;
  peer.told_asleep = peer.next_asleep++;
}

}  // namespace tutti
