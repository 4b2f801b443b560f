/// \file posting.hpp
/// What became of a record that a relay sends into a group: at once, or once there is space.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tutti::relay {

enum class Posted : std::uint8_t {
  posted,
  waits,    ///< for space, in its turn; MemberEvents::on_space follows
  stopped,  ///< the member or the group ended
};

/// A record that waits for space. Who posted it owns it: the record is not sent if its owner goes
/// before.
struct Queued {
  explicit Queued(std::size_t size) : bytes(size) {}
  std::vector<std::byte> bytes;
  std::atomic<Posted> state{Posted::waits};  ///< changes once; released behind the commit
};

struct Posting {
  Posted outcome = Posted::posted;
  std::shared_ptr<const Queued> queued{};  ///< of Posted::waits
};

}  // namespace tutti::relay
