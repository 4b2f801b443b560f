/// \file log_disk.hpp
/// The log of one group on a simulated disk: the LogSink of a simulated member, and what of it
/// would be there after a crash.
///
/// Threads: one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "multicast/log_sink.hpp"
#include "sim/disk_syncs.hpp"
#include "sim/net.hpp"
#include "sim/options.hpp"

namespace tutti::sim {

/// What a log has of a message.
struct LogRecord {
  std::uint64_t view = 0;
  MemberIndex sender{};
  bool tick = false;
  std::size_t size = 0;
  std::uint32_t crc = 0;
  friend bool operator==(const LogRecord&, const LogRecord&) = default;
};

[[nodiscard]] LogRecord record_of(const Message& message);

class LogDisk final : public LogSink {
 public:
  LogDisk(const DiskOptions& options, const Net& net, std::uint64_t seed)
      : room_(options.room), syncs_(options, net, seed) {}

  // LogSink.
  void begin(std::uint64_t seq) override;
  [[nodiscard]] bool has_room() const override;
  bool append(std::span<const Message> messages, const AsSent& as_sent) override;
  [[nodiscard]] std::uint64_t persisted() const override { return syncs_.synced(); }

  [[nodiscard]] bool has_begun() const { return first_.has_value(); }
  /// Once it has begun: the number of its first record, and the one behind its last.
  [[nodiscard]] std::uint64_t first() const { return *first_; }
  [[nodiscard]] std::uint64_t end() const { return *first_ + records_.size(); }
  [[nodiscard]] const std::vector<LogRecord>& records() const { return records_; }
  /// That number is in the log, and on disk.
  [[nodiscard]] bool has_synced(std::uint64_t seq) const {
    return has_begun() && seq >= first() && seq < persisted();
  }
  /// When the member finds more on disk than now; never without a sync under way.
  [[nodiscard]] std::uint64_t next_ns() const { return syncs_.next_ns(); }

  /// From now on no sync is slow, nor is one that is under way.
  void mend() { syncs_.mend(); }
  /// The process crashes: what is not synced is lost.
  void crash();
  /// The node has ended in order: all of it is written.
  void close();

  /// The first number that did not go on from the one before, if there was one.
  [[nodiscard]] std::optional<std::uint64_t> misplaced() const { return misplaced_; }

 private:
  const std::uint32_t room_;
  DiskSyncs syncs_;  // by the numbers of the messages
  std::optional<std::uint64_t> first_;
  std::vector<LogRecord> records_;
  std::optional<std::uint64_t> misplaced_;
};

}  // namespace tutti::sim
