/// \file peer.hpp
/// One connection of a client: bytes between its socket and its Conversation. Two coroutines, one
/// that reads and one that writes; each waits until the other, the member or the clock wakes it.
/// The one that writes has to do only where the socket is full: all else is sent where it arises.
/// Threads: the relay's.
#pragma once
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/coroutine_frames.hpp"
#include "relay/conversation.hpp"
#include "tutti/dds/relay_options.hpp"

namespace tutti::relay {

namespace asio = boost::asio;
using RelayClock = std::chrono::steady_clock;

class Peer;

/// Who has the peers.
class PeerOwner {
 public:
  PeerOwner() = default;
  PeerOwner(const PeerOwner&) = delete;
  PeerOwner& operator=(const PeerOwner&) = delete;
  virtual ~PeerOwner() = default;
  /// Its client said hello.
  virtual void welcomed(Peer& peer) = 0;
  /// From now on, what the member says of the session of that nonce is for this peer, too.
  virtual void wants(Peer& peer, std::uint64_t nonce) = 0;
  /// Whether it is to be woken when the member has samples or space.
  virtual void awaits_member(Peer& peer, bool awaits) = 0;
  /// Both coroutines have ended.
  virtual void gone(Peer& peer) = 0;
};

class Peer : public std::enable_shared_from_this<Peer> {
 public:
  Peer(asio::ip::tcp::socket socket, Backend& backend, const ConversationLimits& limits,
       const dds::RelayOptions& options, dds::RelayStatistics& statistics, PeerOwner& owner);

  void start();
  [[nodiscard]] Conversation& conversation() { return conversation_; }
  /// After anything that may have given it output, room or space.
  void wake();
  /// Ends it, and says why if the client still listens.
  void end(Code code, const std::string& text);
  /// It is late: says so, and if it is late again, closes the connection.
  void expel();
  /// The nonces for which the owner was asked.
  [[nodiscard]] std::vector<std::uint64_t>& wanted() { return wanted_; }
  /// Whether it gave no sign of life for too long. A relay that was busy itself has not read what
  /// came: so a peer is late only if it was already at the look before, and was read since.
  [[nodiscard]] bool is_late(RelayClock::time_point now);
  /// Says something, if it has said nothing for a while: its client shall know that the relay
  /// lives, and the relay whether the connection does. While the member holds it back, or a long
  /// frame comes, it would hear and say nothing else.
  void ping_if_quiet(RelayClock::time_point now);

 private:
  asio::awaitable<void> read();
  asio::awaitable<void> write();
  asio::awaitable<void> pause();
  [[nodiscard]] bool take_frame();
  [[nodiscard]] bool may_publish();
  void flush();
  [[nodiscard]] bool send_now();
  [[nodiscard]] bool has_unsent() const { return sent_ < writing_.size(); }
  void alive(RelayClock::time_point now);
  void pump();
  void wake_later();
  void note_interest();
  void close();
  void coroutine_ended();

  asio::ip::tcp::socket socket_;
  Conversation conversation_;
  FrameReader reader_{kHelloBytesMax};
  const ConversationLimits& limits_;
  const dds::RelayOptions& options_;
  dds::RelayStatistics& statistics_;
  PeerOwner& owner_;
  asio::steady_timer reads_on_;  // cancelled: look again
  asio::steady_timer writes_on_;
  RelayClock::time_point deadline_;
  RelayClock::time_point said_at_{};  // when its socket took something last
  double publishes_left_ = 0;         // of the rate
  RelayClock::time_point refilled_{};
  std::vector<std::byte> writing_{};
  std::size_t sent_ = 0;  // of writing_
  std::vector<std::uint64_t> wanted_{};
  bool closed_ = false;
  bool reader_pauses_ = false;  // until reads_on_ is cancelled
  bool suspected_ = false;      // it was late at the last look
  bool wakes_later_ = false;    // wake() is to come
  bool awaits_member_ = false;  // the owner knows it
  int coroutines_ = 0;
};

}  // namespace tutti::relay
