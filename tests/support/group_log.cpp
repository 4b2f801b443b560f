#include "support/group_log.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "smc/record.hpp"
#include "sst/row_layout.hpp"
#include "support/payload.hpp"

namespace tutti::testing {
namespace {

std::uint64_t word_at(const std::byte* cell) {
  std::uint64_t word = 0;
  std::memcpy(&word, cell, sizeof word);
  return word;
}

}  // namespace

GroupLog::GroupLog(const GroupOptions& options, std::uint32_t ring_bytes, std::uint64_t number)
    : options_(options), ring_bytes_(ring_bytes), number_(number) {
  senders_.resize(options.senders.size());
  for (std::size_t s = 0; s < senders_.size(); ++s) {
    const auto member = std::ranges::find(options.members, options.senders[s]);
    senders_[s].rank = static_cast<std::uint32_t>(member - options.members.begin());
  }
  members_.resize(options.members.size());
  for (Member& member : members_) {
    member.next_claim.resize(senders_.size());
    member.counts.resize(senders_.size());
  }
}

void GroupLog::attach(std::uint32_t member, const std::byte* own_control,
                      std::vector<const std::byte*> rings) {
  members_[member].control = own_control;
  members_[member].rings = std::move(rings);
}

std::uint64_t GroupLog::claimed(std::uint32_t sender, std::uint32_t size) {
  senders_[sender].claims.push_back({.size = size});
  return seed({sender, senders_[sender].claims.size() - 1});
}

void GroupLog::committed(std::uint32_t sender, std::uint64_t index, bool abandoned) {
  senders_[sender].claims[index].committed = true;
  senders_[sender].claims[index].abandoned = abandoned;
}

void GroupLog::walk(std::uint32_t number) {
  Sender& sender = senders_[number];
  const Member& member = members_[sender.rank];
  const std::uint64_t sent = word_at(member.control + ControlWords::kSent);
  const std::byte* ring = member.rings[number];
  while (static_cast<std::uint32_t>(sender.records.size()) != static_cast<std::uint32_t>(sent)) {
    RecordHeader header = unpack_header(word_at(ring + sender.next_offset));
    if (header.stamped()) sender.next_round = header.round;  // tests have less than 2^32 rounds
    if (header.pad()) {
      sender.next_offset = 0;
      header = unpack_header(word_at(ring));
    }
    if (sender.records.size() == sender.claims.size()) return report("D1: more sent than claimed");
    const Claim& claim = sender.claims[sender.records.size()];
    if (!claim.committed || header.length() != claim.size ||
        header.abandoned() != claim.abandoned) {
      return report("D1: a record is not the one committed");
    }
    sender.records.push_back({sender.next_round++, sender.next_offset + 8});
    const std::uint32_t granules = record_granules(header.length());
    sender.next_offset = (sender.next_offset + granules * 8) % ring_bytes_;
  }
}

void GroupLog::delivered(std::uint32_t member, std::span<const Message> batch) {
  if (batch.empty()) report("an empty batch");
  if (batch.size() > kDeliveryBatchMax) report("a batch that is too large");
  members_[member].last_batch.clear();
  for (const Message& message : batch) deliver_one(member, message);
}

void GroupLog::deliver_one(std::uint32_t number, const Message& message) {
  Member& member = members_[number];
  const auto sender = std::ranges::find(senders_, message.sender.value, &Sender::rank);
  if (sender == senders_.end()) return report("D1: from a member that is no sender");
  Position position{.sender = static_cast<std::uint32_t>(sender - senders_.begin())};
  std::uint64_t& next = member.next_claim[position.sender];
  while (next < sender->claims.size() && sender->claims[next].abandoned) ++next;
  position.claim = next++;
  member.last_batch.push_back(position.claim);
  if (position.claim >= sender->claims.size())
    return report("D2: more than sent at " + name(number, position));
  walk(position.sender);
  if (position.claim >= sender->records.size()) {
    return report("D1: delivered before it was sent: " + name(number, position));
  }
  const bool same = message.size == sender->claims[position.claim].size &&
                    payload_is(message.bytes(), seed(position));
  if (!same) report("D1, D8: wrong contents: " + name(number, position));
  const std::uint64_t count = member.counts[position.sender]++;
  if (options_.level == Level::unordered) {
    if (message.seq.value != count) report("D8: wrong number: " + name(number, position));
  } else {
    check_order(number, position, message.seq.value);
  }
  if (options_.level == Level::atomic && same) check_everywhere(position);
  ++member.delivered;
}

void GroupLog::check_order(std::uint32_t number, const Position& position, std::uint64_t seq) {
  const std::uint64_t at = members_[number].delivered;
  if (seq != at) report("D7: wrong number: " + name(number, position));
  if (at == sequence_.size()) {
    sequence_.push_back(position);
  } else if (sequence_[at] != position) {
    report("D6: another order: " + name(number, position));
  }
}

void GroupLog::check_everywhere(const Position& position) {
  const Record& record = senders_[position.sender].records[position.claim];
  const std::uint32_t size = senders_[position.sender].claims[position.claim].size;
  for (std::uint32_t m = 0; m < members_.size(); ++m) {
    const Member& member = members_[m];
    const bool told = word_at(member.control +
                              ControlWords::kReceived[SenderIndex{position.sender}]) > record.round;
    const std::span<const std::byte> there(member.rings[position.sender] + record.offset, size);
    if (!told || !payload_is(there, seed(position))) {
      report("A: delivered although not here: " + name(m, position));
    }
  }
}

void GroupLog::still_there(std::uint32_t number, std::span<const Message> batch) {
  const Member& member = members_[number];
  for (std::size_t i = 0; i < batch.size() && i < member.last_batch.size(); ++i) {
    const auto sender = std::ranges::find(senders_, batch[i].sender.value, &Sender::rank);
    const Position position{static_cast<std::uint32_t>(sender - senders_.begin()),
                            member.last_batch[i]};
    if (!payload_is(batch[i].bytes(), seed(position))) {
      report("D12: overwritten while delivered: " + name(number, position));
    }
  }
}

void GroupLog::check_end(bool complete) {
  if (options_.level != Level::unordered) check_rule(complete);
  if (!complete) return;
  for (std::uint32_t m = 0; m < members_.size(); ++m) {
    for (std::uint32_t s = 0; s < senders_.size(); ++s) {
      const auto sent = std::ranges::count(senders_[s].claims, false, &Claim::abandoned);
      if (members_[m].counts[s] == static_cast<std::uint64_t>(sent)) continue;
      report("D8: lost: member " + std::to_string(m) + " delivered " +
             std::to_string(members_[m].counts[s]) + " of " + std::to_string(sent) + " of sender " +
             std::to_string(s));
    }
  }
}

// D7: by round, then by sender; the records' rounds were read from the senders' own rings.
void GroupLog::check_rule(bool complete) {
  std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>> sorted;
  for (std::uint32_t s = 0; s < senders_.size(); ++s) {
    walk(s);
    for (std::uint64_t i = 0; i < senders_[s].records.size(); ++i) {
      if (!senders_[s].claims[i].abandoned) sorted.emplace_back(senders_[s].records[i].round, s, i);
    }
  }
  std::ranges::sort(sorted);
  if (sorted.size() < sequence_.size() || (complete && sorted.size() > sequence_.size())) {
    report("D7: not what was sent");
  }
  for (std::size_t i = 0; i < std::min(sorted.size(), sequence_.size()); ++i) {
    if (std::get<1>(sorted[i]) == sequence_[i].sender &&
        std::get<2>(sorted[i]) == sequence_[i].claim) {
      continue;
    }
    return report("D7: not in (round, sender) order at " + std::to_string(i));
  }
}

void GroupLog::report(std::string finding) {
  constexpr std::size_t kEnough = 5;
  if (findings_.size() < kEnough) findings_.push_back(options_.name + ": " + std::move(finding));
}

std::size_t GroupLog::delivered_at(std::uint32_t member) const {
  return members_[member].delivered;
}

std::size_t GroupLog::deliverable() const {
  std::size_t total = 0;
  for (const Sender& sender : senders_) {
    total += static_cast<std::size_t>(std::ranges::count(sender.claims, false, &Claim::abandoned));
  }
  return total;
}

std::uint64_t GroupLog::seed(const Position& position) const {
  return payload_seed(number_, position.sender, position.claim);
}

std::string GroupLog::name(std::uint32_t member, const Position& position) const {
  return "member " + std::to_string(member) + ", sender " + std::to_string(position.sender) +
         ", claim " + std::to_string(position.claim);
}

}  // namespace tutti::testing
