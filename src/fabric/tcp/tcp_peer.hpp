/// \file tcp_peer.hpp
/// One peer of a TcpFabric: its socket, the replica of its row, what is queued for it.
///
/// Invariant: while `alive` is false the socket is closed, the queue empty, the replica frozen.
/// Threads: the predicate thread only.
#pragma once
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <memory>
#include <span>

#include "fabric/tcp/frame_reader.hpp"
#include "fabric/tcp/handler_memory.hpp"
#include "fabric/tcp/send_queue.hpp"
#include "fabric/tcp/tcp_fabric.hpp"

namespace tutti {

/// Zeroed pages.
class Replica {
 public:
  [[nodiscard]] static Result<Replica> create(std::size_t bytes);
  Replica(Replica&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  Replica& operator=(Replica&&) = delete;
  ~Replica();
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  explicit Replica(std::span<std::byte> bytes) : bytes_(bytes) {}
  std::span<std::byte> bytes_;
};

/// Which waits Asio holds for a socket, and the memory they live in. Shared with their handlers,
/// which may run, or be dropped, when the fabric is gone.
struct SocketWaits {
  bool readable = false;
  bool writable = false;
  tcp::HandlerMemory read_memory;
  tcp::HandlerMemory write_memory;
};

struct TcpFabric::Peer {
  Peer(Rank peer_rank, Replica&& peer_row, boost::asio::ip::tcp::socket&& connected,
       const std::byte* own_row, std::uint64_t epoch)
      : rank(peer_rank),
        row(std::move(peer_row)),
        socket(std::move(connected)),
        fd(socket.native_handle()),
        queue(own_row, epoch),
        reader(row.bytes(), epoch) {}

  /// Closes the socket: from now on nothing comes in or goes out.
  void close();

  /// Whether its kernel has all that ours took: a reset then destroys nothing of ours.
  [[nodiscard]] bool acknowledged() const;

  Rank rank;
  Replica row;
  boost::asio::ip::tcp::socket socket;
  int fd;
  bool alive = true;
  int send_error = 0;  // sending failed; what arrived before is still to be read (F-loss)
  tcp::SendQueue queue;
  tcp::FrameReader reader;
  std::shared_ptr<SocketWaits> waits = std::make_shared<SocketWaits>();
};

}  // namespace tutti
