/// \file handshakes.hpp
/// What the bootstrap does on its own thread: listens, calls, shakes hands, pair by pair.
///
///   listen.cpp, dial.cpp    somebody calls, or we call
///   handshake.cpp           hello ->  <- hello      compare, and choose a carrier
///                           verdict -> <- verdict   this pair agrees, or why not
///                           the carrier's own step  (fabric/pairing.hpp)
///   refusal.cpp             all that ends in another way
///
/// After that the connection is handed over, and nothing more is said on it here. A caller that
/// sends the question for our status in the place of its hello gets the answer, and hangs up
/// (status.hpp). One that asks for a restart link is handed on once it has said its name
/// (link_call.cpp). If one end of a pair dies or is too slow, the other may have handed over alone:
/// it sees its connection closed, and releases the slot.
/// A node that calls a member and is contradicted ends its start. Before that it stays a moment, to
/// tell the other why, to contradict whoever else calls, and to be asked. Anybody may call in a
/// member's name: a node that is called and contradicted refuses the caller, asks the member at its
/// own address, and ends its start only if the member says the same (refusal.cpp). The same holds
/// for a caller that says that this incarnation was removed.
/// Threads: all runs inside run(), on a private Asio context; what other threads may call says so.
#pragma once
#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabric/link.hpp"
#include "fabric/pairing.hpp"
#include "fabric/slot.hpp"
#include "node/bootstrap/arrivals.hpp"
#include "node/bootstrap/bootstrap.hpp"
#include "node/bootstrap/connect.hpp"
#include "node/bootstrap/hello.hpp"
#include "node/bootstrap/warnings.hpp"
#include "tutti/indexed_by.hpp"

namespace tutti {

class Handshakes {
 public:
  Handshakes(const BootstrapRequest& request, Arrivals& arrivals);

  /// Before run(): what can be wrong with the request, and listening.
  [[nodiscard]] Result<void> prepare();
  void run();

  // Any thread.
  void stop();
  void release(Slot slot);
  void refuse(std::uint64_t incarnation);
  void run_on();     ///< after Arrivals::set_running()
  void turn_away();  ///< after Arrivals::set_ended()

  /// After run(): says what was held back.
  void say_the_rest() { warnings_.flush(Warnings::Time::max()); }

 private:
  using LinkPtr = std::shared_ptr<Link>;

  struct Peer {
    explicit Peer(asio::io_context& context) : again(context) {}
    LinkPtr link;           // the one whose hello we agreed with
    bool attached = false;  // HS1: handed over, not released
    bool asked = false;     // confirm() is under way
    bool asked_removal = false;
    // What it said on the connection that is now, or was last, claimed for it.
    std::uint64_t incarnation = 0;
    std::uint64_t row_bytes = 0;
    Founding founding = Founding::founds;
    Carrier* carrier = nullptr;            // chosen for the pair
    std::string offer{};                   // what the peer says of it
    const CarrierKind* instead = nullptr;  // if that one fails; null: none, and that is an error
    std::vector<const CarrierKind*> failed{};  // tried, and they do not work between us
    [[nodiscard]] bool has_failed(const CarrierKind& kind) const {
      return std::ranges::find(failed, &kind) != failed.end();
    }
    // Lower slots only: when to call again.
    asio::steady_timer again;
    RetryPause pause = kRetryAtFirst;
  };

  enum class Judgement : std::uint8_t {
    agree,
    not_now,        ///< its slot is taken
    removed,        ///< it may never come again
    refuse,         ///< what is wrong is seen at the other end, too
    contradiction,  ///< HS2
  };
  struct Judged {
    Judgement judgement = Judgement::agree;
    Slot slot{};
    Error error{};
  };

  // handshakes.cpp
  void spawn(asio::awaitable<void> work);
  void broke(const std::string& what);
  void give_up(Error error);
  void end_start_if_told();
  void end_start();
  void removed_by(const std::string& name);
  void close_all();
  void drop(const LinkPtr& link);
  void call_again();
  asio::awaitable<void> tell_progress();
  [[nodiscard]] std::string awaited_of_all(bool group) const;
  void log(LogLevel level, const std::string& text) const;
  // Of each kind now and then, see warnings.hpp.
  void warn(const std::string& kind, std::string text);
  void warn_later();
  [[nodiscard]] const MemberAddress& member(Slot slot) const;

  // listen.cpp
  [[nodiscard]] Result<void> listen();
  [[nodiscard]] Result<void> open_listener(const asio::ip::tcp::endpoint& endpoint);
  asio::awaitable<void> accept_all();
  bool spare_descriptors(bool full);
  bool make_room(const std::string& why, const LinkPtr& but = nullptr);
  void admit(UniqueFd fd);
  [[nodiscard]] Result<void> watch_calls(Carrier& carrier);
  asio::awaitable<void> take_calls(Carrier& carrier, asio::posix::stream_descriptor calls);

  // dial.cpp
  asio::awaitable<void> dial(Slot slot);
  asio::awaitable<void> call(Slot slot);
  asio::awaitable<LinkPtr> connect(Slot slot);

  // handshake.cpp; `dialed` is the slot that we called, empty if we were called
  using Dialed = std::optional<Slot>;
  asio::awaitable<void> serve(LinkPtr link, Dialed dialed);
  asio::awaitable<void> converse(LinkPtr link, Dialed dialed);
  [[nodiscard]] Result<Hello> hello_for(Dialed dialed, const LinkPtr& called = nullptr);
  [[nodiscard]] Judged judge(const Hello& mine, const Hello& theirs, Dialed dialed);
  [[nodiscard]] std::optional<std::string> taken(Peer& peer, const Hello& theirs) const;
  void claim(const LinkPtr& link, Slot slot, const Hello& mine, const Hello& theirs);
  [[nodiscard]] Carrier* carrier_of(const CarrierKind& kind) const;
  asio::awaitable<void> settle(LinkPtr link, Slot slot, bool dialed);
  // Something else ended this handshake meanwhile.
  [[nodiscard]] bool has_ended(const LinkPtr& link, Slot slot) const {
    return over_ || peers_[slot].link != link;
  }
  [[nodiscard]] PairRequest pair_request(const LinkPtr& link, Slot slot, bool dialed);
  void hand_over(Slot slot, std::unique_ptr<Connection> connection);
  asio::awaitable<void> not_connected(LinkPtr link, Slot slot, bool dialed, Error error);

  // link_call.cpp
  asio::awaitable<void> hand_on(LinkPtr link, LinkRequest request);

  // refusal.cpp
  asio::awaitable<void> unreadable(LinkPtr link, Error error, Dialed dialed);
  asio::awaitable<void> contradict(LinkPtr link, const Hello& theirs, Error error, Dialed dialed);
  void end_with(Error error, const LinkPtr& link, Dialed dialed);
  void refused(Dialed named, const std::string& where, const Error& error);
  asio::awaitable<void> tell(LinkPtr link);
  asio::awaitable<Verdict> send_away(LinkPtr link, std::string verdict);
  void unclaim(const LinkPtr& link, Slot slot, std::string trouble);
  void disagreed(const LinkPtr& link, Slot slot, bool dialed, Verdict verdict);
  asio::awaitable<void> try_later(LinkPtr link, Slot slot, std::string why);
  asio::awaitable<void> cannot_be_joined(LinkPtr link, Slot slot, bool dialed, Error error);
  struct Answer {
    Result<Hello> hello = fail(ErrorCode::peer_lost, {});
    bool removed = false;
  };
  asio::awaitable<std::optional<Answer>> ask(Slot slot, bool as_member);
  asio::awaitable<bool> confirm(Slot slot, Error& error, std::uint64_t incarnation);
  void told_removed(const std::string& name, Dialed dialed);
  asio::awaitable<void> confirm_removal(Slot slot);

  const BootstrapRequest request_;
  Arrivals& arrivals_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  asio::steady_timer farewell_{context_};
  asio::steady_timer progress_{context_};
  asio::posix::stream_descriptor listener_{context_};
  Hello base_;  // what is the same in every hello of ours
  Slot self_{};
  IndexedBy<Slot, Peer> peers_;        // our own entry stays empty
  std::vector<LinkPtr> links_;         // all that are open
  std::deque<LinkPtr> unclaimed_;      // accepted, and not (yet) of any peer; oldest first
  std::deque<std::uint64_t> refused_;  // incarnations, the newest kRefusedMax
  std::optional<Error> giving_up_;     // told to the others, not yet to the node
  bool farewell_over_ = false;
  std::uint32_t telling_ = 0;  // links to those that may ask us yet why we give up
  bool over_ = false;
  Warnings warnings_{[this](const std::string& text) { log(LogLevel::warning, text); }};
  asio::steady_timer held_back_{context_};
  bool flush_is_due_ = false;
};

}  // namespace tutti
