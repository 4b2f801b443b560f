#include "node/restart/own_views.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "node/found_groups.hpp"

namespace tutti {
namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

Result<void> check(const NodeOptions& node, const restart::Views& views, const std::string& path,
                   const restart::NodeLogs& logs) {
  const auto wrong = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, path + ": " + why);
  };
  if (views.node != node.name) {
    return wrong("this directory belongs to node '" + views.node + "', not to '" + node.name +
                 "'; give each node a state_dir of its own");
  }
  // Slots are on disk: nodes may only be added, behind the others.
  bool same = views.nodes.size() <= node.members.size();
  for (std::size_t slot = 0; same && slot < views.nodes.size(); ++slot) {
    same = views.nodes[slot] == node.members[slot].name;
  }
  if (!same) {
    return wrong("the nodes of this group are " + listed(views.nodes) +
                 ", in this order, and the member list has others; correct the list (addresses "
                 "may change, and nodes may be added at its end)");
  }
  std::vector<std::string> there;
  for (const restart::GroupFirst& group : views.installed().first) there.push_back(group.group);
  std::vector<std::string> here;
  for (std::size_t log = 0; log < logs.size(); ++log) here.push_back(logs.group(log));
  std::ranges::sort(here);
  if (here == there) return {};
  return wrong("the groups that are logged were " + listed(there) + ", and are to be " +
               listed(here) +
               "; start the node with the same as before, or found new ones in another state_dir");
}

}  // namespace

Result<std::optional<restart::Views>> own_views(const NodeOptions& node,
                                                const std::vector<GroupOptions>& groups,
                                                restart::ViewsFile& file,
                                                const restart::NodeLogs& logs) {
  if (node.bootstrap) {
    if (Result<void> founded = found_groups(file.disk(), node, groups); !founded) {
      return std::unexpected(std::move(founded.error()));
    }
  }
  Result<std::optional<restart::Views>> views = file.load();
  if (!views) return views;
  if (*views) {
    if (Result<void> same = check(node, **views, file.path(), logs); !same) {
      return std::unexpected(std::move(same.error()));
    }
    return views;
  }
  for (const restart::LogSummary& log : logs.summaries()) {
    if (log.runs.empty()) continue;
    return fail(ErrorCode::damaged,
                node.state_dir + " has a log of group '" + log.group + "' with messages up to " +
                    std::to_string(log.next - 1) +
                    ", and no file `views`, without which a node cannot go on with it: bring the "
                    "file back, or move the whole directory away, and the node joins the others");
  }
  return views;
}

}  // namespace tutti
