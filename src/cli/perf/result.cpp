#include "cli/perf/result.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/histogram_json.hpp"
#include "cli/perf/options_json.hpp"
#include "cli/perf/plan.hpp"
#include "cli/project_tree.hpp"
#include "tutti/version.hpp"

namespace tutti::cli {
namespace {

using nlohmann::json;

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

/// By count, the time runs from the first send of all; by time, from mark to mark.
double seconds_of(const json& member, std::int64_t first_send_ns, bool by_count) {
  const auto begin = by_count ? first_send_ns : member.at("begin_ns").get<std::int64_t>();
  const auto end = member.at(by_count ? "reached_ns" : "end_ns").get<std::int64_t>();
  return std::max(1e-9, static_cast<double>(end - begin) / 1e9);
}

std::int64_t first_send_ns(const std::vector<json>& members) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const json& member : members) {
    if (member.at("active") == true) {
      first = std::min(first, member.at("first_send_ns").get<std::int64_t>());
    }
  }
  return first;
}

/// Per member what the parent adds: rates, and readable latencies in place of histograms.
json with_rates(json member, const std::string& name, double seconds) {
  const auto messages = member.at("delivered_messages").get<double>();
  const auto bytes = member.at("delivered_bytes").get<double>();
  member["name"] = name;
  member["seconds"] = seconds;
  member["delivered_messages_per_second"] = messages / seconds;
  member["delivered_bytes_per_second"] = bytes / seconds;
  for (const char* whose : {"own", "others"}) {
    const std::string field = std::string(whose) + "_latency";
    const auto histogram = Histogram::from_json(member.at(field));
    member.erase(field);
    member["latency_ns"][whose] = histogram.value_or(Histogram{}).summary();
  }
  for (const char* internal : {"begin_ns", "end_ns", "first_send_ns", "reached_ns"}) {
    member.erase(internal);
  }
  return member;
}

json latency_of_all(const std::vector<json>& members, const char* field) {
  Histogram all;
  for (const json& member : members) {
    if (const auto one = Histogram::from_json(member.at(field))) all.merge(*one);
  }
  return all.summary();
}

double mean_of(const json& members, const char* field) {
  double total = 0;
  for (const json& member : members) total += member.at(field).get<double>();
  return total / static_cast<double>(members.size());
}

std::uint64_t sum_of(const json& members, const char* part, const char* field) {
  std::uint64_t total = 0;
  for (const json& member : members) total += member.at(part).at(field).get<std::uint64_t>();
  return total;
}

/// Mean batch size of a stage over all members.
double mean_batch(const json& members, const char* stage) {
  double batches = 0;
  double items = 0;
  for (const json& member : members) {
    const json& histogram = member.at("group").at("batches").at(stage);
    batches += histogram.at("batches").get<double>();
    items += histogram.at("items").get<double>();
  }
  return batches > 0 ? items / batches : 0;
}

json environment() {
  json environment = {
      {"version", version()}, {"cpu_model", cpu_model()}, {"cpus", sysconf(_SC_NPROCESSORS_ONLN)}};
  if (const std::string commit = project_commit(); !commit.empty()) {
    environment["git_commit"] = commit;
  }
  return environment;
}

}  // namespace

json result_of(const std::string& benchmark, const PerfOptions& options,
               const std::vector<json>& members) {
  const std::vector<std::string> names = perf_member_names(options.members);
  const std::int64_t first_ns = first_send_ns(members);
  json detailed = json::array();
  for (std::size_t i = 0; i < members.size(); ++i) {
    const double seconds = seconds_of(members[i], first_ns, options.messages > 0);
    detailed.push_back(with_rates(members[i], names[i], seconds));
  }
  const auto count = static_cast<double>(members.size());
  const double cpu_seconds = mean_of(detailed, "cpu_seconds") * count;
  const double deliveries = mean_of(detailed, "delivered_messages") * count;
  json result = environment();
  result.update({
      {"benchmark", benchmark},
      {"options", options},
      {"seconds", mean_of(detailed, "seconds")},
      {"delivered_messages_per_second", mean_of(detailed, "delivered_messages_per_second")},
      {"delivered_bytes_per_second", mean_of(detailed, "delivered_bytes_per_second")},
      {"latency_ns",
       {{"own", latency_of_all(members, "own_latency")},
        {"others", latency_of_all(members, "others_latency")}}},
      {"cpu_seconds", cpu_seconds},
      {"cpu_ns_per_delivery", deliveries > 0 ? cpu_seconds * 1e9 / deliveries : 0.0},
      {"batch_mean",
       {{"send", mean_batch(detailed, "send")},
        {"receive", mean_batch(detailed, "receive")},
        {"delivery", mean_batch(detailed, "delivery")},
        {"pending", mean_batch(detailed, "pending")},
        {"persist", mean_batch(detailed, "persist")}}},
  });
  for (const char* field : {"pushes", "nulls_sent", "null_pushes", "sender_waits", "token_visits",
                            "token_rests", "token_held_ns", "token_parked_ns", "frames_handed_on",
                            "bytes_handed_on", "persisted", "logged_bytes"}) {
    result[field] = sum_of(detailed, "group", field);
  }
  for (const char* field :
       {"sleeps", "writes_posted", "signalled_writes", "bytes_posted", "doorbells", "posting_ns"}) {
    result[field] = sum_of(detailed, "node", field);
  }
  result["members"] = std::move(detailed);
  return result;
}

}  // namespace tutti::cli
