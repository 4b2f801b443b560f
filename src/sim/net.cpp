#include "sim/net.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/assert.hpp"
#include "membership/view_words.hpp"
#include "sim/memory.hpp"
#include "sst/memory.hpp"

namespace tutti::sim {
class Net::NodeFabric final : public Fabric {
 public:
  NodeFabric(Net& net, std::uint32_t own) : net_(net), own_(own) {}

  [[nodiscard]] const std::byte* row(Slot peer) const override {
    return net_.row(own_, peer.value);
  }
  [[nodiscard]] std::byte* replica(Slot peer) override {
    const Link& from = net_.link(peer.value, own_);
    return from.reads && !from.shared ? from.replica->data() : nullptr;
  }
  void write(Slot peer, Extent data) override {
    Post post;
    post.offset = data.offset;
    post.words = data.bytes / 8;
    net_.post(own_, peer.value, std::move(post));
  }
  void publish(Slot peer, std::uint64_t offset, std::span<const std::byte> words) override {
    Post post;
    post.offset = offset;
    post.words = static_cast<std::uint32_t>(words.size() / 8);
    post.bytes.assign(words.begin(), words.end());
    net_.post(own_, peer.value, std::move(post));
  }
  void flush() override { net_.send_queued(own_); }
  std::size_t poll() override {
    const std::size_t landed = net_.land_due(own_);
    net_.send_queued(own_);
    return landed;
  }
  [[nodiscard]] bool drained() const override { return net_.drained(own_); }
  [[nodiscard]] std::vector<PeerLoss> take_losses() override { return {}; }
  void fence(Slot peer) override {
    net_.close(own_, peer.value, 0);
    net_.part(own_, peer.value);
  }
  // What was posted is on its way.
  void hang_up(Slot peer) override {
    if (!net_.link(own_, peer.value).shared) net_.close(own_, peer.value, ~std::size_t{0});
  }
  void arm() override {}
  void disarm() override {}
  [[nodiscard]] FabricCounters counters() const override { return {}; }

 private:
  Net& net_;
  std::uint32_t own_;
};

Net::Net(std::uint32_t slots, std::size_t row_bytes, std::size_t data_offset,
         const NetOptions& options, std::uint64_t seed, Troubles& troubles, Wake wake)
    : slots_(slots),
      row_bytes_(row_bytes),
      data_offset_(data_offset),
      options_(options),
      ports_(slots, options.ports, options.delay_ns),
      random_(seed),
      wake_(std::move(wake)),
      troubles_(troubles),
      data_posts_(slots),
      let_go_(slots, row_bytes, ViewWords::ready(Slot{slots}).offset),
      nobody_(row_bytes),
      links_(std::size_t{slots} * slots),
      first_at_ns_(links_.size(), kNever),
      seen_(links_.size(), nobody_.data()),
      rows_(slots),
      busy_(slots),
      rings_at_ns_(slots) {
  // Where links have a rate nothing is drawn, no path loses its order and no connection ends.
  TUTTI_ASSERT(!ports_.has_rate() || (options.ordering == Ordering::writes &&
                                      options.early_one_in + options.slow_one_in == 0));
  for (std::uint32_t from = 0; from < slots; ++from) {
    for (std::uint32_t to = 0; to < slots; ++to) {
      link(from, to).poster = from;
      link(from, to).reader = to;
    }
  }
}

std::unique_ptr<Fabric> Net::fabric(std::uint32_t slot, const std::byte* own_row) {
  rows_[slot] = own_row;
  let_go_.forget(slot);
  return std::make_unique<NodeFabric>(*this, slot);
}

void Net::connect(std::uint32_t a, std::uint32_t b, bool shared) {
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
    Link& fresh = link(from, to);
    const bool held = fresh.held;
    const bool disordered = fresh.disordered;
    const std::uint64_t before = fresh.connections;
    if (fresh.replica != nullptr) let_go_.keep(std::move(fresh.replica));
    fresh = {};
    fresh.connections = before + 1;
    fresh.open = true;
    fresh.is_new = true;
    fresh.held = held;
    fresh.disordered = disordered;
    fresh.shared = shared;
    fresh.from = rows_[from];
    fresh.poster = from;
    fresh.reader = to;
    if (!shared) fresh.replica = std::make_unique<Row>(row_bytes_);
    if (!shared && options_.ordering == Ordering::none) {
      fresh.queue = std::make_unique<PostQueue>(
          PostPolicy{.words = Words::framed, .ordering = options_.ordering});
    }
    note_first(fresh);
    note_seen(fresh);
  }
}

void Net::note_seen(const Link& way) {
  const std::byte* row = nobody_.data();
  if (way.reads) row = way.shared ? way.from : way.replica->data();
  seen_[way.reader * slots_ + way.poster] = row;
}

void Net::meet(std::uint32_t node, std::uint32_t other) {
  link(node, other).is_new = false;
  link(node, other).posts_to = true;
  Link& back = link(other, node);
  back.reads = true;
  troubles_.met(node, other);
  note_seen(back);
  let_go_.remove(node, row(node, other));
  if (!back.held) set_off(back, node);
}

void Net::part(std::uint32_t node, std::uint32_t other) {
  link(node, other).is_new = false;
  link(node, other).posts_to = false;
  Link& back = link(other, node);
  if (back.reads) let_go_.add(node, other, row(node, other), now_ns_);
  back.reads = false;
  note_first(back);
  note_seen(back);
}

void Net::part_from_all(std::uint32_t node) {
  for (std::uint32_t other = 0; other < slots_; ++other) part(node, other);
}

void Net::close(std::uint32_t a, std::uint32_t b, std::size_t late) {
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
    Link& old = link(from, to);
    if (old.open) troubles_.lost(to, from);
    if (old.open) old.late = late;
    if (!old.open) old.late = std::min(old.late, late);
    old.open = false;
    if (old.posts.size() > old.late) old.posts.resize(old.late);
    for (Post& post : old.posts) take_data(old, post);
    note_first(old);
  }
}

// What lands after the end of a connection was on its way: its queue reads no row any more.
void Net::take_data(const Link& way, Post& post) {
  const std::byte* const data = way.from + post.offset;
  if (post.bytes.empty()) post.bytes.assign(data, data + std::size_t{8} * post.words);
}

void Net::cut(std::uint32_t from, std::uint32_t to, bool held) {
  Link& cut = link(from, to);
  if (cut.held == held) return;
  // The reader has what arrived before the cut, although it may not have looked since.
  if (!cut.waits()) static_cast<void>(land_due_of(cut));
  cut.held = held;
  note_held(cut);
  note_first(cut);
  if (!cut.waits()) set_off(cut, to);
}

void Net::set_off(Link& way, std::uint32_t to) {
  std::uint64_t at = now_ns_;
  TUTTI_ASSERT(!ports_.has_rate() || way.posts.empty(), way.poster, to, now_ns_);
  for (Post& post : way.posts) {
    post.at_ns = draw_arrival(way.queue == nullptr ? at : 0);
    at = std::max(at, post.at_ns);
    post.rings = false;
  }
  if (way.queue != nullptr) std::ranges::stable_sort(way.posts, {}, &Post::at_ns);
  way.last_at_ns = at;
  note_late(way, at);
  note_first(way);
  if (!way.posts.empty()) way.posts.back().rings = wake_(to, at + options_.landing_ns);
}

void Net::mend_all() {
  for (std::uint32_t from = 0; from < slots_; ++from) {
    for (std::uint32_t to = 0; to < slots_; ++to) cut(from, to, false);
  }
}

std::uint64_t Net::draw_arrival(std::uint64_t last_at_ns) {
  std::uint64_t delay = options_.delay_ns + random_.below(options_.jitter_ns + 1);
  if (options_.slow_one_in != 0 && random_.one_in(options_.slow_one_in)) {
    delay *= 100;
    late_until_ns_ = std::max(late_until_ns_, now_ns_ + delay + options_.landing_ns);
  }
  return std::max(last_at_ns, now_ns_ + delay);
}

void Net::move_ports() {
  while (const std::optional<SwitchPorts::Arrival> arrival = ports_.next_arrival(now_ns_)) {
    Link& way = link(arrival->from, arrival->to);
    const auto post = std::ranges::find(way.posts, kNever, &Post::at_ns);
    TUTTI_ASSERT(post != way.posts.end(), way.poster, way.reader, now_ns_);
    post->at_ns = way.last_at_ns = arrival->at_ns;
    post->rings = !way.waits() && wake_(way.reader, post->at_ns + options_.landing_ns);
    note_first(way);
  }
}

std::uint64_t Net::next_ring_ns(std::uint32_t to) {
  std::erase_if(rings_at_ns_[to], [this](std::uint64_t at_ns) { return at_ns <= now_ns_; });
  std::uint64_t next = kNever;
  for (const std::uint64_t at_ns : rings_at_ns_[to]) next = std::min(next, at_ns);
  for (std::uint32_t from = 0; from < slots_; ++from) {
    if (first_at_ns_[to * slots_ + from] == kNever) continue;
    const Link& way = links_[from * slots_ + to];
    const auto rings = std::ranges::find(way.posts, true, &Post::rings);
    if (rings != way.posts.end()) next = std::min(next, rings->at_ns + options_.landing_ns);
  }
  return next;
}

void Net::post(std::uint32_t from, std::uint32_t to, Post post) {
  ++posts_;
  if (post.offset >= data_offset_) ++data_posts_[from];
  Link& way = link(from, to);
  if (!way.open || !way.posts_to || post.words == 0) return;
  if (watch_) tell(way, post);
  if (way.shared) {
    if (!way.waits()) static_cast<void>(wake_(to, draw_arrival(0)));
    return;
  }
  if (way.queue == nullptr) return send(from, to, std::move(post));
  if (post.bytes.empty()) {
    way.queue->write({post.offset, 8 * post.words});
  } else {
    way.queue->publish(post.offset, post.bytes);
  }
}

bool Net::drained(std::uint32_t from) const {
  for (std::uint32_t to = 0; to < slots_; ++to) {
    const Link& way = links_[from * slots_ + to];
    if (!way.open || !way.posts_to) continue;
    if (way.queue == nullptr) {  // in order: the end of a connection comes after its last words
      if (!way.waits() && way.last_at_ns > now_ns_) return false;
    } else if (!way.queue->empty() || way.unknown != 0) {
      return false;
    }
  }
  return true;
}

void Net::send_queued(std::uint32_t from) {
  if (options_.ordering != Ordering::none) return;
  for (std::uint32_t to = 0; to < slots_; ++to) {
    Link& way = link(from, to);
    if (way.queue == nullptr || !way.open || !way.posts_to) continue;
    if (!link(to, from).held) {
      way.unknown -= std::erase_if(way.known_at_ns, [&](auto at) { return at <= now_ns_; });
    }
    while (true) {
      Post post;
      if (const std::optional<Extent> data = way.queue->next_data()) {
        post.offset = data->offset;
        post.words = data->bytes / 8;
        way.queue->data_sent(data->bytes);
      } else {
        const std::span<const std::byte> frame = way.queue->next_frame(way.unknown == 0);
        if (frame.empty()) break;
        post.frame = true;
        post.words = static_cast<std::uint32_t>(frame.size() / 8);
        post.bytes.assign(frame.begin(), frame.end());
        way.queue->frame_sent(frame.size());
      }
      ++way.unknown;
      send(from, to, std::move(post));
    }
  }
}

void Net::send(std::uint32_t from, std::uint32_t to, Post post) {
  Link& way = link(from, to);
  post.next = static_cast<std::uint32_t>(random_.below(post.words));
  do {
    post.stride = static_cast<std::uint32_t>(1 + random_.below(post.words));
  } while (std::gcd(post.stride, post.words) != 1);
  if (ports_.has_rate()) return send_by_ports(way, std::move(post));
  if (overtakes(way, post)) return;
  post.at_ns = draw_arrival(way.queue == nullptr ? way.last_at_ns : 0);
  if (way.queue == nullptr) way.last_at_ns = post.at_ns;
  note_late(way, post.at_ns);
  if (way.disordered && post.bytes.empty()) post.at_ns += options_.disorder_ns;
  const bool ordered = way.queue == nullptr && !way.disordered;
  post.rings = !way.waits() && wake_(to, post.at_ns + options_.landing_ns);
  const auto position =
      ordered ? way.posts.end() : std::ranges::upper_bound(way.posts, post.at_ns, {}, &Post::at_ns);
  way.posts.insert(position, std::move(post));
  note_first(way);
}

// When it arrives shows later, for others may send to the same node meanwhile.
void Net::send_by_ports(Link& way, Post post) {
  ports_.send(now_ns_, {.from = way.poster,
                        .to = way.reader,
                        .offset = post.offset,
                        .bytes = 8ULL * post.words,
                        .data = post.bytes.empty()});
  post.at_ns = kNever;
  way.posts.push_back(std::move(post));
  note_first(way);
}

// It replaces one of the publishes at the end that have not arrived yet, and rings
// nobody: those do that. On a path without order writes come late, never early.
bool Net::overtakes(Link& way, Post& post) {
  if (options_.early_one_in == 0 || way.queue != nullptr || !post.bytes.empty() || way.waits())
    return false;
  if (way.disordered || !random_.one_in(options_.early_one_in)) return false;
  const auto stays = [this](const Post& other) {
    return other.bytes.empty() || other.at_ns < now_ns_ + options_.delay_ns;
  };
  const auto last = std::find_if(way.posts.rbegin(), way.posts.rend(), stays).base();
  const auto publishes = static_cast<std::uint64_t>(way.posts.end() - last);
  if (publishes == 0) return false;
  const auto position = last + static_cast<std::ptrdiff_t>(random_.below(publishes));
  post.at_ns = position->at_ns;
  way.posts.insert(position, std::move(post));
  note_first(way);
  return true;
}

}  // namespace tutti::sim
