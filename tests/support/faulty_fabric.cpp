#include "support/faulty_fabric.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tutti::testing {

FaultyFabric::FaultyFabric(std::unique_ptr<Fabric> inner, const FaultyOptions& options)
    : inner_(std::move(inner)), options_(options), random_(options.seed) {}

FaultyFabric::Queue& FaultyFabric::queue(Slot peer) {
  if (peer.value >= queues_.size()) queues_.resize(peer.value + 1);
  return queues_[peer.value];
}

void FaultyFabric::write(Slot peer, Extent data) {
  Post post;
  post.offset = data.offset;
  cut_data(data, post.pieces);
  hold(peer, std::move(post));
}

void FaultyFabric::publish(Slot peer, std::uint64_t offset, std::span<const std::byte> words) {
  Post post;
  post.words.assign(words.begin(), words.end());
  post.offset = offset;
  const auto bytes = static_cast<std::uint32_t>(words.size());
  if (options_.split_publish) {
    for (std::uint32_t i = 0; i < bytes; i += 8) post.pieces.push_back({offset + i, 8});
  } else {
    post.pieces.push_back({offset, bytes});
  }
  hold(peer, std::move(post));
}

void FaultyFabric::hold(Slot peer, Post post) {
  Queue& waiting = queue(peer);
  if (waiting.lost) return;
  shuffle(post.pieces);
  if (random_.one_in(2)) {
    const std::uint64_t delay = random_.below(std::uint64_t{options_.delay_polls_max} + 1);
    post.delay_polls = static_cast<std::uint32_t>(delay);
  }
  waiting.posts.push_back(std::move(post));
}

/// Pieces end at multiples of 8 of the row, so that aligned words land whole (F-order).
void FaultyFabric::cut_data(const Extent& data, std::vector<Extent>& pieces) {
  const std::uint64_t wanted = 1 + random_.below(std::max(options_.pieces_max, 1U));
  const std::uint64_t step = (data.bytes / wanted + 8) / 8 * 8;
  const std::uint64_t end = data.offset + data.bytes;
  std::uint64_t begin = data.offset;
  while (begin < end) {
    const std::uint64_t next = std::min((begin + step) / 8 * 8, end);
    pieces.push_back({begin, static_cast<std::uint32_t>(next - begin)});
    begin = next;
  }
}

void FaultyFabric::shuffle(std::vector<Extent>& pieces) {
  for (std::size_t i = pieces.size(); i > 1; --i) {
    std::swap(pieces[i - 1], pieces[random_.below(i)]);
  }
}

std::size_t FaultyFabric::poll() {
  for (std::uint32_t i = 0; i < queues_.size(); ++i) advance(Slot{i}, queues_[i]);
  inner_->flush();
  return inner_->poll();
}

void FaultyFabric::advance(Slot peer, Queue& waiting) {
  while (!waiting.posts.empty()) {
    Post& first = waiting.posts.front();
    if (first.delay_polls > 0) {
      --first.delay_polls;
      return;
    }
    const std::uint64_t count = random_.below(first.pieces.size() + 1);
    for (std::uint64_t i = 0; i < count; ++i) {
      land(peer, first, first.pieces.back());
      first.pieces.pop_back();
    }
    if (!first.pieces.empty()) return;
    waiting.posts.pop_front();
  }
}

void FaultyFabric::land(Slot peer, const Post& post, const Extent& piece) {
  if (post.words.empty()) {
    inner_->write(peer, piece);
  } else {
    const std::span<const std::byte> words(post.words);
    inner_->publish(peer, piece.offset, words.subspan(piece.offset - post.offset, piece.bytes));
  }
}

bool FaultyFabric::drained() const {
  return inner_->drained() &&
         std::ranges::all_of(queues_, [](const Queue& waiting) { return waiting.posts.empty(); });
}

std::vector<PeerLoss> FaultyFabric::take_losses() {
  std::vector<PeerLoss> losses = inner_->take_losses();
  for (const PeerLoss& loss : losses) drop(loss.peer);
  std::ranges::move(losses_, std::back_inserter(losses));
  losses_.clear();
  if (!options_.tells_losses) losses.clear();
  return losses;
}

void FaultyFabric::fence(Slot peer) {
  drop(peer);
  inner_->fence(peer);
}

void FaultyFabric::hang_up(Slot peer) {
  drop(peer);
  inner_->hang_up(peer);
}

void FaultyFabric::cut(Slot peer) {
  if (queue(peer).lost) return;
  fence(peer);
  losses_.push_back({peer, "the link was cut"});
}

void FaultyFabric::drop(Slot peer) {
  queue(peer).posts.clear();
  queue(peer).lost = true;
}

void FaultyFabric::arm() {
  for (std::uint32_t i = 0; i < queues_.size(); ++i) {
    for (const Post& post : queues_[i].posts) {
      for (const Extent& piece : post.pieces) land(Slot{i}, post, piece);
    }
    queues_[i].posts.clear();
  }
  inner_->flush();
  inner_->arm();
}

}  // namespace tutti::testing
