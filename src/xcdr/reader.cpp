/// \file reader.cpp
/// The parts of a Reader that look at headers, and those that refuse.
#include "tutti/dds/detail/reader.hpp"

#include <array>
#include <string>

namespace tutti::dds::detail {
namespace {

constexpr std::size_t kHeaderBytes = 4;

/// What the second byte of an encapsulation header says, without its lowest bit, which is set for
/// little endian.
struct Form {
  std::uint8_t code;
  bool version_1;
  std::array<bool, 3> is_of;  ///< Extensibility
  const char* name;
};
constexpr Form kForms[] = {
    {0x00, true, {true, true, false}, "CDR"},
    {0x02, true, {false, false, true}, "PL_CDR"},
    {0x06, false, {true, false, false}, "plain CDR2"},
    {0x08, false, {false, true, false}, "delimited CDR2"},
    {0x0a, false, {false, false, true}, "PL_CDR2"},
};
constexpr const char* kNames[] = {"final", "appendable", "mutable"};

std::string text(std::uint64_t number) { return std::to_string(number); }

// Parameter ids of version 1 that are no member's [DDS-XTypes 1.3, 7.4.1.2].
constexpr std::uint16_t kExtended = 0x3f01;
constexpr std::uint16_t kListEnd = 0x3f02;
constexpr std::uint16_t kIgnore = 0x3f03;

}  // namespace

bool Reader::refuse(std::string what) {
  return trouble.because(ErrorCode::mismatch, std::move(what));
}

bool Reader::too_short(std::size_t bytes) {
  return refuse("needs " + text(bytes) + " bytes, but " + text(left()) +
                " are left; the sample was cut, or its sender has another version of the type: "
                "compare the two");
}

bool Reader::open_sample(std::span<const std::byte> bytes, Extensibility extensibility) {
  if (bytes.size() < kHeaderBytes) {
    return refuse("its " + text(bytes.size()) +
                  " bytes are fewer than the 4 of a header; what was "
                  "sent is no encoded sample");
  }
  const auto code = std::to_integer<std::uint8_t>(bytes[1]);
  const Form* form = nullptr;
  for (const Form& each : kForms) {
    if (bytes[0] == std::byte{0} && each.code == (code & 0xfe)) form = &each;
  }
  if (form == nullptr) {
    return refuse("its header begins with " + text(std::to_integer<unsigned>(bytes[0])) + " " +
                  text(code) +
                  ", which is no form of XCDR (0 and 0 to 3 or 6 to 11); what was sent "
                  "is no encoded sample");
  }
  const auto index = static_cast<std::size_t>(extensibility);
  if (!form->is_of[index]) {
    return refuse(std::string("it was sent as ") + form->name + ", but the type is " +
                  kNames[index] + " here; give it the same extensibility on both sides");
  }
  const std::size_t padding = std::to_integer<std::size_t>(bytes[3]) & 3;
  if (padding > bytes.size() - kHeaderBytes) {
    return refuse("its header says that it ends with " + text(padding) + " bytes of padding, but " +
                  text(bytes.size() - kHeaderBytes) + " follow; the sample was cut");
  }
  at_ = origin_ = bytes.data() + kHeaderBytes;
  end_ = bytes.data() + bytes.size() - padding;
  align_max_ = form->version_1 ? 8 : 4;
  swap_ = (code & 1) == 0;
  native_ = !form->version_1 && !swap_;
  return true;
}

bool Reader::close_sample(Extensibility extensibility) {
  // Some senders pad, and do not say by how many bytes.
  if (left() <= 3 || (version_1() && extensibility != Extensibility::final)) return true;
  return refuse(text(left()) +
                " bytes are left behind its last field; its sender has another "
                "version of the type: compare the two");
}

bool Reader::get(bool& value) {
  std::uint8_t number = 0;
  if (!get(number)) return false;
  if (number > 1) return unknown_value(number);
  value = number != 0;
  return true;
}

bool Reader::get_count(std::uint32_t& count, std::size_t bound, std::size_t bytes_min) {
  if (!get(count)) return false;
  if (bound != 0 && count > bound)
    return trouble.because(ErrorCode::mismatch,
                           "its length is " + text(count) + ", at most " + text(bound) +
                               " are allowed; give it the same bound on both sides");
  if (count > left() / bytes_min) {
    return refuse("its length is " + text(count) + ", but " + text(left()) +
                  " bytes are left; the sample was cut, or its sender has another version of the "
                  "type: compare the two");
  }
  return true;
}

bool Reader::get_text(std::string_view& text, std::size_t bound) {
  std::uint32_t count = 0;
  if (!get_count(count, bound == 0 ? 0 : bound + 1, 1)) return false;
  if (count == 0) return text = {}, true;  // some senders end only texts that have characters
  const std::byte* from = take(count);
  if (from[count - 1] != std::byte{0}) {
    return refuse("a text of " + std::to_string(count) +
                  " bytes does not end with a zero; its sender has another version of the type: "
                  "compare the two");
  }
  text = {reinterpret_cast<const char*>(from), count - 1};
  return true;
}

bool Reader::open(Extent& outer) {
  std::uint32_t size = 0;
  return get(size) && open_bytes(size, outer);
}

bool Reader::open_bytes(std::size_t size, Extent& outer) {
  if (size > left()) return too_short(size);
  outer = {.end = end_, .origin = origin_};
  end_ = at_ + size;
  return true;
}

bool Reader::close(Extent outer, bool rest_is_newer) {
  if (left() > 3 && !rest_is_newer) {
    return refuse(text(left()) +
                  " bytes are left behind the value; its sender has another version "
                  "of the type: compare the two");
  }
  at_ = end_;
  end_ = outer.end;
  origin_ = outer.origin;
  return true;
}

bool Reader::open_member(MemberHeader& member, Extent& outer) {
  member = {};
  if (!(version_1() ? read_header_1(member) : read_header_2(member))) return false;
  if (member.end) return true;
  if (!open_bytes(member.bytes, outer)) return false;
  if (version_1()) origin_ = at_;
  return true;
}

bool Reader::read_header_1(MemberHeader& member) {
  for (;;) {
    std::uint16_t id = 0, size = 0;
    if (!align(4) || !get(id) || !get(size)) return false;
    member.must_understand = (id & 0x4000) != 0;
    member.id = id & 0x3fff;
    member.bytes = size;
    if (member.id == kListEnd) return member.end = true;
    if (member.id == kExtended) {
      if (size < 8) return too_short(8);
      if (!get(member.id) || !get(member.bytes)) return false;
      member.must_understand = (member.id & 0x40000000) != 0;
      // The highest bit is of ids that others gave a meaning: no member of ours has it.
      member.id &= 0x8fffffff;
      return true;
    }
    if (member.id != kIgnore) {
      member.id |= (id & 0x8000U) << 16;
      return true;
    }
    if (take(member.bytes) == nullptr) return false;
  }
}

bool Reader::read_header_2(MemberHeader& member) {
  if (left() <= 3) return member.end = true;
  std::uint32_t header = 0, next = 0;
  if (!get(header)) return false;
  member.must_understand = header >> 31 != 0;
  member.id = header & 0x0fffffff;
  const std::uint32_t code = header >> 28 & 7;
  if (code < 4) {
    member.bytes = 1U << code;
    return true;
  }
  const std::byte* begin = at_;
  if (!get(next)) return false;
  std::uint64_t size = next;
  if (code > 4) {
    // The value begins with this number: that of its bytes, or of its elements of 4 or 8.
    at_ = begin;
    size = size * (code == 5 ? 1 : code == 6 ? 4 : 8) + sizeof(next);
  }
  if (size > left()) return too_short(size);
  member.bytes = static_cast<std::uint32_t>(size);
  return true;
}

bool Reader::unknown_member(std::uint32_t id) {
  return refuse("its member with the id " + text(id) +
                " must be understood, but the type has none with that id here; update this side");
}

bool Reader::wrong_member(std::uint32_t id, std::uint32_t expected) {
  return refuse("a member with the id " + text(id) + " is where the one with the id " +
                text(expected) + " is expected; give fields the same ids on both sides");
}

bool Reader::unknown_value(std::int64_t value) {
  return refuse("the value " + std::to_string(value) +
                " is none of the type's; its sender has another version of it: compare the two");
}

bool Reader::unknown_label(std::int64_t label) {
  return refuse("no case of the union has the label " + std::to_string(label) +
                "; its sender has another version of it: compare the two");
}

}  // namespace tutti::dds::detail
