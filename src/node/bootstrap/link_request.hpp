/// \file link_request.hpp
/// What a node says that calls another's bootstrap for a restart link (node/restart/links.hpp): a
/// frame in the place of its hello, as the question of status.hpp is.
///
/// The called node says hello first, as to all that call. Its answer is a verdict: "agreed", and
/// from then on the connection is the link; or why not. The caller says nothing between its request
/// and the verdict, so that the socket can be handed on in between and no byte is lost.
///
/// Everything here is pure; what a peer says is input.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.hpp"
#include "fabric/slot.hpp"
#include "tutti/error.hpp"
#include "tutti/options.hpp"

namespace tutti {

struct LinkRequest {
  std::string from{};      ///< the caller
  std::string to{};        ///< whom it takes the other for
  std::uint64_t life = 0;  ///< random, one for each process of the caller; never 0
};

/// A call that a bootstrap has identified. It has said hello, and no verdict.
struct LinkCall {
  Slot from{};
  std::uint64_t life = 0;
  UniqueFd socket{};
};

/// The whole frame.
[[nodiscard]] std::string encode_link_request(const LinkRequest& request);

/// Nothing if a frame's body is not one that is well formed.
[[nodiscard]] std::optional<LinkRequest> decode_link_request(std::string_view body);

/// The slot of who asks `node`, if it is one that calls: the name of a higher slot, and `to` is
/// that of `node`. ErrorCode::mismatch: which name is wrong, and why.
[[nodiscard]] Result<Slot> caller_of(const LinkRequest& request, const NodeOptions& node);

}  // namespace tutti
