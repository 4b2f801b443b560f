/// \file recovery_trio.hpp
/// Nodes a, b, c, each with a Recovery and a disk in memory; what they say arrives in the order of
/// sending, when a test says so.
#pragma once
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "log/writer.hpp"
#include "restart/recovery.hpp"
#include "support/sim_disk.hpp"
#include "unit/restart/some_views.hpp"

namespace tutti::restart::testing {

class RecoveryTrio {
 public:
  struct Member final : RestartTransport, RecoveryOwner {
    void send(std::uint32_t to, std::vector<std::byte> bytes) override {
      if (trio->links.contains(std::minmax(slot, to))) {
        trio->wire.push_back({slot, to, std::move(bytes)});
      }
    }
    // A node that runs has it in memory: its disk need not be readable.
    LogSummary log_now(std::size_t /*log*/) override {
      disk.on_operation({});
      auto now = summarize(disk, "/s/log", "log");
      EXPECT_TRUE(now);
      disk.on_operation([this](const tutti::testing::DiskOperation& one) {
        const bool fails = reads_fail && one.step == tutti::testing::DiskStep::read;
        return fails ? tutti::testing::DiskFate::io_error : tutti::testing::DiskFate::done;
      });
      if (now) now->snapshot = snapshots->newest();
      return now ? *now : LogSummary{.group = "log"};
    }
    void whole(std::size_t log, const LogSummary& summary) override {
      EXPECT_EQ(log, 0U);
      EXPECT_FALSE(whole_at);
      EXPECT_EQ(summary.next, writer->next());
      whole_at = summary.next;
    }
    void keep_from(std::size_t /*log*/, std::uint64_t seq) override { kept_from = seq; }
    [[nodiscard]] std::optional<Views> on_disk() const {
      const auto left = disk.after_power_loss(tutti::testing::SimDisk::kNothingKept);
      const auto views = ViewsFile(*left, "/s").load();
      EXPECT_TRUE(views);
      return views ? *views : std::nullopt;
    }
    void lose_disk() {
      std::destroy_at(&disk);
      std::construct_at(&disk);
    }
    // As a member that runs.
    void append(std::uint64_t count, std::uint64_t view, std::size_t bytes = 10) {
      log::Batch batch;
      const std::vector<std::byte> data(bytes);
      for (std::uint64_t i = 0; i < count; ++i) {
        batch.add({.seq = writer->next() + i, .view = view, .data = data});
      }
      ASSERT_TRUE(writer->write(batch));
      if (recovery) recovery->logs_grew();
    }

    // As a member that runs: the state before `seq`, as text. The log goes below it.
    void take_snapshot(std::uint64_t seq, const std::string& state) {
      auto one = log::SnapshotWriter::create(disk, snapshots->path_of(log::Snapshots::kNewName),
                                             seq * 10 + slot);
      ASSERT_TRUE(one);
      ASSERT_TRUE((*one)->append(std::as_bytes(std::span(state))));
      const auto header =
          (*one)->finish({.identity = writer->identity(), .origin = 7, .seq = seq, .view = 5});
      ASSERT_TRUE(header);
      ASSERT_TRUE(snapshots->publish(log::Snapshots::kNewName, *header));
      ASSERT_TRUE(writer->release_before(seq));
    }

    RecoveryTrio* trio = nullptr;
    std::uint32_t slot = 0;
    bool reads_fail = false;  // for others, once it runs
    bool hangs = false;       // nothing reaches it, and its links stay
    tutti::testing::SimDisk disk{};
    std::unique_ptr<ViewsFile> file{};
    std::unique_ptr<log::Writer> writer{};
    std::optional<log::Snapshots> snapshots{};
    std::unique_ptr<NodeLogs> logs{};
    std::unique_ptr<Recovery> recovery{};
    std::optional<std::uint64_t> whole_at{};
    std::optional<std::uint64_t> kept_from{};
  };
  struct Sent {
    std::uint32_t from = 0, to = 0;
    std::vector<std::byte> bytes{};
  };

  /// The node's log gets a record of each of these views, if it has none yet. Connected to nobody.
  void start(std::uint32_t slot, const std::optional<Views>& views,
             const std::vector<std::uint64_t>& log = {}) {
    Member& one = members[slot];
    one.trio = this;
    one.slot = slot;
    ASSERT_TRUE(one.disk.make_directory("/s"));
    one.file = std::make_unique<ViewsFile>(one.disk, "/s");
    if (views) {
      ASSERT_TRUE(one.file->save(*views));
    }
    auto writer = log::Writer::open(one.disk, "/s/log", {.node = names[slot], .group = "log"},
                                    {.segment_bytes = segment_bytes});
    ASSERT_TRUE(writer);
    one.writer = std::move(*writer);
    for (const std::uint64_t view : log) one.append(1, view);
    auto snapshots = log::Snapshots::open(one.disk, *one.writer);
    ASSERT_TRUE(snapshots);
    one.snapshots.emplace(std::move(*snapshots));
    one.logs = std::make_unique<NodeLogs>(
        one.disk, std::vector<GroupLog>{
                      {.group = "log", .writer = one.writer.get(), .snapshots = &*one.snapshots}});
    ASSERT_TRUE(one.logs->load());
    one.recovery = std::make_unique<Recovery>(*one.file, *one.logs, one, one,
                                              RecoveryOptions{.slot = slot,
                                                              .names = names,
                                                              .views = views,
                                                              .directory = ++directories,
                                                              .piece_bytes = piece_bytes});
    one.recovery->start();
  }
  /// All that are started.
  void connect_all() {
    for (std::uint32_t one = 0; one < 3; ++one) {
      for (std::uint32_t other = one + 1; other < 3; ++other) connect(one, other);
    }
  }
  void connect(std::uint32_t one, std::uint32_t other) {
    if (!members[one].recovery || !members[other].recovery) return;
    if (!links.insert(std::minmax(one, other)).second) return;
    members[one].recovery->up(other);
    members[other].recovery->up(one);
  }
  void stop(std::uint32_t slot) {
    members[slot].recovery.reset();
    members[slot].logs.reset();
    members[slot].snapshots.reset();
    members[slot].writer.reset();
    members[slot].whole_at.reset();
    for (std::uint32_t other = 0; other < 3; ++other) disconnect(slot, other);
  }
  void disconnect(std::uint32_t one, std::uint32_t other) {
    if (one == other || links.erase(std::minmax(one, other)) == 0) return;
    std::erase_if(wire, [&](const Sent& sent) {
      return std::minmax(sent.from, sent.to) == std::minmax(one, other);
    });
    if (members[one].recovery) members[one].recovery->down(other);
    if (members[other].recovery) members[other].recovery->down(one);
  }
  void deliver() {
    for (int said = 0; deliver_one(); ++said) {
      ASSERT_LT(said, 10000) << "they talk without end";
    }
  }
  /// False if nothing is under way.
  bool deliver_one() {
    if (wire.empty()) return false;
    const Sent sent = std::move(wire.front());
    wire.pop_front();
    if (members[sent.to].hangs) return true;
    said_to[sent.to] += sent.bytes.size();
    members[sent.to].recovery->receive(sent.from, sent.bytes);
    return true;
  }
  void tick() {
    for (Member& one : members) {
      if (one.recovery) one.recovery->tick();
      deliver();
    }
  }
  void say(std::uint32_t from, std::uint32_t to, const RestartMessage& message) {
    members[to].recovery->receive(from, encode(message));
  }
  /// The nodes found what a restart has decided, and run in it.
  void found(const std::vector<std::uint32_t>& slots) {
    for (const std::uint32_t slot : slots) {
      ASSERT_TRUE(at(slot).founds()) << at(slot).why();
      const ViewRecord view = *at(slot).founds();
      ASSERT_EQ(at(slot).install(view), Recovery::Installed::yes);
      EXPECT_FALSE(at(slot).founds());
      at(slot).begin(0, *view.first_of("log"));
    }
    deliver();
  }
  /// a and b come back from `records` records of view 3, and run in view 5.
  void run_two(std::size_t records);
  /// A joiner enters the view.
  void enter(std::uint32_t slot, const ViewRecord& view) {
    ASSERT_EQ(at(slot).install(view), Recovery::Installed::yes);
    at(slot).begin(0, *view.first_of("log"));
    deliver();
  }
  Recovery& at(std::uint32_t slot) { return *members[slot].recovery; }

  const Names names{"a", "b", "c"};
  std::uint64_t segment_bytes = 8192;  // before start(), as the next
  std::size_t piece_bytes = 200;
  std::uint64_t directories = 100;
  Member members[3];
  std::set<std::pair<std::uint32_t, std::uint32_t>> links{};
  std::deque<Sent> wire{};
  std::size_t said_to[3]{};  // bytes that were delivered to each
};

/// What a member of the group has written down, view 3 of all three if nothing else is said.
inline Views views_at(std::uint32_t slot, std::vector<ViewRecord> chain = {view_of(3, {0, 1, 2})}) {
  const Names names{"a", "b", "c"};
  return {.node = names[slot], .nodes = names, .origin = 7, .since = 1, .chain = std::move(chain)};
}

inline void RecoveryTrio::run_two(std::size_t records) {
  const std::vector<std::uint64_t> log(records, 3);
  start(0, views_at(0), log);
  start(1, views_at(1), log);
  connect_all();
  deliver();
  tick();
  found({0, 1});
}

}  // namespace tutti::restart::testing
