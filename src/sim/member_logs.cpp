// A member's disks: its groups have logs and it keeps its views, and its row says what is on disk.
#include <algorithm>
#include <utility>

#include "sim/log_watch.hpp"
#include "sim/member.hpp"
#include "sim/view_watch.hpp"
#include "sst/control_bytes.hpp"
#include "sst/memory.hpp"

namespace tutti::sim {

std::vector<LogSink*> Member::take_logs() {
  std::vector<LogSink*> logs;
  for (std::size_t g = 0; g < seats_.size(); ++g) {
    const bool logs_it = plan_.rows.groups[g].logged && seats_[g].is_member;
    logs.push_back(logs_it ? plan_.logs->open(g, self_, net_) : nullptr);
  }
  return logs;
}

ViewLog* Member::take_view_log() {
  if (plan_.views == nullptr) return nullptr;
  std::vector<bool> logged;
  for (const GroupOptions& group : plan_.rows.groups) logged.push_back(group.logged);
  return plan_.views->open(self_, std::move(logged), net_);
}

// Of its row, as others see it: in the middle of a pass, too.
void Member::check_disks() {
  plan_.views->look(self_, row_.data(), plan_.rows.words, view_id() == 0);
  if (view_id() != 0) plan_.logs->enter(view());
  for (std::size_t g = 0; g < seats_.size() && view_id() != 0; ++g) {
    const GroupShape& shape = engine_->subgroup(g).shape();
    if (shape.members() == 0) continue;
    const std::uint64_t epoch = NativeMemory::load(shape.own_control + ControlWords::kEpoch);
    plan_.views->shows_view(self_, epoch);
    if (!shape.logged || epoch != shape.view) continue;
    const ControlWords::Word word = persisted_word(shape.order, shape.senders());
    plan_.logs->look(g, self_, NativeMemory::load(shape.own_control + word));
  }
}

// It looks at what a disk has done like at anything else.
std::uint64_t Member::next_step_ns() const {
  std::uint64_t disk_ns = kNever;
  if (plan_.logs != nullptr) {
    disk_ns = std::min(plan_.logs->next_ns(self_), plan_.views->next_ns(self_));
  }
  return std::min({engine_->next_pass_ns(), state_job_ns_, disk_ns});
}

// A member that leaves does not wait for the disks of those that go on (Subgroup::delivered_all).
bool Member::delivered_up_to_cut() const {
  for (std::size_t g = 0; g < seats_.size(); ++g) {
    if (plan_.rows.groups[g].level != Level::durable || !seats_[g].is_member) continue;
    if (engine_->subgroup(g).next_seq() != seats_[g].state.messages) return false;
  }
  return true;
}

}  // namespace tutti::sim
