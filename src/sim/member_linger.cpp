// Callbacks that last, while the world goes on and other threads pass for this one, and batches
// that the application has taken and holds: what it was handed stays as it is (D12).
#include <string>
#include <utility>

#include "base/crc32c.hpp"
#include "history/make_event.hpp"
#include "sim/member.hpp"

namespace tutti::sim {

namespace {

std::vector<std::uint32_t> crcs_of(std::span<const Message> batch) {
  std::vector<std::uint32_t> crcs;
  crcs.reserve(batch.size());
  for (const Message& message : batch) crcs.push_back(crc32c(message.bytes()));
  return crcs;
}

}  // namespace

void Member::linger(std::uint16_t group, std::span<const Message> batch) {
  const std::vector<std::uint32_t> crcs = crcs_of(batch);
  const bool on_own_thread = seats_[group].own_thread;
  const bool before = std::exchange(in_callback_, in_callback_ || !on_own_thread);
  const Lingered lingered = plan_.linger(number());
  in_callback_ = before;
  if (lingered == Lingered::not_at_all) return;
  if (lingered == Lingered::until_death) {
    died_ = true;
    for (std::size_t g = 0; g < seats_.size(); ++g) engine_->subgroup(g).halt();
    return;
  }
  look_again(group, batch, crcs);
}

// D12. Without it the others may have gone on, and used the space again: an application can ask.
void Member::look_again(std::uint16_t group, std::span<const Message> batch,
                        std::span<const std::uint32_t> crcs) {
  if (!engine_->subgroup(group).in_place()) return;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Message& message = batch[i];
    net_.look(number(), message.bytes());
    const std::uint32_t crc = crc32c(message.bytes());
    if (crc == crcs[i]) continue;
    const ViewMember& sender = told_.members[*told_.rank_of(seats_[group].slots[message.sender])];
    record(history::make_deliver_end(told_at(group), {.sender = ref(sender),
                                                      .ordinal = message.seq,
                                                      .length = message.size,
                                                      .crc = crc,
                                                      .level = plan_.rows.groups[group].level,
                                                      .send_view = told_.id}));
  }
}

// The thread of a group delivers, or an application takes batches: it holds one for a while, which
// it has seen whole, then releases it and takes another. Where they found nothing they look again
// only if they are told to (N3).
bool Member::turn_delivery(std::uint16_t group) {
  Seat& seat = seats_[group];
  Subgroup<Memory>& subgroup = engine_->subgroup(group);
  if (seat.takes && !seat.is_member) return false;
  if (seat.held) {
    if (net_.now_ns() < seat.held->until_ns) return false;
    look_again(group, seat.held->batch, seat.held->crcs);
    seat.held.reset();
    return subgroup.release_here();
  }
  const bool told = !seat.found_nothing || subgroup.may_have_more();
  Taken taken;
  if (seat.takes) {
    taken = subgroup.take_here(1 + random_.below(kDeliveryBatchMax));
  } else {
    taken.moved = subgroup.deliver_here();
  }
  const bool found = seat.takes ? !taken.messages.empty() : taken.moved;
  seat.found_nothing = !found;
  if (found && !told && finding_.empty()) {
    finding_ = "N3: " + name() + " was not told that there is more to deliver in group " +
               std::to_string(group);
  }
  if (taken.messages.empty()) return taken.moved;
  const bool holds = random_.one_in(4);
  seat.held = Held{.batch = taken.messages,
                   .crcs = crcs_of(taken.messages),
                   .until_ns = net_.now_ns() + (holds ? random_.below(plan_.hold_ns) : 0)};
  deliver(group, taken.messages);
  return true;
}

}  // namespace tutti::sim
