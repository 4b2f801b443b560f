#include "cli/perf/receiver.hpp"

#include <utility>

#include "cli/clock.hpp"
#include "cli/payload.hpp"

namespace tutti::cli {
namespace {

[[nodiscard]] std::uint64_t mixed(std::uint64_t digest, std::uint64_t word) {
  digest = (digest ^ word) * 0x9FB21C651E98DF25;
  return digest ^ (digest >> 29);
}

}  // namespace

Receiver::Receiver(const PerfPlan& plan, const PerfOptions& options, MemberIndex self,
                   const Stamps* stamps, std::vector<bool> same_clock)
    : touch_all_(plan.touch_all),
      carry_stamps_(options.size_bytes >= kStampedMinBytes),
      verify_(options.verify),
      ordered_(plan.group.order != Order::none),
      is_topic_(plan.service.has_value()),
      sample_every_(plan.sample_every),
      self_(self),
      stamps_(stamps),
      same_clock_(std::move(same_clock)),
      sender_digests_(options.members),
      sender_counts_(options.members) {}

class Receiver::Messages {
 public:
  explicit Messages(std::span<const Message> batch) : batch_(batch) {}
  [[nodiscard]] std::size_t size() const { return batch_.size(); }
  [[nodiscard]] std::span<const std::byte> bytes(std::size_t i) const {
    return {batch_[i].data, batch_[i].size};
  }
  [[nodiscard]] Received operator[](std::size_t i) const {
    const Message& message = batch_[i];
    return {message.data, message.size, message.sender, message.seq};
  }

 private:
  std::span<const Message> batch_;
};

class Receiver::Samples {
 public:
  explicit Samples(const dds::ByteBatch& batch) : batch_(batch) {}
  [[nodiscard]] std::size_t size() const { return batch_.size(); }
  [[nodiscard]] std::span<const std::byte> bytes(std::size_t i) const { return batch_.bytes(i); }
  [[nodiscard]] Received operator[](std::size_t i) const {
    const dds::SampleInfo info = batch_.info(i);
    return {batch_.data(i), batch_.bytes(i).size(), info.sender, info.position};
  }

 private:
  const dds::ByteBatch& batch_;
};

void Receiver::deliver(std::span<const Message> batch) { deliver_batch(Messages(batch)); }
void Receiver::deliver(const dds::ByteBatch& batch) { deliver_batch(Samples(batch)); }

template <class Batch>
void Receiver::deliver_batch(const Batch& batch) {
  const bool measuring = measuring_.load(std::memory_order_relaxed);
  touch(batch, measuring);
  if (stamps_ != nullptr) time_small(batch, measuring);
  if (verify_) {
    for (std::size_t i = 0; i < batch.size(); ++i) verify(batch[i]);
  }
  const std::uint64_t delivered = delivered_.load(std::memory_order_relaxed) + batch.size();
  delivered_.store(delivered, std::memory_order_relaxed);
  if (delivered == expected_.load(std::memory_order_relaxed)) {
    reached_ns_.store(now_ns(), std::memory_order_relaxed);
  }
}

template <class Batch>
void Receiver::touch(const Batch& batch, bool measuring) {
  std::uint64_t total = 0;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const std::span<const std::byte> message = batch.bytes(i);
    bytes += message.size();
    if (carry_stamps_ && measuring && is_stamped(load_word(message.data()))) [[unlikely]] {
      time_stamped(batch[i]);
    }
    total += touch_all_ || message.size() < kWordBytes ? sum(message.data(), message.size())
                                                       : load_word(message.data());
  }
  sum_ += total;
  sink_.store(sum_, std::memory_order_relaxed);
  bytes_.store(bytes_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
}

void Receiver::time_stamped(const Received& message) {
  if (!same_clock_[message.sender.value]) return;
  Histogram& latency = message.sender == self_ ? own_latency_ : others_latency_;
  latency.record(now_ns() - stamp_of(message.data));
}

template <class Batch>
void Receiver::time_small(const Batch& batch, bool measuring) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (batch[i].sender != self_) continue;
    const bool sampled = own_ % sample_every_ == 0;  // the same
    const Ticket ticket{++own_};
    if (sampled && measuring) own_latency_.record(now_ns() - stamps_->get(ticket));
  }
}

void Receiver::expect(std::uint64_t total) {
  reached_ns_.store(0, std::memory_order_relaxed);
  expected_.store(total, std::memory_order_relaxed);
}

void Receiver::verify(const Received& message) {
  const std::uint32_t sender = message.sender.value;
  const std::uint64_t index = sender_counts_[sender]++;
  const bool stamped = carry_stamps_ && index % sample_every_ == 0;  // as Sender decides
  const std::uint64_t seed = seed_of(sender, index, stamped);
  const bool has_gaps = is_topic_ && ordered_;
  const std::uint64_t counted = is_topic_ || ordered_ ? verified_ : index;
  const std::uint64_t seq = has_gaps ? next_seq_ : counted;
  ++verified_;
  next_seq_ = message.seq.value + 1;
  if (problem_.empty() && (has_gaps ? message.seq.value < seq : message.seq.value != seq)) {
    problem_ = "sequence number " + std::to_string(message.seq.value) + " came in place of " +
               std::to_string(seq);
  }
  if (problem_.empty() && !counts_from(seed, message.data, message.size)) {
    problem_ = "message " + std::to_string(index) + " of m" + std::to_string(sender) +
               " is not what was sent";
  }
  const std::uint64_t place = ordered_ ? message.seq.value : index;  // the same at all members
  order_digest_ = mixed(mixed(mixed(order_digest_, place), sender), seed);
  sender_digests_[sender] = mixed(mixed(sender_digests_[sender], place), seed);
}

}  // namespace tutti::cli
