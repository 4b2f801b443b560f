#include "tutti/dds/writer.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/thread_id.hpp"
#include "dds/participant_core.hpp"
#include "dds/record.hpp"
#include "dds/waiting.hpp"
#include "node/clock.hpp"
#include "node/group_sends.hpp"

namespace tutti::dds {

// Of a record without time stamp and key.
constexpr std::uint32_t kShortHeader = header_bytes(kUnstampedFlag);
constexpr std::uint32_t kTooMany = std::numeric_limits<std::uint32_t>::max();

/// What stands behind a writer. Threads: any.
class WriterCore {
 public:
  WriterCore(std::shared_ptr<TopicCore> topic, const WriterOptions& options,
             std::shared_ptr<Endpoint> endpoint)
      : topic_(std::move(topic)),
        endpoint_(std::move(endpoint)),
        group_(topic_->bundle()->group()),
        sends_(GroupSends::core_of(group_)),
        max_blocking_time_(options.max_blocking_time),
        header_(header_of(*topic_, options)),
        payload_at_(header_.payload_at),
        has_short_header_(payload_at_ == kShortHeader),
        in_place_bytes_(topic_->definition().type.in_place_bytes) {}
  ~WriterCore() { topic_->participant().remove_endpoint(topic_->key(), endpoint_); }
  WriterCore(const WriterCore&) = delete;
  WriterCore& operator=(const WriterCore&) = delete;

  // In one piece, as is commit(): beside small samples each store counts, also those that save
  // registers for a call.
  [[nodiscard, gnu::flatten, gnu::noinline]] Result<UntypedWriter::Space> claim(
      std::uint32_t size, std::chrono::nanoseconds longest) {
    Result<UntypedWriter::Space> space(std::in_place, TriesClaim{*this, size});
    if (!space->claim) [[unlikely]]
      claim_later(size, longest, space);
    return space;
  }
  [[nodiscard]] std::chrono::nanoseconds max_blocking_time() const { return max_blocking_time_; }

  Ticket commit(UntypedWriter::Space&& space, std::uint64_t key_hash) noexcept {
    if (!space.claim || space.payload.data() != space.claim.data() + payload_at_) return Ticket{};
    return commit(space.claim, key_hash);
  }

  // The way of most samples: nothing is moved about but the bytes. How many they are is known here
  // alone, so that the copy is one of the C library's: of a constant number the compiler may make
  // one that is slower.
  [[nodiscard]] Result<Ticket> write(std::span<const std::byte> payload, std::uint64_t key_hash,
                                     std::chrono::nanoseconds longest) {
    const auto size = static_cast<std::uint32_t>(std::min<std::size_t>(payload.size(), kTooMany));
    Claim claim = sends_.try_claim(claim_bytes(size));
    if (!claim) [[unlikely]] {
      Result<UntypedWriter::Space> waited(std::in_place, std::move(claim));
      claim_later(size, longest, waited);
      if (!waited) return std::unexpected(std::move(waited.error()));
      claim = std::move(waited->claim);
    }
    if (size > 0) std::memcpy(claim.data() + payload_at_, payload.data(), size);
    return commit(claim, key_hash);
  }

  [[nodiscard]] Result<void> wait_for_acknowledgments(std::chrono::nanoseconds timeout) {
    const Ticket last{std::max(own_last_.load(std::memory_order_acquire),
                               others_last_.load(std::memory_order_acquire))};
    if (last == Ticket{} || group_.delivered(last)) return {};
    return group_.wait(last, timeout);
  }
  [[nodiscard]] Group& group() { return group_; }

 private:
  // What is initialized from it is the space, made in place: to move a claim costs as much as to
  // make it.
  struct TriesClaim {
    const WriterCore& writer;
    std::uint32_t size;
    // NOLINTNEXTLINE(google-explicit-constructor)
    operator UntypedWriter::Space() && noexcept {
      UntypedWriter::Space space{.claim = writer.sends_.try_claim(writer.claim_bytes(size))};
      if (space.claim) [[likely]]
        space.payload = writer.payload_of(space.claim, size);
      return space;
    }
  };

  [[nodiscard]] static RecordHeader header_of(const TopicCore& topic,
                                              const WriterOptions& options) {
    const TopicTypeInfo& type = topic.definition().type;
    RecordHeader header{};
    header.kind = static_cast<std::uint8_t>(RecordKind::sample);
    header.flags = static_cast<std::uint8_t>((type.keyed ? kKeyedFlag : 0) |
                                             (options.source_timestamps ? 0 : kUnstampedFlag));
    header.payload_at = static_cast<std::uint16_t>(payload_offset(header.flags, type.alignment));
    header.topic = topic.key().id;
    return header;
  }

  Ticket commit(Claim& claim, std::uint64_t key_hash) noexcept {
    if (has_short_header_) {
      std::memcpy(claim.data(), &header_, kShortHeader);
    } else {
      write_long_header(claim.data(), key_hash);
    }
    const Ticket ticket = sends_.commit_own(claim);
    note_last(ticket);
    return ticket;
  }

  [[gnu::noinline]] void write_long_header(std::byte* at, std::uint64_t key_hash) const noexcept {
    RecordHeader header = header_;
    if ((header.flags & kUnstampedFlag) == 0) header.source_timestamp = time_of_day_ns();
    std::uint32_t written = write_header(at, header);
    if ((header.flags & kKeyedFlag) != 0) {
      std::memcpy(at + written, &key_hash, sizeof key_hash);
      written += sizeof key_hash;
    }
    // What lies between is old: nobody shall see it, in a log neither.
    if (written < payload_at_) std::memset(at + written, 0, payload_at_ - written);
  }

  // Of a sample. The largest number, which no group takes, if it is too large or no sample of the
  // topic's type: claim_later() then says which.
  [[nodiscard]] std::uint32_t claim_bytes(std::uint32_t size) const {
    const std::uint32_t bytes = payload_at_ + size;
    return bytes >= size && fits_type(size) ? bytes : kTooMany;
  }
  [[nodiscard]] bool fits_type(std::uint32_t size) const {
    return size == in_place_bytes_ || in_place_bytes_ == 0;
  }

  [[nodiscard]] std::unexpected<Error> wrong_size(std::uint32_t size) const {
    return fail(ErrorCode::invalid_argument,
                "topic '" + topic_->definition().name + "': a sample of " + std::to_string(size) +
                    " bytes was to be written, but its type " + topic_->definition().type.name +
                    " has " + std::to_string(in_place_bytes_));
  }

  [[nodiscard]] std::span<std::byte> payload_of(const Claim& claim, std::uint32_t size) const {
    return {claim.data() + payload_at_, size};
  }

  // `space` holds a claim that was not granted. Never inline, as the fast way has to be short.
  [[gnu::noinline, gnu::cold]] void claim_later(std::uint32_t size,
                                                std::chrono::nanoseconds longest,
                                                Result<UntypedWriter::Space>& space) {
    if (!fits_type(size)) {
      space = wrong_size(size);
      return;
    }
    const std::string topic = "topic '" + topic_->definition().name + "': ";
    if (space->claim.outcome() == ClaimOutcome::full && longest.count() <= 0) {
      space = fail(ErrorCode::no_space,
                   topic +
                       "no space now, for not all participants have delivered what was sent "
                       "before; nothing was sent");
      return;
    }
    Result<Claim> claim = group_.claim(claim_bytes(size), longest);
    if (!claim) {
      space = fail(claim.error().code, topic + claim.error().message);
      return;
    }
    space->claim = std::move(*claim);
    space->payload = payload_of(space->claim, size);
  }

  // The first thread that writes has a word of its own, which costs it no locked instruction. The
  // others share one: tickets grow, but two threads may come here in any order, as one thread may
  // with loans.
  void note_last(Ticket ticket) noexcept {
    const std::uintptr_t self = current_thread_id();
    std::uintptr_t owner = owner_.load(std::memory_order_relaxed);
    if (owner == 0 && owner_.compare_exchange_strong(owner, self, std::memory_order_relaxed)) {
      owner = self;
    }
    if (owner == self) [[likely]] {
      if (own_last_.load(std::memory_order_relaxed) < ticket.value) {
        own_last_.store(ticket.value, std::memory_order_release);
      }
      return;
    }
    note_others_last(ticket);
  }
  [[gnu::noinline, gnu::cold]] void note_others_last(Ticket ticket) noexcept {
    std::uint64_t last = others_last_.load(std::memory_order_relaxed);
    while (last < ticket.value &&
           !others_last_.compare_exchange_weak(last, ticket.value, std::memory_order_release,
                                               std::memory_order_relaxed)) {
    }
  }

  const std::shared_ptr<TopicCore> topic_;
  const std::shared_ptr<Endpoint> endpoint_;
  Group group_;
  GroupCore& sends_;  // what group_ is; its claims and commits are inline
  const std::chrono::nanoseconds max_blocking_time_;
  const RecordHeader header_;  // of its records, but for the time stamp
  const std::uint32_t payload_at_;
  const bool has_short_header_;         // and nothing between it and the payload
  const std::uint32_t in_place_bytes_;  // 0: any size
  // Tickets of the newest sample: of the first thread that wrote, and of all others.
  std::atomic<std::uintptr_t> owner_{0};
  std::atomic<std::uint64_t> own_last_{0};
  std::atomic<std::uint64_t> others_last_{0};
};

UntypedWriter::UntypedWriter(std::shared_ptr<WriterCore> core) : core_(std::move(core)) {}
UntypedWriter::UntypedWriter(UntypedWriter&&) noexcept = default;
UntypedWriter& UntypedWriter::operator=(UntypedWriter&&) noexcept = default;
UntypedWriter::~UntypedWriter() = default;

Result<UntypedWriter> UntypedWriter::create(const UntypedTopic& topic, const WriterOptions& options,
                                            WriterListener listener) {
  const std::shared_ptr<TopicCore>& core = topic.core_;
  const std::string name = "topic '" + topic.name() + "': ";
  const auto longest = std::chrono::nanoseconds(std::chrono::hours(24));
  if (options.max_blocking_time.count() < 0 || options.max_blocking_time > longest) {
    return fail(ErrorCode::invalid_argument, name + "max_blocking_time is " +
                                                 std::to_string(options.max_blocking_time.count()) +
                                                 " ns; take 0 .. 1 day");
  }
  if (!options.source_timestamps && topic.options().max_age.count() > 0) {
    return fail(ErrorCode::invalid_argument,
                name + "source_timestamps is false, but max_age compares them; set it");
  }
  if (!core->bundle()->is_sender()) {
    return fail(ErrorCode::invalid_argument, name + "participant '" + core->participant().name() +
                                                 "' is not among the senders of bundle '" +
                                                 core->key().bundle + "' (BundleOptions::senders)");
  }
  auto endpoint = std::make_shared<Endpoint>(false, std::move(listener.on_publication_matched));
  if (Result<void> added = core->participant().add_endpoint(core->key(), endpoint); !added) {
    return fail(added.error().code, name + added.error().message);
  }
  return UntypedWriter(std::make_shared<WriterCore>(core, options, std::move(endpoint)));
}

Result<UntypedWriter::Space> UntypedWriter::claim(std::uint32_t size) {
  return core_->claim(size, core_->max_blocking_time());
}

Result<UntypedWriter::Space> UntypedWriter::try_claim(std::uint32_t size) {
  return core_->claim(size, std::chrono::nanoseconds(0));
}

Ticket UntypedWriter::commit(Space&& space, std::uint64_t key_hash) noexcept {
  return core_->commit(std::move(space), key_hash);
}

Result<Ticket> UntypedWriter::write(std::span<const std::byte> payload, std::uint64_t key_hash) {
  return core_->write(payload, key_hash, core_->max_blocking_time());
}

Result<Ticket> UntypedWriter::try_write(std::span<const std::byte> payload,
                                        std::uint64_t key_hash) {
  return core_->write(payload, key_hash, std::chrono::nanoseconds(0));
}

Result<void> UntypedWriter::wait(Ticket ticket, Timeout timeout) {
  return core_->group().wait(ticket, timeout);
}

Result<void> UntypedWriter::wait_for_acknowledgments(Timeout timeout) {
  return core_->wait_for_acknowledgments(timeout);
}

bool UntypedWriter::delivered(Ticket ticket) const noexcept {
  return core_->group().delivered(ticket);
}

const Group& UntypedWriter::group() const { return core_->group(); }

}  // namespace tutti::dds
