#include "unit/relay/fake_group.hpp"

namespace tutti::relay::testing {

void FakeGroup::set_full(bool full) {
  const std::scoped_lock lock(mutex_);
  full_ = full;
  if (full) return;
  for (const auto& [unordered, record] : std::exchange(queued_, {})) {
    const auto owned = record.lock();
    if (owned == nullptr) continue;
    put(unordered, owned->bytes);
    owned->state.store(Posted::posted, std::memory_order_release);
  }
  if (!held_) deliver_all();
  for (MemberEvents* const one : listeners_) one->on_space();
}

Posting FakeGroup::post(std::optional<std::uint32_t> unordered, std::span<const std::byte> bytes) {
  const std::scoped_lock lock(mutex_);
  if (!full_) {
    put(unordered, bytes);
    if (!held_) deliver_all();
    return {};
  }
  auto record = std::make_shared<Queued>(bytes.size());
  std::ranges::copy(bytes, record->bytes.begin());
  queued_.emplace_back(unordered, record);
  return {Posted::waits, std::move(record)};
}

void FakeGroup::deliver_all() {
  for (const auto& bytes : std::exchange(waiting_, {})) {
    const auto record = dds::read_session_record(bytes);
    const dds::SessionOutcome outcome = table_.deliver(position_, *record, !deleted_);
    const auto* const sample = std::get_if<dds::ClientSample>(&*record);
    if (outcome.status == dds::SessionStatus::delivered && sample->topic != dds::kNoTopic &&
        !deleted_) {
      keep(sample->topic, sample->payload);
    } else {
      ++position_;
    }
    for (MemberEvents* const one : listeners_) one->on_outcome(0, outcome);
  }
  for (std::string& name : std::exchange(to_create_, {})) {
    topics_.push_back(std::move(name));
    histories_.emplace_back();
  }
  for (const auto& told : std::exchange(asking_, {})) {
    told->store(CaughtUp::done, std::memory_order_release);
    for (MemberEvents* const one : listeners_) one->on_data();
  }
}

}  // namespace tutti::relay::testing
