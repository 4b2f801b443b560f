#include "sim/story/row_words.hpp"

#include <algorithm>
#include <cstring>

#include "multicast/multicast.hpp"
#include "multicast/round_cut.hpp"
#include "ring/lcr/frame.hpp"
#include "ring/token/token.hpp"
#include "sim/plan.hpp"
#include "smc/record.hpp"
#include "sst/control_bytes.hpp"
#include "sst/lane_words.hpp"
#include "sst/memory.hpp"
#include "sst/pass_words.hpp"
#include "sst/sent_word.hpp"
#include "sst/token_words.hpp"

namespace tutti::sim {
namespace {

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

bool lies_in(std::size_t offset, std::size_t begin, std::size_t bytes) {
  return offset >= begin && offset - begin < bytes;
}

SentState sent_of(std::uint64_t word) {
  return {.records = word & 0xffffffffULL,
          .rounds = (word >> 32) & kRoundsMask,
          .finished = (word & kFinishedBit) != 0};
}

std::string received(const std::string& sender, std::uint64_t rounds) {
  if (rounds >= kNoRound) return "received all of " + sender;
  return "received[" + sender + "] = " + std::to_string(rounds);
}

std::string sent(std::uint64_t word) {
  const SentState state = sent_of(word);
  const std::uint64_t nulls = state.rounds - state.records;
  std::string text;
  if (state.records != 0) text = counted(state.records, "message");
  if (nulls != 0) text += (text.empty() ? "" : " and ") + counted(nulls, "null");
  if (state.finished) text += text.empty() ? "all" : ", and that is all";
  return "sent " + text;
}

}  // namespace

std::string counted(std::uint64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

void MessageList::add(const std::string& sender, std::uint64_t ticket) {
  if (!runs_.empty() && runs_.back().sender == sender && runs_.back().last + 1 == ticket) {
    runs_.back().last = ticket;
  } else {
    runs_.push_back({sender, ticket, ticket});
  }
}

std::string MessageList::text() const {
  std::string text;
  for (const Run& run : runs_) {
    text += (text.empty() ? "" : ", ") + run.sender + std::to_string(run.first);
    if (run.last == run.first) continue;
    text += (run.last == run.first + 1 ? ", " : " to ") + run.sender + std::to_string(run.last);
  }
  return text;
}

std::string RowWords::names(const std::vector<ViewMember>& members) const {
  std::string text;
  for (const ViewMember& member : members) {
    text += (text.empty() ? "" : ", ") + plan_.names[member.slot];
  }
  return text;
}

IndexedBy<SenderIndex, std::string> RowWords::senders(std::uint64_t view) const {
  IndexedBy<SenderIndex, std::string> names;
  const GroupOptions& group = plan_.groups.front();
  for (const ViewMember& member : views_.at(view).members) {
    const std::string& name = plan_.names[member.slot];
    if (std::ranges::find(group.senders, name) != group.senders.end()) names.push_back(name);
  }
  return names;
}

std::string RowWords::ranked(std::uint64_t view, std::uint64_t rank) const {
  const auto at = static_cast<std::uint32_t>(rank);
  return plan_.names[view == 0 ? Slot{at} : views_.at(view).members[Rank{at}].slot];
}

std::size_t RowWords::begin() const { return kMembershipOffset; }

std::size_t RowWords::end() const {
  std::size_t end = plan_.states.offset + plan_.states.bytes();
  for (const RowLayout& layout : plan_.layouts) {
    const GroupOffsets offsets = layout.offsets_of(plan_.groups.front().name);
    const std::size_t bytes = block_bytes(plan_.groups.front(), plan_.names.size());
    end = std::max({end, offsets.control[0] + bytes, offsets.control[1] + bytes});
  }
  return end;
}

bool RowWords::is_heartbeat(std::size_t offset) const {
  return offset == ViewWords::kHeartbeat.offset;
}

std::uint64_t RowWords::view_of(std::span<const std::byte> row) {
  return NativeMemory::load(row.data() + ViewWords::kInstalled);
}

bool RowWords::is_older(const std::byte* row, std::size_t offset, std::uint64_t view) const {
  for (const std::uint64_t parity : {0, 1}) {
    const std::size_t begin = plan_.words.block(parity);
    if (!lies_in(offset, begin, plan_.words.word_bytes())) continue;
    return NativeMemory::load(row + begin + ViewWords::kEpoch) < view;
  }
  return false;
}

std::string RowWords::changed(Slot owner, const std::byte* row, std::size_t offset,
                              std::uint64_t before) const {
  const std::uint64_t now = NativeMemory::load(row + offset);
  if (now == 0 || now == before) return {};
  if (lies_in(offset, kMembershipOffset, plan_.words.life_bytes())) return life(offset, now);
  for (const std::uint64_t parity : {0, 1}) {
    const std::size_t begin = plan_.words.block(parity);
    if (lies_in(offset, begin, plan_.words.word_bytes())) {
      return block(owner, row, begin, offset - begin, before);
    }
  }
  if (lies_in(offset, plan_.states.offset, StateWords::kRing)) {
    return state(offset - plan_.states.offset, now);
  }
  const GroupOptions& of = plan_.groups.front();
  for (const std::size_t begin : plan_.layouts[owner].offsets_of(of.name).control) {
    if (lies_in(offset, begin, block_bytes(of, plan_.names.size()))) {
      const std::uint64_t view = NativeMemory::load(row + begin + ControlWords::kEpoch);
      return group(view, offset - begin, before, now);
    }
  }
  return {};
}

std::string RowWords::life(std::size_t offset, std::uint64_t now) const {
  if (offset == ViewWords::kInstalled.offset) return "in view " + std::to_string(now);
  if (offset == ViewWords::kHeartbeat.offset) return "heartbeat";
  if (offset == ViewWords::kLeaving.offset) return "asks to leave";
  const std::size_t peer = (offset - ViewWords::ready(Slot{}).offset) / 8;
  return "connected to " + plan_.names[Slot{static_cast<std::uint32_t>(peer)}];
}

std::string RowWords::block(Slot owner, const std::byte* row, std::size_t begin, std::size_t offset,
                            std::uint64_t before) const {
  const std::uint64_t view = NativeMemory::load(row + begin + ViewWords::kEpoch);
  const std::uint64_t now = NativeMemory::load(row + begin + offset);
  switch (offset) {
    case ViewWords::kEpoch.offset:
      return {};
    case ViewWords::kWedged.offset:
      return "wedged";
    case ViewWords::kSettled.offset:
      return before == 0 ? "settled" : "settled again";
    case ViewWords::kAccepted.offset: {
      const std::string leader = ranked(view, now / 2 - 1);
      return leader == plan_.names[owner] ? "proposed" : "accepted what " + leader + " proposed";
    }
    case ViewWords::kDecided.offset:
      return "decided";
    default:
      break;
  }
  std::string text;
  const std::size_t first = (offset - ViewWords::kSuspected.offset) * 8;
  for (const Slot slot : plan_.names.indices()) {
    if (slot.value < first || slot.value >= first + 64) continue;
    const std::uint64_t bit = std::uint64_t{1} << (slot.value - first);
    if ((now & ~before & bit) == 0) continue;
    const bool itself = slot == owner;
    text += (text.empty() ? "" : "; ") +
            (itself ? std::string("only joins") : "suspects " + plan_.names[slot]);
  }
  return text;
}

std::string RowWords::group(std::uint64_t view, std::size_t offset, std::uint64_t before,
                            std::uint64_t now) const {
  const GroupOptions& of = plan_.groups.front();
  if (of.order == Order::token_ring) {
    if (const std::optional<std::string> text = token(view, offset, now)) return *text;
  }
  if (of.order == Order::lcr) {
    if (const std::optional<std::string> text = chain(view, offset, now)) return *text;
  }
  if (offset == ControlWords::kSent.offset) return sent(now);
  if (offset == ControlWords::kDelivered.offset) {
    return now >= kDeliveredAll ? "delivered everything" : "delivered " + counted(now, "position");
  }
  if (offset >= ControlWords::kReceived.offset) {
    const IndexedBy<SenderIndex, std::string> of_view = senders(view);
    const std::size_t control = control_bytes(of.order, of_view.size(), of.logged);
    if (offset >= control) return passed(view, offset - control, now);
    return received(of_view.all().at((offset - ControlWords::kReceived.offset) / 8), now);
  }
  const bool met =
      offset == ControlWords::kBase.offset && (now & ~before & ControlWords::kMetAll) != 0;
  return met && of.level == Level::agreed ? "has the rows of all" : std::string();
}

std::optional<std::string> RowWords::token(std::uint64_t view, std::size_t offset,
                                           std::uint64_t now) const {
  const TokenWords words(senders(view).size());
  const std::uint64_t members = view == 0 ? plan_.names.size() : views_.at(view).members.size();
  const std::string up_to = "below " + std::to_string(now & ~TokenWords::kWedged);
  if (offset == ControlWords::kSent.offset) {
    const SentState state = sent_of(now);
    return "sent " + counted(state.records, "message") + ", numbers below " +
           std::to_string(state.rounds) + (state.finished ? ", and that is all" : "");
  }
  if (offset == ControlWords::kDelivered.offset && now < kDeliveredAll) {
    return "delivered numbers " + up_to;
  }
  if (offset == words.visit().offset) {
    return "the token for " + ranked(view, now % members) + " (visit " + std::to_string(now) + ")";
  }
  if (offset == words.seq().offset) return "seq " + std::to_string(now);
  if (offset == words.aru().offset) return "aru " + std::to_string(now);
  if (offset == words.turn().offset) {
    Token token;
    unpack_turn(now, token);
    const std::string lowered = token.aru_id == kNoAruId
                                    ? std::string()
                                    : ", aru lowered by " + ranked(view, token.aru_id.value);
    return "fcc " + std::to_string(token.fcc) + lowered;
  }
  if (offset == words.here().offset) {
    return ((now & TokenWords::kWedged) != 0 ? "at the end has all " : "has all ") + up_to;
  }
  if (offset == words.parked().offset)
    return "parked the token at visit " + std::to_string(now - 1);
  if (offset == words.parked_seq().offset) return "all have all " + up_to;
  if (offset == words.want().offset) {
    return "wants the token of visit " + std::to_string(now - 1);
  }
  if (offset == words.check().offset) return std::string();
  return std::nullopt;
}

std::optional<std::string> RowWords::chain(std::uint64_t view, std::size_t offset,
                                           std::uint64_t now) const {
  const IndexedBy<SenderIndex, std::string> of_view = senders(view);
  const LaneWords words(of_view.size());
  if (offset < ControlWords::bytes(of_view.size())) return std::nullopt;
  if (offset == words.lacking().offset) {
    const Lacking lacking = unpack_lacking(now);
    return lacking.record == 0 ? std::string("no survivor lacks a message of mine")
                               : "a survivor lacks my last " + counted(lacking.record, "round");
  }
  for (const SenderIndex s : of_view.indices()) {
    if (offset == words.stable(s).offset) return "stable: " + received(of_view[s], now);
    if (offset == words.done(s).offset && now < kDeliveredAll) {
      return "from behind " + of_view[s] + " on, all delivered " + counted(now, "position");
    }
  }
  return std::string();  // lane, taken, needs
}

std::string RowWords::passed(std::uint64_t view, std::size_t offset, std::uint64_t now) const {
  const IndexedBy<SenderIndex, std::string> names = senders(view);
  const std::size_t seen = PassWords::seen(names.size()).offset;
  if (offset == PassWords::kNumber.offset) return "passes on piece " + std::to_string(now);
  if (offset >= seen) {
    const std::size_t rank = (offset - seen) / 8;
    return "has seen piece " + std::to_string(now) + " of " + ranked(view, rank);
  }
  if (offset < PassWords::kReach.offset) return {};
  return "has " + counted(unpack_reach(now).records, "message") + " of " +
         names.all().at((offset - PassWords::kReach.offset) / 8);
}

std::string RowWords::state(std::size_t offset, std::uint64_t now) const {
  switch (offset) {
    case StateWords::kView.offset:
      return "gives the state for view " + std::to_string(now);
    case StateWords::kSent.offset:
      return std::to_string(now) + " bytes of the state are there";
    case StateWords::kFailed.offset:
      return "cannot give the state";
    default:
      break;
  }
  if (offset < StateWords::kTaken.offset) return {};
  if (offset >= StateWords::kWanted.offset) {
    return "wants the state from piece " + std::to_string(PieceAt::from(now - 1).index + 1) + " on";
  }
  if (now == StateWords::kTakenAll) return "needs no more of the state";
  return std::to_string(now) + " bytes of the state are read";
}

std::string RowWords::data(Slot owner, std::size_t offset, std::span<const std::byte> bytes) {
  for (const std::uint64_t parity : {0, 1}) {
    for (const std::size_t which : {0, 1}) {
      if (offset == plan_.words.block(parity) + plan_.words.proposal(which)) {
        return proposal(owner, bytes);
      }
    }
  }
  if (lies_in(offset, plan_.states.offset, plan_.states.bytes())) return "a piece of the state";
  if (offset == plan_.layouts[owner].offsets_of(plan_.groups.front().name).pass_area) {
    return "what the lost one sent";
  }
  for (const std::size_t lane : plan_.layouts[owner].offsets_of(plan_.groups.front().name).lane) {
    const std::size_t length = lane_bytes(ring_bytes(plan_.groups.front().window_bytes));
    if (lane != 0 && lies_in(offset, lane, length)) return frames(owner, bytes);
  }
  return messages(owner, bytes);
}

// What its owner has sent itself its words tell.
std::string RowWords::frames(Slot owner, std::span<const std::byte> bytes) const {
  constexpr std::size_t kHeader = kFrameHeader * kGranule;
  const IndexedBy<SenderIndex, std::string> of_view = senders(views_.rbegin()->first);
  std::string text;
  for (std::size_t at = 0; at + kHeader <= bytes.size();) {
    const Frame frame = unpack_frame(
        {word_at(bytes, at), word_at(bytes, at + kGranule), word_at(bytes, at + 2 * kGranule)});
    const std::string& sender = of_view.all().at(frame.sender.value);
    if (sender != plan_.names[owner]) {
      text += (text.empty() ? "" : "; ") + ("hands on that " + sender + " " + sent(frame.sent));
    }
    at += kHeader + frame.bytes_granules() * kGranule;
  }
  return text;
}

std::string RowWords::messages(Slot owner, std::span<const std::byte> bytes) const {
  MessageList list;
  MessageList safe;
  for (std::size_t at = 0; at < bytes.size();) {
    const RecordHeader header = unpack_header(word_at(bytes, at));
    if (header.pad() && header.length() == 0) break;
    if (header.pad()) {
      at += std::size_t{header.length()} * kGranule;
      continue;
    }
    const std::uint64_t ticket = word_at(bytes, at + kGranule) & ~kSafeMark;
    list.add(plan_.names[owner], ticket);
    if (header.safe()) safe.add(plan_.names[owner], ticket);
    at += std::size_t{record_granules(header.length())} * kGranule;
  }
  return list.text() + (safe.text().empty() ? "" : " (safe: " + safe.text() + ")");
}

// One that accepts a proposal writes the same bytes into its own row.
std::string RowWords::proposal(Slot owner, std::span<const std::byte> bytes) {
  if (bytes.size() > plan_.words.proposal_bytes()) return {};  // both, to one that has just come
  std::vector<std::uint64_t> words(bytes.size() / 8);
  std::memcpy(words.data(), bytes.data(), 8 * words.size());
  const std::optional<Proposal> read = decode(words);
  if (!read) return {};
  const auto before = std::ranges::find(told_, *read, &Told::proposal);
  if (before != told_.end() && before->by != owner) return "the same proposal";
  if (before == told_.end()) told_.push_back({*read, owner});
  const Proposal& next = *read;
  std::string text =
      "a proposal (view " + std::to_string(next.next.id) + ": " + names(next.next.members.all());
  if (next.next.id != kFirstView) {
    const IndexedBy<SenderIndex, std::string> of = senders(next.next.id - 1);
    if (plan_.groups.front().order == Order::token_ring) {
      return text + "; all have numbers below " +
             std::to_string(next.cuts.front().words.empty() ? 0 : next.cuts.front().words[0]) + ")";
    }
    const RoundCut cut = unpack_round_cut(next.cuts.front());
    std::string all;
    for (const SenderIndex s : cut.received.indices()) {
      if (cut.received[s] == 0) continue;
      all += (all.empty() ? "" : "; ") + received(of.all().at(s.value), cut.received[s]);
    }
    if (!all.empty()) text += "; all have: " + all;
  }
  return text + ")";
}

}  // namespace tutti::sim
