#include "restart/found.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "base/random.hpp"
#include "log/read.hpp"
#include "restart/views_file.hpp"

namespace tutti::restart {
namespace {

constexpr std::uint64_t kFirstView = 1;

std::unexpected<Error> not_new(const std::string& what) {
  return fail(ErrorCode::invalid_argument, what);
}

Result<void> check_is_new(const log::Disk& disk, const FoundedGroup& group) {
  const Result<log::Reading> found = log::read_log(disk, group.directory);
  if (!found) return std::unexpected(found.error());
  if (found->damage) {
    return fail(ErrorCode::damaged, log::to_string(*found->damage) + "; move " + group.directory +
                                        " away to found a new group");
  }
  if (found->next == 0) return {};
  return not_new(group.directory + " has messages up to " + std::to_string(found->next - 1) +
                 " of a group that was there before. To go on with it, start the node without "
                 "bootstrap; for a new group, move the directory away");
}

// What is there has another founding in it, or the beginning of one that is told of already.
Result<void> check_is_same(const Views& there, const Views& wanted, const std::string& path) {
  if (there.node != wanted.node) {
    return not_new(path + " belongs to node '" + there.node + "', not to '" + wanted.node +
                   "'; each node needs a state_dir of its own");
  }
  if (!is_founding(there)) {
    return not_new(path + " knows of a group already, in view " +
                   std::to_string(there.installed().id) +
                   ". To go on with it, start the node without bootstrap; for a new group, move "
                   "the state directories of all nodes away");
  }
  if (there.chain == wanted.chain && there.nodes == wanted.nodes) return {};
  return not_new(path +
                 " is of a founding with other groups or other nodes; move the state "
                 "directories of all nodes away to found another one");
}

}  // namespace

Result<Views> founding_views(std::string node, std::vector<std::string> nodes,
                             std::vector<std::string> groups) {
  const Result<std::uint64_t> origin = random_u64();
  if (!origin) return std::unexpected(origin.error());
  const Result<std::uint64_t> directory = random_u64();
  if (!directory) return std::unexpected(directory.error());
  ViewRecord first{.id = kFirstView, .members = std::vector<std::uint32_t>(nodes.size())};
  std::iota(first.members.begin(), first.members.end(), 0U);
  std::ranges::sort(groups);
  for (std::string& group : groups) first.first.push_back({.group = std::move(group)});
  return Views{.node = std::move(node),
               .nodes = std::move(nodes),
               .origin = *origin,
               .since = kFirstView,
               .chain = {std::move(first)},
               .edition = {.directory = *directory, .saves = 1}};
}

bool is_founding(const Views& views) {
  return views.since == kFirstView && views.chain.size() == 1 &&
         views.installed().id == kFirstView && !views.accepted && views.promised == Promised{};
}

Result<void> found(log::Disk& disk, const std::string& state_dir, const std::string& node,
                   const std::vector<std::string>& nodes, const std::vector<FoundedGroup>& groups) {
  std::vector<std::string> names;
  for (const FoundedGroup& group : groups) names.push_back(group.name);
  const Result<Views> views = founding_views(node, nodes, std::move(names));
  if (!views) return std::unexpected(views.error());
  if (Result<void> made = disk.make_directory(state_dir); !made) return made;
  ViewsFile file(disk, state_dir);
  const Result<std::optional<Views>> there = file.load();
  if (!there) return std::unexpected(there.error());
  if (*there) {
    if (Result<void> same = check_is_same(**there, *views, file.path()); !same) return same;
  }
  for (const FoundedGroup& group : groups) {
    if (Result<void> made = disk.make_directory(group.directory); !made) return made;
    if (Result<void> is_new = check_is_new(disk, group); !is_new) return is_new;
  }
  return *there ? Result<void>() : file.save(*views);
}

}  // namespace tutti::restart
