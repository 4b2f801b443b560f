/// \file shared_table.cpp
/// Question: how many messages per second can members deliver, atomically and in one order, from a
/// table in shared memory, when there is no library around the loop?
///
/// Set-up: one process per member, forked after the mapping; a sender thread and a predicate thread
/// each (`--drive threads`), or one thread for both (`--drive caller`); the first `--senders` ranks
/// send without pause. `--touch all`: every byte written by the sender and read by each receiver;
/// `write`: every byte written, 8 read; `header`: 8 written, 8 read. The window is per sender. A
/// fifth of the time is warm-up. The bytes delivered are checked at the end.
///
/// Unit: messages and bytes delivered per second, averaged over the members, own messages included.
///
/// Command: limit_shared_table --members 3 --senders all --size 64 --window-bytes 1M --seconds 2
#include "shared_table.hpp"

#include <cinttypes>
#include <string>
#include <thread>

#include "json.hpp"

namespace limits {
namespace {

struct Options {
  Shape shape;
  double seconds;
  bool own_sender_thread;
  int64_t pauses;
  int64_t burst;  // messages that a caller sends between two steps
};

void receive_until_done(const Options& options, Receiver& receiver) {
  Idle idle(options.pauses);
  while (true) {
    if (receiver.step()) {
      idle.reset();
    } else if (receiver.done()) {
      break;
    } else {
      idle.wait();
    }
  }
  receiver.finish();
}

void send_until_stop(const Options& options, const Table& table, int rank) {
  Sender sender(options.shape, table, rank);
  Idle idle(options.pauses);
  while (!table.control->stop.load(std::memory_order_relaxed)) {
    if (sender.send(options.burst) > 0) {
      idle.reset();
    } else {
      idle.wait();
    }
  }
  sender.finish();
}

void send_and_receive(const Options& options, const Table& table, int rank, Receiver& receiver) {
  Sender sender(options.shape, table, rank);
  Idle idle(options.pauses);
  while (!table.control->stop.load(std::memory_order_relaxed)) {
    const bool sent = sender.send(options.burst) > 0;
    if (receiver.step() || sent) {
      idle.reset();
    } else {
      idle.wait();
    }
  }
  sender.finish();
}

int run_member(const Options& options, const Table& table, int rank) {
  touch_pages(reinterpret_cast<std::byte*>(table.control), Table::bytes(options.shape));
  report_ready(table.control->ready);
  Receiver receiver(options.shape, table, rank);
  const bool sends = rank < options.shape.senders;
  if (sends && options.own_sender_thread) {
    std::jthread sender(send_until_stop, std::cref(options), std::cref(table), rank);
    receive_until_done(options, receiver);
    return 0;
  }
  if (sends) send_and_receive(options, table, rank, receiver);
  receive_until_done(options, receiver);
  return 0;
}

/// Whether each member delivered exactly what the senders wrote.
bool check(const Shape& shape, const Table& table) {
  const int64_t length = table.sent_prefix(shape.senders);
  uint64_t expected = 0;
  for (int sender = 0; sender < shape.senders; ++sender) {
    const int64_t count = (length + shape.senders - 1 - sender) / shape.senders;
    for (int64_t index = 0; index < count; ++index) {
      expected += expected_sum(shape.ring.read_bytes, seed_of(sender, index));
    }
  }
  for (int rank = 0; rank < shape.members; ++rank) {
    const Row& row = table.rows[rank];
    const bool complete = row.delivered.get() == length;
    if (complete && static_cast<uint64_t>(row.checksum.get()) == expected) continue;
    std::fprintf(stderr, "error: member %d delivered %" PRId64 " of %" PRId64 " messages%s\n", rank,
                 row.delivered.get(), length, complete ? ", with other bytes than were sent" : "");
    return false;
  }
  return true;
}

int64_t delivered_by_members(const Shape& shape, const Table& table) {
  int64_t total = 0;
  for (int rank = 0; rank < shape.members; ++rank) total += table.rows[rank].delivered.get();
  return total;
}

Arguments describe(int argc, char** argv) {
  return {argc,
          argv,
          {{"members", "3", "processes, 1 to 64"},
           {"senders", "all", "all, half, one or a number: how many of them send"},
           {"size", "64", "bytes per message"},
           {"slots", "", "messages in the ring of a sender; default: from --window-bytes"},
           {"window-bytes", "1M", "bytes in the ring of a sender"},
           {"touch", "all", "all, write or header: which bytes are written and read"},
           {"seconds", "2", "a fifth of it warm-up, the rest measured"},
           {"drive", "threads", "threads or caller: who sends"},
           {"batch", "256", "messages delivered between two publications"},
           {"burst", "256", "messages sent between two looks elsewhere"},
           {"idle", "yield", "yield or spin"},
           {"pauses", "16", "pauses before the first yield"}}};
}

int parse_senders(Arguments& arguments, int members) {
  const std::string senders = arguments.text("senders");
  if (senders == "all") return members;
  if (senders == "half") return (members + 1) / 2;
  if (senders == "one") return 1;
  return static_cast<int>(arguments.integer("senders", 1, members));
}

Options parse(int argc, char** argv) {
  Arguments arguments = describe(argc, argv);
  Options options{};
  Shape& shape = options.shape;
  shape.members = static_cast<int>(arguments.integer("members", 1, 64));
  shape.senders = parse_senders(arguments, shape.members);
  shape.ring = parse_ring(arguments);
  shape.batch = arguments.integer("batch", 1, 1 << 20);
  options.burst = arguments.integer("burst", 1, 1 << 20);
  options.seconds = arguments.real("seconds", 0.01, 600);
  options.own_sender_thread = arguments.choice("drive", {"threads", "caller"}) == "threads";
  options.pauses = parse_pauses(arguments);
  return options;
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const Shape& shape = options.shape;
  const Table table(shape, map_shared(Table::bytes(shape)));
  Processes members(shape.members, options.seconds * 2 + 30,
                    [&](int rank) { return run_member(options, table, rank); });
  members.wait_until_ready(table.control->ready);
  const Window window =
      members.measure(options.seconds, [&] { return delivered_by_members(shape, table); });
  table.control->stop.store(true);
  members.join();
  if (!check(shape, table)) return 1;

  const double rate = window.per_second() / shape.members;
  return Json()
      .add("delivered_messages_per_second", rate)
      .add("delivered_bytes_per_second", rate * static_cast<double>(shape.ring.size))
      .add("members", int64_t{shape.members})
      .add("senders", int64_t{shape.senders})
      .add("size", shape.ring.size)
      .add("slots", shape.ring.slots)
      .add("window_bytes", shape.ring.bytes())
      .add("seconds", window.seconds)
      .add("cpu_seconds", window.cpu_seconds)
      .print();
}

}  // namespace
}  // namespace limits

int main(int argc, char** argv) { return limits::run(argc, argv); }
