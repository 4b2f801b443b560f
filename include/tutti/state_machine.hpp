/// \file state_machine.hpp
/// What a state machine has that Replicated (replicated.hpp) keeps a copy of at every member.
#pragma once
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tutti/error.hpp"
#include "tutti/message.hpp"
#include "tutti/state.hpp"

namespace tutti {

/// Two ways to give a state; state.hpp says when to use which.
template <class T>
concept GivesSnapshots = requires(const T& copy) {
  { copy.snapshot() } -> std::same_as<Result<ReadSnapshot>>;
};
template <class T>
concept SavesState = requires(const T& copy, const StateSink& write) {
  { copy.save(write) } -> std::same_as<Result<void>>;
};

/// A state machine that is told of its group's ticks (GroupOptions::tick_every), between the
/// commands and at the same place at all members: it may change the state as apply() may, by
/// Tick::time_ns and by no other clock. That may be less than before where the group has a new
/// clock: see GroupOptions::tick_every, and keep the largest.
template <class T>
concept TakesTicks = requires(T machine, const Tick& tick) { machine.on_tick(tick); };

/// What Replicated needs of a state machine. Two copies that are in the same state and apply the
/// same command must come to the same state: no clocks, no random numbers, no addresses.
///   Command::encode   appends the command as bytes
///   Command::decode   the command from those bytes, empty if they are none
///   apply             changes the state; execute() returns its value
///   load              see state.hpp
///   snapshot or save  the same: one of the two; of a machine that has both, snapshot is used
///   on_tick           may be there: TakesTicks
template <class T>
concept StateMachine =
    requires(T machine, const typename T::Command& command, std::vector<std::byte>& out,
             std::span<const std::byte> in, const StatePiece& piece) {
      typename T::Reply;
      { command.encode(out) };
      { T::Command::decode(in) } -> std::same_as<std::optional<typename T::Command>>;
      { machine.apply(command) } -> std::same_as<typename T::Reply>;
      { machine.load(piece) } -> std::same_as<Result<void>>;
      requires GivesSnapshots<T> || SavesState<T>;
    };

}  // namespace tutti
