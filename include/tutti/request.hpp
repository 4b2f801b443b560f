/// \file request.hpp
/// Requests: a member sends some bytes to one other member, whose handler answers with bytes.
///
/// Node::send_to sends one. Each request is handled at most once, and its caller gets exactly one
/// outcome: the reply, or an error that says why there is none. Requests take no part in the order
/// of messages of a group. They need NodeOptions::request_max_bytes; the member that answers needs
/// NodeOptions::on_request.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/error.hpp"

namespace tutti {

/// The largest NodeOptions::request_max_bytes.
inline constexpr std::uint32_t kRequestBytesMax = 1U << 20;

/// What another member asks. Valid only while the handler runs.
struct Request {
  std::string_view from;             ///< the member's name
  std::span<const std::byte> bytes;  ///< may be empty

  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

/// What the other member's handler answered: a copy of one's own.
class Reply {
 public:
  Reply() = default;
  explicit Reply(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }

 private:
  std::vector<std::byte> bytes_;
};

/// What a handler answers with a text.
[[nodiscard]] inline std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// Answers requests of the other members, on a thread of the node that does nothing else: one call
/// at a time, each member's requests in the order in which it sent them. What it returns goes back
/// to the caller, an error as ErrorCode::refused with the same message. A reply has at most
/// NodeOptions::request_max_bytes bytes; of a longer error message the end is cut. Requests wait
/// for a slow handler in the memory of their callers, and no member is removed for it. Inside it
/// the same node refuses calls that wait (node.hpp), so it may send requests only with a
/// ReplyHandler. It must not throw: if it does, its caller gets an error, and this node fails.
using RequestHandler = std::function<Result<std::vector<std::byte>>(const Request&)>;

/// Takes the outcome of a request, once, on a thread of the node for such handlers, one call at a
/// time. It is a callback of the node, as RequestHandler is.
using ReplyHandler = std::move_only_function<void(Result<Reply>)>;

}  // namespace tutti
