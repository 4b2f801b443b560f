/// \file log_replay.hpp
/// Hands on what is in a group's log as messages, before anything new is delivered: for a node that
/// starts again.
///
/// Invariants:
///  RE1  Each record from the first number asked for, or from where the log is whole, up to the
///       first new message is handed on once, in order, as it was delivered: number, view, sender,
///       bytes, and whether it is a tick. A message's ticket is 0, for no commit of this process
///       returned one, but kTickTicket of a tick.
///  RE2  What is not in the log yet is waited for (WholeLog), and nothing behind it is handed on.
/// Threads: one at a time, but where marked. next() may block for as long as the disk does.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/counter.hpp"
#include "log/batch.hpp"
#include "log/disk.hpp"
#include "log/stream.hpp"
#include "tutti/error.hpp"
#include "tutti/message.hpp"

namespace tutti {

/// What says how far a log is whole: a member that joins may have to fetch records first. Any
/// thread.
class WholeLog {
 public:
  WholeLog() = default;
  virtual ~WholeLog() = default;
  WholeLog(const WholeLog&) = delete;
  WholeLog& operator=(const WholeLog&) = delete;

  /// Every record before that number that this node will have is in its log, on disk. It only
  /// grows, up to the number of the first new message at least.
  [[nodiscard]] virtual std::uint64_t whole_to() const = 0;
};

struct ReplayOptions {
  std::string directory{};      ///< of the log
  std::uint64_t from = 0;       ///< GroupOptions::deliver_from
  std::uint64_t until = 0;      ///< the number of the first new message
  std::uint32_t alignment = 8;  ///< GroupOptions::alignment
};

class LogReplay {
 public:
  /// What it reads at once; a larger record alone.
  static constexpr std::size_t kPieceBytes = 1U << 20;

  /// `disk` is of this thread alone; `whole` outlives it.
  LogReplay(std::shared_ptr<const log::Disk> disk, const WholeLog& whole, ReplayOptions options)
      : disk_(std::move(disk)), whole_(whole), options_(std::move(options)), next_(options_.from) {}

  /// Before the first next(): from that number on, in the place of ReplayOptions::from.
  void begin_at(std::uint64_t seq) {
    options_.from = seq;
    next_.store(seq, std::memory_order_release);
  }
  /// The next messages, at most `max` and of one view; none once they have kHandedBytes, which the
  /// last one may exceed. They, and their bytes, are valid until the next call. None: it is over,
  /// or waits for more of the log.
  [[nodiscard]] Result<std::span<const Message>> next(std::size_t max);
  /// Everything was handed on. Any thread.
  [[nodiscard]] bool is_over() const {
    return next_.load(std::memory_order_acquire) >= options_.until;
  }
  /// More of it can be had than at the last next(), or it is over. Any thread.
  [[nodiscard]] bool may_go_on() const {
    return is_over() || whole_.whole_to() > next_.load(std::memory_order_acquire);
  }
  /// How many messages it has handed on. Any thread.
  [[nodiscard]] std::uint64_t replayed() const { return replayed_.get(); }

 private:
  static constexpr std::size_t kHandedBytes = 64U << 10;

  [[nodiscard]] Result<void> read();
  void place();

  const std::shared_ptr<const log::Disk> disk_;
  const WholeLog& whole_;
  ReplayOptions options_;
  std::atomic<std::uint64_t> next_;  // behind what was handed on
  std::optional<log::Stream> stream_;
  log::Batch batch_;                // what was read last
  std::vector<std::byte> aligned_;  // its data, where a batch does not align it so
  std::vector<Message> messages_;   // the same
  std::size_t at_ = 0;              // of these: the next to be handed on
  Counter replayed_;
};

}  // namespace tutti
