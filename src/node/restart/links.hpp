/// \file links.hpp
/// Restart links: one TCP connection for each pair of nodes, beside those of the fabrics, for as
/// long as both nodes live. Over them nodes say what src/restart has them say.
///
/// Of each pair the node of the higher slot (index in NodeOptions::members) calls the address of
/// the lower one in that list, where its bootstrap listens, again and again until it is linked, and
/// anew when the link has ended. What both say before they are linked is in
/// node/bootstrap/link_request.hpp. Then each end sends frames (framed_socket.hpp), one for each
/// message.
///
/// Invariants:
///  RL1  A slot has one link at most; between two links of a slot there is down(), then up().
///  RL2  Each up() is followed by one down(), unless close() comes before. No event comes after
///       close().
///  RL3  Only the process that called for a link replaces it, by a new call: it has lost the link.
///       A call of another process waits until the link has ended, at once when the first process
///       ends, within 10 s of a crash of its machine. So no stranger displaces a node.
///  RL4  Whatever comes from others, memory is bounded. For each slot there are at most one frame
///       that comes, what waits to be sent, and one call that is not looked at yet.
/// Not authenticated, as the bootstrap is not: who can reach this node can take the place of a node
/// that is not linked.
///
/// Threads: the one that runs the context, for all but take() and trouble(), which any may call.
/// The events come on it, too, and may call send() and close(); none of them comes inside a call of
/// start() or send(). It may be busy with other things, such as a disk, for some seconds.
#pragma once
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fabric/link.hpp"
#include "fabric/slot.hpp"
#include "node/bootstrap/connect.hpp"
#include "node/bootstrap/link_request.hpp"
#include "restart/participant.hpp"
#include "tutti/indexed_by.hpp"
#include "tutti/options.hpp"

namespace tutti {

class FramedSocket;

class RestartLinkEvents {
 public:
  virtual ~RestartLinkEvents() = default;
  virtual void up(std::uint32_t slot) = 0;
  virtual void down(std::uint32_t slot) = 0;
  /// One message, as the other end sent it, or what a stranger says in its place. It may be empty.
  virtual void received(std::uint32_t slot, std::span<const std::byte> bytes) = 0;
};

class RestartLinks final : public restart::RestartTransport {
 public:
  /// `node` is valid; it, the context and `events` outlive this, and the context is not run after
  /// it. What an event throws leaves the context's run().
  RestartLinks(asio::io_context& context, const NodeOptions& node, RestartLinkEvents& events);
  ~RestartLinks() override;

  /// Begins to call the nodes of lower slots, for good.
  void start();

  /// A call for a link, as BootstrapRequest::take_link is given it: the one of the newest call
  /// counts. Does not wait. Any thread.
  void take(LinkCall call);

  /// Lost if that node is not linked. Does not wait. If a message is larger than 64 MiB, or more
  /// than 256 MiB wait because the other end does not read, the link ends, with down() later.
  void send(std::uint32_t slot, std::vector<std::byte> bytes) override;

  /// Ends all links. Calls that are under way may keep the context from running out of work for
  /// some seconds: stop it.
  void close();

  /// Why that node is not linked, for people; empty if it is. Any thread.
  [[nodiscard]] std::string trouble(std::uint32_t slot) const;

 private:
  using Socket = std::shared_ptr<FramedSocket>;

  struct Peer {
    explicit Peer(asio::io_context& context) : again(context) {}
    Socket socket{};                  // RL1; null: it is not linked
    std::uint64_t life = 0;           // of the process that called for it; 0: we called
    std::shared_ptr<Link> calling{};  // our call, until it is answered
    asio::steady_timer again;         // when to call again
    RetryPause pause = kRetryAtFirst;
  };

  // link_calls.cpp
  asio::awaitable<void> dial(Slot slot);
  asio::awaitable<Result<UniqueFd>> call(Slot slot);
  asio::awaitable<Result<UniqueFd>> ask(std::shared_ptr<Link> link, Slot slot);
  void look_at_call(Slot slot);

  // links.cpp
  void link(Slot slot, UniqueFd fd, std::uint64_t life);
  asio::awaitable<void> read(Slot slot, Socket socket);
  void ended(Slot slot, const std::string& why);
  void note(Slot slot, std::string why);
  void spawn(asio::awaitable<void> work);
  [[nodiscard]] const MemberAddress& member(Slot slot) const { return node_.members[slot.value]; }

  asio::io_context& context_;
  const NodeOptions& node_;
  RestartLinkEvents& events_;
  const Slot self_;
  std::uint64_t life_ = 0;  // of this process; 0: none could be had yet
  bool over_ = false;
  IndexedBy<Slot, Peer> peers_;

  mutable std::mutex mutex_;  // of what stands below
  IndexedBy<Slot, std::string> trouble_;
  IndexedBy<Slot, std::optional<LinkCall>> calls_;  // RL4: that are not looked at yet
};

}  // namespace tutti
