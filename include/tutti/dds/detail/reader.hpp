/// \file reader.hpp
/// Reads encoded bytes that anyone may have sent: versions 1 and 2 of XCDR, both byte orders.
///
/// X1: nothing behind the end of what is being read is looked at, and no length is believed that is
/// above what is left there. Threads: the caller's.
/// Source: OMG DDS-XTypes 1.3, 7.4 (the encodings), 7.6.3.1.2 (the encapsulation header).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "tutti/dds/detail/trouble.hpp"
#include "tutti/dds/fields.hpp"

namespace tutti::dds::detail {

/// What is read next ends there; positions are aligned from `origin` on.
struct Extent {
  const std::byte* end;
  const std::byte* origin;
};

/// The header of a member of a mutable structure, or of an optional one in version 1.
struct MemberHeader {
  std::uint32_t id = 0;
  std::uint32_t bytes = 0;
  bool must_understand = false;
  bool end = false;  ///< not a member: the list is at its end
};

class TUTTI_API Reader {
 public:
  /// Reads the encapsulation header, which must be that of a type of this extensibility.
  bool open_sample(std::span<const std::byte> bytes, Extensibility extensibility);
  /// After the value: nothing may be left but padding, or what a newer version of the type has.
  bool close_sample(Extensibility extensibility);

  /// Version 2 in this processor's byte order: what kPlain says holds.
  [[nodiscard]] bool native() const { return native_; }
  [[nodiscard]] bool version_1() const { return align_max_ == 8; }
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  bool align(std::size_t to) {
    const std::size_t skipped = padding(to);
    if (left() < skipped) [[unlikely]]
      return too_short(skipped);
    at_ += skipped;
    return true;
  }
  /// Whether so many bytes, so aligned, are left.
  [[nodiscard]] bool holds(std::size_t to, std::size_t count) const {
    return left() >= count && left() - count >= padding(to);
  }
  bool bytes(void* into, std::size_t count) {
    if (left() < count) [[unlikely]]
      return too_short(count);
    std::memcpy(into, at_, count);
    at_ += count;
    return true;
  }
  /// The next bytes, where they are; null if so many are not left.
  const std::byte* take(std::size_t count) {
    if (left() < count) [[unlikely]]
      return too_short(count), nullptr;
    return std::exchange(at_, at_ + count);
  }
  /// A number, character or enumerator: any bytes are one.
  template <class T>
  bool get(T& value) {
    if (!align(sizeof(T)) || left() < sizeof(T)) [[unlikely]]
      return too_short(sizeof(T));
    if (swap_) {
      std::byte turned[sizeof(T)];
      std::reverse_copy(at_, at_ + sizeof(T), turned);
      std::memcpy(&value, turned, sizeof(T));
    } else {
      std::memcpy(&value, at_, sizeof(T));
    }
    at_ += sizeof(T);
    return true;
  }
  bool get(bool& value);
  bool get_count(std::uint32_t& count, std::size_t bound, std::size_t bytes_min);
  /// The text, without its end, where it is.
  bool get_text(std::string_view& text, std::size_t bound);

  /// Reads a size, and narrows what is read next to so many bytes; `outer` is what close()
  /// restores.
  bool open(Extent& outer);
  bool open_bytes(std::size_t size, Extent& outer);
  /// Goes to the end of what open() began. More than padding left there is refused unless
  /// `rest_is_newer`: then a newer version of the type put it there.
  bool close(Extent outer, bool rest_is_newer);
  /// Reads the header of the next member and narrows to its bytes, from which on version 1 aligns.
  bool open_member(MemberHeader& member, Extent& outer);

  bool unknown_member(std::uint32_t id);
  bool wrong_member(std::uint32_t id, std::uint32_t expected);
  bool unknown_value(std::int64_t value);
  bool unknown_label(std::int64_t label);

  Trouble trouble;

 private:
  [[nodiscard]] std::size_t padding(std::size_t to) const {
    const std::size_t position = static_cast<std::size_t>(at_ - origin_);
    return (0 - position) & (std::min(to, align_max_) - 1);
  }
  bool too_short(std::size_t bytes);
  bool refuse(std::string what);
  bool read_header_1(MemberHeader& member);
  bool read_header_2(MemberHeader& member);

  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  const std::byte* origin_ = nullptr;
  std::size_t align_max_ = 4;
  bool swap_ = false;
  bool native_ = true;
};

}  // namespace tutti::dds::detail
