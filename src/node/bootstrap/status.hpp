/// \file status.hpp
/// What a node tells whoever looks at it (tutti/look.hpp): the question and the answer as bytes.
///
/// Both are framed as a hello is. The node says hello first, as to all that call; the question is
/// one fixed text in the place of the caller's hello, the answer follows, and the node hangs up.
/// Everything here is pure; what a peer says is input.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "node/bootstrap/hello.hpp"
#include "tutti/error.hpp"
#include "tutti/look.hpp"

namespace tutti {

struct Status {
  NodeState state = NodeState::waiting;
  std::uint64_t view = 0;              ///< 0: none yet
  std::vector<std::string> members{};  ///< of the view, in rank order
  std::vector<std::uint64_t> incarnations{};
  std::string why{};  ///< it stopped
  std::vector<SeenLag> lags{};
};

inline constexpr std::size_t kSeenLagsMax = 256;

/// The frame that asks, and whether a frame's body does.
[[nodiscard]] std::string encode_question();
[[nodiscard]] bool is_question(std::string_view body);

/// The whole frame, of kHelloMax bytes at most.
[[nodiscard]] Result<std::string> encode_status(const Status& status);

/// Checks types and limits, and that it can be of the node whose hello came first.
[[nodiscard]] Result<Status> decode_status(std::string_view text, const Hello& hello);

}  // namespace tutti
