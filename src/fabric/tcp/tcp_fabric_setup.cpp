// Making and ending a TcpFabric: memory, sockets, sleeping. The data path is in
// tcp_fabric_datapath.cpp.
#include <sys/socket.h>

#include <boost/asio/bind_allocator.hpp>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/assert.hpp"
#include "fabric/peers.hpp"
#include "fabric/row_header.hpp"
#include "fabric/tcp/tcp_peer.hpp"

namespace tutti {
namespace {

namespace asio = boost::asio;
using Protocol = asio::ip::tcp;
using Socket = Protocol::socket;

// What the kernel may hold of ours per peer (it doubles the figure). Small, so that what is sent
// and received stays in cache and new control words do not queue behind megabytes: half again as
// fast as the kernel's own choice on a loopback. At a round trip of 100 us it still allows 4 GB/s.
// The receive buffer is left to the kernel: a size of our own would be cut by net.core.rmem_max.
constexpr int kSendBufferBytes = 256 * 1024;

Result<Socket> adopt(Sleeper& sleeper, UniqueFd fd, Slot peer) {
  sockaddr_storage address{};
  socklen_t address_bytes = sizeof(address);
  int type = 0;
  socklen_t type_bytes = sizeof(type);
  if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &address_bytes) != 0 ||
      ::getsockopt(fd.get(), SOL_SOCKET, SO_TYPE, &type, &type_bytes) != 0) {
    return fail(ErrorCode::system,
                "cannot use the connection to " + peer_name(peer) + ": " + std::strerror(errno));
  }
  const bool internet = address.ss_family == AF_INET || address.ss_family == AF_INET6;
  if (!internet || type != SOCK_STREAM) {
    return fail(ErrorCode::invalid_argument,
                "the connection to " + peer_name(peer) + " is not a TCP connection");
  }
  Socket socket(sleeper.context());
  boost::system::error_code error;
  socket.assign(address.ss_family == AF_INET ? Protocol::v4() : Protocol::v6(), fd.get(), error);
  if (!error) {
    static_cast<void>(fd.release());
    socket.native_non_blocking(true, error);
  }
  // We batch by ourselves; Nagle would only hold back the last, small write of a batch.
  if (!error) socket.set_option(Protocol::no_delay(true), error);
  if (!error) socket.set_option(asio::socket_base::send_buffer_size(kSendBufferBytes), error);
  if (error) {
    return fail(ErrorCode::system,
                "cannot use the connection to " + peer_name(peer) + ": " + error.message());
  }
  return socket;
}

}  // namespace

TcpFabric::TcpFabric(Sleeper& sleeper, std::span<const std::byte> own_row)
    : sleeper_(sleeper), own_row_(own_row) {}

Result<std::unique_ptr<TcpFabric>> TcpFabric::create(Sleeper& sleeper, const std::byte* own_row,
                                                     std::size_t own_row_bytes) {
  if (own_row_bytes < kRowHeaderBytes) {
    return fail(ErrorCode::invalid_argument, "the own row of " + std::to_string(own_row_bytes) +
                                                 " bytes has no room for its header");
  }
  return std::unique_ptr<TcpFabric>(new TcpFabric(sleeper, {own_row, own_row_bytes}));
}

Result<void> TcpFabric::attach(TcpConnection connection) {
  const Slot slot = connection.peer;
  if (slot.value > kSlotMax) {
    return fail(ErrorCode::invalid_argument, peer_name(slot) + " is beyond any group's size");
  }
  if (slot.value < peer_in_slot_.size() && peer_in_slot_[slot.value] != nullptr) {
    return fail(ErrorCode::invalid_argument, peer_name(slot) + " has two TCP connections");
  }
  if (connection.row_bytes < kRowHeaderBytes) {
    return fail(ErrorCode::mismatch, peer_name(slot) + " has a row of " +
                                         std::to_string(connection.row_bytes) +
                                         " bytes, less than its header");
  }
  Result<Pages> replica = Pages::writable(connection.row_bytes);
  if (!replica) return std::unexpected(std::move(replica.error()));
  Result<Socket> socket = adopt(sleeper_, std::move(connection.socket), slot);
  if (!socket) return std::unexpected(std::move(socket.error()));
  if (peer_in_slot_.size() <= slot.value) peer_in_slot_.resize(slot.value + 1, nullptr);
  peers_.push_back(std::make_unique<Peer>(slot, std::move(*replica), std::move(*socket),
                                          own_row_.data(), connection.epoch));
  peer_in_slot_[slot.value] = peers_.back().get();
  if (armed_) wait_readable(*peers_.back());
  return {};
}

void TcpFabric::detach(Slot peer) {
  if (peer.value >= peer_in_slot_.size() || peer_in_slot_[peer.value] == nullptr) return;
  Peer& parting = *std::exchange(peer_in_slot_[peer.value], nullptr);
  hang_up(parting);
  std::erase_if(losses_, [peer](const PeerLoss& loss) { return loss.peer == peer; });
  counters_.writes += parting.writer.frames_sent();
  counters_.bytes += parting.writer.payload_sent();
  stale_frames_ += parting.reader.stale_frames();
  std::erase_if(peers_, [&parting](const auto& owned) { return owned.get() == &parting; });
}

TcpFabric::~TcpFabric() {
  for (const auto& peer : peers_) hang_up(*peer);
}

void TcpFabric::hang_up(Peer& peer) {
  if (!peer.alive) return;
  // A socket closed with unread bytes resets the connection, and the peer would lose what it has
  // not read of ours.
  ::shutdown(peer.fd, SHUT_WR);
  static_cast<void>(receive(peer));
  if (peer.alive) peer.close();
}

void TcpFabric::Peer::close() {
  alive = false;
  queue.clear();
  boost::system::error_code ignored;
  socket.close(ignored);
  fd = -1;
}

void TcpFabric::arm() {
  armed_ = true;
  for (const auto& peer : peers_) {
    if (!peer->alive) continue;
    wait_readable(*peer);
    if (!peer->queue.empty()) wait_writable(*peer);
  }
}

void TcpFabric::wait_readable(Peer& peer) {
  const std::shared_ptr<SocketWaits>& waits = peer.waits;
  if (std::exchange(waits->readable, true)) return;
  peer.socket.async_wait(Socket::wait_read,
                         asio::bind_allocator(tcp::HandlerAllocator<std::byte>(waits->read_memory),
                                              [waits](const auto&) { waits->readable = false; }));
}

void TcpFabric::wait_writable(Peer& peer) {
  const std::shared_ptr<SocketWaits>& waits = peer.waits;
  if (std::exchange(waits->writable, true)) return;
  peer.socket.async_wait(Socket::wait_write,
                         asio::bind_allocator(tcp::HandlerAllocator<std::byte>(waits->write_memory),
                                              [waits](const auto&) { waits->writable = false; }));
}

}  // namespace tutti
