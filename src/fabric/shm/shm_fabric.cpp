#include "fabric/shm/shm_fabric.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <ctime>
#include <utility>

#include "base/assert.hpp"
#include "base/system_error.hpp"
#include "fabric/row_header.hpp"

namespace tutti {

struct ShmFabric::Link {
  Link(Sleeper& sleeper, UniqueFd bell) : socket(sleeper.context()), doorbell(std::move(bell)) {}

  boost::asio::posix::stream_descriptor socket;
  UniqueFd doorbell;
};

ShmFabric::ShmFabric(Sleeper& sleeper)
    : sleeper_(sleeper), hang_up_(std::make_shared<bool>(false)) {}
ShmFabric::~ShmFabric() = default;

Result<std::unique_ptr<ShmFabric>> ShmFabric::create(Sleeper& sleeper, const Segment& own_row) {
  if (!own_row.read_only_fd() || own_row.size() < kRowHeaderBytes) {
    return fail(ErrorCode::invalid_argument,
                "the own row must be a segment made by Segment::create, for peers to map");
  }
  return std::unique_ptr<ShmFabric>(new ShmFabric(sleeper));
}

Result<void> ShmFabric::attach(ShmConnection connection) {
  const std::string name = "slot " + std::to_string(connection.peer.value);
  const std::size_t index = connection.peer.value;
  if (index < peers_.size() && peers_[index].row != nullptr) {
    return fail(ErrorCode::invalid_argument, name + " is there twice");
  }
  if (connection.row_bytes < kRowHeaderBytes) {
    return fail(ErrorCode::mismatch, name + " has a row without a header");
  }
  Result<Segment> segment = Segment::map_peer(std::move(connection.row_fd), connection.row_bytes);
  if (!segment) return fail(segment.error().code, name + ": " + segment.error().message);
  auto link = std::make_unique<Link>(sleeper_, std::move(connection.doorbell));
  boost::system::error_code error;
  link->socket.assign(connection.socket.get(), error);
  if (error) return fail(ErrorCode::system, name + ": cannot watch its socket: " + error.message());
  const int fd = connection.socket.release();  // the link closes it from here on
  // Ends on a hang-up only: peers send nothing any more. The flag is shared because the handler
  // may still be queued on the Sleeper when the peer is detached or this fabric goes.
  link->socket.async_wait(
      boost::asio::posix::stream_descriptor::wait_error,
      [flag = hang_up_](const boost::system::error_code& failure) { *flag = *flag || !failure; });

  if (index >= peers_.size()) {
    peers_.resize(index + 1);
    sockets_.resize(index + 1, pollfd{.fd = -1, .events = 0, .revents = 0});
    posted_.reserve(index + 1);
  }
  sockets_[index].fd = fd;
  Peer& peer = peers_[index];
  peer.segment = std::make_unique<Segment>(std::move(*segment));
  peer.row = peer.segment->data();
  peer.link = std::move(link);
  return {};
}

void ShmFabric::detach(Slot peer) {
  if (peer.value >= peers_.size() || peers_[peer.value].row == nullptr) return;
  drop(peer);
  std::erase(posted_, peer);
  std::erase_if(losses_, [peer](const PeerLoss& loss) { return loss.peer == peer; });
  // `rung` too: the next peer, or this one again, may sleep with the same `asleep`.
  peers_[peer.value] = Peer();
}

void ShmFabric::mark(Slot peer) {
  Peer& target = peers_[peer.value];
  if (target.posted) return;
  target.posted = true;
  posted_.push_back(peer);
}

void ShmFabric::write(Slot peer, Extent /*data*/) { mark(peer); }

void ShmFabric::publish(Slot peer, std::uint64_t /*offset*/, std::span<const std::byte> /*words*/) {
  mark(peer);
}

void ShmFabric::flush() {
  if (posted_.empty()) return;
  // Pairs with the fence in RoutedFabric::arm: either we see the peer asleep, or its poll after
  // arm() sees what we stored.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (const Slot slot : posted_) {
    Peer& peer = peers_[slot.value];
    peer.posted = false;
    ++counters_.writes;
    if (peer.link != nullptr) ring_if_asleep(peer);
  }
  posted_.clear();
}

void ShmFabric::ring_if_asleep(Peer& peer) {
  // Relaxed: the fence in flush() orders it.
  const auto* header = reinterpret_cast<const RowHeader*>(peer.row);
  const std::uint64_t asleep = header->asleep.load(std::memory_order_relaxed);
  if (asleep % 2 == 0 || asleep == peer.rung) return;
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t one = 1;
  // Never blocks, and a full counter wakes as well; a closed one is found as a hang-up.
  [[maybe_unused]] const ssize_t written = ::write(peer.link->doorbell.get(), &one, sizeof one);
  peer.rung = asleep;
  ++counters_.doorbells;
  const auto taken = std::chrono::steady_clock::now() - start;
  counters_.posting_ns += static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count());
}

std::size_t ShmFabric::poll() {
  if (++polls_ % kPollsPerLook == 0 || *hang_up_) [[unlikely]]
    look_around();
  return 0;  // what peers post is there without our doing
}

void ShmFabric::look_around() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  const bool later = now.tv_sec != last_check_.tv_sec || now.tv_nsec != last_check_.tv_nsec;
  if (!later && polls_ < kPollsPerCheck && !*hang_up_) return;
  last_check_ = now;
  polls_ = 0;
  *hang_up_ = false;
  find_losses();
}

void ShmFabric::find_losses() {
  if (::poll(sockets_.data(), sockets_.size(), 0) <= 0) return;
  for (std::size_t i = 0; i < sockets_.size(); ++i) {
    if ((sockets_[i].revents & (POLLHUP | POLLERR | POLLNVAL)) == 0) continue;
    const Slot peer{static_cast<std::uint32_t>(i)};
    drop(peer);
    losses_.push_back({peer, "its process ended or closed the connection"});
  }
}

void ShmFabric::drop(Slot peer) {
  sockets_[peer.value].fd = -1;
  sockets_[peer.value].revents = 0;
  peers_[peer.value].link.reset();
}

std::vector<PeerLoss> ShmFabric::take_losses() {
  if (losses_.empty()) [[likely]]
    return {};
  return std::exchange(losses_, {});
}

void ShmFabric::fence(Slot peer) {
  Peer& target = peers_[peer.value];
  TUTTI_ASSERT(target.segment != nullptr, peer.value);
  // Without memory for the copy F-fence cannot be kept: the caller must at least hear of it.
  if (Result<void> frozen = target.segment->freeze(); !frozen) {
    losses_.push_back({peer, frozen.error().message});
  }
  drop(peer);
}

}  // namespace tutti
