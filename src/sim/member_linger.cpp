// Callbacks that last, while the world goes on and other threads pass for this one: what they were
// handed stays as it is (D12).
#include <utility>

#include "base/crc32c.hpp"
#include "history/make_event.hpp"
#include "sim/member.hpp"

namespace tutti::sim {

void Member::linger(std::uint16_t group, std::span<const Message> batch) {
  std::vector<std::uint32_t> crcs;
  crcs.reserve(batch.size());
  for (const Message& message : batch) crcs.push_back(crc32c(message.bytes()));
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
  // Without it the others may have gone on, and used the space again: an application can ask.
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

}  // namespace tutti::sim
