// What a member's application asks other members, and answers.
#include "sim/member.hpp"

namespace tutti::sim {

RequestEvents* Member::take_requests() {
  if (plan_.request_one_in == 0) return nullptr;
  requests_ = std::make_unique<AppRequests>(
      self_, plan_.rows.requests,
      AppRequests::Node{.lanes = [this]() -> Requests<Memory>& { return *engine_->requests(); },
                        .member = [this](Slot slot) -> std::uint64_t {
                          const std::optional<Rank> rank = view().rank_of(slot);
                          return rank ? view().members[*rank].incarnation : 0;
                        },
                        .may_be_gone =
                            [this](Slot slot, std::uint64_t incarnation, std::uint64_t since_ns) {
                              return stopped() || lost_ns_[slot] >= since_ns ||
                                     !view().contains({slot, incarnation});
                            },
                        .now_ns = [this] { return net_.now_ns(); }});
  return requests_.get();
}

void Member::follow_requests() {
  if (!requests_ || died_) return;
  requests_->write_waiting();
  if (ended()) requests_->end();
  if (finding_.empty() && !requests_->finding().empty()) {
    finding_ = requests_->finding() + " (" + name() + ")";
  }
}

bool Member::turn_requests() {
  if (!requests_ || died_) return false;
  const bool awake = requests_->turn(random_, plan_.handler_ns);
  follow_requests();
  return awake;
}

// True if the application asks a member instead of sending to a group.
bool Member::calls_instead() {
  if (!requests_ || finished_ || stopped() || !random_.one_in(plan_.request_one_in)) return false;
  requests_->call(random_);
  return true;
}

// Nothing but this tells an application that a member has ended in order (P2).
void Member::lost(std::uint32_t node) {
  lost_ns_[Slot{node}] = net_.now_ns();
  engine_->membership().set_time(net_.now_ns());
  const bool seated =
      view_id() != 0 && view().contains({Slot{node}, engine_->connected_to({node})});
  const std::size_t unsettled = engine_->unsettled();
  engine_->lost(Slot{node}, "the world says so");
  const bool has_ended = seated && engine_->unsettled() > unsettled;
  if (has_ended && requests_ && requests_->awaits(Slot{node}) && finding_.empty()) {
    finding_ = "D17: " + name() + " waits for a reply of " + plan_.rows.names[Slot{node}] +
               ", which has ended";
  }
}

}  // namespace tutti::sim
