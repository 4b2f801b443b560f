/// \file state.hpp
/// How an application hands its state to members that join: as bytes, piece by piece.
///
/// The state is saved between the last message of one view and the first of the next, and loaded
/// by those who join that view before their first message: what they are then delivered follows
/// exactly on what the state holds. Source: DESIGN.md 2, Derecho's state transfer.
#pragma once
#include <cstddef>
#include <functional>
#include <span>

#include "tutti/error.hpp"

namespace tutti {

/// Takes the next bytes of a state that is being saved. They are copied.
using StateSink = std::function<void(std::span<const std::byte>)>;

/// Writes the whole state, of any size, by any number of calls of `write`. Runs on the predicate
/// thread while nothing is delivered: the group waits for it, so it should be as fast as copying.
/// An error, or an exception, ends the start of those who join, not this member.
using SaveState = std::function<Result<void>(const StateSink& write)>;

struct StatePiece {
  std::span<const std::byte> bytes{};  ///< valid during the call only
  bool first = false;                  ///< a state begins: what was loaded before is void
  bool last = false;                   ///< it is whole with this one
};

/// Takes over a state, a piece at a time, on the predicate thread. An error, or an exception, ends
/// this node's start.
/// If the member that sends it dies on the way, another state begins.
using LoadState = std::function<Result<void>(const StatePiece& piece)>;

}  // namespace tutti
