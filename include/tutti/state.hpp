/// \file state.hpp
/// How an application hands its state to members that join: as bytes, piece by piece.
///
/// The state is taken between the last message of one view and the first of the next, at the two
/// lowest ranks that go on, and loaded by those who join that view before their first message: what
/// they are then delivered follows exactly on what the state holds. All of these callbacks run on
/// one thread of the node's, one at a time. While a state is taken or loaded, nothing is delivered
/// at this member, in any group, and on_view waits. However long that takes, nobody is removed for
/// it (but see remove_after), and views go on; the others can fill each window once, then they wait
/// for this member. Stopping the node waits for the callback that runs. Source: DESIGN.md 2,
/// Derecho's state transfer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "tutti/error.hpp"

namespace tutti {

/// Fills `into` with the bytes of a snapshot from `offset` on and returns how many those are. Fewer
/// than asked for are fine; 0 says that the snapshot ends there. After an error, an exception or
/// more bytes than asked for it is not called again, and another member gives. The offsets mostly
/// grow, but the first may be any, and they may go back: another joiner, or one that lost or left
/// the other giver, may need an earlier piece. The state that it reads must not change, though
/// messages are delivered meanwhile. It is destroyed on the same thread, or on the one that ends
/// the node.
using ReadSnapshot =
    std::function<Result<std::size_t>(std::uint64_t offset, std::span<std::byte> into)>;

/// Returns the state as it is now, at once, for states that are immutable, copied on write or cheap
/// to copy: this member's deliveries wait until it returns. What it returns is destroyed once all
/// who join have the state.
/// Members in the same state must take snapshots of the same bytes: if the member that gives one
/// dies, another goes on in the middle of its own. One that turns out to differ is read from the
/// beginning.
using TakeSnapshot = std::function<Result<ReadSnapshot>()>;

/// Takes the next bytes of a state that is being saved. They are copied.
using StateSink = std::function<void(std::span<const std::byte>)>;

/// For all other states: writes the whole of it by any number of calls of `write`. Nothing is
/// delivered at this member until it returns, and all of it is in memory then, until
/// all who join have it. An error, or an exception, ends the start of those who join, not this
/// member.
using SaveState = std::function<Result<void>(const StateSink& write)>;

struct StatePiece {
  std::span<const std::byte> bytes{};  ///< valid during the call only
  bool first = false;                  ///< a state begins: what was loaded before is void
  bool last = false;                   ///< it is whole with this one
};

/// Takes over a state, a piece at a time. An error, or an exception, ends this node's start.
/// If the member that sends it dies on the way, or sends nothing for suspect_after while another is
/// ready, the state of that one goes on where it ended, or begins again.
using LoadState = std::function<Result<void>(const StatePiece& piece)>;

}  // namespace tutti
