/// \file requests.hpp
/// A member's requests to each other member of its view, and its replies to theirs, through lanes
/// that only the two of them see (request_words.hpp).
///
/// A *session* is of two incarnations. It begins when a member installs the first view that has
/// both, lasts over views, and ends when it installs a view without the other, or when that one has
/// ended in order (P2), or with this member. Frames of a session come in order, and each once:
/// nothing is ever sent again.
/// Invariants: RQ1 to RQ3. RQ4 `taken` of requests grows only by what was released: a slow handler
/// fills the lanes of its callers, and nothing else. RQ5 replies are taken at once, so that no two
/// members wait for each other. RQ6 after gone() the owner is told nothing more of a session, and a
/// write or release of it changes nothing.
///
/// Threads: write() and release() by any, one at a time: the owner has a lock around them, and
/// takes it in RequestEvents::gone(), too. So none is under way once gone() has returned, and the
/// lanes may then be used anew. All else by the predicate thread. Nothing blocks.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "membership/group_seat.hpp"
#include "membership/view.hpp"
#include "multicast/violation.hpp"
#include "predicates/predicate_loop.hpp"
#include "requests/request_frame.hpp"
#include "requests/request_words.hpp"

namespace tutti {

inline constexpr const char* kImpossibleRequests =
    "its counters of requests are not ones a member can write";
inline constexpr const char* kImpossibleRequest =
    "what it sent as a request or a reply is not one a member can write";

/// Told on the predicate thread, from step(), enter(), gone() or end(). write() and release() may
/// be called in it, if the owner's lock allows; nothing else.
class RequestEvents {
 public:
  virtual ~RequestEvents() = default;

  /// From now on requests may be written to that member.
  virtual void opened(Slot peer, std::uint64_t session) = 0;
  /// A request has arrived. `bytes` are a copy that nobody changes, valid during the call.
  /// release() it once it was handled, or its caller waits no more (request_frame.hpp).
  virtual void request(Slot from, std::uint64_t session, std::uint64_t id,
                       std::uint32_t patience_ms, std::span<const std::byte> bytes) = 0;
  /// `id` is what the peer says: 1 to the largest that was written to it in this session. That it
  /// waits for a reply is for the owner to look up. `failed`: `bytes` are a text that says why.
  virtual void reply(Slot from, std::uint64_t session, std::uint64_t id, bool failed,
                     std::span<const std::byte> bytes) = 0;
  /// This member is in no view any more: gone() follows for each session, and none begins again.
  virtual void ended() {}
  /// No reply comes any more from that session, and nobody waits for ours. Some of its requests may
  /// be being handled. Takes the owner's lock (Threads).
  virtual void gone(Slot peer, std::uint64_t session) = 0;
  /// Space of a lane to the peer was given back.
  virtual void space(Slot peer) = 0;
};

template <class Memory>
class Requests final : public Stepped {
 public:
  /// `words` have bytes_max > 0. `events` outlives this.
  Requests(const ViewMember& self, const RequestWords& words, std::byte* own_row, RowOf row_of,
           RequestEvents& events, Memory memory = {});

  enum class Written : std::uint8_t {
    ok,    ///< step() pushes it: the predicate thread is to be woken
    full,  ///< no space in that lane just now: space() tells when there may be
    gone,  ///< the session has ended, or has not begun
  };
  /// Writes a frame to the lane for `to`. `id` is not 0: that of the caller's choice for a request,
  /// that of the request for its reply. At most bytes_max(kind) bytes. `patience_ms` is of a
  /// request (request_frame.hpp).
  Written write(Slot to, std::uint64_t session, FrameKind kind, std::uint64_t id,
                std::span<const std::byte> bytes, std::uint32_t patience_ms = 0);
  /// The oldest request of that session that was not released has been handled: its space may be
  /// used again. Nothing happens if the session has ended.
  void release(Slot from, std::uint64_t session);
  /// Of a frame. A text of `failed` may have kFailedBytes where requests are smaller.
  [[nodiscard]] std::size_t bytes_max(FrameKind kind) const {
    return kind == FrameKind::failed ? std::max(words_.bytes_max, kFailedBytes) : words_.bytes_max;
  }
  static constexpr std::size_t kFailedBytes = 512;

  /// The view is installed: ends the sessions with those that it has not, begins those with others.
  void enter(const View& view);
  /// The member in that slot has ended in order.
  void gone(Slot slot);
  /// This member has stopped: ends all sessions, and begins none any more.
  void end();
  /// Pushes what was written and released, and takes what has come.
  bool step(Effects& effects) override;
  bool deliver() override { return false; }
  /// The first member that was found to write what no correct one does: from then on nothing is
  /// taken of any. Of its fields, `rank` says nothing.
  [[nodiscard]] const std::optional<Violation>& violation() const { return violation_; }

 private:
  static constexpr std::array kLanes{Lane::requests, Lane::replies};

  // A lane to the peer.
  struct Out {
    std::atomic<std::uint64_t> written{0};  // granules, by write()
    std::atomic<std::uint64_t> taken{0};    // by the peer, as step() has seen
    std::uint64_t sent = 0;                 // as our row says
  };
  // A lane from the peer.
  struct In {
    std::uint64_t sent = 0;   // by the peer, as step() has seen
    std::uint64_t read = 0;   // handed to the owner
    std::uint64_t taken = 0;  // as our row says
  };
  struct Peer {
    std::atomic<std::uint64_t> session{0};  // 0: none now
    std::atomic<std::uint64_t> released{0};
    std::atomic<std::uint64_t> requests{0};  // written
    std::atomic<std::uint64_t> id_max{0};    // of them
    std::array<Out, 2> out;
    std::array<In, 2> in{};
    std::uint64_t incarnation = 0;  // the last that a session was with
    bool is_new = false;            // step() has not pushed its session yet
    std::uint64_t replies = 0;
    std::uint64_t requests_released = 0;    // of them, granules_of has none any more
    std::deque<std::uint64_t> granules_of;  // requests that were not released
  };
  struct Said {
    std::array<std::uint64_t, 2> sent{};
    std::array<std::uint64_t, 2> taken{};
  };
  struct Frame {
    std::uint64_t kind = 0;
    std::uint64_t id = 0;
    std::uint64_t granules = 0;  // with the pad before it
    std::uint32_t patience = 0;  // of a request
    std::size_t length = 0;      // of its bytes, which are in copy_
  };

  void open(Slot slot, std::uint64_t incarnation);
  void close(Slot slot);
  bool look(Slot slot, Peer& peer);
  [[nodiscard]] static bool is_possible(const Peer& peer, const Said& said, std::uint64_t lane);
  bool take(Slot slot, Peer& peer, Lane lane);
  [[nodiscard]] std::optional<Frame> read(Slot slot, Lane lane, std::uint64_t from,
                                          std::uint64_t sent);
  bool hand(Slot slot, Peer& peer, Lane lane, const Frame& frame);
  bool say(Slot slot, Peer& peer, Effects& effects);
  void push_lane(Slot slot, Lane lane, std::uint64_t from, std::uint64_t to, Effects& effects);
  void violate(Slot slot, const char* what);
  [[nodiscard]] std::byte* own(Slot slot, RequestWords::Word word) const {
    return own_row_ + words_.words(self_.slot, slot) + word;
  }
  [[nodiscard]] std::uint64_t load(Slot slot, RequestWords::Word word) const {
    return memory_.load(row_of_(slot) + words_.words(slot, self_.slot) + word);
  }

  const ViewMember self_;
  const RequestWords words_;
  std::byte* own_row_;
  RowOf row_of_;
  RequestEvents& events_;
  Memory memory_;
  std::vector<Peer> peers_;          // by slot
  std::vector<std::uint64_t> copy_;  // of the frame that is handed to the owner
  bool ended_ = false;
  std::optional<Violation> violation_;
};

}  // namespace tutti
