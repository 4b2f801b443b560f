/// \file switch_ports.hpp
/// A switch that all nodes are connected to, for figures: how long a post takes where links have a
/// rate. Without a rate the simulator draws each delay by itself (net.hpp).
///
/// A post travels as frames. A node has a queue of them for each other node, and sends the first of
/// each queue in turn, as a network adapter with a connection to each does; the switch then copies
/// nothing. Or it has one queue, and the switch copies data that goes to several, as with IP
/// multicast. A frame takes `delay_ns` to the switch, which stores it whole. There it waits for the
/// link to its receiver, which frames of several senders use in the order in which they come. The
/// buffers of the switch are large enough. A post arrives with its last frame. Threads: one.
/// Source: [Accelerated Ring, I and IV-A]: switches that store what several members send at once.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

namespace tutti::sim {

struct PortOptions {
  std::uint64_t megabits = 0;     ///< of each link and direction, each second; 0: no rate
  std::uint32_t frame_bytes = 0;  ///< the most payload of a frame
  std::uint32_t frame_extra = 0;  ///< what a frame takes beyond its payload
  /// One queue, and data that a node writes to several others leaves it once. Words go to each node
  /// alone.
  bool multicast = false;
};

class SwitchPorts {
 public:
  struct Sent {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint64_t offset = 0;  ///< where it lands
    std::uint64_t bytes = 0;   ///< not 0
    bool data = false;         ///< may be copied by the switch
  };
  struct Arrival {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint64_t at_ns = 0;
  };
  static constexpr std::uint64_t kNever = ~0ULL;

  SwitchPorts(std::uint32_t slots, const PortOptions& options, std::uint64_t delay_ns);

  [[nodiscard]] bool has_rate() const { return options_.megabits != 0; }
  void send(std::uint64_t now_ns, const Sent& sent);
  /// When something happens next; kNever if nothing is on its way.
  [[nodiscard]] std::uint64_t next_ns() const {
    return events_.empty() ? kNever : events_.top().at_ns;
  }
  /// The next arrival of a post of which the switch has the last frame by then. Posts of one node
  /// to another arrive in their order.
  [[nodiscard]] std::optional<Arrival> next_arrival(std::uint64_t until_ns);

 private:
  struct Posted {
    std::uint64_t offset;
    std::uint64_t bytes;
    std::uint64_t number;  // of all posts of its sender
    std::vector<std::uint32_t> to;
  };
  struct Frame {
    std::shared_ptr<Posted> of;
    std::uint64_t takes_ns;  // on a link
    bool last;
  };
  // A frame has left its sender, or a copy of it is at the switch.
  struct Event {
    std::uint64_t at_ns;
    std::uint64_t order;  // of two at the same time
    std::uint32_t from;
    std::optional<std::uint32_t> to;  // nobody: it has left
    Frame frame;
    friend bool operator>(const Event& a, const Event& b) {
      return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.order > b.order;
    }
  };
  struct Node {
    std::vector<std::deque<Frame>> queues{};
    std::size_t turn = 0;
    bool sends = false;
    std::uint64_t posted = 0;
    std::vector<std::uint64_t> last_posted{};  // by slot: the number of its last post there
    // Of the data that it posted at this time.
    std::uint64_t at_ns = 0;
    std::vector<std::shared_ptr<Posted>> data{};
    std::uint64_t in_free_ns = 0;
  };
  [[nodiscard]] static bool copies(Node& sender, const Sent& sent);
  void add(std::uint64_t at_ns, std::uint32_t from, std::optional<std::uint32_t> to, Frame frame);
  void start_next(std::uint64_t now_ns, std::uint32_t from);

  const PortOptions options_;
  const std::uint64_t delay_ns_;
  std::vector<Node> nodes_;  // by slot
  std::uint64_t order_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace tutti::sim
