/// \file sink.hpp
/// Where encoded bytes go: Sizer counts them, Writer puts them into memory of a fixed size.
///
/// Both write version 2 of XCDR, little endian: numbers of 8 bytes are aligned to 4. Positions
/// count from behind the encapsulation header.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tutti/dds/detail/trouble.hpp"

namespace tutti::dds::detail {

class Sizer {
 public:
  bool align(std::size_t to) {
    at_ = (at_ + to - 1) & ~(to - 1);
    return true;
  }
  bool bytes(const void* /*from*/, std::size_t count) {
    at_ += count;
    return true;
  }
  template <class T>
  bool put(T value) {
    return align(sizeof(T) < 4 ? sizeof(T) : 4) && bytes(&value, sizeof(T));
  }
  /// Leaves space for the size of what follows, which close() fills in.
  bool open(std::size_t& mark) { return put(std::uint32_t{0}) && (mark = at_, true); }
  bool close(std::size_t mark) {
    return at_ - mark <= UINT32_MAX || trouble.too_long(at_ - mark, UINT32_MAX);
  }
  [[nodiscard]] std::size_t position() const { return at_; }

  Trouble trouble;

 private:
  std::size_t at_ = 0;
};

class Writer {
 public:
  Writer(std::byte* into, std::size_t size) : begin_(into), at_(into), end_(into + size) {}

  bool align(std::size_t to) {
    const std::size_t padding = (0 - position()) & (to - 1);
    if (left() < padding) [[unlikely]]
      return trouble.no_room(padding);
    for (std::size_t i = 0; i < padding; ++i) *at_++ = std::byte{0};
    return true;
  }
  bool bytes(const void* from, std::size_t count) {
    if (left() < count) [[unlikely]]
      return trouble.no_room(count);
    if (count == 0) return true;  // `from` may be null
    std::memcpy(at_, from, count);
    at_ += count;
    return true;
  }
  template <class T>
  bool put(T value) {
    return align(sizeof(T) < 4 ? sizeof(T) : 4) && bytes(&value, sizeof(T));
  }
  bool open(std::size_t& mark) { return put(std::uint32_t{0}) && (mark = position(), true); }
  bool close(std::size_t mark) {
    const std::size_t size = position() - mark;
    if (size > UINT32_MAX) [[unlikely]]
      return trouble.too_long(size, UINT32_MAX);
    const auto written = static_cast<std::uint32_t>(size);
    std::memcpy(begin_ + mark - sizeof(written), &written, sizeof(written));
    return true;
  }
  [[nodiscard]] std::size_t position() const { return static_cast<std::size_t>(at_ - begin_); }

  Trouble trouble;

 private:
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  std::byte* begin_;
  std::byte* at_;
  std::byte* end_;
};

}  // namespace tutti::dds::detail
