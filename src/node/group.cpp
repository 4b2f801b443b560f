#include "tutti/group.hpp"

#include <cstring>
#include <new>
#include <utility>

#include "multicast/stability.hpp"
#include "node/callbacks.hpp"
#include "node/group_sends.hpp"

namespace tutti {

void Claim::abandon() noexcept { core_->abandon(*this); }

Claim Group::try_claim(std::uint32_t size) noexcept { return core_->try_claim(size); }

Result<Claim> Group::claim(std::uint32_t size, Timeout timeout) {
  Claim space = core_->try_claim(size);
  if (space) return space;
  const std::shared_ptr<GroupCore> core = core_;  // what waits may call the application
  return core->claim(std::move(space), size, timeout);
}

Ticket Group::commit(Claim&& claim) noexcept { return core_->commit_own(claim); }

Ticket Group::commit(Claim&& claim, Service service) noexcept {
  if (service == Service::of_level || waits_for_all(core_->options().level)) {
    return commit(std::move(claim));
  }
  if (claim.core_ != core_.get() || !may_ask_for(service)) {
    core_->refuse(claim,
                  "was committed with a service that the group does not offer; ask "
                  "Group::may_ask_for first");
    return Ticket{0};
  }
  const Ticket ticket{claim.index_ + 1};
  core_->commit_safe(claim);
  return ticket;
}

Ticket Group::commit(Claim&& claim, std::uint32_t used, Service service) noexcept {
  if (claim.core_ == core_.get()) {
    if (used > claim.size()) {
      core_->refuse(claim,
                    "has fewer bytes than were committed of it; claim the most that a "
                    "message may have");
      return Ticket{0};
    }
    core_->shrink(claim, used);
  }
  return commit(std::move(claim), service);
}

Result<void> Group::may_ask_for(Service service) const {
  const GroupOptions& options = core_->options();
  const bool mixes = options.order == Order::token_ring || waits_for_all(options.level);
  if (service == Service::of_level || mixes) return {};
  return fail(ErrorCode::invalid_argument,
              "group '" + name() + "': a message cannot be sent as safe here: its order is " +
                  std::string(to_string(options.order)) +
                  "; take Order::token_ring at Level::agreed, or Level::atomic for all messages");
}

Result<Ticket> Group::send(std::span<const std::byte> bytes, Timeout timeout, Service service) {
  if (Result<void> may = may_ask_for(service); !may) return std::unexpected(std::move(may.error()));
  if (bytes.size() > core_->options().message_max_bytes) {
    return fail(ErrorCode::invalid_argument,
                "group '" + name() + "': a message of " + std::to_string(bytes.size()) +
                    " bytes is over the maximum of " +
                    std::to_string(core_->options().message_max_bytes) +
                    "; raise message_max_bytes at all members");
  }
  Result<Claim> space = claim(static_cast<std::uint32_t>(bytes.size()), timeout);
  if (!space) return std::unexpected(std::move(space.error()));
  if (!bytes.empty()) std::memcpy(space->data(), bytes.data(), bytes.size());
  return commit(std::move(*space), service);
}

Result<Ticket> Group::send(std::string_view text, Timeout timeout, Service service) {
  return send(std::as_bytes(std::span(text)), timeout, service);
}

bool Group::delivered(Ticket ticket) const noexcept { return core_->delivered(ticket); }

Result<void> Group::wait(Ticket ticket, Timeout timeout) {
  const std::shared_ptr<GroupCore> core = core_;
  return core->wait(ticket, timeout);
}

Result<void> Group::may_hold(std::size_t alignment) const {
  const GroupOptions& options = core_->options();
  if (alignment <= options.alignment) return {};
  return fail(ErrorCode::invalid_argument,
              "group '" + options.name + "': a type that is aligned to " +
                  std::to_string(alignment) + " bytes is not for messages aligned to " +
                  std::to_string(options.alignment) +
                  "; raise the group's alignment at all members");
}

Result<void> Group::barrier(Timeout timeout) {
  const std::shared_ptr<GroupCore> core = core_;
  return core->barrier(timeout);
}

Result<void> Group::on_delivered(Ticket ticket, DeliveredHandler handler) {
  return core_->on_delivered(ticket, std::move(handler));
}

Result<void> Group::on_space(std::uint32_t size, SpaceHandler handler) {
  return core_->on_space(size, std::move(handler));
}

Result<void> Group::may_wait(std::string_view call) const { return core_->may_wait(call); }

std::optional<std::uint64_t> Group::view_of(Ticket ticket) const { return core_->view_of(ticket); }

Result<Batch> Group::take(std::size_t max) { return core_->take(core_, max, Timeout(0)); }

Result<Batch> Group::take(std::size_t max, Timeout timeout) {
  const std::shared_ptr<GroupCore> core = core_;
  return core->take(core, max, timeout);
}

Result<int> Group::event_fd() { return core_->event_fd(); }

bool Group::intact() const noexcept { return core_->intact(); }
void Group::finish() noexcept { core_->finish(); }

Result<void> Group::leave(Timeout timeout) {
  const std::shared_ptr<GroupCore> core = core_;
  return core->leave(timeout);
}

bool Group::complete() const noexcept {
  return core_->subgroup() != nullptr && core_->subgroup()->complete();
}

Result<void> Group::wait_complete(Timeout timeout) {
  const std::shared_ptr<GroupCore> core = core_;
  return core->wait_complete(timeout);
}

const std::string& Group::name() const { return core_->options().name; }
const IndexedBy<MemberIndex, std::string>& Group::members() const { return core_->members(); }
MemberIndex Group::own_index() const { return core_->own_index(); }

std::string_view Group::name_of(MemberIndex member) const {
  const std::vector<std::string>& names = core_->options().members;
  return member.value < names.size() ? std::string_view(names[member.value]) : std::string_view();
}
GroupStatistics Group::statistics() const { return core_->statistics(); }
std::vector<MemberLag> Group::lags() const { return core_->lags(); }

HoldsDeliveries::HoldsDeliveries(const Group& group, const std::string& what) {
  static_assert(sizeof(Callbacks::Mark) == sizeof mark_);
  static_assert(alignof(Callbacks::Mark) == alignof(void*));
  new (mark_) Callbacks::Mark(group.core_->callbacks(), what);
}

HoldsDeliveries::~HoldsDeliveries() {
  std::launder(reinterpret_cast<Callbacks::Mark*>(mark_))->~Mark();
}

}  // namespace tutti
