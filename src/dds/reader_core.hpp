/// \file reader_core.hpp
/// What stands behind a reader: what it is called with, or its place in the topic's store.
///
/// A reader of a logged topic whose place is older than what the store has reads on from the log's
/// files, on the thread that takes, until it comes to what the store has (meets the tail): it loses
/// nothing, and holds up nobody.
///
/// Invariants:
///  RX1  It is given each sample of the topic from its beginning on once, in the bundle's order, or
///       counts it as lost.
///  RX2  Its descriptor is readable whenever there is something to take (Readiness, RD1).
/// Threads: call(), announce() the delivery thread; others any.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "dds/bundle.hpp"
#include "dds/log_cursor.hpp"
#include "dds/topic_state.hpp"
#include "node/readiness.hpp"
#include "tutti/dds/listener.hpp"
#include "tutti/dds/options.hpp"
#include "tutti/dds/sample.hpp"

namespace tutti::dds {

class ReaderCore {
 public:
  using Timeout = std::chrono::nanoseconds;

  ReaderCore(std::shared_ptr<Bundle> bundle, std::shared_ptr<TopicState> topic,
             const ReaderOptions& options, UntypedReaderListener listener);

  [[nodiscard]] bool is_called() const { return listener_.on_sample || listener_.on_samples; }
  [[nodiscard]] const UntypedReaderListener& listener() const { return listener_; }
  [[nodiscard]] TopicState& topic() const { return *topic_; }
  [[nodiscard]] Bundle& bundle() const { return *bundle_; }

  // The delivery thread.
  void call(ByteBatch batch) const;
  void announce();
  /// Any thread: the descriptor is readable from now on.
  void end_with_node();

  // With the topic's mutex.
  void open_place();
  void close_place();

  /// It is called no more. What is there may still be taken.
  void end();
  [[nodiscard]] bool is_closed() const { return closed_.load(std::memory_order_acquire); }

  [[nodiscard]] Result<LoanedBytes> take(std::size_t max);
  [[nodiscard]] Result<void> wait(Timeout timeout);
  [[nodiscard]] Result<int> event_fd();
  [[nodiscard]] std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }
  /// There is something to take, or nothing will come any more. Else the descriptor is unreadable
  /// from now on until there is.
  [[nodiscard]] bool is_ready_or_armed();
  /// Samples with that position or a higher one come to it, if it begins now. Empty: no batch has
  /// begun since it was attached. Of a bundle with order.
  [[nodiscard]] std::optional<std::uint64_t> covers_from();
  /// take() reads at most so many pieces of a log in one look; then it may bring nothing although
  /// has_more(). Before the first take().
  void limit_log_pieces(std::size_t pieces) { log_pieces_ = pieces; }
  /// There is something to take, or more of a log to read.
  [[nodiscard]] bool has_more();
  /// Why nothing comes any more; empty while it may.
  [[nodiscard]] std::optional<Error> why_ended() const;

 private:
  [[nodiscard]] Result<LoanedBytes> look(std::size_t max);
  [[nodiscard]] Result<bool> look_at_log(std::size_t max, LoanedBytes& into);
  void look_at_store(std::size_t max, LoanedBytes& into);
  [[nodiscard]] bool is_logged() const {
    return topic_->definition.options.service == Service::logged;
  }
  [[nodiscard]] bool fell_behind() const;          // with the topic's mutex
  void meet_tail();                                // likewise
  [[nodiscard]] std::uint64_t end_in_log() const;  // likewise
  [[nodiscard]] std::uint64_t count_lost(LoanedBytes& taken);

  const std::shared_ptr<Bundle> bundle_;
  const std::shared_ptr<TopicState> topic_;
  const ReaderOptions options_;
  const UntypedReaderListener listener_;
  Readiness readiness_;
  std::atomic<bool> closed_{false};
  std::atomic<std::uint64_t> lost_{0};

  std::mutex taking_;
  // `taking_`, and the topic's mutex where they change the store.
  SampleStore::ReaderId place_ = 0;  // 0: none
  std::optional<std::uint64_t> covers_from_;
  std::size_t log_pieces_ = SIZE_MAX;
  std::optional<LogCursor> log_;         // it reads the log
  std::uint64_t next_position_ = 0;      // of a logged topic: behind what was taken
  std::uint64_t lost_at_beginning_ = 0;  // to be told with the first sample
};

}  // namespace tutti::dds
