// A group at a member: claims, commits, handlers.
#include <algorithm>
#include <utility>

#include "domain/cluster.hpp"
#include "domain/delivery.hpp"
#include "domain/group_log.hpp"

namespace tutti {

GroupCore::GroupCore(NodeCore& at_node, std::size_t which, GroupOptions with,
                     IndexedBy<MemberIndex, std::string> all)
    : node(at_node), number(which), options(std::move(with)), members(std::move(all)) {
  const auto found = std::ranges::find(members, node.name);
  own = {static_cast<std::uint32_t>(found - members.begin())};
}

GroupCore::~GroupCore() = default;

bool GroupCore::is_delivering() const {
  return delivery != nullptr && delivery->state != domain::Delivery::State::idle;
}

std::uint64_t GroupCore::delivered_of(std::size_t stream) const {
  if (stream >= at.size()) return 0;
  return is_delivering() ? delivery->batch.front().seq.value : at[stream];
}

bool GroupCore::is_sender() const {
  return is_member() && (options.senders.empty() ||
                         std::ranges::find(options.senders, node.name) != options.senders.end());
}

bool GroupCore::has_space() {
  while (!unreleased.empty()) {
    const Placed& oldest = unreleased.front();
    if (node.cluster.delivered_by_all(number, oldest.stream) <= oldest.position) break;
    unreleased.pop_front();
  }
  return unreleased.size() + outbox.size() < window;
}

ClaimOutcome GroupCore::may_claim(std::uint32_t size) {
  if (!is_sender()) return ClaimOutcome::not_sender;
  if (!node.is_in_view()) return ClaimOutcome::stopped;
  if (size > options.message_max_bytes) return ClaimOutcome::too_large;
  return has_space() ? ClaimOutcome::ok : ClaimOutcome::full;
}

Claim GroupCore::try_claim(std::uint32_t size) {
  Claim claim;
  claim.outcome_ = may_claim(size);
  if (claim.outcome_ != ClaimOutcome::ok) return claim;
  Slot& slot = outbox.emplace_back();
  slot.bytes.resize(size, std::byte{0xA5});  // old bytes
  claim.core_ = this;
  claim.data_ = slot.bytes.data();
  claim.size_ = size;
  claim.index_ = first_in_outbox + outbox.size() - 2;  // as production: the ticket less one
  return claim;
}

Ticket GroupCore::commit_own(Claim& claim) {
  if (claim.core_ != this) return Ticket{};
  const Ticket ticket{claim.index_ + 1};
  Slot& slot = outbox[ticket.value - first_in_outbox];
  slot.state = SlotState::committed;
  claim.core_ = nullptr;
  node.cluster.events.committed(*this, ticket, slot.bytes);
  return ticket;
}

void GroupCore::abandon(Claim& claim) {
  outbox[claim.index_ + 1 - first_in_outbox].state = SlotState::abandoned;
  claim.core_ = nullptr;
}

Error GroupCore::why_none(ClaimOutcome outcome) const {
  const std::string name = "group '" + options.name + "': ";
  switch (outcome) {
    case ClaimOutcome::too_large:
      return {ErrorCode::invalid_argument, name + "the message is too large"};
    case ClaimOutcome::not_sender:
      return {ErrorCode::invalid_argument, name + "this member is not among the senders"};
    default:
      return {ErrorCode::stopped, name + "it is not started, or has ended"};
  }
}

bool GroupCore::is_intact() {
  const bool was = !overwritten;
  if (was && overwritten_after && --*overwritten_after == 0) node.cluster.overwrite(*this);
  return was;
}

bool GroupCore::call_handler() {
  if (!wait_for_space.empty() && (node.over || has_space())) {
    auto [size, handler] = std::move(wait_for_space.front());
    wait_for_space.pop_front();
    Claim claim = try_claim(size);
    if (claim) {
      handler(std::move(claim));
    } else {
      handler(std::unexpected(why_none(claim.outcome())));
    }
    return true;
  }
  const auto ready = std::ranges::find_if(
      wait_for_delivery, [&](const auto& one) { return node.over || is_delivered(one.first); });
  if (ready == wait_for_delivery.end()) return false;
  auto [ticket, handler] = std::move(*ready);
  wait_for_delivery.erase(ready);
  if (is_delivered(ticket)) {
    handler({});
  } else {
    handler(fail(ErrorCode::stopped, "the node has ended"));
  }
  return true;
}

}  // namespace tutti
