/// \file topic_cursor.hpp
/// A client's place in a topic: a reader of the participant that takes, and what it missed as
/// positions.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>

#include "dds/reader_core.hpp"
#include "relay/backend.hpp"

namespace tutti::relay {

class TopicCursor final : public Cursor {
 public:
  enum class Gaps : std::uint8_t {
    of_store,   ///< where the store says that samples were lost
    of_begin,   ///< and from the start to where the reader begins
    of_numbers  ///< wherever a position is left out: the topic's own numbers
  };

  /// What one look at the topic's store brings, in samples: it stays in memory until the client has
  /// had it, also when the topic keeps it no longer.
  [[nodiscard]] static constexpr std::uint64_t look_of(std::uint64_t wanted,
                                                       std::uint32_t sample_bytes_max) {
    constexpr std::uint64_t kSamples = 16, kBytes = 64U << 10;
    const std::uint64_t fit = kBytes / std::max(sample_bytes_max, 1U);
    return std::min(wanted, std::clamp<std::uint64_t>(fit, 1, kSamples));
  }

  /// The reader is attached. `start`: no sample before it is given; what is missing from it on is
  /// told.
  TopicCursor(std::shared_ptr<dds::Bundle> bundle, std::shared_ptr<dds::ReaderCore> reader,
              std::uint64_t epoch, std::uint64_t start, Gaps gaps, std::uint32_t sample_bytes_max)
      : bundle_(std::move(bundle)),
        reader_(std::move(reader)),
        epoch_(epoch),
        start_(start),
        next_(start),
        gaps_(gaps),
        sample_bytes_max_(sample_bytes_max) {}
  /// Never waits for the delivery thread: the reader's callback has what it uses itself.
  ~TopicCursor() override { bundle_->detach_without_wait(*reader_); }

  [[nodiscard]] Next next(std::uint64_t wanted) override;
  [[nodiscard]] std::uint64_t epoch() const override { return epoch_; }
  [[nodiscard]] std::uint64_t start() const override { return start_; }

 private:
  [[nodiscard]] Next end_of(const Error& error) const;
  [[nodiscard]] bool is_missing_before(const dds::SampleInfo& info) const;

  const std::shared_ptr<dds::Bundle> bundle_;
  const std::shared_ptr<dds::ReaderCore> reader_;
  const std::uint64_t epoch_;
  const std::uint64_t start_;
  std::uint64_t next_;  // all before it was given or told
  Gaps gaps_;
  const std::uint32_t sample_bytes_max_;
  dds::LoanedBytes taken_{};
  std::size_t at_ = 0;  // in taken_
  bool told_ = false;   // what is missing before the sample at at_
};

}  // namespace tutti::relay
