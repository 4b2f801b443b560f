/// \file topic_cursor.hpp
/// A client's place in a topic: a reader of the participant that takes, and what it missed as
/// positions.
#pragma once
#include <cstdint>
#include <memory>

#include "dds/reader_core.hpp"
#include "relay/backend.hpp"

namespace tutti::relay {

class TopicCursor final : public Cursor {
 public:
  /// `start`: no sample before it is given; what is missing from it on is told.
  TopicCursor(std::shared_ptr<dds::Bundle> bundle, std::shared_ptr<dds::ReaderCore> reader,
              std::uint64_t epoch, std::uint64_t start)
      : bundle_(std::move(bundle)),
        reader_(std::move(reader)),
        epoch_(epoch),
        start_(start),
        next_(start) {}
  ~TopicCursor() override { bundle_->detach(*reader_); }

  [[nodiscard]] Next next() override;
  [[nodiscard]] std::uint64_t epoch() const override { return epoch_; }
  [[nodiscard]] std::uint64_t start() const override { return start_; }
  /// Samples at start() <= position < `to` are gone, as nothing of the topic is kept.
  void miss(std::uint64_t to) { missed_to_ = to; }

 private:
  const std::shared_ptr<dds::Bundle> bundle_;
  const std::shared_ptr<dds::ReaderCore> reader_;
  const std::uint64_t epoch_;
  const std::uint64_t start_;
  std::uint64_t next_;           // all before it was given or told
  std::uint64_t missed_to_ = 0;  // to be told
  dds::LoanedBytes taken_{};
  std::size_t at_ = 0;  // in taken_
  bool told_ = false;   // what is missing before the sample at at_
};

}  // namespace tutti::relay
