#include "sim/figure/figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace tutti::sim {
namespace {

// Ethernet's preamble, header, checksum and gap; IPv4, UDP, and the headers of RoCE v2.
constexpr std::uint32_t kFrameExtra = 38 + 20 + 8 + 32;
constexpr std::uint32_t kFrameBytes = 1440;  // of 1500, what is left for payload

constexpr std::uint32_t kPersonal = 20;
constexpr std::uint32_t kAccelerated = 20;

std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string whole(double value) { return std::to_string(std::llround(value)); }

std::string latency_of(const LoadFigures& figures) {
  if (!figures.kept_up) return "only " + whole(figures.megabits);
  return whole(figures.latency_us) + " us";
}

LoadOptions ring_on(std::uint64_t megabits, std::uint64_t delay_ns, Level level, Ring ring) {
  return {.order = Order::token_ring,
          .level = level,
          .personal_window = kPersonal,
          .accelerated_window = ring == Ring::accelerated ? kAccelerated : 0,
          .ports = {.megabits = megabits,
                    .frame_bytes = kFrameBytes,
                    .frame_extra = kFrameExtra,
                    .multicast = true},
          .delay_ns = delay_ns};
}

std::string curves(LoadOptions (*network)(Level, Ring), std::span<const std::uint64_t> loads) {
  constexpr std::size_t kWidth = 13;
  const LoadOptions one = network(Level::agreed, Ring::original);
  std::string out = "\n" + std::to_string(one.ports.megabits / 1'000) + " Gbit/s, " +
                    std::to_string(one.delay_ns / 1'000) +
                    " us one way\n            agreed                    atomic (safe)\n    Mbit/s";
  for (const std::string name : {"original", "accelerated", "original", "accelerated"}) {
    out += right(name, kWidth);
  }
  out += "\n";
  for (const std::uint64_t load : loads) {
    out += right(std::to_string(load), 10);
    for (const Level level : {Level::agreed, Level::atomic}) {
      for (const Ring ring : {Ring::original, Ring::accelerated}) {
        LoadOptions options = network(level, ring);
        options.offered_megabits = load;
        out += right(latency_of(measure(options)), kWidth);
      }
    }
    out += "\n";
  }
  return out;
}

std::string draw_accelerated_ring() {
  constexpr std::array<std::uint64_t, 10> kOfGigabit{100, 200, 300, 400, 500,
                                                     550, 600, 700, 800, 900};
  constexpr std::array<std::uint64_t, 9> kOfTen{100,   500,   1'000, 1'500, 2'000,
                                                2'500, 3'000, 4'000, 5'000};
  return "Mean latency of a message, simulated: 8 members, messages of 1350 bytes, personal "
         "window " +
         std::to_string(kPersonal) + ",\naccelerated window " + std::to_string(kAccelerated) +
         " or 0, a switch that copies. \"only N\": no more than N Mbit/s were delivered.\n" +
         curves(gigabit_ring, kOfGigabit) + curves(ten_gigabit_ring, kOfTen);
}

std::string draw_links() {
  constexpr std::size_t kWidth = 14;
  std::string out =
      "Payload delivered at each member, in Mbit/s, simulated: links of 10 Gbit/s, 10 us one way,\n"
      "no copies by the switch, messages of 10 KB, level atomic; senders always have more to "
      "send,\n"
      "in windows of 4 MB (one) or 1 MB (all).\n\n"
      "   members   senders";
  constexpr std::array kOrders{Order::round_robin, Order::token_ring, Order::lcr};
  for (const Order order : kOrders) out += right(std::string(to_string(order)), kWidth);
  out += "\n";
  for (const std::uint32_t nodes : {3U, 5U, 8U}) {
    for (const std::uint32_t senders : {1U, nodes}) {
      out += right(std::to_string(nodes), 10) + right(senders == 1 ? "one" : "all", 10);
      for (const Order order : kOrders) {
        out += right(whole(measure(on_links(order, nodes, senders)).megabits), kWidth);
      }
      out += "\n";
    }
  }
  return out;
}

constexpr std::array<Figure, 2> kFigures{
    Figure{"accelerated_ring", "Totem's ring and the Accelerated Ring: latency by load",
           draw_accelerated_ring},
    Figure{"links", "the orders where links are the limit: throughput by members and senders",
           draw_links},
};

}  // namespace

LoadOptions gigabit_ring(Level level, Ring ring) { return ring_on(1'000, 110'000, level, ring); }

LoadOptions ten_gigabit_ring(Level level, Ring ring) {
  return ring_on(10'000, 30'000, level, ring);
}

LoadOptions on_links(Order order, std::uint32_t nodes, std::uint32_t senders) {
  return {.nodes = nodes,
          .senders = senders,
          .order = order,
          .personal_window = 64,
          .accelerated_window = 64,
          .message_bytes = 10'000,
          .window_bytes = senders == 1 ? 4ULL << 20 : 1ULL << 20,
          .ports = {.megabits = 10'000, .frame_bytes = kFrameBytes, .frame_extra = kFrameExtra},
          .delay_ns = 10'000,
          .offered_megabits = 20'000,
          .warm_ns = 20'000'000,
          .measured_ns = 20'000'000};
}

std::span<const Figure> figures() { return kFigures; }

Result<const Figure*> figure_from(std::string_view name) {
  const auto* const found = std::ranges::find(kFigures, name, &Figure::name);
  if (found != kFigures.end()) return found;
  std::string names;
  for (const Figure& figure : kFigures)
    names += (names.empty() ? "" : ", ") + std::string(figure.name);
  return fail(ErrorCode::invalid_argument,
              "there is no figure '" + std::string(name) + "'; there are: " + names);
}

}  // namespace tutti::sim
