/// \file state.hpp
/// How an application hands its state to members that join: as bytes, piece by piece.
///
/// The two survivors of the lowest ranks take the state between the last message of one view and
/// the first of the next. Joiners of that view load it before their first message, which is the
/// first one that the state does not include. All of these callbacks run on one thread of the node,
/// one at a time. While a member takes or loads a state, it delivers nothing, in any group, and
/// on_view waits. However long that takes, no member is removed for it (but see remove_after), and
/// views go on; the others can fill each window once, then they wait for this member. Stopping the
/// node waits for the callback that runs. Source: Derecho's state transfer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "tutti/error.hpp"

namespace tutti {

/// Fills `into` with the bytes of a snapshot from `offset` on and returns how many bytes it wrote.
/// Fewer than asked for are fine; 0 says that the snapshot ends there. After an error, an exception
/// or more bytes than asked for it is not called again, and another member gives the state. The
/// offsets mostly grow, but the first may be any, and later ones may be smaller: another joiner, or
/// one that changed from the other giver to this one, may need an earlier piece. The snapshot must
/// not change while messages are delivered. The function is destroyed on the same thread, or on the
/// one that ends the node.
using ReadSnapshot =
    std::function<Result<std::size_t>(std::uint64_t offset, std::span<std::byte> into)>;

/// Returns a snapshot of the present state. For states that are immutable, copied on write or cheap
/// to copy: this member delivers nothing until it returns. The returned function is destroyed once
/// all joiners have the state.
/// Members in the same state must take snapshots with the same bytes: if the member that gives one
/// crashes, another goes on in the middle of its own. If that differs, the joiner reads it from the
/// beginning.
using TakeSnapshot = std::function<Result<ReadSnapshot>()>;

/// Takes the next bytes of a state that is being saved. They are copied.
using StateSink = std::function<void(std::span<const std::byte>)>;

/// For all other states: writes the whole state by any number of calls of `write`. This member
/// delivers nothing until it returns. The node keeps the whole saved state in memory until all
/// joiners have it. An error or an exception does not end this member; if no other member can give
/// the state either, the start of the joiners fails.
using SaveState = std::function<Result<void>(const StateSink& write)>;

struct StatePiece {
  std::span<const std::byte> bytes{};  ///< valid during the call only
  bool first = false;                  ///< a state begins: drop what was loaded before
  bool last = false;                   ///< the state is complete after this piece
};

/// Takes over a state, a piece at a time. An error or an exception ends this node's start.
/// If the member that sends the state crashes, or sends nothing for suspect_after while another
/// giver is ready, that one continues where the first ended, or begins again.
using LoadState = std::function<Result<void>(const StatePiece& piece)>;

}  // namespace tutti
