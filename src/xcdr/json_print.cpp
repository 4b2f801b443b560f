/// \file json_print.cpp
/// Walks a sample by the description of its type: one that was encoded by a Reader, which checks
/// each length; one in memory by the offsets, which the check of the description has proved.
#include <algorithm>
#include <cstring>

#include "tutti/dds/detail/reader.hpp"
#include "tutti/dds/json.hpp"
#include "xcdr/check_type.hpp"
#include "xcdr/json_scalar.hpp"
#include "xcdr/wire_kind.hpp"

namespace tutti::dds {
namespace {

using detail::Extent, detail::MemberHeader, detail::Reader;

std::uint64_t bits_at(const std::byte* at, std::size_t bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, bytes);
  return bits;
}

const TypeMember* member_with_id(const TypeNode& node, std::uint32_t id) {
  const auto found = std::find_if(node.members.begin(), node.members.end(),
                                  [&](const TypeMember& member) { return member.id == id; });
  return found == node.members.end() ? nullptr : &*found;
}

/// A sample that lies as in memory.
class MemoryPrinter {
 public:
  MemoryPrinter(const Type& type, std::string& json) : type_(type), json_(json) {}

  void value(std::uint32_t index, const std::byte* at) {
    const TypeNode& node = type_.nodes[index];
    if (node.kind == Kind::structure) {
      char before = '{';
      for (const TypeMember& member : node.members) {
        if (json_.size() > kJsonBytesMax) return;
        json_.push_back(before);
        before = ',';
        append_text(json_, member.name);
        json_.push_back(':');
        value(member.type, at + member.offset);
      }
      json_.push_back('}');
    } else if (node.kind == Kind::array) {
      elements(node, at, node.bound);
    } else if (node.kind == Kind::sequence) {
      elements(node, at + node.data_offset, count_at(node, at));
    } else if (node.kind == Kind::string) {
      append_text(json_,
                  {reinterpret_cast<const char*>(at + node.data_offset), count_at(node, at)});
    } else if (node.kind == Kind::opaque) {
      append_hex(json_, at, node.size);
    } else {
      append_scalar(json_, node, bits_at(at, scalar_bytes(node)));
    }
  }

 private:
  /// What the sender wrote there may be above the bound.
  static std::size_t count_at(const TypeNode& node, const std::byte* at) {
    return std::min<std::size_t>(bits_at(at, sizeof(std::uint32_t)), node.bound);
  }

  void elements(const TypeNode& node, const std::byte* at, std::size_t count) {
    json_.push_back('[');
    for (std::size_t i = 0; i < count && json_.size() <= kJsonBytesMax; ++i) {
      if (i > 0) json_.push_back(',');
      value(node.element, at + i * type_.nodes[node.element].size);
    }
    json_.push_back(']');
  }

  const Type& type_;
  std::string& json_;
};

/// A sample that was encoded. Each function returns false after it has said why in the reader.
class CdrPrinter {
 public:
  CdrPrinter(const Type& type, const LeastBytes& least, Reader& reader, std::string& json)
      : type_(type), least_(least), reader_(reader), json_(json) {}

  bool value(std::uint32_t index, unsigned depth) {
    if (depth > detail::kDepthMax) return reader_.trouble.too_deep();
    const TypeNode& node = type_.nodes[index];
    switch (node.kind) {
      case Kind::structure:
        return node.extensibility == Extensibility::mutable_ ? members(node, depth)
                                                             : fields(node, depth);
      case Kind::union_:
        return union_of(node, depth);
      case Kind::sequence:
        return sequence(node, depth);
      case Kind::array:
        return array(node, depth);
      case Kind::string:
        return text(node);
      case Kind::no_member:
        json_.append("null");
        return true;
      case Kind::optional:
        return value(node.element, depth);  // it is there, or nobody would ask
      default:
        return scalar(node);
    }
  }

 private:
  template <class T>
  bool read(std::uint64_t& bits) {
    T number{};
    if (!reader_.get(number)) return false;
    bits = static_cast<std::uint64_t>(number);
    return true;
  }
  bool read_scalar(const TypeNode& node, std::uint64_t& bits) {
    if (node.kind == Kind::boolean) return read<bool>(bits);
    switch (scalar_bytes(node)) {
      case 1:
        return read<std::uint8_t>(bits);
      case 2:
        return read<std::uint16_t>(bits);
      case 4:
        return read<std::uint32_t>(bits);
      default:
        return read<std::uint64_t>(bits);
    }
  }

  bool scalar(const TypeNode& node) {
    std::uint64_t bits = 0;
    if (!read_scalar(node, bits)) return false;
    append_scalar(json_, node, bits);
    return true;
  }

  bool text(const TypeNode& node) {
    std::string_view text;
    if (!reader_.get_text(text, node.bound)) return false;
    append_text(json_, text);
    return true;
  }

  [[nodiscard]] bool has_header(const TypeNode& node) const {
    return !reader_.version_1() && !is_primitive(type_.nodes[node.element].kind);
  }

  bool elements(const TypeNode& node, std::size_t count, unsigned depth) {
    json_.push_back('[');
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) json_.push_back(',');
      if (json_.size() > kJsonBytesMax) return too_long();
      if (!value(node.element, depth + 1)) return reader_.trouble.at_index(i);
    }
    json_.push_back(']');
    return true;
  }
  bool too_long() { return reader_.trouble.too_long(json_.size(), kJsonBytesMax); }

  bool sequence(const TypeNode& node, unsigned depth) {
    Extent outer{};
    std::uint32_t count = 0;
    const bool header = has_header(node);
    return (!header || reader_.open(outer)) &&
           reader_.get_count(count, node.bound, least_[node.element]) &&
           elements(node, count, depth) && (!header || reader_.close(outer, false));
  }
  bool array(const TypeNode& node, unsigned depth) {
    Extent outer{};
    const bool header = has_header(node);
    return (!header || reader_.open(outer)) && elements(node, node.bound, depth) &&
           (!header || reader_.close(outer, false));
  }

  bool union_of(const TypeNode& node, unsigned depth) {
    Extent outer{};
    const bool header = node.extensibility != Extensibility::final && !reader_.version_1();
    std::uint64_t bits = 0;
    const TypeNode& discriminator = type_.nodes[node.element];
    if ((header && !reader_.open(outer)) || !read_scalar(discriminator, bits)) return false;
    const unsigned unused = 64 - 8 * scalar_bytes(discriminator);
    const TypeMember* chosen = nullptr;
    for (const TypeMember& member : node.members) {
      const bool labelled = std::bit_cast<std::uint64_t>(member.label) << unused == bits << unused;
      const bool is_else = type_.nodes[member.type].kind == Kind::no_member && chosen == nullptr;
      if (labelled || is_else) chosen = &member;
      if (labelled) break;
    }
    if (chosen == nullptr) return reader_.unknown_label(std::bit_cast<std::int64_t>(bits));
    json_.push_back('{');
    name(*chosen);
    if (!value(chosen->type, depth + 1)) return reader_.trouble.at_field(chosen->name);
    json_.push_back('}');
    return !header || reader_.close(outer, true);
  }

  void name(const TypeMember& member) {
    append_text(json_, member.name);
    json_.push_back(':');
  }

  /// An optional of a final or appendable structure, with its mark.
  bool optional(const TypeNode& node, const TypeMember& member, unsigned depth) {
    Extent outer{};
    bool there = false;
    if (reader_.version_1()) {
      MemberHeader header;
      if (!reader_.open_member(header, outer)) return false;
      if (header.end || header.id != member.id) return reader_.wrong_member(header.id, member.id);
      there = header.bytes != 0;
    } else if (!reader_.get(there)) {
      return false;
    }
    if (!there) json_.append("null");
    return (!there || value(node.element, depth)) &&
           (!reader_.version_1() || reader_.close(outer, false));
  }

  bool fields(const TypeNode& node, unsigned depth) {
    Extent outer{};
    const bool appendable = node.extensibility == Extensibility::appendable;
    const bool header = appendable && !reader_.version_1();
    // Version 1 says nothing of the end of one that lies in another.
    const bool may_end = header || (appendable && depth == 0);
    if (header && !reader_.open(outer)) return false;
    char before = '{';
    for (const TypeMember& member : node.members) {
      if (may_end && reader_.left() == 0) break;  // what its sender does not have
      if (json_.size() > kJsonBytesMax) return too_long();
      json_.push_back(std::exchange(before, ','));
      name(member);
      const TypeNode& part = type_.nodes[member.type];
      const bool good = part.kind == Kind::optional ? optional(part, member, depth + 1)
                                                    : value(member.type, depth + 1);
      if (!good) return reader_.trouble.at_field(member.name);
    }
    json_.append(before == '{' ? "{}" : "}");
    return !header || reader_.close(outer, true);
  }

  bool members(const TypeNode& node, unsigned depth) {
    Extent whole{};
    const bool sized = !reader_.version_1();
    if (sized && !reader_.open(whole)) return false;
    char before = '{';
    for (;;) {
      MemberHeader header;
      Extent outer{};
      if (!reader_.open_member(header, outer)) return false;
      if (header.end) break;
      const TypeMember* member = member_with_id(node, header.id);
      if (member == nullptr) {
        if (header.must_understand) return reader_.unknown_member(header.id);
        reader_.close(outer, true);
        continue;
      }
      if (json_.size() > kJsonBytesMax) return too_long();
      json_.push_back(std::exchange(before, ','));
      name(*member);
      if (!value(member->type, depth + 1) || !reader_.close(outer, false)) {
        return reader_.trouble.at_field(member->name);
      }
    }
    json_.append(before == '{' ? "{}" : "}");
    return !sized || reader_.close(whole, true);
  }

  const Type& type_;
  const LeastBytes& least_;
  Reader& reader_;
  std::string& json_;
};

}  // namespace

Result<std::string> print_json(const Type& type, std::span<const std::byte> sample) {
  const Result<LeastBytes> least = check_type(type);
  if (!least) return std::unexpected(least.error());
  std::string json;
  const TypeNode& root = type.nodes[0];
  Reader reader;
  if (type.in_place) {
    if (sample.size() != root.size) {
      reader.trouble.because(ErrorCode::mismatch,
                             "it has " + std::to_string(sample.size()) + " bytes, the type has " +
                                 std::to_string(root.size) +
                                 "; its sender has another version of the type: compare the two");
      return std::unexpected(reader.trouble.error(root.name, "print"));
    }
    MemoryPrinter(type, json).value(0, sample.data());
    if (json.size() <= kJsonBytesMax) return json;
    reader.trouble.too_long(json.size(), kJsonBytesMax);
    return std::unexpected(reader.trouble.error(root.name, "print"));
  }
  if (!reader.open_sample(sample, root.extensibility) ||
      !CdrPrinter(type, *least, reader, json).value(0, 0) ||
      !reader.close_sample(root.extensibility)) {
    return std::unexpected(reader.trouble.error(root.name, "print"));
  }
  return json;
}

}  // namespace tutti::dds
