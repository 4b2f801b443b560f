// Making and ending a VerbsFabric and its connections, sleeping, and what is heard of connections.
// The data path is in verbs_datapath.cpp.
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <string>
#include <utility>

#include "base/assert.hpp"
#include "base/system_error.hpp"
#include "fabric/peers.hpp"
#include "fabric/row_header.hpp"
#include "fabric/verbs/destroy_queue.hpp"
#include "fabric/verbs/verbs_peer.hpp"

namespace tutti {
namespace {

constexpr const char* kRemoved = "the RDMA device was removed";

}  // namespace

VerbsFabric::VerbsFabric(Sleeper& sleeper, std::shared_ptr<verbs::Device> device)
    : sleeper_(sleeper),
      device_(std::move(device)),
      destroy_queue_(std::make_unique<verbs::DestroyQueue>()),
      completions_watch_(std::make_unique<verbs::FdWatch>(sleeper, device_->completions()->fd)),
      device_watch_(std::make_unique<verbs::FdWatch>(sleeper, device_->context()->async_fd)) {}

Result<std::unique_ptr<VerbsFabric>> VerbsFabric::create(Sleeper& sleeper,
                                                         std::shared_ptr<verbs::Device> device) {
  if (device->own_row().size() < kRowHeaderBytes) {
    return fail(ErrorCode::invalid_argument, "the own row of " +
                                                 std::to_string(device->own_row().size()) +
                                                 " bytes has no room for its header");
  }
  std::unique_ptr<VerbsFabric> fabric(new VerbsFabric(sleeper, std::move(device)));
  if (!fabric->completions_watch_->works() || !fabric->device_watch_->works()) {
    return fail_system("cannot watch the RDMA device");
  }
  return fabric;
}

VerbsFabric::~VerbsFabric() {
  for (const auto& peer : peers_) {
    if (peer->alive) close(*peer);
  }
}

Result<void> VerbsFabric::attach(VerbsConnection connection) {
  const Slot slot = connection.peer;
  if (slot.value > kSlotMax) {
    return fail(ErrorCode::invalid_argument, peer_name(slot) + " is beyond any group's size");
  }
  if (slot.value < peer_in_slot_.size() && peer_in_slot_[slot.value] != nullptr) {
    return fail(ErrorCode::invalid_argument, peer_name(slot) + " has two RDMA connections");
  }
  if (connection.pair == nullptr || connection.pair->device != device_) {
    return fail(ErrorCode::invalid_argument,
                peer_name(slot) + " is not connected with this node's RDMA device");
  }
  if (connection.row_bytes < kRowHeaderBytes ||
      connection.row_bytes > connection.pair->row_bytes()) {
    return fail(ErrorCode::mismatch,
                peer_name(slot) + " has a row of " + std::to_string(connection.row_bytes) +
                    " bytes, with room here for " + std::to_string(connection.pair->row_bytes()));
  }
  auto peer = std::make_unique<Peer>(sleeper_, slot, std::move(connection.pair));
  if (!peer->watch.works()) return fail_system("cannot watch the connection of " + peer_name(slot));
  if (peer_in_slot_.size() <= slot.value) peer_in_slot_.resize(slot.value + 1, nullptr);
  peer_in_slot_[slot.value] = peer.get();
  peers_.push_back(std::move(peer));
  sockets_.reserve(peers_.size());
  if (armed_) arm(*peers_.back());
  return {};
}

void VerbsFabric::detach(Slot peer) {
  if (peer.value >= peer_in_slot_.size() || peer_in_slot_[peer.value] == nullptr) return;
  Peer& parting = *peer_in_slot_[peer.value];
  if (parting.alive) close(parting);
  peer_in_slot_[peer.value] = nullptr;
  std::erase_if(losses_, [peer](const PeerLoss& loss) { return loss.peer == peer; });
  std::shared_ptr<verbs::Pair> pair = parting.pair;
  std::erase_if(peers_, [&parting](const auto& owned) { return owned.get() == &parting; });
  destroy_queue_->push(std::move(pair));
}

void VerbsFabric::fence(Slot peer) {
  Peer& target = peer_at(peer);
  if (target.alive) close(target);
  // What is on its way in the device lands in the old memory, which nobody looks at any more.
  if (Result<void> frozen = target.pair->region.freeze(); !frozen) {
    losses_.push_back({peer, frozen.error().message});
  }
  if (target.pair->region_key == nullptr) return;
  destroy_queue_->push(std::make_shared<verbs::MemoryRegion>(std::move(target.pair->region_key)));
}

void VerbsFabric::hang_up(Slot peer) {
  Peer& target = peer_at(peer);
  if (target.alive) close(target);
}

void VerbsFabric::fence_queue_pair(Slot peer) {
  ibv_qp_attr error{};
  error.qp_state = IBV_QPS_ERR;
  // Every state may go there. It fails if the device is gone, and nothing lands any more, too.
  static_cast<void>(::ibv_modify_qp(peer_at(peer).pair->id->qp, &error, IBV_QP_STATE));
}

void VerbsFabric::fence_region(Slot peer) { peer_at(peer).pair->region_key.reset(); }

// Nothing lands from it after this, and it learns that we have hung up.
void VerbsFabric::close(Peer& peer) {
  peer.alive = false;
  peer.queue.clear();
  fence_queue_pair(peer.slot);
  static_cast<void>(::rdma_disconnect(peer.pair->id.get()));  // fails if it has hung up before
}

void VerbsFabric::lose(Peer& peer, std::string reason) {
  close(peer);
  losses_.push_back({peer.slot, std::move(reason)});
}

void VerbsFabric::arm() {
  armed_ = true;
  hear_completions();  // what was said until now wakes nobody
  completions_watch_->arm();
  device_watch_->arm();
  for (const auto& peer : peers_) {
    if (peer->alive) arm(*peer);
  }
}

void VerbsFabric::arm(Peer& peer) {
  peer.watch.arm();
  const int error = ::ibv_req_notify_cq(peer.pair->completions.get(), 0);
  if (error != 0) peer.failure = fail_system("cannot wait for it", error).error().message;
  if (!peer.is_raised) {
    post_extra(peer, Extra::raise);  // VW1, VW3
  } else if (peer.signalled < peer.owed) {
    post_extra(peer, Extra::confirm);  // VW2
  }
}

void VerbsFabric::disarm() { armed_ = false; }

void VerbsFabric::hear_completions() {
  ibv_cq* queue = nullptr;
  void* ignored = nullptr;
  while (::ibv_get_cq_event(device_->completions(), &queue, &ignored) == 0) {
    ::ibv_ack_cq_events(queue, 1);
  }
}

void VerbsFabric::look_around() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  const bool later = now.tv_sec != last_check_.tv_sec || now.tv_nsec != last_check_.tv_nsec;
  if (!later && polls_ < kPollsPerCheck) return;
  last_check_ = now;
  polls_ = 0;
  hear_device();
  sockets_.clear();
  for (const auto& peer : peers_) {
    sockets_.push_back({.fd = peer->pair->events->fd, .events = POLLIN, .revents = 0});
  }
  const bool heard = ::poll(sockets_.data(), sockets_.size(), 0) > 0;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    Peer& peer = *peers_[i];
    if (heard && sockets_[i].revents != 0) hear_connection(peer);
    if (!peer.alive) continue;
    if (const int event = peer.pair->async_event.load(std::memory_order_relaxed); event != 0) {
      const char* const text = ::ibv_event_type_str(static_cast<ibv_event_type>(event - 1));
      lose(peer, std::string("its connection failed: ") + text);
    } else if (!peer.failure.empty()) {
      lose(peer, std::exchange(peer.failure, {}));
    }
  }
}

void VerbsFabric::hear_connection(Peer& peer) {
  rdma_cm_event* event = nullptr;
  while (::rdma_get_cm_event(peer.pair->events.get(), &event) == 0) {
    const rdma_cm_event_type type = event->event;
    ::rdma_ack_cm_event(event);
    if (!peer.alive) continue;  // it takes its leave, too
    if (type == RDMA_CM_EVENT_DISCONNECTED) lose(peer, kPeerClosed);
    if (type == RDMA_CM_EVENT_DEVICE_REMOVAL) lose_all(kRemoved);
  }
}

// All at once: else those that are reached for a moment longer would hear that we have lost the
// others, and give them up as well.
void VerbsFabric::lose_all(const std::string& reason) {
  for (const auto& peer : peers_) {
    if (peer->alive) lose(*peer, reason);
  }
}

// The device may be shared with other nodes of this process, and who asks first is told: what
// concerns one connection is left at its pair. That the device is gone rdma_cm tells each of them.
void VerbsFabric::hear_device() {
  ibv_async_event event{};
  while (::ibv_get_async_event(device_->context(), &event) == 0) {
    verbs::Pair* concerned = nullptr;
    bool all = false;
    switch (event.event_type) {
      case IBV_EVENT_QP_FATAL:
      case IBV_EVENT_QP_REQ_ERR:
      case IBV_EVENT_QP_ACCESS_ERR:
        concerned = static_cast<verbs::Pair*>(event.element.qp->qp_context);
        break;
      case IBV_EVENT_CQ_ERR:
        concerned = static_cast<verbs::Pair*>(event.element.cq->cq_context);
        break;
      case IBV_EVENT_DEVICE_FATAL:
        all = true;
        break;
      default:  // a port that went down may come back: what it loses is sent again for a while
        break;
    }
    const int type = event.event_type + 1;
    if (concerned != nullptr) concerned->async_event.store(type, std::memory_order_relaxed);
    ::ibv_ack_async_event(&event);  // its pair cannot go before this
    for (const auto& peer : peers_) {
      if (all) peer->pair->async_event.store(type, std::memory_order_relaxed);
    }
  }
}

}  // namespace tutti
