/// \file stream.hpp
/// The traffic of the real thing in small: a ring of slots in the sender's row, guarded by a
/// counter that is published after the data, and freed by counters that the receivers publish.
#pragma once
#include <cstdint>
#include <vector>

#include "conformance/harness.hpp"

namespace tutti::testing {

struct StreamOptions {
  std::uint64_t messages = 1000;
  std::uint64_t slots = 16;
  std::uint32_t message_max_bytes = 500;
  bool guard_apart = false;  ///< the counter and the receipts in posts of their own
};

/// One node's part: sends to all the others, checks every byte of what they send.
class Stream {
 public:
  Stream(Node& node, std::size_t nodes, const StreamOptions& options);

  /// Sends and receives what is possible now. Posts, polls, flushes. True if anything happened.
  bool step();
  /// All sent, all received, all receipts here. May be false for good after `broken()`. Others may
  /// still need what this node has posted and not drained.
  [[nodiscard]] bool done() const;
  /// A message had a wrong byte, or a counter ran backwards.
  [[nodiscard]] bool broken() const { return broken_; }

  /// Row bytes that a stream needs.
  [[nodiscard]] static std::size_t row_bytes(std::size_t nodes, const StreamOptions& options);

 private:
  [[nodiscard]] bool send_one();
  [[nodiscard]] bool receive_from(std::uint32_t peer);
  void publish_counters();
  [[nodiscard]] std::uint64_t acknowledged() const;

  Node& node_;
  std::size_t nodes_;
  StreamOptions options_;
  std::uint64_t sent_ = 0;
  std::vector<std::uint64_t> received_;  // by rank
  std::vector<std::uint64_t> receipts_;  // by rank: how far it had received from us
  bool broken_ = false;
};

}  // namespace tutti::testing
