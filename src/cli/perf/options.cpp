#include "cli/perf/options.hpp"

#include <CLI/CLI.hpp>

namespace tutti::cli {
namespace {

constexpr std::int64_t kMessagesMax = 1'000'000'000'000;
constexpr const char* kLogFolderHelp =
    "where members log, each in a folder of its name, which is removed at the end if it was not "
    "there. Default, on this host alone: a temporary folder in the current one";

}  // namespace

void add_common_perf_options(CLI::App& command, PerfOptions& options, const char* about_order) {
  command.add_option("--members", options.members, "how many member processes, 1 to 256")
      ->check(whole_number(1, 256))
      ->capture_default_str();
  command.add_option("--order", options.order, about_order)->capture_default_str();
  add_ring_windows(command, options.windows);
  command
      .add_option("--fabric", options.fabric,
                  "what carries the messages: shm, tcp, verbs, auto or ofi:PROVIDER")
      ->capture_default_str();
  command.add_option("--rdma-device", options.rdma_device, kRdmaDeviceHelp);
  command.add_option("--seconds", options.seconds, "measured time")->capture_default_str();
  command
      .add_option("--warmup", options.warmup_s, "seconds of the same load before the measured time")
      ->capture_default_str();
  command.add_option("--groups", options.groups, "groups with all members in each, 1 to 1024")
      ->check(whole_number(1, 1024))
      ->capture_default_str();
  command
      .add_option("--idle", options.idle,
                  "how a member waits when there is nothing to do: spin, yield or sleep")
      ->capture_default_str();
  command.add_option("--idle-spin-us", options.idle_spin_us,
                     "microseconds that a member spins before it yields, in place of --idle");
  command.add_option("--idle-yield-us", options.idle_yield_us,
                     "microseconds that a member yields before it sleeps, in place of --idle");
  command
      .add_option("--drive", options.drive,
                  "own: the node has a thread; caller: one thread sends and drives the node")
      ->capture_default_str();
  command
      .add_option(
          "--delivery", options.delivery,
          "which thread delivers: predicate (the node's), own (one per group), or one of "
          "the application, which takes batches: application (one per group, waits in "
          "Group::take), epoll or asio (one event loop, which also serves a timer of 10 ms)")
      ->capture_default_str();
  command.add_flag("--pin", options.pin, "pin each member to a processor of its host, in turn");
  command
      .add_option("--numa-node", options.numa_node,
                  "keep each member on the processors and in the memory of this NUMA node, such as "
                  "that of the RDMA device")
      ->check(whole_number(0, 1023));
  add_bytes(command, "--window", options.window_bytes, "4K to 1G", "ring buffer of each sender");
  command
      .add_option("--window-messages", options.window_messages,
                  "messages in that ring, a power of two, 2 to 4194304")
      ->check(whole_number(2, 4'194'304))
      ->capture_default_str();
  command
      .add_option("--start-timeout", options.start_timeout_s,
                  "seconds that members wait for each other at the start")
      ->capture_default_str();
  command
      .add_option("--suspect-after", options.suspect_after_s,
                  "seconds without a sign of life after which a member is removed")
      ->capture_default_str();
}

void add_load_options(CLI::App& command, PerfOptions& options) {
  command
      .add_option("--senders", options.senders,
                  "members that may send: all, half (rounded up), one, or a number")
      ->capture_default_str();
  command
      .add_option("--active", options.active,
                  "how many of the senders do send: all, half, one, or a number")
      ->capture_default_str();
  add_bytes(command, "--size", options.size_bytes, "0 to 16M", "size of each message");
  command
      .add_option("--messages", options.messages,
                  "messages that each active sender sends to each group, instead of --seconds")
      ->check(whole_number(0, kMessagesMax));
  command.add_option("--active-groups", options.active_groups,
                     "how many groups the members send to; the others stay silent. Default: all");
  command.add_option("--rate", options.rate,
                     "messages per second of each sender to each group. Default: no limit");
  command
      .add_option("--touch", options.touch,
                  "what each receiver reads of a message: all bytes, or header (the first 8). "
                  "Senders write all bytes either way")
      ->capture_default_str();
  command.add_option("--pausing", options.pausing, "how many active senders pause after each send");
  command.add_option("--pause-us", options.pause_us, "how long they pause, in microseconds");
  command
      .add_option("--in-flight", options.in_flight,
                  "most messages that a sender has in flight; 1: wait for each delivery")
      ->check(whole_number(0, 16'777'216));
  command.add_option("--sample-every", options.sample_every,
                     "time one message in so many. Default: chosen by load");
  command.add_flag("--spin", options.spin, "senders and callers spin instead of yielding");
  command.add_flag("--verify", options.verify,
                   "check every byte, and that all members deliver the same sequence");
}

void add_multicast_options(CLI::App& command, PerfOptions& options) {
  command
      .add_option("--level", options.level,
                  "when messages are delivered: unordered, agreed, atomic, durable")
      ->capture_default_str();
  add_log_options(command, options.log, kLogFolderHelp);
}

void add_topic_options(CLI::App& command, PerfOptions& options) {
  command
      .add_option("--service", options.service,
                  "of the topics, one in each group: unordered, atomic, stored, logged")
      ->capture_default_str();
  command
      .add_option("--topics", options.quiet_topics,
                  "quiet topics in the first group, 0 to 100000, each with a reader at each member")
      ->check(whole_number(0, 100'000))
      ->capture_default_str();
  command.add_flag("!--no-source-timestamps", options.source_timestamps,
                   "writers do not look at the clock for each sample");
  command.add_option("--state-dir", options.log.state_dir, kLogFolderHelp);
}

}  // namespace tutti::cli
