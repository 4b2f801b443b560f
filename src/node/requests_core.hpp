/// \file requests_core.hpp
/// A node's requests: those that it makes wait here for their outcome, those of the others for the
/// application's handler.
///
/// Invariants: RC1 a request that was written has exactly one outcome: it is among `calls_` until a
/// reply, the end of its session, its time-out or the end of the node takes it from there. RC2 a
/// request of another member is released once its answer is written, in the order of arrival, so a
/// slow handler fills the lanes of its callers alone. One whose caller waits no more is released
/// without an answer: else a member that was late once would for ever answer what is late already.
/// RC3 no call of the application is made while `mutex_` is held. Two threads call the application:
/// one the handler of requests, from the first view on; the other the handlers of replies, from the
/// first of these on, which also ends what is late. RC4 outcomes that wait for a slow handler of
/// replies are bounded: beyond that no request with a handler is taken. Threads: the events the
/// predicate thread; use(), start(), end() and join() those that open and close the node; all else
/// any.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "node/signal.hpp"
#include "node/slowness.hpp"
#include "requests/requests.hpp"
#include "sst/memory.hpp"
#include "tutti/indexed_by.hpp"
#include "tutti/options.hpp"
#include "tutti/request.hpp"

namespace tutti {

class NodeCore;

class RequestsCore final : public RequestEvents {
 public:
  using Lanes = Requests<NativeMemory>;

  /// Both outlive this.
  RequestsCore(NodeCore& node, const NodeOptions& options);
  ~RequestsCore() override { join(); }

  /// Node::send_to.
  [[nodiscard]] Result<Reply> ask(std::string_view member, std::span<const std::byte> bytes,
                                  std::chrono::nanoseconds timeout);
  [[nodiscard]] Result<void> ask(std::string_view member, std::span<const std::byte> bytes,
                                 std::chrono::nanoseconds timeout, ReplyHandler handler);

  /// Those of the incarnation that is about to be passed; null: of none any more, or without
  /// requests.
  void use(Lanes* lanes);
  /// The thread for the handler of requests. In a view.
  [[nodiscard]] Result<void> start();
  /// The node has failed, or ends: what waits here looks at that.
  void wake();
  /// The node ends: no thread begins here any more.
  void close();
  /// The threads have made their last calls. Once the node ends.
  [[nodiscard]] bool have_ended() const {
    return serving_ended_.load(std::memory_order_acquire) &&
           telling_ended_.load(std::memory_order_acquire);
  }
  void join();

  /// That the application's handlers run, and what they are called. The names live as long as this
  /// does, and not as static objects: a node that a callback destroys may end on its threads while
  /// the process ends.
  [[nodiscard]] const CallMark& serving() const { return serving_call_; }
  [[nodiscard]] const CallMark& telling() const { return telling_call_; }
  [[nodiscard]] const std::string& serving_name() const { return serving_name_; }
  [[nodiscard]] const std::string& telling_name() const { return telling_name_; }

  // RequestEvents.
  void opened(Slot peer, std::uint64_t session) override;
  void ended() override;
  void request(Slot from, std::uint64_t session, std::uint64_t id, std::uint32_t patience_ms,
               std::span<const std::byte> bytes) override;
  void reply(Slot from, std::uint64_t session, std::uint64_t id, bool failed,
             std::span<const std::byte> bytes) override;
  void gone(Slot peer, std::uint64_t session) override;
  void space(Slot peer) override;

 private:
  // A request of ours that has no outcome yet, or one that the thread that waits has yet to take.
  struct Call {
    Slot to{};
    std::uint64_t session = 0;
    std::uint64_t until_ns = 0;  // with a handler
    ReplyHandler handler{};      // empty: a thread waits
    std::optional<Result<Reply>> outcome{};
  };
  using Calls = std::map<std::uint64_t, Call>;
  // An outcome for a handler.
  struct Due {
    ReplyHandler handler{};
    Result<Reply> outcome{};
    [[nodiscard]] std::size_t bytes() const {
      return sizeof(Due) + (outcome ? outcome->bytes().size() : 0);
    }
  };
  // A request of another member.
  struct Arrived {
    Slot from{};
    std::uint64_t session = 0;
    std::uint64_t id = 0;
    std::uint64_t until_ns = 0;  // its caller waits; 0: as long as it takes
    std::vector<std::byte> bytes{};
  };

  [[nodiscard]] Result<Slot> check(std::string_view member, std::size_t size) const;
  [[nodiscard]] Error not_in_view(Slot slot) const;
  [[nodiscard]] Error late(Slot to, std::chrono::nanoseconds timeout, bool written) const;
  [[nodiscard]] const std::string& name_of(Slot slot) const {
    return options_.members[slot.value].name;
  }
  [[nodiscard]] std::size_t most_due() const;
  // With the lock.
  [[nodiscard]] Error own_end() const;
  [[nodiscard]] Result<std::uint64_t> write(Slot to, std::span<const std::byte> bytes,
                                            std::chrono::nanoseconds patience, Call& call);
  void finish(Calls::iterator call, Result<Reply> outcome);
  void finish_handled(const Error& why);
  void finish_late(std::uint64_t now);
  [[nodiscard]] Result<void> start_telling();
  // request_threads.cpp
  void serve_all();
  void serve(const Arrived& one);
  [[nodiscard]] bool give_up(const Arrived& one);
  [[nodiscard]] Result<std::vector<std::byte>> answer_to(const Arrived& one);
  void send_answer(const Arrived& one, const Result<std::vector<std::byte>>& answer);
  void tell_all();
  [[nodiscard]] std::optional<Due> next_due(std::uint64_t now, bool& over, std::uint64_t& next);

  NodeCore& node_;
  const NodeOptions& options_;
  std::mutex mutex_;
  Lanes* lanes_ = nullptr;
  IndexedBy<Slot, std::uint64_t> sessions_;  // 0: none
  std::uint64_t next_id_ = 1;
  Calls calls_;                                               // RC1
  std::set<std::pair<std::uint64_t, std::uint64_t>> limits_;  // until_ns and id of those handled
  std::deque<Due> due_;
  std::size_t due_bytes_ = 0;    // of them, RC4
  std::deque<Arrived> arrived_;  // in the order of arrival
  bool ended_ = false;           // this member is in no view any more
  bool closed_ = false;          // close() was called
  Signal moved_;                 // an outcome, space, or the end
  Signal to_serve_;              // a request, or the end
  Signal to_tell_;               // an outcome for a handler, a time-out, or the end
  const std::string serving_name_ = "the request callback";
  const std::string telling_name_ = "a reply handler";
  CallMark serving_call_;
  CallMark telling_call_;
  std::thread serving_thread_;
  std::thread telling_thread_;
  std::atomic<bool> serving_ended_{true};
  std::atomic<bool> telling_ended_{true};
};

}  // namespace tutti
