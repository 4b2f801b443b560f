/// \file options.hpp
/// The options of a node and of a group: plain structs, each field with its unit and legal range.
///
/// validate() names the field, the value it has and what would be legal. Options that must be the
/// same at all members are marked [same]; start() finds a difference and names it.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/error.hpp"
#include "tutti/export.hpp"
#include "tutti/message.hpp"
#include "tutti/request.hpp"
#include "tutti/state.hpp"
#include "tutti/types.hpp"
#include "tutti/view.hpp"

namespace tutti {

/// How the predicate loop waits when there is nothing to do: it spins, then yields the processor
/// on every turn, then sleeps until a doorbell rings. Sleeping costs no processor time; waking up
/// costs some 20 us across cores.
struct Idle {
  std::chrono::nanoseconds spin{0};  ///< 0 .. 1 s; spinning burns a core: only with cores to spare
  std::chrono::nanoseconds yield{100'000};  ///< 0 .. 1 s of yielding after that
  bool sleep = true;                        ///< false: yields (or spins, if yield is 0) for ever
};

enum class LogLevel : std::uint8_t { debug, info, warning, error };

/// Called with each log line, on a thread of the node that does nothing else, one call at a time:
/// only the end of the node waits for it. If it is slow, up to 256 KiB of lines wait for it; beyond
/// that the oldest are dropped, and a line says how many. It must not throw: if it does, the node
/// fails, and it is not called again. LogLevel::error: the node has failed.
using LogCallback = std::function<void(LogLevel, std::string_view)>;

/// One of the nodes that may be members.
struct MemberAddress {
  std::string name{};     ///< 1 .. 255 bytes of letters, digits, '-', '_', '.'; unique [same]
  std::string address{};  ///< HOST:PORT or [IPv6]:PORT where it listens [same]
};

struct NodeOptions {
  std::string name{};                    ///< which of the members this node is
  std::vector<MemberAddress> members{};  ///< all that may ever be members, 1 .. 256 [same]
  FabricChoice fabric = FabricChoice::automatic;
  /// libfabric's provider, by libfabric's name for it, such as "tcp" or "tcp;ofi_rxm": with
  /// FabricChoice::ofi, and only then [same]. start() refuses a provider that is missing, or that
  /// promises neither to keep writes in order nor to tell when they have landed, and lists usable
  /// ones (docs/libfabric.md).
  std::string provider{};
  /// The RDMA device for FabricChoice::verbs or automatic: NAME, NAME:PORT or NAME:PORT:GID (the
  /// GID's index), or one of this host's addresses. Empty: the one that has the address where this
  /// node listens, or else the first one that is up.
  std::string rdma_device{};
  Drive drive = Drive::own_thread;
  Idle idle{};
  std::chrono::nanoseconds start_timeout = std::chrono::seconds(30);  ///< 1 ms .. 1 day
  /// How many members found the group: more than half of all; 0: all of them. Others join later.
  std::uint32_t founders = 0;
  /// Joins an existing group, never founds one: use it when a node is started again. Such a node
  /// has forgotten what it agreed to, so it must not found a second group beside the first one.
  bool join_only = false;
  /// The others suspect and remove a member that shows no sign of life for so long; 10 ms .. 1 h.
  /// They notice at once that its process has died if the kernel tells them. They close the
  /// connection of a node in no view that shows no sign of life for so long, but at least for 1 s.
  std::chrono::nanoseconds suspect_after = std::chrono::seconds(1);
  /// Warns through `log` of a callback of this node that runs for so long (including those for
  /// states, the reading of a snapshot and its destructor), and of another member that has not
  /// delivered what this member delivered so long ago, not counting this node's own pauses. It also
  /// says when that is over. It removes no member. With Drive::caller, poll() and calls that wait
  /// make this check: they do not name a callback that runs inside them, but the log reports the
  /// late poll that follows (Node::poll). 1 ms .. 1 h; 0: never warns.
  std::chrono::nanoseconds slow_after = std::chrono::seconds(1);
  /// Removes another member that has delivered nothing for so long although there was something to
  /// deliver, even if only its application is slow, or that loads its state for so long. Pauses of
  /// this node itself, such as those of its process or machine, do not count. Use the same value at
  /// all members: then the removed one is told why. suspect_after .. 1 day; 0: never. With
  /// Order::lcr positions are told every 50 ms, so a removal comes up to 100 ms later.
  std::chrono::nanoseconds remove_after{0};
  /// Tests the path to another node and back in so many rounds, some 10 us each, before a view
  /// admits that node: data must always become visible before the guard that announces it. For new
  /// hardware and drivers; a path that fails ends the node, with an error that says how.
  /// 0 .. 1,000,000; 0: no test [same].
  std::uint32_t litmus_rounds = 0;
  /// The most bytes that a request or a reply has (Node::send_to), 0 .. 1 MiB; 0: no requests, and
  /// no memory for them. For each other member a row has two ring buffers of 4 KiB or four times as
  /// much, whichever is more, rounded up to a power of two [same].
  std::uint32_t request_max_bytes = 0;
  /// Answers the other members' requests; empty: they get an error. Needs request_max_bytes.
  RequestHandler on_request{};
  /// A folder of this node alone, for the logs of its groups; it is made, with mode 0700, if it is
  /// not there. Two nodes cannot use one at the same time. Needed if a group is logged.
  std::string state_dir{};
  /// The groups that are logged are new: the nodes of `members` found them once all are there. Say
  /// it once, at one of the nodes, or by bootstrap() (bootstrap.hpp). A start fails if state_dir,
  /// or another node, knows of such groups already. Without it a node never founds a group that is
  /// logged: it waits for the others, and goes on with them from what is in state_dir.
  bool bootstrap = false;
  ViewCallback on_view{};  ///< may be empty
  LogCallback log{};       ///< empty: silent

  [[nodiscard]] TUTTI_API Result<void> validate() const;
};

struct GroupOptions {
  std::string name{};                  ///< 1 .. 255 bytes, unique in the node [same]
  std::vector<std::string> members{};  ///< names of the nodes that deliver it; empty: all [same]
  std::vector<std::string> senders{};  ///< a subset of the members; empty: all of them [same]
  Order order = Order::round_robin;    ///< [same]
  Level level = Level::atomic;         ///< [same]
  std::uint32_t message_max_bytes = 64 * 1024;  ///< 1 .. 16 MiB, at most window_bytes / 4 [same]
  /// Ring buffer per sender: rounded up to a power of two, 4 KiB .. 1 GiB [same].
  /// The default was measured to be the best for messages of 64 B to 10 KB (docs/performance.md).
  std::uint64_t window_bytes = 1024 * 1024;
  /// A power of two, 2 .. 2^22; times the number of senders less than 2^29 with Order::round_robin
  /// and less than 2^28 with Order::lcr [same].
  std::uint32_t window_messages = 65536;
  /// The address of each message's data is a multiple of it, at its sender and at every member, so
  /// that vector instructions, direct I/O or types of that alignment need no copy. A power of two,
  /// 8 .. 4096, at most window_bytes / 4. Above 8 a message, with its header of 8 bytes, takes a
  /// multiple of it of the window [same].
  std::uint32_t alignment = 8;
  /// About every so long one of the senders puts a tick into the sequence (Message::tick), so that
  /// what depends on time happens at the same place at all members: leases, retries, closing times.
  /// It is the first sender of the view, by rank, that has not finished. A tick that finds no
  /// space, or comes before that member has delivered the tick before, or while a member has yet to
  /// deliver many, is left out; one comes late behind a claim that its member has open. Of a new
  /// clock that has seen no tick itself, for it joined since the last one, the first may be earlier
  /// than those that others have seen, by the difference of two system clocks. 1 ms .. 1 day; 0: no
  /// ticks. Needs an order and message_max_bytes of 8 or more [same].
  std::chrono::nanoseconds tick_every{0};
  /// Each member appends what is delivered, in the group's order, to a log on its disk, in a folder
  /// of the group's name under NodeOptions::state_dir. At Level::atomic nothing waits for the disk,
  /// but a log that is more than a few MiB behind holds the group's space, so that it slows the
  /// group, and nothing is left out. At Level::durable messages are delivered once they are in all
  /// members' logs, or in those of a majority. docs/log.md says what is in the files, and what
  /// happens when a disk fails. Needs one of these two levels; Level::durable needs it [same].
  bool logged = false;
  /// At Level::durable messages are delivered once they are in the logs of a majority of the
  /// members, not of all: a slow or stalled disk holds up nobody until some MiB wait for it. They
  /// are not lost as long as a majority of the disks is not; but this member's log may not have yet
  /// what was delivered here (docs/durable.md). Needs Level::durable [same].
  bool durable_quorum = false;
  /// Of a group that is logged: this member's application is handed what has this number
  /// (Message::seq) or a higher one, whether it ran at that time or not: what is in the log comes
  /// before anything new. 0: all; its newest snapshot, if it has one, in the place of what comes
  /// before that. Else no snapshot is loaded, unless the log begins behind that number. A stateful
  /// member that joins others takes their state instead.
  std::uint64_t deliver_from = 0;
  /// Of a group that is logged and stateful: this member writes its state into a file beside its
  /// log each time that the log has grown by so many bytes. A restart begins from there, and
  /// segments of the log that nobody needs any more are used again (docs/durable.md). 4 KiB ..; 0:
  /// not by size. The state is taken by snapshot or save_state, as for members that join.
  std::uint64_t snapshot_every_bytes = 0;
  /// The same so long after the last one, if the log has grown. 10 ms .. 1 day; 0: not by age.
  std::chrono::nanoseconds snapshot_every{0};
  /// Segments go only as long as those that stay have so many bytes: a node that was away while
  /// the group logged less than that fetches what it lacks, and no snapshot.
  std::uint64_t keep_log_bytes = 64ULL << 20;
  /// Of a group that is logged: the size of a file of its log, of which it has two from the start
  /// on. A multiple of 4 KiB, 64 KiB .. 1 GiB, at least four times message_max_bytes.
  std::uint64_t log_segment_bytes = 64ULL << 20;
  // Of Order::token_ring, in messages, by the names of [Accelerated Ring, III-B]:
  // accelerated_window <= personal_window <= global_window <= maximum_gap.
  std::uint32_t personal_window = 8192;     ///< most that a visit sends, 1 .. 2^24 [same]
  std::uint32_t accelerated_window = 6144;  ///< of these, so many leave after the token [same]
  std::uint32_t global_window = 65536;      ///< most that a rotation sends, .. 2^24 [same]
  /// No number is given that is further beyond what all members have, .. 2^27 [same].
  std::uint32_t maximum_gap = 524288;
  DeliveryThread delivery = DeliveryThread::predicate;
  /// May be empty: messages are then counted and dropped, or, with DeliveryThread::application,
  /// taken by Group::take, where it must be empty.
  DeliveryCallback on_delivery{};
  /// Joiners take over the application's state. Needs load_state, one of snapshot and save_state
  /// (state.hpp says which), and an order [same].
  bool stateful = false;
  TakeSnapshot snapshot{};
  SaveState save_state{};
  LoadState load_state{};

  [[nodiscard]] TUTTI_API Result<void> validate() const;
};

/// A value to the word that the command line uses for it, and back. An unknown word is an error
/// that lists the known ones.
[[nodiscard]] TUTTI_API std::string_view to_string(Order order);
[[nodiscard]] TUTTI_API std::string_view to_string(Level level);
[[nodiscard]] TUTTI_API std::string_view to_string(FabricChoice fabric);
[[nodiscard]] TUTTI_API Result<Order> order_from(std::string_view word);
[[nodiscard]] TUTTI_API Result<Level> level_from(std::string_view word);
[[nodiscard]] TUTTI_API Result<FabricChoice> fabric_from(std::string_view word);

/// A fabric with its provider as the command line writes it ("auto", "shm", "tcp", "verbs" or
/// "ofi:PROVIDER") to the options, and back.
[[nodiscard]] TUTTI_API Result<void> set_fabric(NodeOptions& node, std::string_view text);
[[nodiscard]] TUTTI_API std::string fabric_text(const NodeOptions& node);

}  // namespace tutti
