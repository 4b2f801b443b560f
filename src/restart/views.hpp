/// \file views.hpp
/// What a node of a group that is logged keeps on disk about views, beside its logs, for a restart
/// of the whole group (docs/restart-model.md, Z1 to Z14).
///
/// Invariants:
///  NV1  `chain` is never empty. It goes from the last view that this node knows to be confirmed to
///       the newest one that it knows to be decided, with all views between them, ids ascending.
///  NV2  Ballots of members that ran are below kRunningBallots, those of restarts are not (Z6).
/// Threads: any; values.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "tutti/error.hpp"

namespace tutti::restart {

/// The number of a group's first message in a view, which is where the views before it end: the
/// cut. The log's numbers are Message::seq.
struct GroupFirst {
  std::string group{};
  std::uint64_t first = 0;
  bool operator==(const GroupFirst&) const = default;
};

struct ViewRecord {
  std::uint64_t id = 0;
  std::vector<std::uint32_t> members{};  ///< slots in rank order
  std::vector<GroupFirst> first{};       ///< by the groups' names
  [[nodiscard]] bool has(std::uint32_t slot) const {
    return std::ranges::find(members, slot) != members.end();
  }
  /// Nothing for a group that it does not have.
  [[nodiscard]] std::optional<std::uint64_t> first_of(std::string_view group) const;
  bool operator==(const ViewRecord&) const = default;
};

/// So many of them are more than half of that view.
[[nodiscard]] inline bool is_majority(std::size_t votes, const ViewRecord& view) {
  return 2 * votes > view.members.size();
}

/// A view that was proposed. Two proposals that are equal are one, whoever made them.
struct Proposed {
  std::uint64_t follows = 0;  ///< the id of the view after which it comes
  ViewRecord next{};
  bool restart = false;  ///< proposed by a restart, not by members that ran
  bool operator==(const Proposed&) const = default;
};

struct Accepted {
  std::uint64_t ballot = 0;
  Proposed proposal{};
  bool operator==(const Accepted&) const = default;
};

/// Ballots of members that run are their leader's rank + 1.
inline constexpr std::uint64_t kRunningBallots = std::uint64_t{1} << 32;

/// Of a restart; counters begin at 1.
[[nodiscard]] constexpr std::uint64_t restart_ballot(std::uint64_t counter, std::uint32_t slot) {
  return counter << 32 | slot;
}

/// The highest ballot of a restart that a node has promised to, and the view from which that
/// restart begins. It never enters that view any more (Z12).
struct Promised {
  std::uint64_t view = 0;
  std::uint64_t ballot = 0;
  bool operator==(const Promised&) const = default;
};

struct Views {
  std::string node{};                ///< its name
  std::vector<std::string> nodes{};  ///< all nodes' names, by slot
  std::uint64_t origin = 0;          ///< random, of the group's founding; 0: none
  /// The first view that this node installed with this disk. In earlier views it has no vote: the
  /// disk that it had then is lost.
  std::uint64_t since = 0;
  std::vector<ViewRecord> chain{};  ///< NV1
  std::optional<Accepted> accepted{};
  Promised promised{};
  /// The newest view that it knows to be decided. On disk before this node says that it is in it
  /// (Z2).
  [[nodiscard]] const ViewRecord& installed() const { return chain.back(); }
  [[nodiscard]] std::uint64_t confirmed() const { return chain.front().id; }
  bool operator==(const Views&) const = default;
};

/// Forgets the views before the last one that is now known to be confirmed. Nothing happens if that
/// view is not in the chain.
void confirm(std::vector<ViewRecord>& chain, std::uint64_t id);

// Parts of files and messages.
void encode(Encoder& out, const ViewRecord& view);
[[nodiscard]] ViewRecord decode_view(Decoder& in);
void encode(Encoder& out, const std::vector<ViewRecord>& chain);
[[nodiscard]] std::vector<ViewRecord> decode_chain(Decoder& in);
void encode(Encoder& out, const Proposed& proposal);
[[nodiscard]] Proposed decode_proposed(Decoder& in);
void encode(Encoder& out, const Views& views);
[[nodiscard]] Views decode_views(Decoder& in);

}  // namespace tutti::restart
