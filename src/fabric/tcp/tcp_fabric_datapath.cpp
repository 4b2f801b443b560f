// Posting, sending and receiving. Making and ending a TcpFabric is in tcp_fabric_setup.cpp.
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "base/assert.hpp"
#include "fabric/peers.hpp"
#include "fabric/tcp/tcp_peer.hpp"

namespace tutti {
namespace {

// What one poll takes from one peer: about 0.4 ms of copying, so that no peer starves the others.
constexpr std::size_t kReceiveBytesPerPoll = 1024 * 1024;

// Of what arrives: so much is a sign of life.
constexpr std::uint64_t kHeardBytes = 64UL * 1024;

constexpr const char* kTruncated = "connection closed in the middle of a frame";

[[nodiscard]] bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

[[nodiscard]] msghdr message_of(std::span<const iovec> pieces) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());  // only read
  message.msg_iovlen = pieces.size();
  return message;
}

[[nodiscard]] std::size_t bytes_of(std::span<const iovec> pieces) {
  std::size_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  return bytes;
}

}  // namespace

TcpFabric::Peer& TcpFabric::peer_at(Slot peer) const {
  TUTTI_ASSERT(peer.value < peer_in_slot_.size() && peer_in_slot_[peer.value] != nullptr,
               peer.value);
  return *peer_in_slot_[peer.value];
}

const std::byte* TcpFabric::row(Slot peer) const { return peer_at(peer).row.bytes().data(); }

std::byte* TcpFabric::replica(Slot peer) { return peer_at(peer).row.bytes().data(); }

void TcpFabric::write(Slot peer, Extent data) {
  TUTTI_ASSERT(data.offset <= own_row_.size() && data.bytes <= own_row_.size() - data.offset,
               data.offset, data.bytes);
  Peer& target = peer_at(peer);
  if (target.alive && target.send_error == 0) target.queue.write(data);
}

void TcpFabric::publish(Slot peer, std::uint64_t offset, std::span<const std::byte> words) {
  TUTTI_ASSERT(offset <= own_row_.size() && words.size() <= own_row_.size() - offset, offset,
               words.size());
  Peer& target = peer_at(peer);
  if (target.alive && target.send_error == 0) target.queue.publish(offset, words);
}

void TcpFabric::flush() {
  for (const auto& peer : peers_) {
    if (!peer->queue.empty()) send(*peer);
  }
}

void TcpFabric::send(Peer& peer) {
  const std::span<const iovec> pieces = peer.writer.gather(peer.queue);
  const msghdr message = message_of(pieces);
  const auto start = std::chrono::steady_clock::now();
  const ssize_t sent = ::sendmsg(peer.fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  const int error = errno;
  counters_.posting_ns += nanoseconds_since(start);
  if (sent >= 0) {
    peer.writer.advance(peer.queue, static_cast<std::size_t>(sent));
  } else if (!would_block(error) && error != EINTR && error != ENOBUFS) {
    peer.send_error = error;
    peer.queue.clear();
  }
  if (armed_ && !peer.queue.empty()) wait_writable(peer);
}

std::size_t TcpFabric::poll() {
  std::size_t landed = 0;
  for (const auto& peer : peers_) {
    if (!peer->queue.empty()) send(*peer);
    if (peer->alive) landed += receive(*peer);
  }
  return landed;
}

std::size_t TcpFabric::receive(Peer& peer) {
  std::size_t landed = 0;
  std::size_t received = 0;
  while (received < kReceiveBytesPerPoll) {
    const std::span<const iovec> targets = peer.reader.targets();
    const std::size_t wanted = bytes_of(targets);
    msghdr message = message_of(targets);
    const ssize_t result = targets.size() == 1
                               ? ::recv(peer.fd, targets[0].iov_base, wanted, MSG_DONTWAIT)
                               : ::recvmsg(peer.fd, &message, MSG_DONTWAIT);
    if (result <= 0) {
      if (result < 0 && errno == EINTR) continue;
      receive_ended(peer, result, errno);
      break;
    }
    peer.received_bytes += static_cast<std::uint64_t>(result);
    landed += peer.reader.arrived(static_cast<std::size_t>(result));
    if (!peer.reader.error().empty()) {
      lose(peer, peer.reader.error());
      break;
    }
    // Less than there was room for: the socket is empty, no need to ask.
    if (static_cast<std::size_t>(result) < wanted) break;
    received += static_cast<std::size_t>(result);
  }
  return landed;
}

void TcpFabric::receive_ended(Peer& peer, ssize_t result, int error) {
  if (result < 0 && would_block(error) && peer.send_error == 0) return;
  if (result < 0 && would_block(error)) error = peer.send_error;
  const bool closed = result == 0 || error == ECONNRESET || error == EPIPE;
  if (peer.reader.in_frame()) {
    lose(peer, kTruncated);
  } else if (closed) {
    lose(peer, kPeerClosed);
  } else {
    lose(peer, std::string("its connection failed: ") + std::strerror(error));
  }
}

void TcpFabric::lose(Peer& peer, std::string reason) {
  peer.close();
  losses_.push_back({peer.slot, std::move(reason)});
}

bool TcpFabric::drained() const {
  const auto sent = [](const auto& peer) { return peer->queue.empty(); };
  const auto acknowledged = [](const auto& peer) { return peer->acknowledged(); };
  // Two passes: a busy fabric is not asked for system calls.
  return std::ranges::all_of(peers_, sent) && std::ranges::all_of(peers_, acknowledged);
}

bool TcpFabric::Peer::acknowledged() const {
  if (!alive || send_error != 0) return true;  // nothing of ours gets there any more
  int unacknowledged_bytes = 0;
  return ::ioctl(fd, SIOCOUTQ, &unacknowledged_bytes) != 0 || unacknowledged_bytes == 0;
}

// Only the peer's own thread fills its socket. So that one that has stopped does not live on in
// what its kernel holds, a few hundred KiB, this is coarse.
std::uint64_t TcpFabric::heard(Slot peer) const {
  return peer_at(peer).received_bytes / kHeardBytes;
}

std::vector<PeerLoss> TcpFabric::take_losses() { return std::exchange(losses_, {}); }

void TcpFabric::hang_up(Slot peer) { hang_up(peer_at(peer)); }

void TcpFabric::fence(Slot peer) {
  Peer& target = peer_at(peer);
  if (target.alive) target.close();
}

FabricCounters TcpFabric::counters() const {
  FabricCounters sum = counters_;
  for (const auto& peer : peers_) {
    sum.writes += peer->writer.frames_sent();
    sum.bytes += peer->writer.payload_sent();
  }
  return sum;
}

std::uint64_t TcpFabric::stale_frames() const {
  std::uint64_t frames = stale_frames_;
  for (const auto& peer : peers_) frames += peer->reader.stale_frames();
  return frames;
}

}  // namespace tutti
