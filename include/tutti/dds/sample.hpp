/// \file sample.hpp
/// Samples that a reader has taken. They lie in memory that the readers of a topic share, so that
/// to take copies nothing; a loan keeps that memory.
///
/// Threads: one at a time. A loan may be held for any time, and outlive its reader: it holds up
/// nobody, and costs only memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "tutti/types.hpp"

namespace tutti::dds {

struct SampleInfo {
  /// Grows from sample to sample of a topic, with gaps: its number in the bundle's sequence, the
  /// same at all participants. Of an unordered topic: how many samples this participant delivered
  /// before.
  SeqNo position{};
  MemberIndex sender{};                ///< DomainParticipant::name_of gives the name
  std::uint64_t view = 0;              ///< in which it was delivered
  std::uint64_t source_timestamp = 0;  ///< ns since 1970, by the writer's clock
  std::uint64_t lost_before = 0;       ///< samples that this reader missed before it
  /// False: its bytes are no value of the type; the data is that of a new T.
  bool valid = true;
};

/// Samples as bytes: the payload of a trivially copyable type, or XCDR2.
class LoanedBytes {
 public:
  struct Sample {
    const std::byte* data = nullptr;
    std::uint32_t size = 0;
    SampleInfo info{};
    [[nodiscard]] std::span<const std::byte> bytes() const { return {data, size}; }
  };

  LoanedBytes() = default;
  LoanedBytes(LoanedBytes&&) noexcept = default;
  LoanedBytes& operator=(LoanedBytes&&) noexcept = default;
  LoanedBytes(const LoanedBytes&) = delete;
  LoanedBytes& operator=(const LoanedBytes&) = delete;
  ~LoanedBytes() = default;

  [[nodiscard]] std::size_t size() const { return samples_.size(); }
  [[nodiscard]] bool empty() const { return samples_.empty(); }
  [[nodiscard]] const Sample& operator[](std::size_t i) const { return samples_[i]; }
  [[nodiscard]] auto begin() const { return samples_.begin(); }
  [[nodiscard]] auto end() const { return samples_.end(); }

  /// For those that fill it: a sample in memory that `keeper` keeps; null: the same as before.
  void add(const Sample& sample, const std::shared_ptr<const void>& keeper) {
    if (keeper != nullptr && (keepers_.empty() || keepers_.back() != keeper)) {
      keepers_.push_back(keeper);
    }
    samples_.push_back(sample);
  }
  void clear() {
    samples_.clear();
    keepers_.clear();
  }
  /// To say that so many more are missing before the first one.
  void add_lost(std::uint64_t lost) { samples_.front().info.lost_before += lost; }
  /// To say that its bytes are none of the type.
  void mark_invalid(std::size_t i) { samples_[i].info.valid = false; }

 private:
  std::vector<Sample> samples_;
  std::vector<std::shared_ptr<const void>> keepers_;
};

template <class T>
class DataReader;

/// One of LoanedSamples, valid as long as they are.
template <class T>
class Sample {
 public:
  Sample(const T& data, const SampleInfo& info) : data_(&data), info_(&info) {}
  [[nodiscard]] const T& data() const { return *data_; }
  [[nodiscard]] const SampleInfo& info() const { return *info_; }

 private:
  const T* data_;
  const SampleInfo* info_;
};

/// What DataReader::take returns; move-only.
template <class T>
class LoanedSamples {
 public:
  class Iterator {
   public:
    Iterator(const LoanedSamples& of, std::size_t at) : of_(&of), at_(at) {}
    Sample<T> operator*() const { return (*of_)[at_]; }
    Iterator& operator++() { return ++at_, *this; }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const LoanedSamples* of_;
    std::size_t at_;
  };

  LoanedSamples() = default;
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] Sample<T> operator[](std::size_t i) const {
    const T& data =
        decoded_.empty() ? *std::launder(reinterpret_cast<const T*>(bytes_[i].data)) : decoded_[i];
    return {data, bytes_[i].info};
  }
  [[nodiscard]] Iterator begin() const { return {*this, 0}; }
  [[nodiscard]] Iterator end() const { return {*this, size()}; }

 private:
  friend class DataReader<T>;
  LoanedBytes bytes_;
  std::vector<T> decoded_;  // of a type that does not lie in memory as it was sent
};

}  // namespace tutti::dds
