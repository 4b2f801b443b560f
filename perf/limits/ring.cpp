/// \file ring.cpp
/// Question: how many messages per second go from one process to another through a plain ring of
/// fixed slots in shared memory, in place?
///
/// Set-up: two processes; the sender publishes each message, the receiver gives slots back once per
/// batch. `--touch all`: every byte written and read; `write`: every byte written, 8 read;
/// `header`: 8 written, 8 read. A fifth of the time is warm-up. The bytes read are checked at the
/// end.
///
/// Unit: messages and bytes received per second.
///
/// Command: limit_ring --size 64 --window-bytes 1M --seconds 2
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "json.hpp"
#include "processes.hpp"
#include "ring_shape.hpp"

namespace limits {
namespace {

struct Options {
  RingShape ring;
  int64_t batch;
  int64_t pauses;
  double seconds;
};

/// What lies before the slots. Every counter has one writer.
struct Shared {
  alignas(kLineBytes) std::atomic<int64_t> sent;      // messages; sender
  alignas(kLineBytes) std::atomic<int64_t> received;  // messages; receiver
  alignas(kLineBytes) std::atomic<bool> finished;     // `sent` is final; sender
  alignas(kLineBytes) std::atomic<bool> stop;         // parent
  std::atomic<size_t> ready;
  std::atomic<uint64_t> checksum;  // of all that was received; receiver, at its end
  alignas(4096) std::byte slots[4096];
};

size_t shared_bytes(const Options& options) {
  return sizeof(Shared) + static_cast<size_t>(options.ring.bytes());
}

uint64_t seed_of(int64_t index) { return static_cast<uint64_t>(index) * 0x9E3779B97F4A7C15; }

int send(const Options& options, Shared& shared) {
  const RingShape ring = options.ring;
  Idle idle(options.pauses);
  int64_t room = ring.slots;  // may send below this index without looking
  int64_t slot = 0;
  int64_t index = 0;
  std::byte* const slots = shared.slots;
  while (!shared.stop.load(std::memory_order_relaxed)) {
    if (index == room) {
      room = shared.received.load(std::memory_order_acquire) + ring.slots;  // with receive
      if (index == room) {
        idle.wait();
        continue;
      }
      idle.reset();
    }
    for (const int64_t end = std::min(room, index + options.batch); index < end;) {
      fill(slots + slot * ring.stride_bytes, ring.written_bytes, seed_of(index));
      if (++slot == ring.slots) slot = 0;
      shared.sent.store(++index, std::memory_order_release);  // with receive
    }
  }
  shared.finished.store(true, std::memory_order_release);  // with receive
  return 0;
}

int receive(const Options& options, Shared& shared) {
  const RingShape ring = options.ring;
  Idle idle(options.pauses);
  uint64_t checksum = 0;
  int64_t slot = 0;
  int64_t index = 0;
  while (true) {
    const bool last = shared.finished.load(std::memory_order_acquire);  // before `sent`
    const int64_t sent = shared.sent.load(std::memory_order_acquire);   // with send
    if (sent == index) {
      if (last) break;
      idle.wait();
      continue;
    }
    idle.reset();
    for (const int64_t end = std::min(sent, index + options.batch); index < end; ++index) {
      checksum += sum(shared.slots + slot * ring.stride_bytes, ring.read_bytes);
      if (++slot == ring.slots) slot = 0;
    }
    shared.received.store(index, std::memory_order_release);  // with send
  }
  shared.checksum.store(checksum);
  return 0;
}

/// Whether the receiver read all that the sender wrote.
bool check(const Options& options, const Shared& shared) {
  uint64_t expected = 0;
  for (int64_t index = 0; index < shared.sent.load(); ++index) {
    expected += expected_sum(options.ring.read_bytes, seed_of(index));
  }
  if (shared.received.load() == shared.sent.load() && shared.checksum.load() == expected)
    return true;
  std::fprintf(stderr, "error: the receiver read other bytes than were sent\n");
  return false;
}

Options parse(int argc, char** argv) {
  Arguments arguments(argc, argv,
                      {{"size", "64", "bytes per message"},
                       {"slots", "", "messages in the ring; default: from --window-bytes"},
                       {"window-bytes", "1M", "bytes in the ring"},
                       {"touch", "all", "all, write or header: which bytes are written and read"},
                       {"seconds", "2", "a fifth of it warm-up, the rest measured"},
                       {"batch", "256", "messages received between two publications"},
                       {"idle", "yield", "yield or spin"},
                       {"pauses", "16", "pauses before the first yield"}});
  Options options{};
  options.ring = parse_ring(arguments);
  options.batch = arguments.integer("batch", 1, 1 << 20);
  options.pauses = parse_pauses(arguments);
  options.seconds = arguments.real("seconds", 0.01, 600);
  return options;
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  std::byte* const memory = map_shared(shared_bytes(options));
  Shared& shared = *new (memory) Shared;
  Processes ends(2, options.seconds * 2 + 30, [&](int rank) {
    touch_pages(memory, shared_bytes(options));
    report_ready(shared.ready);
    return rank == 0 ? send(options, shared) : receive(options, shared);
  });
  ends.wait_until_ready(shared.ready);
  const Window window = ends.measure(options.seconds, [&] { return shared.received.load(); });
  shared.stop.store(true);
  ends.join();
  if (!check(options, shared)) return 1;
  return Json()
      .add("received_messages_per_second", window.per_second())
      .add("received_bytes_per_second",
           window.per_second() * static_cast<double>(options.ring.size))
      .add("size", options.ring.size)
      .add("slots", options.ring.slots)
      .add("window_bytes", options.ring.bytes())
      .add("seconds", window.seconds)
      .add("cpu_seconds", window.cpu_seconds)
      .print();
}

}  // namespace
}  // namespace limits

int main(int argc, char** argv) { return limits::run(argc, argv); }
