// Several orders side by side: `tutti perf multicast --order all`.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/perf/result.hpp"
#include "cli/terminal.hpp"

namespace tutti::cli {
namespace {

using nlohmann::json;

constexpr double kBarMax = 50;  // characters

double number(const json& object, const char* field) { return object.at(field).get<double>(); }

/// What the active senders sent, the least and the most of them, as a percentage of an equal share.
std::string shares(const json& result) {
  double least = 0;
  double most = 0;
  double sum = 0;
  std::uint32_t active = 0;
  for (const json& member : result.at("members")) {
    if (member.at("active") != true) continue;
    const double sent = number(member, "sent_messages");
    least = active == 0 ? sent : std::min(least, sent);
    most = std::max(most, sent);
    sum += sent;
    ++active;
  }
  if (active < 2 || sum <= 0) return "-";
  const double equal = sum / active;
  const auto percent = [equal](double sent) {
    return std::to_string(std::lround(100 * sent / equal));
  };
  return percent(least) + " .. " + percent(most) + " %";
}

/// Bytes that a member posts for each byte that it delivers, of the member that posts most.
std::string copies(const json& result) {
  double most = 0;
  for (const json& member : result.at("members")) {
    const double delivered = number(member, "delivered_bytes");
    if (delivered <= 0) return "-";
    most = std::max(most, number(member.at("node"), "bytes_posted") / delivered);
  }
  return short_number(most);
}

std::string order_of(const json& result) {
  return result.at("options").at("order").get<std::string>();
}

}  // namespace

std::vector<std::string> orders_of(const std::string& level) {
  if (level == "atomic" || level == "durable") return {"round_robin", "token_ring", "lcr"};
  if (level == "agreed") return {"round_robin", "token_ring"};
  return {};
}

std::string orders_table(const json& result) {
  const json& results = result.at("results");
  Table table({"order", "delivered/s", "bytes/s", "own p50", "own p99", "cpu per delivery",
               "most copies", "shares of senders"});
  double most = 0;
  for (const json& one : results) {
    const json& own = one.at("latency_ns").at("own");
    const bool timed = own.at("samples") != 0;
    table.add({order_of(one), short_number(number(one, "delivered_messages_per_second")),
               short_bytes(number(one, "delivered_bytes_per_second")),
               timed ? short_time(number(own, "p50")) : "-",
               timed ? short_time(number(own, "p99")) : "-",
               short_time(number(one, "cpu_ns_per_delivery")), copies(one), shares(one)});
    most = std::max(most, number(one, "delivered_messages_per_second"));
  }
  std::string text =
      table.text() +
      "most copies: bytes that the member that posts most posts for each byte that it "
      "delivers, words included\n\ndelivered/s\n";
  for (const json& one : results) {
    const double rate = number(one, "delivered_messages_per_second");
    const auto length = static_cast<std::size_t>(most > 0 ? kBarMax * rate / most : 0);
    std::string name = order_of(one);
    name.resize(std::max<std::size_t>(name.size(), 11), ' ');
    text += name + " " + std::string(length, '#') + " " + short_number(rate) + "\n";
  }
  return text;
}

}  // namespace tutti::cli
