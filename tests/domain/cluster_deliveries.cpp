// What members are handed, and deliveries that stop in the middle of a batch.
#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "domain/cluster.hpp"
#include "domain/group_log.hpp"

namespace tutti::domain {

bool Cluster::deliver(NodeCore& node, std::size_t number, std::uint64_t most) {
  GroupCore& group = *node.groups[number];
  std::vector<Stream>& streams = streams_[number];
  if (!node.is_in_view() || !group.is_member() || streams.empty()) return false;
  if (group.is_delivering()) return resume(group);
  if (group.delivery == nullptr) group.delivery = std::make_unique<Delivery>();
  Delivery& delivery = *group.delivery;
  group.at.resize(streams.size());
  delivery.batch.clear();
  delivery.bytes.clear();
  delivery.tickets = group.delivered;
  for (std::uint64_t looks = 0; looks < 2 * streams.size() + most && delivery.batch.size() < most;
       ++looks) {
    const std::size_t stream = group.is_ordered() ? 0 : random_.below(streams.size());
    if (group.at[stream] >= limit(node, number, stream)) continue;
    const std::uint64_t position = group.at[stream]++;
    Entry& entry = streams[stream].entries[position];
    if (entry.view == 0) entry.view = views_[node.entered - 1].change.view;
    // Of one view, when it comes from a log.
    if (!delivery.batch.empty() && delivery.batch.back().view != entry.view) {
      --group.at[stream];
      break;
    }
    delivery.bytes.push_back(entry.bytes);
    const bool own = entry.incarnation == node.incarnation;
    if (own) delivery.tickets = entry.ticket.value;
    delivery.batch.push_back({.seq = SeqNo{position},
                              .data = delivery.bytes.back().data(),
                              .size = static_cast<std::uint32_t>(entry.bytes.size()),
                              .sender = entry.sender,
                              .ticket = own ? entry.ticket : Ticket{},
                              .view = entry.view});
  }
  if (delivery.batch.empty()) return false;
  if (group.log != nullptr) group.log->append(streams.front().entries, group.at.front(), events);
  for (const Message& message : delivery.batch) events.delivering(node, group, message);
  if (group.options.delivery != DeliveryThread::own) {
    group.options.on_delivery(delivery.batch);
    hand_on(group);
    return true;
  }
  delivery.state = Delivery::State::runs;
  running_ = &delivery;
  if (!delivery.fiber) delivery.fiber.emplace();
  delivery.fiber->start([&group, &delivery] { group.options.on_delivery(delivery.batch); });
  running_ = nullptr;
  if (!delivery.fiber->under_way()) hand_on(group);
  return true;
}

// The batch was delivered.
void Cluster::hand_on(GroupCore& group) {
  Delivery& delivery = *group.delivery;
  delivery.state = Delivery::State::idle;
  // The space is used again.
  for (auto& bytes : delivery.bytes) std::ranges::fill(bytes, std::byte{0xEE});
  group.delivered = delivery.tickets;
  events.delivered(group.node, group);
}

bool Cluster::resume(GroupCore& group) {
  Delivery& delivery = *group.delivery;
  if (delivery.state == Delivery::State::waits && delivery.waits_for != nullptr) return false;
  delivery.state = Delivery::State::runs;
  running_ = &delivery;
  delivery.fiber->resume();
  running_ = nullptr;
  if (!delivery.fiber->under_way()) hand_on(group);
  return true;
}

void Cluster::stop_in_callback() {
  if (running_ == nullptr) return;
  Delivery& self = *running_;
  self.state = Delivery::State::in_callback;
  self.fiber->stop();
}

void Cluster::stop_until_notified(const std::condition_variable& condition) {
  TUTTI_ASSERT(running_ != nullptr);  // no other thread waits for a condition without a deadline
  Delivery& self = *running_;
  self.state = Delivery::State::waits;
  self.waits_for = &condition;
  stopped_.push_back(&self);
  self.fiber->stop();
}

void Cluster::notify(const std::condition_variable& condition) {
  std::erase_if(stopped_, [&](Delivery* one) {
    if (one->waits_for != &condition) return false;
    one->waits_for = nullptr;
    return true;
  });
}

bool Cluster::is_in_callback(const NodeCore& node) {
  return std::ranges::any_of(node.groups, [](const auto& group) {
    return group->is_delivering() && group->delivery->state == Delivery::State::in_callback;
  });
}

void Cluster::go_on(NodeCore& node) {
  for (const auto& group : node.groups) {
    while (group->is_delivering() && resume(*group)) {
    }
  }
}

}  // namespace tutti::domain
