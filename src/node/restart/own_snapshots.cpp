#include "node/restart/own_snapshots.hpp"

#include <algorithm>
#include <string>

namespace tutti {
namespace {

Result<void> check_beginning(const NodeOptions& node, const GroupOptions& group,
                             const restart::LogSummary& log, const std::string& directory,
                             const std::vector<std::string>& trouble) {
  const bool takes = group.snapshot_every_bytes != 0 || group.snapshot_every.count() != 0;
  if (log.whole_from == 0 || log.snapshot != 0 || (!takes && trouble.empty())) return {};
  std::string why;
  for (const std::string& one : trouble) why += (why.empty() ? " (" : "; ") + one;
  return fail(ErrorCode::damaged,
              "group '" + group.name + "': its log in " + directory + " begins with record " +
                  std::to_string(log.whole_from) +
                  ", and there is no snapshot of what comes before" +
                  (why.empty() ? "" : why + ")") + "; move the state directory " + node.state_dir +
                  " away, and start this node again: it fetches everything from the others");
}

}  // namespace

Result<void> check_beginnings(const NodeOptions& node, const std::vector<GroupOptions>& groups,
                              const std::optional<restart::Views>& views, restart::NodeLogs& logs) {
  for (std::size_t log = 0; log < logs.size(); ++log) {
    log::Snapshots* const snapshots = logs.snapshots(log);
    if (snapshots == nullptr) continue;
    const std::size_t known = snapshots->trouble().size();
    if (views) logs.of_founding(log, views->origin);
    const std::vector<std::string>& trouble = snapshots->trouble();
    for (std::size_t i = known; i < trouble.size(); ++i) {
      if (node.log) node.log(LogLevel::warning, "group '" + logs.group(log) + "': " + trouble[i]);
    }
    const auto group = std::ranges::find(groups, logs.group(log), &GroupOptions::name);
    Result<void> checked =
        check_beginning(node, *group, logs.summary(log), logs.directory(log), trouble);
    if (!checked) return checked;
  }
  return {};
}

}  // namespace tutti
