/// \file log_disk.hpp
/// The log of one group on a simulated disk: the LogSink of a simulated member, and what of it
/// would be there after a crash.
///
/// As in a node, what is appended while a sync is under way goes with the next one. How long each
/// sync takes is drawn. Threads: one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/prng.hpp"
#include "multicast/log_sink.hpp"
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
      : options_(options), net_(net), random_(seed) {}

  // LogSink.
  void begin(std::uint64_t seq) override;
  [[nodiscard]] bool has_room() const override;
  bool append(std::span<const Message> messages, const AsSent& as_sent) override;
  [[nodiscard]] std::uint64_t persisted() const override;

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
  [[nodiscard]] std::uint64_t next_ns() const;

  /// From now on no sync is slow, nor is one that is under way.
  void mend();
  /// The process crashes: what is not synced is lost.
  void crash();
  /// The node has ended in order: all of it is written.
  void close();

  /// The first number that did not go on from the one before, if there was one.
  [[nodiscard]] std::optional<std::uint64_t> misplaced() const { return misplaced_; }

 private:
  // A sync, from when it begins, of all before `end`.
  struct Sync {
    std::uint64_t begin_ns;
    std::uint64_t done_ns;
    std::uint64_t end;
  };
  void write(std::uint64_t end);
  [[nodiscard]] std::uint64_t draw_ns();

  const DiskOptions& options_;
  const Net& net_;
  Prng random_;
  bool mended_ = false;
  std::optional<std::uint64_t> first_;
  std::vector<LogRecord> records_;
  std::deque<Sync> syncs_;  // those not seen to be done; each begins when the one before is done
  std::uint64_t synced_ = 0;
  std::optional<std::uint64_t> misplaced_;
};

}  // namespace tutti::sim
