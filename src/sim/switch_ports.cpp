#include "sim/switch_ports.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace tutti::sim {

SwitchPorts::SwitchPorts(std::uint32_t slots, const PortOptions& options, std::uint64_t delay_ns)
    : options_(options), delay_ns_(delay_ns), nodes_(slots) {
  TUTTI_ASSERT(!has_rate() || options.frame_bytes != 0, options.megabits);
  for (Node& node : nodes_) {
    node.queues.resize(options.multicast ? 1 : slots);
    node.last_posted.resize(slots);
  }
}

void SwitchPorts::send(std::uint64_t now_ns, const Sent& sent) {
  Node& sender = nodes_[sent.from];
  if (std::exchange(sender.at_ns, now_ns) != now_ns) sender.data.clear();
  if (options_.multicast && sent.data && copies(sender, sent)) return;
  const auto posted =
      std::make_shared<Posted>(sent.offset, sent.bytes, ++sender.posted, std::vector{sent.to});
  sender.last_posted[sent.to] = posted->number;
  if (sent.data) sender.data.push_back(posted);
  for (std::uint64_t rest = sent.bytes; rest != 0;) {
    const std::uint64_t payload = std::min<std::uint64_t>(rest, options_.frame_bytes);
    rest -= payload;
    sender.queues[options_.multicast ? 0 : sent.to].push_back(
        {.of = posted,
         .takes_ns = (payload + options_.frame_extra) * 8'000 / options_.megabits,
         .last = rest == 0});
  }
  if (!sender.sends) start_next(now_ns, sent.from);
}

// Whether it goes with what was sent to another node just now, of which nothing can have left yet.
// It must not overtake what its receiver is sent already.
bool SwitchPorts::copies(Node& sender, const Sent& sent) {
  for (const std::shared_ptr<Posted>& data : sender.data) {
    const bool same = data->offset == sent.offset && data->bytes == sent.bytes;
    if (!same || sender.last_posted[sent.to] >= data->number) continue;
    data->to.push_back(sent.to);
    sender.last_posted[sent.to] = data->number;
    return true;
  }
  return false;
}

void SwitchPorts::add(std::uint64_t at_ns, std::uint32_t from, std::optional<std::uint32_t> to,
                      Frame frame) {
  events_.push(
      {.at_ns = at_ns, .order = order_++, .from = from, .to = to, .frame = std::move(frame)});
}

void SwitchPorts::start_next(std::uint64_t now_ns, std::uint32_t from) {
  Node& sender = nodes_[from];
  sender.sends = false;
  for (std::size_t tried = 0; tried < sender.queues.size() && !sender.sends; ++tried) {
    sender.turn = (sender.turn + 1) % sender.queues.size();
    std::deque<Frame>& queue = sender.queues[sender.turn];
    if (queue.empty()) continue;
    sender.sends = true;
    const std::uint64_t takes_ns = queue.front().takes_ns;
    add(now_ns + takes_ns, from, {}, std::move(queue.front()));
    queue.pop_front();
  }
}

std::optional<SwitchPorts::Arrival> SwitchPorts::next_arrival(std::uint64_t until_ns) {
  while (next_ns() <= until_ns) {
    const Event event = events_.top();
    events_.pop();
    if (!event.to) {
      for (const std::uint32_t to : event.frame.of->to) {
        add(event.at_ns + delay_ns_, event.from, to, event.frame);
      }
      start_next(event.at_ns, event.from);
      continue;
    }
    std::uint64_t& free_ns = nodes_[*event.to].in_free_ns;
    free_ns = std::max(free_ns, event.at_ns) + event.frame.takes_ns;
    if (event.frame.last) return Arrival{event.from, *event.to, free_ns};
  }
  return {};
}

}  // namespace tutti::sim
