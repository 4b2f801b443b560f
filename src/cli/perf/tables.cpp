#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/perf/result.hpp"
#include "cli/terminal.hpp"

namespace tutti::cli {
namespace {

using nlohmann::json;

double number(const json& object, const char* field) { return object.at(field).get<double>(); }

std::string latency(const json& latencies, const char* whose, const char* percentile) {
  const json& summary = latencies.at(whose);
  return summary.at("samples") == 0 ? "-" : short_time(number(summary, percentile));
}

std::vector<std::string> row_of(const std::string& name, const json& counts,
                                const std::string& sent) {
  const json& latencies = counts.at("latency_ns");
  return {name,
          sent,
          short_number(number(counts, "delivered_messages_per_second")),
          short_bytes(number(counts, "delivered_bytes_per_second")),
          latency(latencies, "own", "p50"),
          latency(latencies, "own", "p99"),
          latency(latencies, "others", "p50"),
          latency(latencies, "others", "p99"),
          short_time(number(counts, "cpu_seconds") * 1e9)};
}

/// What there is to say of a ring: empty with other orders.
std::string ring_line(const json& result) {
  const double members = static_cast<double>(result.at("members").size());
  const double seconds = number(result, "seconds");
  const double visits = number(result, "token_visits");
  const double messages = number(result, "delivered_messages_per_second") * seconds;
  if (visits > 0) {
    return "token: " + short_number(visits / members / seconds) + " rotations a second, " +
           short_number(messages / visits) + " messages per visit, held for " +
           short_time(number(result, "token_held_ns") / visits) + " each, came to rest " +
           short_number(number(result, "token_rests")) + " times, at rest for " +
           short_time(number(result, "token_parked_ns")) + "\n";
  }
  const double frames = number(result, "frames_handed_on");
  if (frames <= 0) return {};
  return "chain: " + short_number(frames) + " frames handed on, with " +
         short_bytes(number(result, "bytes_handed_on")) + "; " +
         short_number(number(result.at("batch_mean"), "pending")) +
         " messages and nulls pending, on average\n";
}

/// What there is to say of the logs: empty without.
std::string log_line(const json& result) {
  const double bytes = number(result, "logged_bytes");
  const double per_sync = number(result.at("batch_mean"), "persist");
  if (bytes <= 0 || per_sync <= 0) return {};
  const double members = static_cast<double>(result.at("members").size());
  const double syncs = number(result, "persisted") / per_sync / members;
  return "logs: " + short_bytes(bytes / members / number(result, "seconds")) +
         "/s to each member's disk, " + short_number(per_sync) + " messages per sync, " +
         short_number(syncs / number(result, "seconds")) + " syncs a second\n";
}

}  // namespace

std::string multicast_table(const json& result) {
  Table table({"member", "sent", "delivered/s", "bytes/s", "own p50", "own p99", "others p50",
               "others p99", "cpu"});
  std::uint64_t sent = 0;
  for (const json& member : result.at("members")) {
    const auto own = member.at("sent_messages").get<std::uint64_t>();
    sent += own;
    table.add(row_of(member.at("name").get<std::string>(), member, grouped(own)));
  }
  table.add(row_of("mean", result, grouped(sent / result.at("members").size())));
  const json& batch = result.at("batch_mean");
  return table.text() + short_time(number(result, "seconds") * 1e9) + " measured, " +
         short_time(number(result, "cpu_ns_per_delivery")) +
         " cpu per delivery; mean batch: send " + short_number(number(batch, "send")) +
         ", receive " + short_number(number(batch, "receive")) + ", delivery " +
         short_number(number(batch, "delivery")) + "\n" +
         "all members: " + short_number(number(result, "pushes")) + " pushes, " +
         short_number(number(result, "nulls_sent")) + " nulls in " +
         short_number(number(result, "null_pushes")) + " pushes of their own, " +
         short_number(number(result, "writes_posted")) + " writes, " +
         short_number(number(result, "sleeps")) + " sleeps, " +
         short_number(number(result, "doorbells")) + " doorbells\n" + ring_line(result) +
         log_line(result);
}

std::string idle_table(const json& result) {
  Table table({"member", "cpu % of a core", "pushes", "writes", "sleeps", "passes"});
  for (const json& member : result.at("members")) {
    const json& node = member.at("node");
    const double percent = number(member, "cpu_seconds") / number(member, "seconds") * 100;
    table.add({member.at("name").get<std::string>(), short_number(percent),
               short_number(number(member.at("group"), "pushes")),
               short_number(number(node, "writes_posted")), short_number(number(node, "sleeps")),
               short_number(number(node, "passes"))});
  }
  return table.text();
}

}  // namespace tutti::cli
