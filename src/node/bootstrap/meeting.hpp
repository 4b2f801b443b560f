/// \file meeting.hpp
/// One run of the bootstrap: who has been met, who is waited for, how it ends.
///
/// Single-threaded: all of it runs inside run(), on a private Asio context. It ends when every
/// pair agrees and every peer says the same of its own pairs, at the first contradiction, or at the
/// deadline. On an error the others are told why before their connections are closed. A peer that
/// is ready is watched until we are done: it may still give up, or die.
///
///   hello ->  <- hello      compare                       (handshake.cpp)
///   verdict -> <- verdict   this pair agrees, or both fail
///   row ->  <- row          shm pairs only, on a unix socket (row_swap.cpp)
///   verdict -> <- verdict   all pairs of the sender agree
#pragma once
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/bootstrap/bootstrap.hpp"
#include "node/bootstrap/hello.hpp"
#include "node/bootstrap/link.hpp"

namespace tutti {

class Meeting {
 public:
  explicit Meeting(const BootstrapRequest& request);
  [[nodiscard]] Result<Cluster> run();

 private:
  using LinkPtr = std::shared_ptr<Link>;

  struct Peer {
    std::string trouble;  // why it is not there yet
    LinkPtr link;         // the one whose hello was accepted
    Hello hello;
    Transport transport = Transport::tcp;
    UniqueFd row, doorbell;  // shm only; its unix socket stays in the link
    bool agreed = false;     // this pair has all it needs
    bool ready = false;      // and all the peer's other pairs have
  };

  // What to do with a connection after its hello: refuse harms the caller only.
  enum class Judgement : std::uint8_t { accept, refuse, fail };
  struct Judged {
    Judgement judgement = Judgement::accept;
    std::uint32_t rank = 0;
    Error error{};
  };

  // meeting.cpp
  [[nodiscard]] Result<void> prepare();
  void finish_if_all_ready();
  void announce_if_all_agreed();
  void fail(Error error);
  void fail(Error error, const std::string& told);
  [[nodiscard]] bool over() const { return failure_.has_value() || done_; }
  void drop(const LinkPtr& link);
  asio::awaitable<void> part(LinkPtr link);
  void watch_deadline();
  asio::awaitable<void> tell_progress();
  [[nodiscard]] std::string awaited() const;
  [[nodiscard]] std::string progress() const;
  void log(LogLevel level, const std::string& text) const;
  void warn_of_stranger(const std::string& text);
  [[nodiscard]] Cluster take_cluster();
  [[nodiscard]] const MemberAddress& member(std::uint32_t rank) const;

  // listen.cpp
  asio::awaitable<void> listen();
  [[nodiscard]] Result<void> open_listener(const asio::ip::tcp::endpoint& endpoint);
  asio::awaitable<void> accept_all();
  void admit(UniqueFd fd);
  asio::awaitable<void> receive(LinkPtr link);

  // dial.cpp
  asio::awaitable<void> dial(std::uint32_t rank);
  asio::awaitable<LinkPtr> connect(std::uint32_t rank);
  asio::awaitable<Result<std::vector<asio::ip::tcp::endpoint>>> resolve(std::string text);

  // handshake.cpp; each ends when the link is of no more use, or belongs to a peer that is ready
  [[nodiscard]] Hello hello_to(const std::string& name, const std::string& unix_name) const;
  asio::awaitable<void> greet(LinkPtr link, std::uint32_t rank);
  asio::awaitable<void> welcome(LinkPtr link, std::string unix_name);
  asio::awaitable<void> settle(LinkPtr link, Hello mine, Hello theirs, bool dialed);
  asio::awaitable<void> complete(LinkPtr link, std::uint32_t rank, bool dialed);
  asio::awaitable<void> watch_ready(LinkPtr link, std::uint32_t rank);
  void fail_left(std::uint32_t rank, const std::string& how);
  asio::awaitable<bool> ended(LinkPtr link);
  asio::awaitable<void> refuse(LinkPtr link, Error error);

  // judge.cpp
  [[nodiscard]] Judged judge(const Hello& mine, const Hello& theirs, bool dialed);
  [[nodiscard]] std::optional<Error> newcomer(const Hello& mine, const Hello& theirs);

  // row_swap.cpp
  asio::awaitable<Result<void>> swap_rows(LinkPtr link, std::uint32_t rank, bool dialed);
  asio::awaitable<Result<void>> open_unix(LinkPtr link, const Peer& peer, bool dialed);

  const BootstrapRequest& request_;
  asio::io_context context_{1};
  asio::steady_timer deadline_{context_};
  asio::posix::stream_descriptor listener_{context_};
  Hello base_;  // what is the same in every hello of ours
  std::uint32_t rank_ = 0;
  std::vector<Peer> peers_;        // by rank; our own entry stays empty
  std::vector<LinkPtr> links_;     // all that are open
  std::deque<LinkPtr> half_open_;  // accepted, no hello yet; oldest first
  std::optional<Error> failure_;
  bool announced_ = false;
  bool done_ = false;
  std::optional<std::chrono::steady_clock::time_point> last_warning_;
  std::uint64_t strangers_unreported_ = 0;
};

}  // namespace tutti
