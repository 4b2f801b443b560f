#include "cli/json_fields.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>

namespace tutti::cli {
namespace {

// One list of the fields for all that is done with them.

template <class Visit>
void each_field(Visit visit) {
  visit("sent_messages", &GroupStatistics::sent_messages);
  visit("sent_bytes", &GroupStatistics::sent_bytes);
  visit("received_messages", &GroupStatistics::received_messages);
  visit("delivered_messages", &GroupStatistics::delivered_messages);
  visit("delivered_bytes", &GroupStatistics::delivered_bytes);
  visit("nulls_sent", &GroupStatistics::nulls_sent);
  visit("null_pushes", &GroupStatistics::null_pushes);
  visit("pushes", &GroupStatistics::pushes);
  visit("sender_waits", &GroupStatistics::sender_waits);
  visit("token_visits", &GroupStatistics::token_visits);
  visit("token_rests", &GroupStatistics::token_rests);
  visit("token_parked_ns", &GroupStatistics::token_parked_ns);
  visit("token_held_ns", &GroupStatistics::token_held_ns);
  visit("frames_handed_on", &GroupStatistics::frames_handed_on);
  visit("bytes_handed_on", &GroupStatistics::bytes_handed_on);
  visit("persisted", &GroupStatistics::persisted);
  visit("logged_bytes", &GroupStatistics::logged_bytes);
  visit("replayed", &GroupStatistics::replayed);
  visit("snapshots", &GroupStatistics::snapshots);
  visit("snapshot_before", &GroupStatistics::snapshot_before);
  visit("log_from", &GroupStatistics::log_from);
}

template <class Visit>
void each_histogram(Visit visit) {
  visit("send", &GroupStatistics::send);
  visit("receive", &GroupStatistics::receive);
  visit("delivery", &GroupStatistics::delivery);
  visit("pending", &GroupStatistics::pending);
  visit("persist", &GroupStatistics::persist);
}

template <class Visit>
void each_node_field(Visit visit) {
  visit("passes", &NodeStatistics::passes);
  visit("working_passes", &NodeStatistics::working_passes);
  visit("sleeps", &NodeStatistics::sleeps);
  visit("writes_posted", &NodeStatistics::writes_posted);
  visit("bytes_posted", &NodeStatistics::bytes_posted);
  visit("doorbells", &NodeStatistics::doorbells);
  visit("posting_ns", &NodeStatistics::posting_ns);
  visit("signalled_writes", &NodeStatistics::signalled_writes);
}

/// total += sign * more, where the counters wrap as unsigned numbers do.
void accumulate(BatchHistogram& total, const BatchHistogram& more, std::uint64_t sign) {
  for (std::size_t i = 0; i < total.buckets.size(); ++i) {
    total.buckets[i] += sign * more.buckets[i];
  }
  total.batches += sign * more.batches;
  total.items += sign * more.items;
}

void accumulate(GroupStatistics& total, const GroupStatistics& more, std::uint64_t sign) {
  each_field([&](const char*, auto field) { total.*field += sign * more.*field; });
  each_histogram([&](const char*, auto field) { accumulate(total.*field, more.*field, sign); });
}

void accumulate(NodeStatistics& total, const NodeStatistics& more, std::uint64_t sign) {
  each_node_field([&](const char*, auto field) { total.*field += sign * more.*field; });
}

constexpr std::uint64_t kPlus = 1;
constexpr std::uint64_t kMinus = ~std::uint64_t{0};

}  // namespace

nlohmann::json to_json(const BatchHistogram& histogram) {
  std::size_t used = histogram.buckets.size();
  while (used > 0 && histogram.buckets[used - 1] == 0) --used;
  nlohmann::json powers = nlohmann::json::array();
  for (std::size_t i = 0; i < used; ++i) powers.push_back(histogram.buckets[i]);
  return {{"mean", histogram.mean()},
          {"batches", histogram.batches},
          {"items", histogram.items},
          {"by_power_of_two", std::move(powers)}};
}

nlohmann::json to_json(const GroupStatistics& statistics) {
  nlohmann::json json;
  each_field([&](const char* name, auto field) { json[name] = statistics.*field; });
  each_histogram(
      [&](const char* name, auto field) { json["batches"][name] = to_json(statistics.*field); });
  return json;
}

nlohmann::json to_json(const NodeStatistics& statistics) {
  nlohmann::json json;
  each_node_field([&](const char* name, auto field) { json[name] = statistics.*field; });
  return json;
}

GroupStatistics growth(const GroupStatistics& begin, const GroupStatistics& end) {
  GroupStatistics grown = end;
  accumulate(grown, begin, kMinus);
  if (end.token_parked_ns < begin.token_parked_ns) grown.token_parked_ns = 0;
  return grown;
}

NodeStatistics growth(const NodeStatistics& begin, const NodeStatistics& end) {
  NodeStatistics grown = end;
  accumulate(grown, begin, kMinus);
  return grown;
}

void add(GroupStatistics& total, const GroupStatistics& more) { accumulate(total, more, kPlus); }
void add(NodeStatistics& total, const NodeStatistics& more) { accumulate(total, more, kPlus); }

}  // namespace tutti::cli
