/// \file net.hpp
/// The network of the simulated world: one-sided writes into replicas, in virtual time.
///
/// On one link publishes land in the order of posting and after the writes before them; nothing
/// else is promised (F-order). Each post lands after a delay of its own, its 8-byte words in any
/// order, between any two loads of the target's protocol code; words of a write() also in parts, if
/// the options say so. A write() may overtake publishes, and each of its words is read from the
/// poster's row when it lands (F-data). If the options promise no order, each write and each frame
/// of words has a delay of its own, and the poster learns later that it has landed; the protocol
/// then posts through the queue of libfabric's fabric for such providers (fabric/post_queue.hpp).
/// Nodes of one host share rows instead. A cut link holds posts until it is mended; a closed one
/// drops them. Posts that a stopped node made before still land (a zombie). Each end of a
/// connection learns of it at its own time; posts made before the reader did wait for that
/// (F-loss). Threads: one for all nodes.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/prng.hpp"
#include "fabric/fabric.hpp"
#include "fabric/post_queue.hpp"
#include "sim/let_go.hpp"
#include "sim/net_link.hpp"
#include "sim/net_options.hpp"
#include "sim/row.hpp"
#include "sim/switch_ports.hpp"
#include "sim/troubles.hpp"

namespace tutti::sim {

class Net {
 public:
  /// Called with a slot and the time at which a post has landed there. False: no node hears it.
  using Wake = std::function<bool(std::uint32_t, std::uint64_t)>;
  /// What one node posts to another: words, or data as they are in its row now.
  struct Posted {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint64_t offset = 0;
    std::span<const std::byte> bytes{};
    bool data = false;
  };
  using Watch = std::function<void(const Posted&)>;
  /// `troubles` outlives it, and has the same time.
  Net(std::uint32_t slots, std::size_t row_bytes, std::size_t data_offset,
      const NetOptions& options, std::uint64_t seed, Troubles& troubles, Wake wake);

  void set_time(std::uint64_t now_ns) {
    now_ns_ = now_ns;
    if (ports_.has_rate()) move_ports();
  }
  /// Where links have a rate: the time has to be set then (SwitchPorts).
  [[nodiscard]] std::uint64_t next_port_ns() const { return ports_.next_ns(); }
  /// Called with each post to a node that is connected.
  void set_watch(Watch watch) { watch_ = std::move(watch); }
  [[nodiscard]] std::uint64_t now_ns() const { return now_ns_; }

  /// The fabric of the node now in that slot, whose row is `own_row`.
  [[nodiscard]] std::unique_ptr<Fabric> fabric(std::uint32_t slot, const std::byte* own_row);
  /// The same as that fabric's row(peer), without a virtual call: a pass asks for it often.
  [[nodiscard]] const std::byte* row(std::uint32_t slot, std::uint32_t peer) const {
    return seen_[slot * slots_ + peer];
  }

  /// A fresh connection between two nodes, with zeroed replicas or shared rows, of which neither
  /// knows yet.
  void connect(std::uint32_t a, std::uint32_t b, bool shared);
  /// The node attaches to its end: from now on it posts, and the other's posts land.
  void meet(std::uint32_t node, std::uint32_t other);
  /// The node closes its end of a connection, or of all.
  void part(std::uint32_t node, std::uint32_t other);
  void part_from_all(std::uint32_t node);
  [[nodiscard]] bool has_met(std::uint32_t node, std::uint32_t other) const {
    return links_[node * slots_ + other].posts_to;
  }
  /// Whether it has an end, open or not, or is about to learn of one.
  [[nodiscard]] bool has_end(std::uint32_t node, std::uint32_t other) const {
    return has_met(node, other) || links_[node * slots_ + other].is_new;
  }
  /// No write of either lands at the other any more, except the first `late` posts of each that are
  /// in flight.
  void close(std::uint32_t a, std::uint32_t b, std::size_t late);
  [[nodiscard]] bool connected(std::uint32_t from, std::uint32_t to) const {
    return links_[from * slots_ + to].open;
  }

  /// Whether all posts of `from` to `to` have landed.
  [[nodiscard]] bool has_landed(std::uint32_t from, std::uint32_t to) {
    static_cast<void>(land_due(to));
    return link(from, to).posts.empty();
  }

  /// How often the two were connected: tells one connection from the next.
  [[nodiscard]] std::uint64_t connections(std::uint32_t a, std::uint32_t b) const {
    return links_[a * slots_ + b].connections;
  }

  /// Holds the posts of `from` to `to`, or releases them.
  void cut(std::uint32_t from, std::uint32_t to, bool held);
  void mend_all();
  [[nodiscard]] bool is_cut(std::uint32_t from, std::uint32_t to) const {
    return links_[from * slots_ + to].held;
  }
  /// Writes of `from` to `to` land long after the words that should follow them.
  void set_disordered(std::uint32_t from, std::uint32_t to, bool disordered) {
    link(from, to).disordered = disordered;
  }
  [[nodiscard]] bool is_disordered(std::uint32_t from, std::uint32_t to) const {
    return links_[from * slots_ + to].disordered;
  }
  void set_slow_one_in(std::uint32_t slow_one_in) { options_.slow_one_in = slow_one_in; }

  /// When the node hears next that a post has landed; never: the largest number.
  [[nodiscard]] std::uint64_t next_ring_ns(std::uint32_t to);
  /// Until then a post is in flight for longer than the options' longest delay.
  [[nodiscard]] std::uint64_t late_until_ns() const { return late_until_ns_; }

  /// For Memory and other readers: records a read of a row that was let go.
  void look(std::uint32_t reader, const std::byte* cell) { let_go_.look(reader, cell, now_ns_); }
  void look(std::uint32_t reader, std::span<const std::byte> bytes) {
    let_go_.look(reader, bytes, now_ns_);
  }
  /// `member` is in no view of the node any more; the last view with it was `epoch`.
  void remove_member(std::uint32_t node, const ViewMember& member, std::uint64_t epoch) {
    if (link(member.slot.value, node).reads) {
      let_go_.remove_member(node, member, epoch, row(node, member.slot.value), now_ns_);
    }
  }
  void add_lasting(std::size_t offset) { let_go_.add_lasting(offset); }
  [[nodiscard]] std::vector<LetGo::Write> take_writes(std::uint32_t reader) {
    return let_go_.take_writes(reader);
  }
  [[nodiscard]] const std::string& stale_read() const { return let_go_.finding(); }
  /// For the Memory of the node in that slot, before and around its accesses.
  void before_load(std::uint32_t node) {
    if (busy_[node] != 0) before_busy_load(node);
  }
  void around_store(std::uint32_t node) {
    if ((busy_[node] & kInterruptible) != 0) [[unlikely]]
      interrupt_(node);
  }
  /// Called at each access of an interruptible node. It may return much later.
  void set_interrupt(std::function<void(std::uint32_t)> interrupt) {
    interrupt_ = std::move(interrupt);
  }
  void set_interruptible(std::uint32_t node, bool interruptible);
  [[nodiscard]] std::uint64_t posts() const { return posts_; }
  /// How many of them the node in that slot made to offsets from `data_offset` on, which are not
  /// the membership's.
  [[nodiscard]] std::uint64_t data_posts(std::uint32_t from) const { return data_posts_[from]; }

 private:
  class NodeFabric;
  using Post = NetPost;
  using Link = NetLink;

  [[nodiscard]] Link& link(std::uint32_t from, std::uint32_t to) {
    return links_[from * slots_ + to];
  }
  void post(std::uint32_t from, std::uint32_t to, Post post);
  void send(std::uint32_t from, std::uint32_t to, Post post);
  void send_by_ports(Link& way, Post post);
  void move_ports();
  // Sends what the queues of links without order release.
  void send_queued(std::uint32_t from);
  [[nodiscard]] bool drained(std::uint32_t from) const;
  // Draws whether a write overtakes publishes, and puts it among them.
  bool overtakes(Link& way, Post& post);
  // The posts that waited at the link start now.
  void set_off(Link& way, std::uint32_t to);
  std::size_t land_due(std::uint32_t to);
  std::size_t land_due_of(Link& way);
  void before_busy_load(std::uint32_t node);
  void count_landing(std::uint32_t to);
  void land_words(std::uint32_t reader);
  void land_words_of(Link& way, std::uint64_t drawn);
  void land_word(Link& way);
  void land_frame(Link& way);
  void has_landed(Link& way);
  // After each change of what waits at the link or whether it waits.
  void note_first(const Link& way) {
    first_at_ns_[way.reader * slots_ + way.poster] =
        way.waits() || way.posts.empty() ? kNever : way.posts.front().at_ns;
  }
  // After each change of what the link's reader sees.
  void note_seen(const Link& way);
  static void take_data(const Link& way, Post& post);
  void note_held(const Link& way);
  void note_late(const Link& way, std::uint64_t at_ns);
  void tell(const Link& way, const Post& post) const;
  // When a post made now arrives, which is after those before it.
  [[nodiscard]] std::uint64_t draw_arrival(std::uint64_t last_at_ns);

  static constexpr std::uint64_t kNever = ~0ULL;
  static constexpr std::uint32_t kInterruptible = 1U << 31;

  std::uint32_t slots_;
  std::size_t row_bytes_;
  std::size_t data_offset_;
  NetOptions options_;
  SwitchPorts ports_;
  Prng random_;
  Wake wake_;
  Watch watch_;  // or none
  std::function<void(std::uint32_t)> interrupt_;
  Troubles& troubles_;
  std::uint64_t now_ns_ = 0;
  std::uint64_t posts_ = 0;
  std::vector<std::uint64_t> data_posts_;  // by slot
  std::uint64_t late_until_ns_ = 0;
  LetGo let_go_;
  Row nobody_;               // what is seen where nobody was ever connected
  std::vector<Link> links_;  // [from * slots + to]
  // Of the links, what is asked for at every load, close together: [to * slots + from].
  std::vector<std::uint64_t> first_at_ns_;  // when the first post begins to land; or kNever
  std::vector<const std::byte*> seen_;      // the row
  std::vector<const std::byte*> rows_;      // by slot: that of the node now there
  // By slot: links with posts that land just now, and kInterruptible.
  std::vector<std::uint32_t> busy_;
  std::vector<std::vector<std::uint64_t>> rings_at_ns_;  // by slot: of what landed before its time
};

}  // namespace tutti::sim
