/// \file seat.hpp
/// A simulated application's part in one group: what it has sent and taken.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fabric/slot.hpp"
#include "multicast/barrier.hpp"
#include "sim/handlers.hpp"
#include "sim/tick_watch.hpp"
#include "smc/send_ring.hpp"
#include "sst/sent_word.hpp"
#include "tutti/indexed_by.hpp"
#include "tutti/message.hpp"
#include "tutti/types.hpp"

namespace tutti::sim {

/// What an application has taken so far.
struct AppState {
  std::uint64_t digest = 0;
  std::uint64_t messages = 0;
  friend bool operator==(const AppState&, const AppState&) = default;
};

struct LastTicket {
  std::uint64_t incarnation = 0;
  std::uint64_t ticket = 0;
};

/// A batch that the application has taken and holds.
struct Held {
  std::span<const Message> batch;
  std::vector<std::uint32_t> crcs;  ///< of its messages, when it was taken
  std::uint64_t until_ns = 0;
};

struct Seat {
  std::uint64_t sent = 0;                ///< messages
  std::uint64_t delivered = 0;           ///< own, of them
  std::uint64_t last_sent = 0;           ///< ticket
  std::deque<std::uint64_t> waiting{};   ///< tickets of own messages that are not delivered yet
  std::unique_ptr<Handlers> handlers{};  ///< null: it has none
  std::vector<Barrier> barriers{};       ///< that the application waits at
  TicksSeen ticks{};
  AppState state{};
  IndexedBy<Slot, LastTicket> last{};
  IndexedBy<MemberIndex, Slot> slots{};  ///< of the group's members
  bool is_member = false;
  bool own_thread = false;
  bool takes = false;          ///< the application does, on that thread
  bool found_nothing = false;  ///< when it looked last
  std::optional<Held> held{};
  std::uint64_t sent_view = 0;
  SentState sent_state{};  ///< in that view, as its row says
};

/// A thread of the application that builds a message.
struct Claim {
  std::uint16_t group = 0;
  std::uint32_t size = 0;
  std::uint32_t claimed = 0;  ///< at least as much
  bool safe = false;          ///< to be committed as Service::safe
  SendRing::Space space{};
  std::uint64_t until_ns = 0;
};

}  // namespace tutti::sim
