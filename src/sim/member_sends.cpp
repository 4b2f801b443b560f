// What a member's application sends and is delivered: messages that say of themselves what they
// must be, claims that are open at the same time, and are committed in any order, or abandoned.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/crc32c.hpp"
#include "history/make_event.hpp"
#include "multicast/stability.hpp"
#include "sim/log_watch.hpp"
#include "sim/member.hpp"
#include "sim/view_watch.hpp"

namespace tutti::sim {
namespace {

// What a message says of itself; the rest is a pattern of the ticket.
struct Mark {
  std::uint64_t ticket = 0;  // with kSafeMark, if it was sent as Service::safe
  std::uint64_t incarnation = 0;
};

std::byte pattern(const Mark& mark, std::size_t at) {
  return static_cast<std::byte>(mark.incarnation + mark.ticket * 31 + at * 7);
}

// Members choose the service of each message.
bool mixes(const GroupOptions& group) {
  return group.order == Order::token_ring && group.level == Level::agreed;
}

Slot slot_in(const IndexedBy<Slot, std::string>& names, const std::string& name) {
  return {static_cast<std::uint32_t>(std::ranges::find(names, name) - names.begin())};
}

}  // namespace

void Member::take_seat(std::uint16_t group) {
  const GroupOptions& options = plan_.rows.groups[group];
  Seat& seat = seats_[group];
  seat.state.messages = first_number(plan_, group);
  seat.last = IndexedBy<Slot, LastTicket>(plan_.rows.nodes());
  seat.own_thread = options.delivery != DeliveryThread::predicate;
  seat.takes = options.delivery == DeliveryThread::application;
  for (const std::string& member : options.members) {
    seat.slots.push_back(slot_in(plan_.rows.names, member));
  }
  seat.is_member =
      !is_space(plan_, group) && std::ranges::find(seat.slots, self_.slot) != seat.slots.end();
}

void Member::send(bool safe) {
  if (calls_instead()) return;
  const auto group = static_cast<std::uint16_t>(random_.below(seats_.size()));
  SendRing* ring = engine_->subgroup(group).ring();
  if (ring == nullptr || told_.id == 0) return;
  // The protocol may be in a view in which the space is another group's.
  if (is_space(plan_, group) && !is_in_both(told_, view(), group, self_.slot)) return;
  const GroupOptions& options = plan_.rows.groups[group];
  if (plan_.skew_ns != 0 && number() == 0 && random_.one_in(64)) return finish();  // TI1
  if (plan_.barrier_one_in != 0 && waits_for_all(options.level) &&
      random_.one_in(plan_.barrier_one_in)) {
    return call_barrier(group, *ring);
  }
  const std::uint32_t most = options.message_max_bytes;
  Handlers* const handlers = seats_[group].handlers.get();
  const auto draw_size = [&] {
    const bool large = random_.one_in(plan_.large_one_in);
    return sizeof(Mark) + random_.below(large ? most - sizeof(Mark) : 16);
  };
  const auto size =
      static_cast<std::uint32_t>(plan_.message_bytes != 0 ? plan_.message_bytes : draw_size());
  if (!mixes(options)) {
    safe = false;
  } else if (plan_.safe_one_in != 0) {
    safe = random_.one_in(plan_.safe_one_in);
  }
  constexpr std::size_t kHandlersMost = 8;  // they are slow: more would wait when the run ends
  if (handlers != nullptr && handlers->open() < kHandlersMost &&
      random_.one_in(plan_.handler_one_in)) {
    return handlers->ask(size);
  }
  Claim claim{.group = group, .size = size, .claimed = size, .safe = safe};
  if (plan_.claims != 0 && random_.one_in(2)) {  // its size is known when it is committed
    const std::uint64_t more = random_.below(plan_.large_one_in != 0 ? most : 256);
    claim.claimed = std::min(most, size + static_cast<std::uint32_t>(more));
  }
  if (ring->claim(claim.claimed, claim.space) != SendRing::Outcome::ok) return;
  if (claims_.size() >= plan_.claims || !random_.one_in(2)) return commit(claim);
  claim.until_ns = net_.now_ns() + random_.below(plan_.claim_ns);
  claims_.push_back(claim);
}

void Member::commit(const Claim& claim) {
  const Mark mark{claim.space.index + 1, self_.incarnation};
  const Mark sent{mark.ticket | (claim.safe ? kSafeMark : 0), mark.incarnation};
  std::byte* payload = claim.space.payload;
  check_aligned(claim.group, payload);
  std::memcpy(payload, &sent, sizeof sent);
  for (std::size_t at = sizeof mark; at < claim.size; ++at) payload[at] = pattern(mark, at);
  Seat& seat = seats_[claim.group];
  ++seat.sent;
  seat.last_sent = std::max(seat.last_sent, mark.ticket);
  seat.waiting.push_back(mark.ticket);
  record(history::make_send(told_at(claim.group), Ticket{mark.ticket}, claim.size,
                            crc32c({payload, claim.size})));
  SendRing& ring = *engine_->subgroup(claim.group).ring();
  const SendRing::Space space =
      claim.claimed == claim.size ? claim.space : ring.shrink(claim.space, claim.size);
  claim.safe ? ring.commit_safe(space) : ring.commit(space);
  if (seat.handlers && random_.one_in(plan_.handler_one_in))
    seat.handlers->ask(Ticket{mark.ticket});
}

// SR5.
void Member::check_aligned(std::uint16_t group, const std::byte* data) {
  const std::uint32_t alignment = plan_.rows.groups[group].alignment;
  if (reinterpret_cast<std::uintptr_t>(data) % alignment == 0 || !finding_.empty()) return;
  finding_ = "SR5: " + name() + " has a message that is not aligned to " +
             std::to_string(alignment) + " bytes";
}

// Those whose time is over; of a member that has stopped all, and nobody is told of them.
void Member::end_claims() {
  std::erase_if(claims_, [this](const Claim& claim) {
    if (!stopped() && !finished_ && net_.now_ns() < claim.until_ns) return false;
    if (stopped() || random_.one_in(3)) {
      engine_->subgroup(claim.group).ring()->abandon(claim.space);
    } else {
      commit(claim);
    }
    return true;
  });
}

// Where there is no space the application goes without one.
void Member::call_barrier(std::uint16_t group, SendRing& ring) {
  SendRing::Space space;
  if (ring.claim(0, space) != SendRing::Outcome::ok) return;
  record(history::make_barrier(history::EventKind::barrier, told_at(group), {space.index + 1}));
  seats_[group].barriers.emplace_back(ring, space);
}

// The thread that waits goes on as soon as it may: between two callbacks.
void Member::pass_barriers(std::uint16_t group) {
  std::erase_if(seats_[group].barriers, [this, group](const Barrier& barrier) {
    if (!barrier.passed(engine_->subgroup(group))) return false;
    record(history::make_barrier(history::EventKind::barrier_ok, told_at(group), barrier.null()));
    return true;
  });
}

void Member::deliver(std::uint16_t group, std::span<const Message> batch) {
  if (died_) return;
  pass_barriers(group);
  const history::At at = told_at(group);
  const Level level = plan_.rows.groups[group].level;
  Seat& seat = seats_[group];
  for (const Message& message : batch) {
    Mark mark{};
    net_.look(number(), message.bytes());
    if (message.size >= sizeof mark) std::memcpy(&mark, message.data, sizeof mark);
    check_aligned(group, message.data);
    const bool safe = (mark.ticket & kSafeMark) != 0;
    mark.ticket &= ~kSafeMark;
    const MemberIndex named = message.sender;
    const auto rank =
        named.value < seat.slots.size() ? told_.rank_of(seat.slots[named]) : std::nullopt;
    if (!rank) {
      finding_ = "D1: " + name() + " delivered a message of no member of the view, of rank " +
                 std::to_string(named.value) + " in group " + std::to_string(group);
      return;
    }
    const ViewMember& sender = told_.members[*rank];
    if (plan_.logs != nullptr) {
      plan_.logs->deliver(group, self_, plan_.rows.groups[group], message, told_, view());
      plan_.views->deliver(group, self_, message);
    }
    if (message.tick()) {
      deliver_tick(group, message, sender);
      continue;
    }
    bool whole = message.size >= sizeof mark && mark.incarnation == sender.incarnation;
    for (std::size_t i = sizeof mark; i < message.size && whole; ++i) {
      whole = message.data[i] == pattern(mark, i);
    }
    if (!whole && finding_.empty()) {
      finding_ = "D1: " + plan_.rows.names[self_.slot] + " delivered a message of " +
                 plan_.rows.names[sender.slot] + " that was not sent so, number " +
                 std::to_string(message.seq.value) + " in view " + std::to_string(told_.id);
    }
    // The interface says of a message which of one's own it is, and in which view it is delivered.
    const std::uint64_t ticket = sender == self_ ? mark.ticket : 0;
    if ((message.ticket.value != ticket || message.view != at.view) && finding_.empty()) {
      finding_ = "D1: " + name() + " was told ticket " + std::to_string(message.ticket.value) +
                 " and view " + std::to_string(message.view) + " of its message " +
                 std::to_string(ticket) + " in view " + std::to_string(at.view);
    }
    seat.state.digest = (seat.state.digest ^ crc32c(message.bytes())) * 0x9FB21C651E98DF25;
    seat.state.messages = message.seq.value + 1;
    record(history::make_deliver(at, {.sender = ref(sender),
                                      .ticket = Ticket{mark.ticket},
                                      .ordinal = message.seq,
                                      .length = message.size,
                                      .crc = crc32c(message.bytes()),
                                      .level = safe ? Level::atomic : level,
                                      .send_view = at.view,
                                      .round = round_of(group, sender, mark.ticket)}));
    seat.last[sender.slot] = {mark.incarnation, mark.ticket};
    if (sender == self_) {
      ++seat.delivered;
      std::erase(seat.waiting, mark.ticket);
      record(history::make_send_ok(at, Ticket{mark.ticket}));
    }
  }
  if (plan_.linger) linger(group, batch);
}

bool Member::idle() const {
  return claims_.empty() &&
         std::ranges::all_of(seats_, [](const Seat& seat) { return seat.sent == seat.delivered; });
}

std::uint64_t Member::messages_sent() const {
  return std::transform_reduce(seats_.begin(), seats_.end(), std::uint64_t{0}, std::plus{},
                               [](const Seat& seat) { return seat.sent; });
}

}  // namespace tutti::sim
