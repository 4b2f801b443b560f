#include "relay/topic_cursor.hpp"

#include <utility>

namespace tutti::relay {

Cursor::Next TopicCursor::next(std::uint64_t wanted) {
  if (gaps_ == Gaps::of_begin) {
    const std::optional<std::uint64_t> begin = reader_->covers_from();
    if (!begin) {
      const std::optional<Error> ended = reader_->why_ended();
      if (!ended) return Nothing{};
      return end_of(*ended);
    }
    gaps_ = Gaps::of_store;
    if (*begin > next_) return Missing{std::exchange(next_, *begin), *begin};
  }
  for (;;) {
    if (at_ == taken_.size()) {
      taken_ = {};
      at_ = 0;
      Result<dds::LoanedBytes> taken =
          reader_->take(static_cast<std::size_t>(look_of(wanted, sample_bytes_max_)));
      if (!taken) return end_of(taken.error());
      if (taken->empty() && reader_->has_more()) return Again{};
      if (taken->empty()) return Nothing{};
      taken_ = std::move(*taken);
    }
    const dds::LoanedBytes::Sample& sample = taken_[at_];
    const std::uint64_t position = sample.info.position.value;
    if (!told_ && position > next_ && is_missing_before(sample.info)) {
      told_ = true;
      return Missing{std::exchange(next_, position), position};
    }
    told_ = false;
    ++at_;
    if (position < next_) continue;  // the client has it
    next_ = position + 1;
    return Taken{position, sample.info.sender.value, sample.info.source_timestamp, sample.bytes()};
  }
}

// Whatever has befallen this member, others have the topic unless it was deleted. A log that cannot
// be read concerns the topics of its bundle alone.
Cursor::Next TopicCursor::end_of(const Error& error) const {
  if (reader_->topic().deleted || !reader_->why_ended()) return End{error.message};
  return Stopped{error.message};
}

bool TopicCursor::is_missing_before(const dds::SampleInfo& info) const {
  return gaps_ == Gaps::of_numbers || info.lost_before != 0;
}

}  // namespace tutti::relay
