/// \file group_rules.hpp
/// What a group's options mean inside a node: checked against the node, and written out in full.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "tutti/error.hpp"
#include "tutti/options.hpp"

namespace tutti {

/// Checks `group` by itself, then against a valid node and the groups joined before: all members
/// are the node's, the name is new, the windows of all senders are not too large together, the
/// groups are not more than a hello may name, and their control words fit one frame.
[[nodiscard]] Result<void> check_group(const NodeOptions& node,
                                       std::span<const GroupOptions* const> joined,
                                       const GroupOptions& group);

/// A node reserves so many groups at most that are joined after start.
inline constexpr std::size_t kReservedMax = 64;

/// Whether a group with these options may be joined after start.
[[nodiscard]] Result<void> check_reserved(const GroupOptions& group);

/// The ring buffer's size for a legal GroupOptions::window_bytes: the next power of two.
[[nodiscard]] std::uint64_t rounded_window_bytes(std::uint64_t window_bytes);

/// The same group with nothing left implicit: members and senders listed, the window rounded.
[[nodiscard]] GroupOptions resolve_group(const NodeOptions& node, GroupOptions group);

}  // namespace tutti
