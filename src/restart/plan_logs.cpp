#include <algorithm>

#include "restart/plan.hpp"

namespace tutti::restart {
namespace {

// A node's log of the group, as far as it counts.
struct Candidate {
  std::uint32_t slot = 0;
  const LogSummary* log = nullptr;
  std::uint64_t counted = 0;
  // The view of the last record that counts. Of two logs of one length that differ, the one whose
  // last record is of the later view is right: that number was given anew.
  std::uint64_t view = 0;
};

std::vector<Candidate> candidates(const std::string& group, const std::vector<ViewRecord>& chain,
                                  const Present& present) {
  std::vector<Candidate> all;
  for (const auto& [slot, told] : present) {
    for (const LogSummary& log : told.logs) {
      if (log.group != group) continue;
      Candidate one{.slot = slot, .log = &log, .counted = counted(log, chain)};
      if (one.counted > log.whole_from) {
        one.view = log.view_at(one.counted - 1);
      } else if (log.snapshot == 0 || one.counted < log.snapshot) {
        one.counted = 0;  // it has nothing that counts
      }
      all.push_back(one);
    }
  }
  return all;
}

std::unexpected<Error> differ(const Candidate& one, const Candidate& other, std::uint64_t seq,
                              const Names& names) {
  return fail(ErrorCode::damaged,
              "the logs of group '" + one.log->group + "' at " + name_of(one.slot, names) +
                  " and " + name_of(other.slot, names) + " differ before record " +
                  std::to_string(seq) +
                  ", and no crash explains that; find out with `tutti log verify` and `tutti log "
                  "dump` which one is wrong, and move the state directory of that node away");
}

std::uint64_t snapshot_up_to(const LogSummary& log, std::uint64_t until) {
  return log.snapshot <= until ? log.snapshot : 0;
}

Result<void> compare(const Candidate& base, const Candidate& other,
                     const std::vector<ViewRecord>& chain, const Names& names) {
  const std::uint64_t end = std::min(base.counted, other.counted);
  const std::uint64_t same = std::min(end, common(*base.log, *other.log));
  // What both have behind that in views whose successors are all known, no cut has left out.
  const std::uint64_t confirmed = chain.front().id;
  if (same < end && base.log->view_at(same) >= confirmed && other.log->view_at(same) >= confirmed) {
    return differ(base, other, same + 1, names);
  }
  const std::vector<SharedSum> sums = shared_sums(*base.log, *other.log, same);
  for (const SharedSum& sum : sums) {
    if (sum.one - sums.front().one != sum.other - sums.front().other) {
      return differ(base, other, sum.seq, names);
    }
  }
  return {};
}

Result<GroupPlan> plan_group(const std::string& group, const std::vector<ViewRecord>& chain,
                             const Present& present, const Names& names,
                             std::optional<std::uint64_t> adopted) {
  const std::vector<Candidate> all = candidates(group, chain, present);
  if (all.empty()) {
    return fail(ErrorCode::mismatch, "no node that is back has a log of group '" + group +
                                         "'; start the nodes with the same groups as before");
  }
  const Candidate base = *std::ranges::max_element(all, [](const auto& one, const auto& other) {
    return std::pair(one.counted, one.view) < std::pair(other.counted, other.view);
  });
  GroupPlan plan{.cut = adopted.value_or(base.counted), .base_slot = base.slot, .base = *base.log};
  if (base.counted < plan.cut) {
    return fail(ErrorCode::damaged, "group '" + group +
                                        "': a view that may have been decided "
                                        "begins at record " +
                                        std::to_string(plan.cut) +
                                        ", and no node that is back "
                                        "has more than those before " +
                                        std::to_string(base.counted) +
                                        "; start the nodes that are away");
  }
  plan.sources.push_back(
      {base.slot, base.log->whole_from, plan.cut, snapshot_up_to(*base.log, plan.cut)});
  for (const Candidate& one : all) {
    if (one.slot == base.slot) continue;
    if (Result<void> done = compare(base, one, chain, names); !done) {
      return std::unexpected(std::move(done.error()));
    }
    // Nothing tells whether it has what comes before the base: whoever lacks that takes a snapshot.
    if (base.log->snapshot != 0 && is_apart(*one.log, *base.log)) continue;
    const std::uint64_t until = std::min({one.counted, common(*base.log, *one.log), plan.cut});
    const std::uint64_t snapshot = snapshot_up_to(*one.log, until);
    if (until > one.log->whole_from || snapshot != 0) {
      plan.sources.push_back({one.slot, one.log->whole_from, until, snapshot});
    }
  }
  return plan;
}

}  // namespace

Result<std::vector<GroupPlan>> plan_logs(const std::vector<ViewRecord>& chain,
                                         const Present& present, const Names& names,
                                         const ViewRecord* adopted) {
  std::vector<GroupPlan> all;
  for (const GroupFirst& group : chain.back().first) {
    std::optional<std::uint64_t> cut;
    if (adopted != nullptr) cut = adopted->first_of(group.group);
    Result<GroupPlan> plan = plan_group(group.group, chain, present, names, cut);
    if (!plan) return std::unexpected(std::move(plan.error()));
    all.push_back(std::move(*plan));
  }
  return all;
}

}  // namespace tutti::restart
