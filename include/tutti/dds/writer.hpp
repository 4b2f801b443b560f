/// \file writer.hpp
/// Writes samples to a topic.
///
/// A sample of a trivially copyable type is built in the ring buffer that the others read (loan),
/// or copied there once (write); another one is encoded into it. There is no lock and no allocation
/// on the way. Threads: any number may use one writer at once; one loan is of one thread at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "tutti/claim.hpp"
#include "tutti/dds/listener.hpp"
#include "tutti/dds/options.hpp"
#include "tutti/dds/topic.hpp"
#include "tutti/dds/type_support.hpp"
#include "tutti/error.hpp"
#include "tutti/export.hpp"

namespace tutti::dds {

class WriterCore;

class TUTTI_API UntypedWriter {
 public:
  using Timeout = std::chrono::nanoseconds;

  /// Space for one sample in the ring; abandoned unless it is committed.
  struct Space {
    Claim claim{};
    std::span<std::byte> payload{};
  };

  /// Waits, and is refused, as UntypedTopic::create. An error if this participant is not among the
  /// senders of the topic's bundle.
  [[nodiscard]] static Result<UntypedWriter> create(const UntypedTopic& topic,
                                                    const WriterOptions& options = {},
                                                    WriterListener listener = {});

  /// Waits for space at most WriterOptions::max_blocking_time: ErrorCode::timed_out; if that is 0,
  /// or the call is inside a callback of the node, it does not wait: no_space, in_callback.
  [[nodiscard]] Result<Space> claim(std::uint32_t size);
  /// Never waits: ErrorCode::no_space.
  [[nodiscard]] Result<Space> try_claim(std::uint32_t size);
  /// The key's hash is 0 unless the type is keyed. Ticket 0: it was no claim of this writer.
  Ticket commit(Space&& space, std::uint64_t key_hash = 0) noexcept;
  /// Copies the payload into claimed space and commits it.
  [[nodiscard]] Result<Ticket> write(std::span<const std::byte> payload,
                                     std::uint64_t key_hash = 0);
  /// The same, as try_claim.
  [[nodiscard]] Result<Ticket> try_write(std::span<const std::byte> payload,
                                         std::uint64_t key_hash = 0);

  [[nodiscard]] Result<void> wait(Ticket ticket, Timeout timeout);
  [[nodiscard]] Result<void> wait_for_acknowledgments(Timeout timeout);
  [[nodiscard]] bool delivered(Ticket ticket) const noexcept;
  /// For what else a group does with tickets, such as Group::on_delivered.
  [[nodiscard]] const Group& group() const;

  UntypedWriter(UntypedWriter&&) noexcept;
  UntypedWriter& operator=(UntypedWriter&&) noexcept;
  ~UntypedWriter();

 private:
  explicit UntypedWriter(std::shared_ptr<WriterCore> core);
  std::shared_ptr<WriterCore> core_;
};

/// A sample that is built where the others read it. Its fields have old bytes at first: set all of
/// them. One that is destroyed without DataWriter::write is abandoned. Write it soon: what this
/// participant writes later to the bundle waits for it.
template <class T>
class Loan {
 public:
  [[nodiscard]] T& operator*() const { return *sample_; }
  [[nodiscard]] T* operator->() const { return sample_; }

 private:
  template <class>
  friend class DataWriter;
  explicit Loan(UntypedWriter::Space space)
      : space_(std::move(space)), sample_(::new(static_cast<void*>(space_.payload.data())) T) {}
  UntypedWriter::Space space_;
  T* sample_;
};

template <class T>
class DataWriter {
 public:
  using Timeout = std::chrono::nanoseconds;
  using Support = TypeSupport<T>;

  /// See UntypedWriter::create.
  [[nodiscard]] static Result<DataWriter> create(const Topic<T>& topic,
                                                 const WriterOptions& options = {},
                                                 WriterListener listener = {}) {
    Result<UntypedWriter> writer =
        UntypedWriter::create(topic.untyped(), options, std::move(listener));
    if (!writer) return std::unexpected(std::move(writer.error()));
    return DataWriter(std::move(*writer));
  }

  /// Waits for space as UntypedWriter::claim says. The ticket is for wait(); every reader gets the
  /// sample, whether anybody waits or not.
  [[nodiscard]] Result<Ticket> write(const T& sample) {
    if constexpr (Support::kInPlace) {
      return writer_.write(bytes_of(sample), Support::key_hash(sample));
    } else {
      return encode_into(writer_.claim(Support::encoded_size(sample)), sample);
    }
  }
  /// Never waits: ErrorCode::no_space.
  [[nodiscard]] Result<Ticket> try_write(const T& sample) {
    if constexpr (Support::kInPlace) {
      return writer_.try_write(bytes_of(sample), Support::key_hash(sample));
    } else {
      return encode_into(writer_.try_claim(Support::encoded_size(sample)), sample);
    }
  }

  /// Waits as write() does.
  [[nodiscard]] Result<Loan<T>> loan()
    requires Support::kInPlace
  {
    Result<UntypedWriter::Space> space = writer_.claim(sizeof(T));
    if (!space) return std::unexpected(std::move(space.error()));
    return Loan<T>(std::move(*space));
  }
  [[nodiscard]] Result<Ticket> write(Loan<T>&& loan)
    requires Support::kInPlace
  {
    const std::uint64_t key = Support::key_hash(*loan);
    const Ticket ticket = writer_.commit(std::move(loan.space_), key);
    if (ticket != Ticket{}) return ticket;
    return fail(ErrorCode::invalid_argument, "the loan is of another writer, or was written");
  }

  /// Waits until this participant has delivered the sample; of an atomic or stored topic all of the
  /// bundle's participants have received it then, and of a logged one it is on all their disks.
  [[nodiscard]] Result<void> wait(Ticket ticket, Timeout timeout) {
    return writer_.wait(ticket, timeout);
  }
  /// The same for all that this writer has written.
  [[nodiscard]] Result<void> wait_for_acknowledgments(Timeout timeout) {
    return writer_.wait_for_acknowledgments(timeout);
  }
  [[nodiscard]] bool delivered(Ticket ticket) const noexcept { return writer_.delivered(ticket); }
  [[nodiscard]] const Group& group() const { return writer_.group(); }

 private:
  explicit DataWriter(UntypedWriter writer) : writer_(std::move(writer)) {}

  [[nodiscard]] static std::span<const std::byte> bytes_of(const T& sample) {
    return {reinterpret_cast<const std::byte*>(&sample), sizeof(T)};
  }

  [[nodiscard]] Result<Ticket> encode_into(Result<UntypedWriter::Space> space, const T& sample) {
    if (!space) return std::unexpected(std::move(space.error()));
    if (auto done = Support::encode(sample, space->payload); !done) {
      return std::unexpected(std::move(done.error()));
    }
    return writer_.commit(std::move(*space), Support::key_hash(sample));
  }

  UntypedWriter writer_;
};

}  // namespace tutti::dds
