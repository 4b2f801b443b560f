/// \file error.hpp
/// Errors as values: nothing in this library throws or ends the process.
///
/// Each message says what was wrong, where, and what to do. The code is for programs, the message
/// for people. A normal outcome (no space right now, nothing there yet) is an Error only where the
/// result has no other place for it.
#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <utility>

namespace tutti {

enum class ErrorCode : std::uint8_t {
  invalid_argument,  ///< an option or argument is outside its range; nothing was changed
  mismatch,          ///< members were started with options that contradict each other
  unreachable,       ///< a member did not answer before the deadline
  timed_out,         ///< a wait ended at its deadline; the awaited event may still happen
  peer_lost,         ///< a member died or its connection broke
  stopped,           ///< the node or the group no longer takes messages
  in_callback,       ///< a call that waits, made inside a callback of its node; nothing was changed
  system,            ///< the operating system refused: memory, descriptors, sockets
  complete,          ///< all senders finished, and every member has delivered everything
  refused,           ///< the other member's request handler answered with an error, or it has none
  no_space,          ///< no space right now, and the call does not wait; nothing was sent
  damaged,          ///< a log has bytes that are not what was written; nothing was changed
};

struct Error {
  ErrorCode code;
  std::string message;
};

template <class T>
using Result = std::expected<T, Error>;

/// Shorthand for returning an error: `return fail(ErrorCode::system, "...")`.
inline std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected<Error>(Error{code, std::move(message)});
}

}  // namespace tutti
