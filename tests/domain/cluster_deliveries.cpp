// What members are handed, and deliveries that stop in the middle of a batch.
#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "domain/cluster.hpp"
#include "domain/group_log.hpp"

namespace tutti::domain {

// The next batch of at most `most` messages; `settled`: of those that somebody has delivered.
// False: there is none.
bool Cluster::fill(NodeCore& node, std::size_t number, std::uint64_t most, bool settled,
                   Prng& random) {
  GroupCore& group = *node.groups[number];
  std::vector<Stream>& streams = streams_[number];
  if (group.delivery == nullptr) group.delivery = std::make_unique<Delivery>();
  Delivery& delivery = *group.delivery;
  group.at.resize(streams.size());
  delivery.batch.clear();
  delivery.bytes.clear();
  delivery.tickets = group.delivered;
  for (std::uint64_t looks = 0; looks < 2 * streams.size() + most && delivery.batch.size() < most;
       ++looks) {
    const std::size_t stream = group.is_ordered() ? 0 : random.below(streams.size());
    if (group.at[stream] >= limit(node, number, stream)) continue;
    const std::uint64_t position = group.at[stream];
    Entry& entry = streams[stream].entries[position];
    if (settled && entry.view == 0) continue;
    if (entry.view == 0) entry.view = views_[node.entered - 1].change.view;
    // Of one view, when it comes from a log.
    if (!delivery.batch.empty() && delivery.batch.back().view != entry.view) break;
    ++group.at[stream];
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
  return !delivery.batch.empty();
}

bool Cluster::deliver(NodeCore& node, std::size_t number, std::uint64_t most) {
  GroupCore& group = *node.groups[number];
  if (!node.is_in_view() || !group.is_member() || streams_[number].empty()) return false;
  if (group.is_delivering()) return resume(group);
  if (!fill(node, number, most, false, random_)) return false;
  hand_over(group);
  return true;
}

void Cluster::hand_over(GroupCore& group) {
  Delivery& delivery = *group.delivery;
  if (group.log != nullptr) {
    group.log->append(streams_[group.number].front().entries, group.at.front(), events);
  }
  for (const Message& message : delivery.batch) events.delivering(group.node, group, message);
  if (group.overwritten_after == 0U) overwrite(group);
  if (group.options.delivery != DeliveryThread::own) {
    group.options.on_delivery(delivery.batch);
    return hand_on(group);
  }
  delivery.state = Delivery::State::runs;
  running_ = &delivery;
  if (!delivery.fiber) delivery.fiber.emplace();
  delivery.fiber->start([&group, &delivery] { group.options.on_delivery(delivery.batch); });
  running_ = nullptr;
  if (!delivery.fiber->under_way()) hand_on(group);
}

bool Cluster::overtake(NodeCore& node, std::size_t number, Prng& random) {
  GroupCore& group = *node.groups[number];
  if (!node.is_in_view() || !group.is_member() || streams_[number].empty()) return false;
  overwriting_ = &random;
  if (group.is_delivering()) {
    overwrite(group);
    while (group.is_delivering() && resume(group)) {
    }
    return true;
  }
  if (!fill(node, number, 1 + random.below(6), true, random)) return false;
  group.overwritten_after = random.below(4);
  hand_over(group);
  while (group.is_delivering() && resume(group)) {
  }
  return true;
}

// By records of any kind, whole ones or parts, or by a payload alone.
void Cluster::overwrite(GroupCore& group) {
  group.overwritten = true;
  for (std::vector<std::byte>& bytes : group.delivery->bytes) {
    Prng& random = *overwriting_;
    const std::vector<Stream>& streams = streams_[group.number];
    const Stream& stream = streams[random.below(streams.size())];
    const auto& other = stream.entries[random.below(stream.entries.size())].bytes;
    const bool has_other = random.one_in(2);
    const std::size_t kept = random.one_in(2) ? std::min<std::size_t>(bytes.size(), 40) : 0;
    for (std::size_t i = has_other ? 0 : kept; i < bytes.size(); ++i) {
      if (has_other && i >= other.size()) break;
      bytes[i] = has_other ? other[i] : static_cast<std::byte>(random.below(256));
    }
  }
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
