#include "membership/state_transfer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "history/crc32c.hpp"
#include "sst/memory.hpp"

namespace tutti {
namespace {

constexpr std::size_t kWord = 8;

void append_word(std::vector<std::byte>& stream, std::uint64_t word) {
  const auto bytes = std::as_bytes(std::span(&word, 1));
  stream.insert(stream.end(), bytes.begin(), bytes.end());
}

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t index) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + kWord * index, kWord);
  return word;
}

std::uint64_t padding_of(std::uint64_t bytes) { return (kWord - bytes % kWord) % kWord; }

}  // namespace

template <class Memory>
StateTransfer<Memory>::StateTransfer(const StateWords& words, std::vector<GroupState> groups,
                                     std::byte* own_row, RowOf row_of, Memory memory)
    : words_(words),
      groups_(std::move(groups)),
      own_row_(own_row),
      row_of_(std::move(row_of)),
      memory_(memory) {}

template <class Memory>
bool StateTransfer<Memory>::has_states() const {
  return std::ranges::any_of(groups_,
                             [](const GroupState& group) { return group.save != nullptr; });
}

template <class Memory>
bool StateTransfer<Memory>::begin(const View& view, std::uint32_t slot) {
  const std::uint32_t rank = *view.rank_of(slot);
  if (!has_states() || view.survivors == 0 || view.survivors == view.members.size()) return false;
  if (rank < std::min<std::size_t>(kGivers, view.survivors)) give(view, rank);
  if (rank < view.survivors) return false;
  taking_ = Taking::under_way;
  view_ = view.id;
  for (std::size_t giver = 0; giver < std::min<std::size_t>(kGivers, view.survivors); ++giver) {
    givers_.emplace_back(view.members[giver].slot);
  }
  return true;
}

template <class Memory>
void StateTransfer<Memory>::give(const View& view, std::size_t giver) {
  Offer offer;
  offer.view = view.id;
  offer.giver = giver;
  for (std::size_t rank = view.survivors; rank < view.members.size(); ++rank) {
    offer.takers.push_back(view.members[rank].slot);
  }
  for (std::size_t group = 0; group < groups_.size() && !offer.failed; ++group) {
    if (has_state(group)) offer.failed = !save(group, offer.stream).has_value();
  }
  offers_.push_back(std::move(offer));
}

template <class Memory>
Result<void> StateTransfer<Memory>::save(std::size_t group, std::vector<std::byte>& stream) const {
  const std::size_t header = stream.size();
  stream.resize(header + kHeaderBytes);
  const Result<void> saved = groups_[group].save([&stream](std::span<const std::byte> bytes) {
    stream.insert(stream.end(), bytes.begin(), bytes.end());
  });
  const std::uint64_t bytes = stream.size() - header - kHeaderBytes;
  std::vector<std::byte> words;
  append_word(words, group);
  append_word(words, bytes);
  append_word(words, history::crc32c(std::span(stream).subspan(header + kHeaderBytes)));
  std::ranges::copy(words, stream.begin() + static_cast<std::ptrdiff_t>(header));
  stream.resize(stream.size() + padding_of(bytes));
  return saved;
}

template <class Memory>
void StateTransfer<Memory>::gone(std::uint32_t slot) {
  for (Offer& offer : offers_) std::erase(offer.takers, slot);
  for (std::size_t giver = 0; giver < givers_.size(); ++giver) {
    if (givers_[giver] != slot) continue;
    givers_[giver].reset();
    if (taking_ != Taking::under_way || giver != giver_) continue;
    // From the beginning: what came is of no use with what the other has.
    taken_ = 0;
    header_.clear();
    incoming_.reset();
    giver_ = giver + 1;
    if (giver_ == givers_.size() || !givers_[giver_]) taking_ = Taking::lost;
  }
}

template <class Memory>
bool StateTransfer<Memory>::step(Fabric& fabric) {
  bool moved = false;
  if (!offers_.empty()) [[unlikely]]
    moved = send(offers_.front(), fabric);
  if (taking_ == Taking::under_way) [[unlikely]]
    moved |= receive(fabric);
  return moved;
}

template <class Memory>
bool StateTransfer<Memory>::send(Offer& offer, Fabric& fabric) {
  const bool begins = !offer.begun;
  if (begins) open(offer, fabric);
  drop_the_done(offer);
  if (offer.takers.empty()) {
    offers_.pop_front();
    return true;
  }
  const std::uint64_t room = words_.ring_bytes - (offer.sent - least_taken(offer));
  const std::uint64_t bytes = std::min<std::uint64_t>(room, offer.stream.size() - offer.sent);
  if (bytes == 0 || offer.failed) return begins;
  put(offer, bytes, fabric);
  offer.sent += bytes;
  store_cell(own(StateWords::kSent), offer.sent);
  publish_words(offer, fabric);
  return true;
}

template <class Memory>
void StateTransfer<Memory>::drop_the_done(Offer& offer) {
  std::erase_if(offer.takers, [&](std::uint32_t slot) {
    return load(slot, StateWords::kTaken + kWord * offer.giver) == StateWords::kTakenAll;
  });
}

// L7: each of the three steps lands before the next.
template <class Memory>
void StateTransfer<Memory>::open(Offer& offer, Fabric& fabric) {
  offer.begun = true;
  store_cell(own(StateWords::kView), 0);
  publish_words(offer, fabric);
  store_cell(own(StateWords::kSent), 0);
  store_cell(own(StateWords::kEnd), offer.stream.size() + 1);
  store_cell(own(StateWords::kFailed), offer.failed ? 1 : 0);
  publish_words(offer, fabric);
  store_cell(own(StateWords::kView), offer.view);
  publish_words(offer, fabric);
}

template <class Memory>
void StateTransfer<Memory>::put(const Offer& offer, std::uint64_t bytes, Fabric& fabric) {
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t at = (offer.sent + done) % words_.ring_bytes;
    const std::uint64_t piece = std::min(bytes - done, words_.ring_bytes - at);
    for (std::uint64_t i = 0; i < piece; i += kWord) {
      store_cell(own(StateWords::kRing + at + i),
                 word_at(offer.stream, (offer.sent + done + i) / kWord));
    }
    for (const std::uint32_t slot : offer.takers) {
      fabric.write(Rank{slot},
                   {words_.offset + StateWords::kRing + at, static_cast<std::uint32_t>(piece)});
    }
    done += piece;
  }
}

template <class Memory>
void StateTransfer<Memory>::publish_words(const Offer& offer, Fabric& fabric) {
  for (const std::uint32_t slot : offer.takers) {
    fabric.publish(Rank{slot}, words_.offset, {own(0), StateWords::kGiverBytes});
  }
}

template <class Memory>
std::uint64_t StateTransfer<Memory>::least_taken(const Offer& offer) const {
  std::uint64_t least = offer.sent;
  for (const std::uint32_t slot : offer.takers) {
    least = std::min(least, load(slot, StateWords::kTaken + kWord * offer.giver));
  }
  return least;
}

template <class Memory>
bool StateTransfer<Memory>::receive(Fabric& fabric) {
  const std::uint32_t slot = *givers_[giver_];
  // L7, from both sides: its last stream is cleared before it shows our view.
  if (load(slot, StateWords::kView) != view_) return false;
  const std::uint64_t sent = load(slot, StateWords::kSent);
  const std::uint64_t end = load(slot, StateWords::kEnd);
  const bool failed = load(slot, StateWords::kFailed) != 0;
  if (load(slot, StateWords::kView) != view_) return false;
  if (failed) {
    leave_giver(fabric);
    if (taking_ == Taking::lost)
      fail(ErrorCode::peer_lost, "no member that gives it could save it");
    return true;
  }
  if (sent > end - 1 || sent < taken_ || sent - taken_ > words_.ring_bytes || sent % kWord != 0) {
    leave_giver(fabric);
    return true;
  }
  const bool moved = sent != taken_;
  while (taken_ != sent && taking_ == Taking::under_way && !damaged_) {
    const std::uint64_t at = taken_ % words_.ring_bytes;
    const std::uint64_t piece = std::min(sent - taken_, words_.ring_bytes - at);
    const std::byte* ring = row_of_(slot) + words_.offset + StateWords::kRing;
    accept({ring + at, static_cast<std::size_t>(piece)});
    taken_ += piece;
  }
  if (std::exchange(damaged_, false)) {
    leave_giver(fabric);
    return true;
  }
  if (taking_ != Taking::under_way) return true;
  if (taken_ + 1 == end) {
    taking_ = Taking::done;
    for (std::size_t giver = 0; giver < givers_.size(); ++giver) {
      say_taken(giver, StateWords::kTakenAll, fabric);
    }
    return true;
  }
  if (moved) say_taken(giver_, taken_, fabric);
  return moved;
}

// What it sends is of no use. It need not wait for us, if it still does.
template <class Memory>
void StateTransfer<Memory>::leave_giver(Fabric& fabric) {
  say_taken(giver_, StateWords::kTakenAll, fabric);
  gone(*givers_[giver_]);
}

template <class Memory>
void StateTransfer<Memory>::say_taken(std::size_t giver, std::uint64_t taken, Fabric& fabric) {
  const std::size_t offset = StateWords::kTaken + kWord * giver;
  // Release: what was read is done with; pairs with least_taken().
  store_cell(own(offset), taken);
  if (givers_[giver]) {
    fabric.publish(Rank{*givers_[giver]}, words_.offset + offset, {own(offset), kWord});
  }
}

template <class Memory>
void StateTransfer<Memory>::accept(std::span<const std::byte> bytes) {
  while (!bytes.empty() && taking_ == Taking::under_way && !damaged_) {
    if (!incoming_) {
      const std::size_t wanted = std::min(bytes.size(), kHeaderBytes - header_.size());
      header_.insert(header_.end(), bytes.begin(),
                     bytes.begin() + static_cast<std::ptrdiff_t>(wanted));
      bytes = bytes.subspan(wanted);
      if (header_.size() == kHeaderBytes) accept_header();
      continue;
    }
    bytes = bytes.subspan(accept_piece(bytes));
  }
}

template <class Memory>
void StateTransfer<Memory>::accept_header() {
  const std::uint64_t group = word_at(header_, 0);
  const std::uint64_t bytes = word_at(header_, 1);
  incoming_ = {.group = group,
               .left = bytes,
               .padding = padding_of(bytes),
               .expected_crc = static_cast<std::uint32_t>(word_at(header_, 2)),
               .crc = 0,
               .first = true};
  header_.clear();
  damaged_ = group >= groups_.size() || !has_state(group);
  if (damaged_) return;
  if (bytes == 0) static_cast<void>(accept_piece({}));
}

// Returns how many of the bytes it took.
template <class Memory>
std::size_t StateTransfer<Memory>::accept_piece(std::span<const std::byte> bytes) {
  Incoming& now = *incoming_;
  std::size_t used = 0;
  if (now.left != 0 || now.first) {
    used = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), now.left));
    const std::span<const std::byte> piece = bytes.first(used);
    now.crc = history::crc32c(piece, now.crc);
    now.left -= used;
    if (now.left == 0 && now.crc != now.expected_crc) {
      damaged_ = true;
      return used;
    }
    const Result<void> loaded = groups_[now.group].load(
        {.bytes = piece, .first = std::exchange(now.first, false), .last = now.left == 0});
    if (!loaded) {
      fail(loaded.error().code,
           "group '" + groups_[now.group].name + "': " + loaded.error().message);
      return used;
    }
  }
  if (now.left != 0) return used;
  const auto skipped = std::min<std::uint64_t>(bytes.size() - used, now.padding);
  now.padding -= skipped;
  if (now.padding == 0) incoming_.reset();
  return used + static_cast<std::size_t>(skipped);
}

template <class Memory>
void StateTransfer<Memory>::fail(ErrorCode code, std::string message) {
  taking_ = Taking::failed;
  error_ = {code, std::move(message)};
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class StateTransfer<NativeMemory>;
#endif

}  // namespace tutti
