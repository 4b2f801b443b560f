/// \file plan.hpp
/// What a restart may do, from what the nodes that are back have said: pure functions, so that each
/// rule of docs/restart-model.md can be tested alone.
/// Threads: any.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "restart/log_summary.hpp"
#include "restart/views.hpp"

namespace tutti::restart {

/// What a node has on disk, as it said itself.
struct Told {
  Views views{};
  std::vector<LogSummary> logs{};
  bool operator==(const Told&) const = default;
};

/// The nodes that are back and have their `views`, by slot.
using Present = std::map<std::uint32_t, Told>;
/// The nodes' names, by slot.
using Names = std::vector<std::string>;

/// The views from the last one that one of them knows to be confirmed to the newest that one of
/// them has installed, from which a restart begins [Z4]. Empty if nobody is present.
[[nodiscard]] std::vector<ViewRecord> chain_of(const Present& present);

/// A view of which no majority is back, and the nodes that can help: those that are not back.
struct Awaited {
  std::uint64_t view = 0;
  std::vector<std::uint32_t> members{};
  std::vector<std::uint32_t> away{};
  std::size_t lacking = 0;  ///< so many of them at least
};
/// Empty: the nodes that are present are enough [Z5].
[[nodiscard]] std::vector<Awaited> awaited(const std::vector<ViewRecord>& chain,
                                           const Present& present);
/// "view 7 of a, b, c: waits for b or c", for each.
[[nodiscard]] std::string to_string(const std::vector<Awaited>& awaited, const Names& names);
[[nodiscard]] std::string name_of(std::uint32_t slot, const Names& names);

/// The proposal to follow that view that may have been decided, and must be adopted then [Z7].
[[nodiscard]] std::optional<Proposed> may_be_decided(const ViewRecord& view,
                                                     const Present& present);

/// The id of the view that a restart from that view proposes: odd, as a group begins with view 1.
[[nodiscard]] constexpr std::uint64_t restart_id(std::uint64_t follows) {
  return follows + (follows % 2 == 0 ? 1 : 2);
}

/// A node that has the records from .. until - 1 of a group's sequence.
struct Source {
  std::uint32_t slot = 0;
  std::uint64_t from = 0;
  std::uint64_t until = 0;
  std::uint64_t snapshot = 0;  ///< the number of a snapshot that it has, at most `until`; 0: none
  bool operator==(const Source&) const = default;
};

/// Where a group goes on, and who has what comes before that.
struct GroupPlan {
  std::uint64_t cut = 0;
  std::uint32_t base_slot = 0;
  LogSummary base{};  ///< a log that goes up to the cut; its node is the first source
  std::vector<Source> sources{};
  bool operator==(const GroupPlan&) const = default;
};

/// For each group of the last view of the chain: the longest log, as far as it counts, says where
/// the cut is [Z8]. If `adopted` is given, its first numbers are the cuts. An error names logs that
/// contradict each other, or what nobody has.
[[nodiscard]] Result<std::vector<GroupPlan>> plan_logs(const std::vector<ViewRecord>& chain,
                                                       const Present& present, const Names& names,
                                                       const ViewRecord* adopted = nullptr);

void encode(Encoder& out, const Told& told);
[[nodiscard]] Told decode_told(Decoder& in);
void encode(Encoder& out, const GroupPlan& plan);
[[nodiscard]] GroupPlan decode_plan(Decoder& in);

}  // namespace tutti::restart
