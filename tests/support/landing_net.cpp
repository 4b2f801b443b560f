#include "support/landing_net.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tutti::testing {

class LandingNet::LandingFabric final : public Fabric {
 public:
  LandingFabric(LandingNet& net, Slot own) : net_(net), own_(own.value) {}

  [[nodiscard]] const std::byte* row(Slot peer) const override {
    return net_.link(peer.value, own_).replica.data();
  }
  [[nodiscard]] std::byte* replica(Slot peer) override {
    return net_.link(peer.value, own_).replica.data();
  }
  void write(Slot peer, Extent data) override {
    hold(peer, {.offset = data.offset, .words = {}, .left = {}, .bytes = data.bytes});
  }
  void publish(Slot peer, std::uint64_t offset, std::span<const std::byte> words) override {
    hold(peer, {.offset = offset,
                .words = {words.begin(), words.end()},
                .left = {},
                .bytes = words.size()});
  }
  void flush() override {}
  std::size_t poll() override { return net_.land_some(own_); }
  [[nodiscard]] bool drained() const override {
    for (std::uint32_t to = 0; to < net_.nodes_; ++to) {
      if (!net_.link(own_, to).posts.empty()) return false;
    }
    return true;
  }
  [[nodiscard]] std::vector<PeerLoss> take_losses() override { return {}; }
  void fence(Slot peer) override { net_.link(peer.value, own_).posts.clear(); }
  void hang_up(Slot peer) override { net_.link(own_, peer.value).posts.clear(); }
  void arm() override {}
  void disarm() override {}
  [[nodiscard]] FabricCounters counters() const override { return counters_; }

 private:
  void hold(Slot peer, Post post) {
    ++counters_.writes;
    counters_.bytes += post.bytes;
    net_.hold(net_.link(own_, peer.value), std::move(post));
  }

  LandingNet& net_;
  std::uint32_t own_;
  FabricCounters counters_;
};

LandingNet::LandingNet(const std::vector<std::size_t>& row_bytes, const LandingOptions& options)
    : nodes_(row_bytes.size()), options_(options), random_(options.seed) {
  links_.reserve(nodes_ * nodes_);
  for (const std::size_t bytes : row_bytes) {
    for (std::size_t to = 0; to < nodes_; ++to) links_.push_back({nullptr, AlignedRow(bytes), {}});
  }
}

std::unique_ptr<Fabric> LandingNet::fabric(Slot slot, const std::byte* own_row) {
  for (std::uint32_t to = 0; to < nodes_; ++to) link(slot.value, to).from = own_row;
  return std::make_unique<LandingFabric>(*this, slot);
}

void LandingNet::hold(Link& link, Post post) {
  for (std::uint32_t word = 0; word < post.bytes / 8; ++word) post.left.push_back(word);
  for (std::size_t i = post.left.size(); i > 1; --i) {
    std::swap(post.left[i - 1], post.left[random_.below(i)]);
  }
  if (options_.guard_first && !post.words.empty()) {
    const auto data =
        std::ranges::find_if(link.posts, [](const Post& p) { return p.words.empty(); });
    link.posts.insert(data, std::move(post));
  } else {
    link.posts.push_back(std::move(post));
  }
}

void LandingNet::before_load(Slot reader) { land_some(reader.value); }

std::size_t LandingNet::land_some(std::uint32_t target) {
  if (random_.one_in(2)) return 0;
  const auto from = static_cast<std::uint32_t>(random_.below(nodes_));
  // Mostly a word or two, now and then much, so that nothing starves.
  const std::uint64_t words = random_.one_in(4) ? random_.below(200) : 1 + random_.below(2);
  return land(link(from, target), words);
}

std::size_t LandingNet::land(Link& link, std::size_t words) {
  std::size_t posts = 0;
  for (; words > 0 && !link.posts.empty(); --words) {
    Post& first = link.posts.front();
    land_word(link, first, first.left.back());
    first.left.pop_back();
    if (!first.left.empty()) continue;
    link.posts.pop_front();
    ++posts;
  }
  return posts;
}

void LandingNet::land_word(Link& link, const Post& post, std::uint32_t word) {
  const std::size_t at = std::size_t{word} * 8;
  const std::byte* from = post.words.empty() ? link.from + post.offset + at : &post.words[at];
  std::memcpy(link.replica.data() + post.offset + at, from, 8);
}

}  // namespace tutti::testing
