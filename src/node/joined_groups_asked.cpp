// What the application asks for: to reserve, to join, to leave.
#include <algorithm>
#include <new>
#include <utility>

#include "base/assert.hpp"
#include "node/bootstrap/hello.hpp"
#include "node/group_rules.hpp"
#include "node/joined_groups.hpp"
#include "node/node_core.hpp"

namespace tutti {
namespace {

std::unexpected<Error> bad_group(const std::string& name, const std::string& what) {
  return fail(ErrorCode::invalid_argument, "group '" + name + "': " + what);
}

bool are_same(const GroupOptions& one, const GroupOptions& other) {
  return same_options(one, "one", other, "the other").has_value();
}

// What a space is called where options are compared; no group has a name like that by chance.
std::string space_name(std::size_t index) { return "(reserved " + std::to_string(index + 1) + ")"; }

std::string word_of(DeliveryThread delivery) {
  return delivery == DeliveryThread::application ? "application" : "predicate";
}

std::string told_apart(DeliveryThread here, DeliveryThread reserved) {
  return "delivery is '" + word_of(here) + "', but groups of its options were reserved with '" +
         word_of(reserved) + "' at this node; use the same";
}

}  // namespace

Result<void> JoinedGroups::reserve(GroupOptions shape, std::size_t count) {
  const auto bad = [&](const std::string& what) {
    return fail(ErrorCode::invalid_argument,
                "node '" + node_.options().name + "': Node::reserve: " + what);
  };
  if (!node_.is_declared()) return bad("it was called after start; reserve groups before");
  if (Result<void> checked = check_reserved(shape); !checked) return bad(checked.error().message);
  if (spaces_.size() == kReservedMax || count == 0 || count > kReservedMax - spaces_.size()) {
    return bad(std::to_string(count) + " groups; a node reserves 1 to " +
               std::to_string(kReservedMax) + " in all, and has " + std::to_string(spaces_.size()));
  }
  shape.on_delivery = {};
  std::vector<const GroupOptions*> declared = node_.declared();
  std::vector<GroupOptions> added(count, resolve_group(node_.options(), std::move(shape)));
  for (GroupOptions& space : added) {
    space.name = space_name(declared.size());  // new; it gets its own below
    if (Result<void> checked = check_group(node_.options(), declared, space); !checked) {
      return bad(checked.error().message);
    }
    declared.push_back(&space);
  }
  // Side by side with others of the shape, so that two calls are as good as one.
  const auto same = [&](const GroupOptions& space) { return are_same(space, added.front()); };
  auto at = std::ranges::find_if(spaces_, same);
  if (at != spaces_.end() && at->delivery != added.front().delivery) {
    return bad(told_apart(added.front().delivery, at->delivery));
  }
  at = at == spaces_.end() ? at : std::find_if_not(at, spaces_.end(), same);
  spaces_.insert(at, added.begin(), added.end());
  for (std::size_t i = 0; i < spaces_.size(); ++i) spaces_[i].name = space_name(i);
  return {};
}

void JoinedGroups::begin(std::size_t groups) {
  in_plan_.all.clear();
  for (std::size_t i = 0; i < spaces_.size(); ++i) {
    const auto group = static_cast<std::uint32_t>(groups + i);
    const bool same = i != 0 && are_same(spaces_[i - 1], spaces_[i]);
    in_plan_.all.push_back({group, same ? in_plan_.all.back().kind : group});
  }
}

Result<std::uint32_t> JoinedGroups::kind_of(const GroupOptions& options) const {
  if (spaces_.empty()) {
    return bad_group(options.name,
                     "it is joined after start, and nothing was reserved; call Node::reserve "
                     "before start, at all members");
  }
  const auto found = std::ranges::find_if(
      spaces_, [&](const GroupOptions& space) { return are_same(options, space); });
  if (found == spaces_.end()) {
    const Result<void> differs =
        same_options(options, "this call", spaces_.front(), "Node::reserve");
    TUTTI_ASSERT(!differs);
    return fail(
        ErrorCode::invalid_argument,
        differs.error().message +
            ". A group that is joined after start has the options of one that was reserved");
  }
  if (found->delivery != options.delivery) {
    return bad_group(options.name, told_apart(options.delivery, found->delivery));
  }
  return in_plan_.all[static_cast<std::size_t>(found - spaces_.begin())].kind;
}

// Before anything is asked of the others.
Result<void> JoinedGroups::may_join(const GroupOptions& options) const {
  if (std::optional<Error> refusal = node_.refusal_here("Node::join")) {
    return std::unexpected(std::move(*refusal));
  }
  if (std::optional<Error> over = node_.why_over()) return std::unexpected(std::move(*over));
  if (!node_.in_view()) {
    return bad_group(options.name,
                     "a join with a time-out is for a node that has started; join it without one, "
                     "before start");
  }
  if (Result<void> valid = options.validate(); !valid) return valid;
  if (Result<void> checked = check_reserved(options); !checked) {
    return bad_group(options.name, checked.error().message);
  }
  if (options.name.size() > kOpenNameMax) {
    return bad_group(options.name, "a group that is joined after start has a name of at most " +
                                       std::to_string(kOpenNameMax) + " bytes");
  }
  const std::vector<const GroupOptions*> declared = node_.declared();
  if (std::ranges::find(declared, options.name, &GroupOptions::name) == declared.end()) return {};
  return bad_group(options.name, "all nodes have a group of that name from the start on");
}

Result<std::shared_ptr<JoinedGroup>> JoinedGroups::join(GroupOptions options,
                                                        std::chrono::nanoseconds timeout) {
  if (Result<void> may = may_join(options); !may) return std::unexpected(std::move(may.error()));
  const Deadline deadline(timeout);
  options = callbacks_.wrap(resolve_group(node_.options(), std::move(options)));
  const Result<std::uint32_t> kind = kind_of(options);
  if (!kind) return std::unexpected(kind.error());
  DeliveryCallback deliver = std::exchange(options.on_delivery, {});
  std::shared_ptr<JoinedGroup> group;
  // One of that name that is being left is waited for.
  const auto is_free = [&] {
    const std::lock_guard lock(mutex_);
    const JoinedGroup* const one = find(options.name);
    return one == nullptr || one->phase < Phase::leaves || ended_;
  };
  static_cast<void>(node_.wait_until(node_.changed(), is_free, deadline));
  {
    const std::lock_guard lock(mutex_);
    if (const JoinedGroup* const one = find(options.name); one != nullptr && !ended_) {
      if (one->phase < Phase::leaves) return bad_group(options.name, "this node has joined it");
      return fail(ErrorCode::timed_out, "group '" + options.name +
                                            "': this node still leaves the one of that name; it "
                                            "may join it once the members have agreed on that");
    }
    if (ended_) {
      return fail(ErrorCode::stopped, "group '" + options.name + "': its node is being stopped");
    }
    const MemberIndex own{static_cast<std::uint32_t>(
        std::ranges::find(options.members, node_.options().name) - options.members.begin())};
    group = std::make_shared<JoinedGroup>(node_, options, own, *kind, std::move(deliver));
    group->core.keep_by(group);
    all_.push_back(group);
    unsettled_.fetch_add(1, std::memory_order_release);
  }
  node_.notify_work();
  const auto settled = [&] {
    const std::lock_guard lock(mutex_);
    return group->phase >= Phase::open || group->refused.has_value();
  };
  try {
    static_cast<void>(node_.wait_until(node_.changed(), settled, deadline));
  } catch (const std::bad_alloc&) {
    const std::lock_guard lock(mutex_);
    give_up(*group);  // this member may be in it by now
    throw;
  }
  const std::lock_guard lock(mutex_);
  if (group->opened) return group;
  give_up(*group);
  return std::unexpected(group->refused ? *group->refused : why_not_joined(*group));
}

// `mutex_` is held.
void JoinedGroups::give_up(JoinedGroup& group) {
  if (group.phase < Phase::leaves) settle(group, Phase::leaves);
  group.core.finish();
  node_.notify_work();
}

// `mutex_` is held.
Error JoinedGroups::why_not_joined(const JoinedGroup& group) const {
  if (std::optional<Error> over = node_.why_over()) return *over;
  const std::string& name = group.core.options().name;
  const std::string of_group = "group '" + name + "': ";
  if (ended_) return {ErrorCode::stopped, of_group + "its node is being stopped"};
  if (find_name(open_, name) == nullptr && !has_place(group.kind)) {
    return {ErrorCode::timed_out,
            of_group +
                "all groups of its options that were reserved are in use; reserve more before "
                "start, or leave some"};
  }
  return {ErrorCode::timed_out,
          of_group +
              "it was not joined before the deadline: the members have not agreed on a view with "
              "it, or this member's callbacks keep it from being told"};
}

// In the view that was seen last.
bool JoinedGroups::has_place(std::uint32_t kind) const {
  return std::ranges::any_of(in_plan_.all, [&](const GroupSpaces::Space& space) {
    return space.kind == kind && find_space(open_, space.group) == nullptr;
  });
}

// `mutex_` is held.
std::optional<Error> JoinedGroups::mismatch(const JoinedGroup& group) const {
  const OpenGroup* const there = find_name(open_, group.core.options().name);
  if (there == nullptr) return {};
  const GroupSpaces::Space* const space = in_plan_.find(there->group);
  TUTTI_ASSERT(space != nullptr, there->group);
  if (space->kind == group.kind) return {};
  std::string members;
  for (const Slot slot : there->members) {
    members += (members.empty() ? "" : ", ") + node_.options().members[slot.value].name;
  }
  const auto index = static_cast<std::size_t>(space - in_plan_.all.data());
  const Result<void> same =
      same_options(group.core.options(), node_.options().name, spaces_[index], members);
  TUTTI_ASSERT(!same.has_value(), space->kind, group.kind);
  return same.error();
}

Result<void> JoinedGroups::leave(GroupCore& core, std::chrono::nanoseconds timeout) {
  if (Result<void> may = core.may_wait("Group::leave"); !may) return may;
  if (core.has_left()) return {};
  const Deadline deadline(timeout);
  std::shared_ptr<JoinedGroup> group;  // kept meanwhile
  {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::ranges::find_if(all_, [&](const auto& one) { return &one->core == &core; });
    if (found == all_.end()) {
      if (core.has_left()) return {};
      return bad_group(core.options().name,
                       "it was joined before start, and lasts as long as its members; "
                       "Group::finish ends what this member sends");
    }
    group = *found;
    if (group->phase == Phase::open) settle(*group, Phase::leaves);
  }
  core.finish();
  node_.notify_work();
  const auto left = [&] {
    core.pass_nulls();
    return core.has_left();
  };
  if (node_.wait_until(node_.changed(), left, deadline)) return {};
  if (std::optional<Error> over = node_.why_over()) return std::unexpected(std::move(*over));
  std::string why =
      "a member has not delivered all that this one sent, a claim of this member has not "
      "ended, a callback of it has not returned, or there is no next view yet";
  if (core.leaves_untaken()) {
    why =
        "the application must take what is left and release it: another thread meanwhile, or "
        "before this call";
  }
  return fail(ErrorCode::timed_out, "group '" + core.options().name +
                                        "' was not left before the deadline: " + why +
                                        ". It will be left once that may be; wait again");
}

}  // namespace tutti
