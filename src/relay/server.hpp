/// \file server.hpp
/// A relay: listens for clients, has a Peer for each, and hands on what the member says.
///
/// Invariants:
///  RV1  Members never wait for it: its thread only pulls, and what their threads tell it goes into
///       a queue of outcomes, which holds at most what they delivered since it looked last.
///  RV2  A client costs nothing while nothing happens that is for it: of what the member tells,
///       only those hear that have subscriptions, wait for the member, or have the session.
///  RV3  At most clients_max connections, of which half_open_max have not said hello.
///  RV4  A look at what clients subscribe to is followed by a rest as long as the look took, at
///  most
///       2 ms: where there are many clients, samples gather meanwhile, and one write to a client
///       carries several. With few clients the rest is too short to be noticed.
/// Threads: start, stop and the destructor by one thread; all else runs on the relay's own.
#pragma once
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "relay/backend.hpp"
#include "relay/peer.hpp"
#include "tutti/dds/relay_options.hpp"

namespace tutti::relay {

class Server final : private PeerOwner, private MemberEvents {
 public:
  /// Listens. The backend outlives it.
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(Backend& backend,
                                                             dds::RelayOptions options);
  ~Server() override;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// "host:port", with the port that it has.
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] dds::RelayStatistics statistics();

 private:
  struct Seen {  // a session, and since when it has not moved
    std::uint64_t touched = 0;
    RelayClock::time_point since{};
  };

  Server(Backend& backend, dds::RelayOptions options);
  [[nodiscard]] Result<void> listen();
  void run();
  asio::awaitable<void> accept_all();
  asio::awaitable<void> watch();
  void admit(asio::ip::tcp::socket socket);
  void turn_away(asio::ip::tcp::socket socket);
  void expire_sessions(RelayClock::time_point now);
  void look_at_all(RelayClock::time_point now);
  void hear();
  [[nodiscard]] bool may_look();
  void forget(Peer& peer, std::uint64_t nonce);
  void log(const std::string& text) const;

  void welcomed(Peer& peer) override;
  void wants(Peer& peer, std::uint64_t nonce) override;
  void awaits_member(Peer& peer, bool awaits) override;
  void gone(Peer& peer) override;

  // Threads of the member.
  void on_outcome(std::uint32_t bundle, const dds::SessionOutcome& outcome) override;
  void on_space() override;
  void on_data() override;
  void hear_later();

  Backend& backend_;
  const dds::RelayOptions options_;
  ConversationLimits limits_{};
  std::string address_{};
  asio::io_context context_{1};
  asio::posix::stream_descriptor listener_{context_};
  asio::steady_timer tick_{context_};
  asio::steady_timer pause_{context_};
  asio::steady_timer rest_{context_};
  RelayClock::time_point next_look_{};  // RV4
  bool rests_ = false;                  // until rest_
  std::map<Peer*, std::shared_ptr<Peer>> peers_{};
  std::deque<Peer*> half_open_{};                 // oldest first
  std::multimap<std::uint64_t, Peer*> wanted_{};  // by nonce
  std::set<Peer*> awaiting_{};                    // RV2
  std::vector<Peer*> to_wake_{};                  // of hear()
  std::map<std::pair<std::uint32_t, std::uint64_t>, Seen> seen_{};
  RelayClock::time_point looked_at_sessions_{};
  bool over_ = false;
  dds::RelayStatistics statistics_{};

  std::mutex mutex_;
  std::vector<std::pair<std::uint32_t, dds::SessionOutcome>> outcomes_{};  // by mutex_
  bool told_ = false;   // by mutex_: hear() is to run
  bool looks_ = false;  // by mutex_: there may be samples
  bool space_ = false;  // by mutex_: records that waited went out
  std::thread thread_{};
};

}  // namespace tutti::relay
