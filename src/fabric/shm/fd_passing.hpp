/// \file fd_passing.hpp
/// Unix sockets on which two members of one host hand each other their descriptors.
///
/// Abstract names: nothing is left in any file system. All descriptors are close-on-exec and
/// non-blocking. Who may connect is checked by user id, who it is by the incarnations in the
/// message.
/// ErrorCode::peer_lost: the other end is gone; mismatch: it is not who or what it should be;
/// kNoDescriptor: none is free here.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "fabric/descriptors.hpp"
#include "tutti/error.hpp"

namespace tutti {

/// What one member hands to another: its row, read-only, and its doorbell.
struct RowOffer {
  std::uint64_t from = 0;  ///< incarnation of the sender
  std::uint64_t to = 0;    ///< and of the receiver
  UniqueFd row;
  UniqueFd doorbell;
};

[[nodiscard]] Result<UniqueFd> listen_abstract(const std::string& name);
[[nodiscard]] Result<UniqueFd> connect_abstract(const std::string& name);

/// The next connection of a process of our own user, empty if none waits. Others are closed.
[[nodiscard]] Result<std::optional<UniqueFd>> accept_same_user(int listener);

/// Refuses a socket whose other end belongs to another user.
[[nodiscard]] Result<void> check_same_user(int socket);

/// The descriptors stay the caller's.
[[nodiscard]] Result<void> send_offer(int socket, std::uint64_t from, std::uint64_t to, int row,
                                      int doorbell);

/// For what an offer brings. A process that cannot take a row must not hand over its own: the other
/// end would take itself for connected.
[[nodiscard]] Result<std::vector<UniqueFd>> room_for_offer(int any);

/// Empty if nothing has arrived yet. A message of another shape is an error, and what descriptors
/// it brought are closed.
[[nodiscard]] Result<std::optional<RowOffer>> receive_offer(int socket);

}  // namespace tutti
