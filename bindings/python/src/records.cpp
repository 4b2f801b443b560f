#include "records.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "words.hpp"

namespace tutti::python {
namespace {

nb::dict record_of(const BatchHistogram& histogram) {
  nb::dict all;
  nb::list buckets;
  for (const std::uint64_t bucket : histogram.buckets) buckets.append(bucket);
  all["buckets"] = nb::tuple(buckets);
  all["batches"] = histogram.batches;
  all["items"] = histogram.items;
  return all;
}

}  // namespace

nb::dict record_of(const ViewChange& view) {
  nb::dict all;
  all["view"] = view.view;
  all["members"] = view.members.all();
  all["incarnations"] = view.incarnations.all();
  all["rank"] = view.rank.value;
  all["joined"] = view.joined;
  nb::list left;
  for (const Departure& departure : view.left) {
    nb::dict one;
    one["member"] = departure.member;
    one["incarnation"] = departure.incarnation;
    one["reason"] = word_of(departure.reason);
    left.append(one);
  }
  all["left"] = left;
  return all;
}

nb::dict record_of(const NodeStatistics& statistics) {
  nb::dict all;
  all["passes"] = statistics.passes;
  all["working_passes"] = statistics.working_passes;
  all["sleeps"] = statistics.sleeps;
  all["writes_posted"] = statistics.writes_posted;
  all["bytes_posted"] = statistics.bytes_posted;
  all["doorbells"] = statistics.doorbells;
  all["posting_ns"] = statistics.posting_ns;
  all["signalled_writes"] = statistics.signalled_writes;
  return all;
}

nb::dict record_of(const GroupStatistics& statistics) {
  nb::dict all;
  all["sent_messages"] = statistics.sent_messages;
  all["sent_bytes"] = statistics.sent_bytes;
  all["received_messages"] = statistics.received_messages;
  all["delivered_messages"] = statistics.delivered_messages;
  all["delivered_bytes"] = statistics.delivered_bytes;
  all["nulls_sent"] = statistics.nulls_sent;
  all["null_pushes"] = statistics.null_pushes;
  all["pushes"] = statistics.pushes;
  all["sender_waits"] = statistics.sender_waits;
  all["token_visits"] = statistics.token_visits;
  all["token_rests"] = statistics.token_rests;
  all["token_parked_ns"] = statistics.token_parked_ns;
  all["token_held_ns"] = statistics.token_held_ns;
  all["frames_handed_on"] = statistics.frames_handed_on;
  all["bytes_handed_on"] = statistics.bytes_handed_on;
  all["persisted"] = statistics.persisted;
  all["logged_bytes"] = statistics.logged_bytes;
  all["send"] = record_of(statistics.send);
  all["receive"] = record_of(statistics.receive);
  all["delivery"] = record_of(statistics.delivery);
  all["pending"] = record_of(statistics.pending);
  all["persist"] = record_of(statistics.persist);
  all["replayed"] = statistics.replayed;
  all["snapshots"] = statistics.snapshots;
  all["snapshot_before"] = statistics.snapshot_before;
  all["log_from"] = statistics.log_from;
  return all;
}

nb::dict record_of(const MemberLag& lag) {
  nb::dict all;
  all["member"] = lag.member;
  all["messages"] = lag.messages;
  all["bytes"] = lag.bytes;
  all["behind"] = seconds_of(lag.behind);
  all["holds_window"] = lag.holds_window;
  return all;
}

}  // namespace tutti::python
