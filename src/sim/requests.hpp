/// \file requests.hpp
/// What a simulated application asks other members, and the thread that handles what they ask: it
/// is slow at times, replies or refuses, releases without a reply what its caller has given up, and
/// waits for space where its replies find none.
///
/// It checks D17: each request is handled at most once, whole, by the incarnation that it was for,
/// and in the order of asking; a reply is that request's; each call ends with one reply or one
/// error, and with an error only if the other is gone; and RQ4: what is not handled fits into a
/// lane. Threads: one.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "requests/requests.hpp"
#include "sim/memory.hpp"

namespace tutti::sim {

class AppRequests final : public RequestEvents {
 public:
  /// What the application's node knows.
  struct Node {
    std::function<Requests<Memory>&()> lanes;
    /// The incarnation of the member of the view in that slot, 0 if there is none.
    std::function<std::uint64_t(Slot)> member;
    /// Whether that member may have been lost since then, or this one has stopped.
    std::function<bool(Slot, std::uint64_t incarnation, std::uint64_t since_ns)> may_be_gone;
    std::function<std::uint64_t()> now_ns;
  };

  AppRequests(const ViewMember& self, const RequestWords& words, Node node)
      : self_(self), words_(words), node_(std::move(node)), peers_(words.nodes) {}

  /// Asks one of the others something, if there is a session, and not much waits for space.
  void call(Prng& random);
  /// Writes what waits for space that was given back since.
  void write_waiting();
  /// The thread looks once. False if it waits to be asked, or for space.
  bool turn(Prng& random, std::uint64_t handler_ns);
  /// The node has ended: its calls end.
  void end();
  /// A call to that member has not ended.
  [[nodiscard]] bool awaits(Slot slot) const;
  /// What waits; empty if nothing.
  [[nodiscard]] std::string unanswered() const;
  /// What is wrong; empty if nothing.
  [[nodiscard]] const std::string& finding() const { return finding_; }

  void opened(Slot peer, std::uint64_t session) override;
  void request(Slot from, std::uint64_t session, std::uint64_t id, std::uint32_t patience_ms,
               std::span<const std::byte> bytes) override;
  void reply(Slot from, std::uint64_t session, std::uint64_t id, bool failed,
             std::span<const std::byte> bytes) override;
  void gone(Slot slot, std::uint64_t session) override;
  void space(Slot peer) override;

 private:
  struct Call {
    Slot to{};
    std::uint64_t session = 0;
  };
  struct Waiting {
    std::uint64_t id = 0;
    std::uint64_t size = 0;
  };
  struct Peer {
    std::uint64_t session = 0;
    std::uint64_t incarnation = 0;
    std::uint64_t opened_ns = 0;
    std::uint64_t written = 0;    // requests
    std::uint64_t arrived = 0;    // requests
    std::uint64_t unhandled = 0;  // granules of them
    std::deque<Waiting> waiting;  // for space
    bool has_space = false;       // since it found none
  };
  struct Job {
    Slot from{};
    std::uint64_t session = 0;
    std::uint64_t id = 0;
    std::uint64_t granules = 0;
  };

  [[nodiscard]] bool write(Slot to, Peer& peer, const Waiting& call);
  [[nodiscard]] bool answer(const Job& job);
  void find(const std::string& what);

  const ViewMember self_;
  const RequestWords words_;
  const Node node_;
  std::vector<Peer> peers_;  // by slot
  std::map<std::uint64_t, Call> open_;
  std::uint64_t ids_ = 0;
  std::deque<Job> jobs_;
  bool handling_ = false;  // the first of them
  bool waits_ = false;     // for space for its reply
  std::uint64_t busy_until_ns_ = 0;
  std::string finding_;
};

}  // namespace tutti::sim
