#include "dds/reader_core.hpp"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "dds/waiting.hpp"
#include "node/clock.hpp"

namespace tutti::dds {

namespace {

// Nobody tells a reader that its node has ended: it looks so often.
constexpr std::chrono::milliseconds kLookForEnd{100};
constexpr Ticket kNoTicket{~0ULL >> 1};  // no message has it

}  // namespace

ReaderCore::ReaderCore(std::shared_ptr<Bundle> bundle, std::shared_ptr<TopicState> topic,
                       const ReaderOptions& options, UntypedReaderListener listener)
    : bundle_(std::move(bundle)),
      topic_(std::move(topic)),
      options_(options),
      listener_(std::move(listener)) {}

void ReaderCore::call(ByteBatch batch) const {
  batch.ended_ = &closed_;
  if (listener_.on_samples) {
    if (!is_closed()) listener_.on_samples(batch);
    return;
  }
  for (std::size_t i = 0; i < batch.size() && !is_closed(); ++i) {
    listener_.on_sample(batch.bytes(i), batch.info(i));
  }
}

void ReaderCore::end_with_node() { readiness_.end(); }

void ReaderCore::announce() {
  if (readiness_.is_armed()) readiness_.rise();
  if (listener_.on_data_available && !is_closed()) listener_.on_data_available();
}

void ReaderCore::open_place() {
  SampleStore& store = *topic_->store;
  std::uint64_t ordinal = store.end();
  std::uint64_t first = 0;
  if (options_.from.kind == From::Kind::stored) ordinal = store.begin();
  if (options_.from.kind == From::Kind::position) {
    // Before its definition a topic has no samples to lose.
    first = std::max(options_.from.first.value, topic_->defined_at + 1);
    ordinal = is_logged() ? store.ordinal_at(first) : store.ordinal_from(first);
    if (!is_logged() && store.front_position() > first) lost_at_beginning_ = 1;
  }
  place_ = store.open(ordinal, first);
  if (topic_->begun) covers_from_ = store.end_position();
  if (!is_logged()) return;
  // What a reader of the log takes begins at a position. One that begins now has taken all that was
  // delivered. Of a batch that is being delivered it is given what its store does not have yet: all
  // of it, from the log, if the store is not kept yet.
  if (options_.from.kind == From::Kind::position) next_position_ = options_.from.first.value;
  if (options_.from.kind == From::Kind::now) {
    next_position_ = std::max(bundle_->delivered_to(), topic_->begun ? store.end_position() : 0);
  }
  covers_from_ = next_position_;
}

std::optional<std::uint64_t> ReaderCore::covers_from() {
  const std::lock_guard lock(topic_->mutex);
  // It came while its store was not kept, which begins with the next batch.
  if (!covers_from_ && topic_->begun) covers_from_ = topic_->store->low_position();
  return covers_from_;
}

void ReaderCore::close_place() {
  if (place_ != 0) topic_->store->close(std::exchange(place_, 0));
}

void ReaderCore::end() {
  if (closed_.exchange(true, std::memory_order_seq_cst)) return;
  readiness_.end();
}

Result<LoanedBytes> ReaderCore::take(std::size_t max) {
  if (is_called()) {
    return fail(ErrorCode::invalid_argument,
                "topic '" + topic_->definition.name +
                    "': this reader is called with its samples (on_sample, on_samples), so there "
                    "is nothing to take; create one that is not");
  }
  std::unique_lock taking(taking_);
  Result<LoanedBytes> taken = look(max);
  if (taken && taken->empty() && max > 0) {
    if (std::optional<Error> ended = why_ended()) {
      taken = look(max);  // the last samples may have come between
      if (taken && taken->empty()) return std::unexpected(std::move(*ended));
    } else if (readiness_.arm()) {
      taken = look(max);  // RX2
      if (!taken || !taken->empty()) readiness_.disarm();
    }
  }
  const std::uint64_t lost = taken && !taken->empty() ? count_lost(*taken) : 0;
  taking.unlock();  // the application may take in on_sample_lost
  if (lost > 0 && listener_.on_sample_lost) {
    listener_.on_sample_lost({.lost = lost, .total = lost_.load(std::memory_order_relaxed)});
  }
  return taken;
}

Result<LoanedBytes> ReaderCore::look(std::size_t max) {
  LoanedBytes out;
  if (is_logged()) {
    const Result<bool> met = look_at_log(max, out);
    if (!met) return std::unexpected(met.error());
    if (!*met) return out;
  }
  look_at_store(max, out);
  return out;
}

// False: the log has more, or will have, before what the store has.
Result<bool> ReaderCore::look_at_log(std::size_t max, LoanedBytes& into) {
  std::uint64_t until = 0;
  {
    const std::lock_guard lock(topic_->mutex);
    if (!fell_behind()) {
      meet_tail();
      return true;
    }
    until = end_in_log();
  }
  if (next_position_ >= until) return false;  // nothing was delivered since it began
  if (!log_) {
    const std::uint64_t first = std::max(next_position_, topic_->defined_at + 1);
    Result<LogCursor> opened = LogCursor::open(
        bundle_->log_directory(), topic_->id, topic_->definition, first,
        [bundle = bundle_](std::uint64_t position) { return bundle->is_refused(position); });
    if (!opened) return std::unexpected(std::move(opened.error()));
    log_.emplace(std::move(*opened));
    const bool asked = options_.from.kind == From::Kind::position;
    if (asked && log_->position() > first) lost_at_beginning_ = 1;
  }
  if (Result<void> read = log_->next(max, until, into, log_pieces_); !read) {
    return std::unexpected(std::move(read.error()));
  }
  next_position_ = std::max(next_position_, log_->position());
  if (!into.empty()) return false;
  const std::lock_guard lock(topic_->mutex);
  if (fell_behind()) return false;
  meet_tail();
  return true;
}

void ReaderCore::meet_tail() {
  if (!log_) return;
  log_.reset();
  if (place_ != 0) topic_->store->move_to(place_, topic_->store->ordinal_at(next_position_));
}

bool ReaderCore::fell_behind() const {
  return !topic_->begun || topic_->store->low_position() > next_position_;
}

// What the log has of a topic lies between its definition and its deletion, as what is delivered.
std::uint64_t ReaderCore::end_in_log() const {
  const std::uint64_t end = topic_->begun ? topic_->store->low_position() : bundle_->delivered_to();
  return std::min(end, topic_->deleted_at.load(std::memory_order_acquire));
}

void ReaderCore::look_at_store(std::size_t max, LoanedBytes& into) {
  {
    const std::lock_guard lock(topic_->mutex);
    if (place_ == 0) return;
    if (topic_->limits.max_age_ns > 0) topic_->store->expire(time_of_day_ns());
    topic_->store->take(place_, max, into);
    if (!into.empty()) next_position_ = into[into.size() - 1].info.position.value + 1;
  }
  if (topic_->limits.waits_for_readers && !into.empty()) topic_->room.notify_all();
}

std::uint64_t ReaderCore::count_lost(LoanedBytes& taken) {
  taken.add_lost(std::exchange(lost_at_beginning_, 0));
  std::uint64_t lost = 0;
  for (const LoanedBytes::Sample& sample : taken) lost += sample.info.lost_before;
  lost_.fetch_add(lost, std::memory_order_relaxed);
  return lost;
}

std::optional<Error> ReaderCore::why_ended() const {
  const std::string topic = "topic '" + topic_->definition.name + "': ";
  if (topic_->deleted.load(std::memory_order_acquire)) {
    return Error{ErrorCode::stopped, topic + "it was deleted, and everything was taken"};
  }
  if (is_closed()) {
    return Error{ErrorCode::stopped, topic + "the participant has ended"};
  }
  const Result<void> probe = bundle_->group().wait(kNoTicket, std::chrono::nanoseconds(0));
  const ErrorCode code = probe ? ErrorCode::timed_out : probe.error().code;
  if (code == ErrorCode::timed_out || code == ErrorCode::in_callback) return {};
  return Error{code, topic + probe.error().message};
}

bool ReaderCore::has_more() {
  const std::lock_guard lock(topic_->mutex);
  if (place_ == 0) return false;
  if (is_logged() && fell_behind()) return next_position_ < end_in_log();
  return topic_->store->has_from(topic_->store->place(place_));
}

bool ReaderCore::is_ready_or_armed() {
  const std::lock_guard taking(taking_);
  if (has_more() || why_ended()) return true;
  if (!readiness_.arm()) return true;
  if (!has_more()) return false;
  readiness_.disarm();
  return true;
}

Result<int> ReaderCore::event_fd() {
  Result<int> descriptor = readiness_.get();
  if (descriptor) return descriptor;
  return fail(descriptor.error().code,
              "topic '" + topic_->definition.name + "': " + descriptor.error().message);
}

Result<void> ReaderCore::wait(Timeout timeout) {
  if (Result<void> may = bundle_->group().may_wait("DataReader::wait"); !may) return may;
  const Result<int> descriptor = event_fd();
  if (!descriptor) return std::unexpected(descriptor.error());
  const auto deadline = deadline_in(timeout);
  while (!is_ready_or_armed()) {
    const auto left = time_until(deadline);
    if (left.count() == 0) {
      return fail(ErrorCode::timed_out,
                  "topic '" + topic_->definition.name + "': no sample came before the deadline");
    }
    pollfd waits{.fd = *descriptor, .events = POLLIN, .revents = 0};
    const auto longest = std::min<std::chrono::nanoseconds>(left, kLookForEnd);
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(longest).count();
    static_cast<void>(::poll(&waits, 1, static_cast<int>(ms)));
  }
  return {};
}

}  // namespace tutti::dds
