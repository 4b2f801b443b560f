// Making and ending an OfiFabric, attaching, greeting, connecting. The data path is in
// ofi_fabric_datapath.cpp.
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/assert.hpp"
#include "fabric/ofi/ofi_peer.hpp"
#include "fabric/peers.hpp"
#include "fabric/row_header.hpp"

namespace tutti {
OfiFabric::OfiFabric(Sleeper& sleeper, std::span<const std::byte> own_row,
                     std::unique_ptr<ofi::Station> station)
    : sleeper_(sleeper), own_row_(own_row), station_(std::move(station)) {}

OfiFabric::~OfiFabric() = default;

Result<std::unique_ptr<OfiFabric>> OfiFabric::create(Sleeper& sleeper,
                                                     std::span<const std::byte> own_row,
                                                     const std::string& provider,
                                                     const std::string& host, Ordering most) {
  if (own_row.size() < kRowHeaderBytes) {
    return fail(ErrorCode::invalid_argument, "the own row of " + std::to_string(own_row.size()) +
                                                 " bytes has no room for its header");
  }
  auto station = ofi::Station::open(provider, host, most);
  if (!station) return std::unexpected(std::move(station.error()));
  std::unique_ptr<OfiFabric> fabric(new OfiFabric(sleeper, own_row, std::move(*station)));
  if (Result<void> r = fabric->open_watches(); !r) return std::unexpected(r.error());
  return fabric;
}

Result<void> OfiFabric::open_watches() {
  if (station_->completions() == nullptr) return {};
  for (fid* queue : {&station_->completions()->get().fid, &station_->events()->fid}) {
    Result<UniqueFd> descriptor = ofi::wait_fd_of(*queue);
    if (!descriptor) return std::unexpected(descriptor.error());
    Result<ofi::Watch> watch = ofi::Watch::of(sleeper_, std::move(*descriptor));
    if (!watch) return std::unexpected(watch.error());
    watches_.push_back(std::move(*watch));
  }
  return {};
}

Result<void> OfiFabric::attach(OfiConnection connection) {
  const Slot slot = connection.peer;
  if (slot.value > kSlotMax) {
    return fail(ErrorCode::invalid_argument, peer_name(slot) + " is beyond any group's size");
  }
  if (slot.value < peer_in_slot_.size() && peer_in_slot_[slot.value] != nullptr) {
    return fail(ErrorCode::invalid_argument, peer_name(slot) + " is there twice");
  }
  if (connection.row_bytes < kRowHeaderBytes) {
    return fail(ErrorCode::mismatch, peer_name(slot) + " has a row of " +
                                         std::to_string(connection.row_bytes) +
                                         " bytes, less than its header");
  }
  Result<std::unique_ptr<Peer>> peer = make_peer(std::move(connection));
  if (!peer) return fail(peer.error().code, peer_name(slot) + ": " + peer.error().message);
  if (peer_in_slot_.size() <= slot.value) peer_in_slot_.resize(slot.value + 1, nullptr);
  peers_.push_back(std::move(*peer));
  peer_in_slot_[slot.value] = peers_.back().get();
  if (armed_) wait_for(*peers_.back());
  return {};
}

Result<std::unique_ptr<OfiFabric::Peer>> OfiFabric::make_peer(OfiConnection connection) {
  ofi::Provider& provider = station_->provider();
  Result<Pages> window = Pages::writable(ofi::window_bytes(connection.row_bytes));
  if (!window) return std::unexpected(std::move(window.error()));
  Result<Pages> mirror = Pages::writable(ofi::kRingBytes + ofi::kWindowWordsBytes);
  if (!mirror) return std::unexpected(std::move(mirror.error()));
  auto peer = std::make_unique<Peer>(connection.peer, ++last_attachment_, connection.row_bytes,
                                     provider.ordering(), std::move(*window), std::move(*mirror));
  fid_ep* bound = nullptr;
  if (!provider.has_connections()) {
    Result<ofi::Endpoint> endpoint = ofi::Endpoint::datagram(*station_, peer->attachment);
    if (!endpoint) return std::unexpected(std::move(endpoint.error()));
    peer->endpoint.emplace(std::move(*endpoint));
    bound = &peer->endpoint->get();
  }
  if (Result<void> ready = prepare_sleep(*peer); !ready) return std::unexpected(ready.error());
  Result<ofi::Owned<fid_mr>> region = provider.expose(peer->window.bytes(), bound);
  if (!region) return std::unexpected(std::move(region.error()));
  peer->window_region = std::move(*region);
  if (region = provider.use(peer->mirror.bytes(), bound); !region) {
    return std::unexpected(std::move(region.error()));
  }
  peer->mirror_region = std::move(*region);
  if (region = provider.use(own_row_, bound); !region) {
    return std::unexpected(std::move(region.error()));
  }
  peer->own_row_region = std::move(*region);

  Result<std::string> address =
      provider.has_connections() ? station_->listener_address() : peer->endpoint->address();
  if (!address) return std::unexpected(std::move(address.error()));
  peer->ours = {.epoch = connection.epoch,
                .row_bytes = connection.row_bytes,
                .base = provider.base_of(peer->window.bytes()),
                .key = fi_mr_key(peer->window_region.get()),
                .process = static_cast<std::uint64_t>(::getpid()),
                .token = connection.epoch + peer->attachment,
                .provider = provider.name(),
                .address = std::move(*address)};
  Result<ofi::Bell> bell =
      ofi::Bell::open(sleeper_, std::move(connection.socket), ofi::encode(peer->ours));
  if (!bell) return std::unexpected(std::move(bell.error()));
  peer->bell.emplace(std::move(*bell));
  return peer;
}

// How the peer's writes wake us, and ours the peer.
Result<void> OfiFabric::prepare_sleep(Peer& peer) {
  ofi::Provider& provider = station_->provider();
  const ofi::CompletionQueue* queue = peer.endpoint ? peer.endpoint->completions() : nullptr;
  const bool has_descriptor = queue == nullptr || queue->can_wait();
  peer.rings = !provider.wakes_targets() || !has_descriptor;
  // Without a descriptor, and by polling: then it is acknowledged only once the target looks.
  peer.unnoticed = peer.rings && (has_descriptor || !provider.lands_by_polling());
  if (peer.rings || queue == nullptr) return {};
  Result<UniqueFd> descriptor = queue->wait_fd();
  if (!descriptor) return std::unexpected(descriptor.error());
  Result<ofi::Watch> watch = ofi::Watch::of(sleeper_, std::move(*descriptor));
  if (!watch) return std::unexpected(watch.error());
  peer.endpoint_watch.emplace(std::move(*watch));
  return {};
}

// A step at a time; nothing waits. The one that calls writes `open` first, and only then does the
// other one: so two never call each other at once, and both ways are known to be open.
void OfiFabric::open(Peer& peer) {
  if (!peer.theirs) {
    listen_to(peer);
    if (!peer.alive || !peer.failure.empty() || !peer.bell->greeting()) return;
    if (Result<void> met = greeted(peer); !met) {
      peer.failure = met.error().message;
      return;
    }
  }
  if (!peer.connected || !is_usable(peer)) return;
  const bool may_say = peer.calls || peer.words->open.load(std::memory_order_acquire) == 1;
  if (may_say && !peer.said_open) peer.said_open = tell(peer, Word::open, 1);
  peer.opened = peer.said_open && peer.all_acknowledged();
}

Result<void> OfiFabric::greeted(Peer& peer) {
  Result<ofi::Greeting> theirs = ofi::decode(*peer.bell->greeting());
  if (!theirs) return std::unexpected(std::move(theirs.error()));
  if (Result<void> same = ofi::check_greeting(peer.ours, *theirs, own_row_.size()); !same) {
    return same;
  }
  if (!station_->provider().understands(theirs->address, peer.ours.address)) {
    return fail(ErrorCode::mismatch,
                "the address that it gives for its endpoint is none of that provider's");
  }
  peer.theirs = std::move(*theirs);
  peer.fragile = station_->provider().is_fragile_within_a_process() &&
                 peer.ours.process == peer.theirs->process;
  // Addresses are those of endpoints or listeners of two nodes: never the same.
  peer.calls = peer.ours.address < peer.theirs->address;
  if (!station_->provider().has_connections()) {
    peer.connected = true;
    return peer.endpoint->point_at(peer.theirs->address);
  }
  if (!peer.calls) return {};
  Result<ofi::Endpoint> endpoint =
      ofi::Endpoint::calling(*station_, peer.attachment, peer.theirs->address, peer.theirs->token);
  if (!endpoint) return std::unexpected(std::move(endpoint.error()));
  peer.endpoint.emplace(std::move(*endpoint));
  return {};
}

void OfiFabric::take_events() {
  if (station_->events() == nullptr) return;
  while (std::optional<ofi::ConnectionEvent> event = station_->next_event()) {
    if (event->kind == ofi::ConnectionEvent::Kind::called) {
      answer(*event);
      continue;
    }
    Peer* peer = find(event->attachment);
    if (peer == nullptr) continue;
    if (event->kind == ofi::ConnectionEvent::Kind::connected) {
      peer->connected = true;
    } else {
      provider_failed(*peer, "lost the connection");
    }
  }
}

// Whoever calls knows the token of an attachment that waits for it, or is a stranger, or late.
void OfiFabric::answer(ofi::ConnectionEvent& call) {
  const auto called = std::ranges::find_if(peers_, [&call](const auto& peer) {
    return peer->alive && peer->ours.token == call.token && !peer->endpoint;
  });
  if (called == peers_.end()) {
    station_->reject(call);
    return;
  }
  Peer& peer = **called;
  Result<ofi::Endpoint> endpoint =
      ofi::Endpoint::answering(*station_, peer.attachment, *call.request);
  if (!endpoint) {
    peer.failure = endpoint.error().message;
    return;
  }
  peer.endpoint.emplace(std::move(*endpoint));
}

void OfiFabric::detach(Slot peer) {
  if (peer.value >= peer_in_slot_.size() || peer_in_slot_[peer.value] == nullptr) return;
  Peer& parting = *std::exchange(peer_in_slot_[peer.value], nullptr);
  parting.close();
  std::erase_if(losses_, [peer](const PeerLoss& loss) { return loss.peer == peer; });
  std::erase_if(peers_, [&parting](const auto& owned) { return owned.get() == &parting; });
}

bool OfiFabric::is_open(Slot peer) const { return peer_at(peer).opened; }

OfiFabric::Peer& OfiFabric::peer_at(Slot peer) const {
  TUTTI_ASSERT(peer.value < peer_in_slot_.size() && peer_in_slot_[peer.value] != nullptr,
               peer.value);
  return *peer_in_slot_[peer.value];
}

OfiFabric::Peer* OfiFabric::find(std::uint64_t attachment) const {
  const auto found = std::ranges::find_if(peers_, [attachment](const auto& peer) {
    return peer->alive && peer->attachment == attachment;
  });
  return found == peers_.end() ? nullptr : found->get();
}

}  // namespace tutti
