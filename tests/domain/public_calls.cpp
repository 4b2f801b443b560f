// The public interface of nodes and groups, over the simulated cluster: what src/dds calls of it.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "domain/clock.hpp"
#include "domain/cluster.hpp"
#include "domain/group_log.hpp"
#include "node/disk_logs.hpp"

namespace tutti {

namespace {

std::uint64_t deadline_of(std::chrono::nanoseconds timeout) {
  return domain::steady_time() + static_cast<std::uint64_t>(std::clamp<std::int64_t>(
                                     timeout.count(), 0, std::int64_t{1} << 60));
}

// Blocks until it holds, or the node is over. False: time is up, or no call may wait here.
bool wait_until(NodeCore& node, std::chrono::nanoseconds timeout,
                const std::function<bool()>& holds) {
  if (holds()) return true;
  if (timeout.count() <= 0 || node.cluster.events.is_in_callback()) return false;
  return node.cluster.events.pause([&] { return node.over || holds(); }, deadline_of(timeout)) &&
         holds();
}

Error why_in_vain(const GroupCore& group, std::chrono::nanoseconds timeout) {
  const std::string name = "group '" + group.options.name + "': ";
  if (group.node.over) return {ErrorCode::stopped, name + "the node has ended"};
  if (timeout.count() > 0 && group.node.cluster.events.is_in_callback()) {
    return {ErrorCode::in_callback, name + "a call that waits, inside a callback"};
  }
  return {ErrorCode::timed_out, name + "the deadline has passed"};
}

}  // namespace

Result<Node> Node::create(NodeOptions options) {
  const std::shared_ptr<NodeCore> core = domain::Cluster::current()->make(options.name);
  core->state_dir = options.state_dir;
  return Node(core);
}
Node::Node(std::shared_ptr<NodeCore> core) : core_(std::move(core)) {}
Node::Node(Node&&) noexcept = default;
Node& Node::operator=(Node&&) noexcept = default;
Node::~Node() = default;

Result<Group> Node::join(GroupOptions options) {
  return Group(core_->cluster.join(*core_, std::move(options)));
}
Result<void> Node::watch_views(ViewCallback watcher) {
  core_->watcher = std::move(watcher);
  return {};
}
Result<void> Node::watch_end(std::function<void()> /*watcher*/) { return {}; }
const std::string& Node::name() const { return core_->name; }
const std::string& Node::state_dir() const { return core_->state_dir; }

void Claim::abandon() noexcept { core_->abandon(*this); }

Claim Group::try_claim(std::uint32_t size) noexcept { return core_->try_claim(size); }

Result<Claim> Group::claim(std::uint32_t size, Timeout timeout) {
  Claim claim;
  const std::shared_ptr<GroupCore> core = core_;
  const auto tries = [&] {
    if (!claim) claim = core->try_claim(size);
    return claim.outcome() != ClaimOutcome::full;
  };
  static_cast<void>(wait_until(core->node, timeout, tries));
  if (claim) return claim;
  if (claim.outcome() != ClaimOutcome::full)
    return std::unexpected(core->why_none(claim.outcome()));
  return std::unexpected(why_in_vain(*core, timeout));
}

Ticket Group::commit(Claim&& claim) noexcept { return core_->commit_own(claim); }

Result<Ticket> Group::send(std::span<const std::byte> bytes, Timeout timeout, Service) {
  Result<Claim> space = claim(static_cast<std::uint32_t>(bytes.size()), timeout);
  if (!space) return std::unexpected(std::move(space.error()));
  std::memcpy(space->data(), bytes.data(), bytes.size());
  return commit(std::move(*space));
}

bool Group::intact() const noexcept { return core_->is_intact(); }
bool Group::delivered(Ticket ticket) const noexcept { return core_->is_delivered(ticket); }

Result<void> Group::wait(Ticket ticket, Timeout timeout) {
  const std::shared_ptr<GroupCore> core = core_;
  if (wait_until(core->node, timeout, [&] { return core->is_delivered(ticket); })) return {};
  return std::unexpected(why_in_vain(*core, timeout));
}

Result<void> Group::on_delivered(Ticket ticket, DeliveredHandler handler) {
  core_->wait_for_delivery.emplace_back(ticket, std::move(handler));
  return {};
}

Result<void> Group::on_space(std::uint32_t size, SpaceHandler handler) {
  const ClaimOutcome now = core_->may_claim(size);
  if (now != ClaimOutcome::ok && now != ClaimOutcome::full) {
    return std::unexpected(core_->why_none(now));
  }
  core_->wait_for_space.emplace_back(size, std::move(handler));
  return {};
}

Result<void> Group::may_wait(std::string_view call) const {
  if (!core_->node.cluster.events.is_in_callback()) return {};
  return fail(ErrorCode::in_callback, std::string(call) + " inside a callback");
}

const std::string& Group::name() const { return core_->options.name; }
const IndexedBy<MemberIndex, std::string>& Group::members() const { return core_->members; }
MemberIndex Group::own_index() const { return core_->own; }
std::string_view Group::name_of(MemberIndex member) const {
  return member.value < core_->members.size() ? std::string_view(core_->members[member])
                                              : std::string_view();
}

Result<std::string> log_directory(const std::string& state_dir, const std::string& group) {
  return domain::directory_of_log(state_dir, group);
}

std::shared_ptr<const log::Disk> disk_of_logs() { return domain::Cluster::current()->disk(); }

}  // namespace tutti
