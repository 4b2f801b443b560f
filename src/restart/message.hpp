/// \file message.hpp
/// What nodes say to each other in a restart. Bytes of others are input: decode() checks every
/// length and count, and that what comes says nothing that cannot be.
/// Threads: any; values.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "restart/plan.hpp"

namespace tutti::restart {

/// What the sender has on disk, whenever that changes.
struct Hello {
  Told told{};
  bool founds = false;  ///< the newest view, which it has neither entered nor given up yet
};
/// Of a leader: begins a restart from the last view of the chain.
struct Prepare {
  std::uint64_t ballot = 0;
  std::vector<ViewRecord> chain{};
};
/// The promise is on disk.
struct Promise {
  std::uint64_t ballot = 0;
  Told told{};
};
/// The sender cannot follow that ballot, any more.
struct Refuse {
  std::uint64_t ballot = 0;
  Told told{};
  std::string why{};
};
struct Propose {
  std::uint64_t ballot = 0;
  Proposed proposal{};
  std::vector<GroupPlan> plans{};  ///< of a restart's proposal, in the order of its next.first
};
/// Asks for records of a group. With them the receiver says whether the records check_from .. from
/// - 1 have that sum in its log as well.
struct Fetch {
  std::string group{};
  std::uint64_t from = 0;
  std::uint64_t until = 0;
  std::uint64_t check_from = 0;
  std::uint64_t check_sum = 0;
};
struct Records {
  std::string group{};
  bool differ = false;  ///< the sums do; then there are no records
  std::vector<OwnedRecord> records{};
};
/// Asks for a piece of the file of a group's snapshot with that number.
struct FetchSnapshot {
  std::string group{};
  std::uint64_t seq = 0;
  std::uint64_t offset = 0;
};
/// What is in the file from there on; without bytes, the sender does not have it any more.
struct SnapshotPiece {
  std::string group{};
  std::uint64_t seq = 0;
  std::uint64_t offset = 0;
  std::uint64_t total = 0;  ///< the size of the file
  std::vector<std::byte> bytes{};
};
/// The sender has taken records and goes on.
struct Progress {
  std::uint64_t ballot = 0;
};
/// The acceptance is on disk.
struct Accept {
  std::uint64_t ballot = 0;
};
/// The proposal is decided. The chain ends with the view that it follows.
struct Decided {
  Proposed proposal{};
  std::vector<ViewRecord> chain{};
};

/// In the place of a hello: the sender has no `views`, so it has no vote (Z1).
struct Fresh {};
/// In the place of a hello: the sender is in a group that runs. What its logs have is without sums.
struct Runs {
  Told told{};
  bool asks = false;  ///< what the receiver has, if that runs, too
};

using RestartMessage =
    std::variant<Hello, Prepare, Promise, Refuse, Propose, Fetch, Records, Progress, Accept,
                 Decided, Fresh, Runs, FetchSnapshot, SnapshotPiece>;

/// What the sender says of its disk with it; null if it says nothing of that.
[[nodiscard]] const Told* told_in(const RestartMessage& message);

[[nodiscard]] std::vector<std::byte> encode(const RestartMessage& message);
/// Nothing if these are not the bytes of one.
[[nodiscard]] std::optional<RestartMessage> decode(std::span<const std::byte> bytes);

}  // namespace tutti::restart
