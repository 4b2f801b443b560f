/// \file tcp_peer.hpp
/// One peer of a TcpFabric: its socket, the replica of its row, what is queued for it.
///
/// Invariant: while `alive` is false the socket is closed, the queue empty, the replica frozen.
/// Threads: the predicate thread only.
#pragma once
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <memory>

#include "fabric/pages.hpp"
#include "fabric/post_queue.hpp"
#include "fabric/tcp/frame_reader.hpp"
#include "fabric/tcp/frame_writer.hpp"
#include "fabric/tcp/handler_memory.hpp"
#include "fabric/tcp/tcp_fabric.hpp"

namespace tutti {

/// Which waits Asio holds for a socket, and the memory they live in. Shared with their handlers,
/// which may run, or be dropped, when the peer is detached or the fabric gone.
struct SocketWaits {
  bool readable = false;
  bool writable = false;
  tcp::HandlerMemory read_memory;
  tcp::HandlerMemory write_memory;
};

struct TcpFabric::Peer {
  Peer(Slot peer_slot, Pages&& replica, boost::asio::ip::tcp::socket&& connected,
       const std::byte* own_row, std::uint64_t epoch)
      : slot(peer_slot),
        row(std::move(replica)),
        socket(std::move(connected)),
        fd(socket.native_handle()),
        writer(own_row, epoch),
        reader(row.bytes(), epoch) {}

  /// Closes the socket: from now on nothing comes in or goes out.
  void close();

  /// Whether its kernel has all that ours took: a reset then destroys nothing of ours.
  [[nodiscard]] bool acknowledged() const;

  Slot slot;
  Pages row;
  boost::asio::ip::tcp::socket socket;
  int fd;
  bool alive = true;
  std::uint64_t received_bytes = 0;
  int send_error = 0;  // sending failed; what arrived before is still to be read (F-loss)
  PostQueue queue{{.words = Words::framed, .ordering = Ordering::writes}};
  tcp::FrameWriter writer;
  tcp::FrameReader reader;
  std::shared_ptr<SocketWaits> waits = std::make_shared<SocketWaits>();
};

}  // namespace tutti
