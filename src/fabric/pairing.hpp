/// \file pairing.hpp
/// A carrier's own part of a handshake: it connects two nodes that agreed, beside or instead of
/// the link on which they agreed.
///
/// Threads: the handshake's.
#pragma once
#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "fabric/connection.hpp"
#include "fabric/descriptors.hpp"
#include "fabric/link.hpp"
#include "fabric/slot.hpp"
#include "tutti/error.hpp"

namespace tutti {

/// The two nodes that a Pairing connects. Each has compared the other's incarnation in its hello.
struct PairRequest {
  std::shared_ptr<Link> link;
  bool dialed = false;  ///< we called
  Slot self{};
  Slot peer{};
  std::uint64_t incarnation = 0;
  std::uint64_t peer_incarnation = 0;
  std::size_t peer_row_bytes = 0;  ///< as the peer says
  std::string peer_offer{};        ///< see Carrier::offer()
  MakeRoom make_room{};
};

class Pairing {
 public:
  explicit Pairing(PairRequest request) : request_(std::move(request)) {}
  virtual ~Pairing() = default;
  Pairing(const Pairing&) = delete;
  Pairing& operator=(const Pairing&) = delete;

  /// Connects the two; called once, after both verdicts, while the Pairing lives. Errors:
  /// kNoDescriptor: it may work later; ErrorCode::peer_lost: the peer is gone or gave up, and says
  /// on the link why; others: it will not work next time either.
  virtual asio::awaitable<Result<std::unique_ptr<Connection>>> connect() = 0;

 protected:
  [[nodiscard]] PairRequest& request() { return request_; }
  [[nodiscard]] Link& link() { return *request_.link; }
  /// The link's socket, once all that was sent on the link is in the kernel. It does not block.
  asio::awaitable<Result<UniqueFd>> take_socket();
  /// The same number at both ends, and never used before.
  [[nodiscard]] std::uint64_t epoch() const;

 private:
  PairRequest request_;
};

/// For carriers that go on with the link's socket.
template <class ConnectionKind>
class SocketPairing final : public Pairing {
 public:
  using Pairing::Pairing;

  asio::awaitable<Result<std::unique_ptr<Connection>>> connect() override {
    Result<UniqueFd> socket = co_await take_socket();
    if (!socket) co_return std::unexpected(socket.error());
    ConnectionKind made{request().peer, std::move(*socket), request().peer_row_bytes, epoch()};
    co_return std::make_unique<ConnectionOf<ConnectionKind>>(std::move(made));
  }
};

/// One number of all these incarnations and their order; never 0.
[[nodiscard]] std::uint64_t mix_epoch(std::span<const std::uint64_t> incarnations);

}  // namespace tutti
