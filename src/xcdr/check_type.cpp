/// \file check_type.cpp
/// Visits the nodes of a description once each, what they contain first.
#include "xcdr/check_type.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tutti/dds/detail/name.hpp"
#include "tutti/dds/detail/trouble.hpp"
#include "xcdr/wire_kind.hpp"

namespace tutti::dds {
namespace {

class Check {
 public:
  explicit Check(const Type& type) : type_(type), states_(type.nodes.size()) {}

  Result<LeastBytes> run() {
    if (type_.nodes.empty()) return refuse(0, "it has no nodes");
    if (type_.nodes.size() > kTypeNodesMax) return refuse(0, "it has too many nodes");
    if (!has_value(0)) return refuse(0, "a sample has no value");
    for (std::uint32_t i = 0; i < type_.nodes.size(); ++i) {
      if (const Result<std::uint64_t> size = visit(i, 0); !size) {
        return std::unexpected(size.error());
      }
    }
    LeastBytes least;
    for (const State& state : states_) least.push_back(state.bytes_min);
    return least;
  }

 private:
  struct State {
    bool entered = false;
    bool done = false;
    unsigned height = 0;  ///< how many values lie in each other below it
    std::uint64_t bytes_min = 0;
  };

  static std::unexpected<Error> refuse(std::uint32_t index, std::string why) {
    return fail(ErrorCode::mismatch, "the description of a type cannot be used: node " +
                                         std::to_string(index) + ": " + std::move(why) +
                                         "; ask its sender again, or update this side");
  }

  /// Visits a part of a node.
  Result<std::uint64_t> part(std::uint32_t index, std::uint32_t of, unsigned depth) {
    const Result<std::uint64_t> bytes = visit(of, depth + 1);
    if (!bytes) return bytes;
    unsigned& height = states_[index].height;
    height = std::max(height, states_[of].height + 1);
    if (height > detail::kDepthMax) return refuse(index, "its parts lie too deep in each other");
    return bytes;
  }

  /// The least bytes of a sample of that node, encoded or in memory.
  Result<std::uint64_t> visit(std::uint32_t index, unsigned depth) {
    if (index >= states_.size()) return refuse(index, "it is named, but not there");
    if (states_[index].done) return states_[index].bytes_min;
    if (states_[index].entered) return refuse(index, "it contains itself");
    if (depth > detail::kDepthMax) return refuse(index, "it lies too deep in others");
    if (const Result<void> good = check_names(index); !good) return std::unexpected(good.error());
    states_[index].entered = true;
    Result<std::uint64_t> bytes = measure(index, depth);
    if (!bytes) return bytes;
    if (*bytes > kSampleBytesMax) return refuse(index, "its samples are too large");
    if (type_.in_place) {
      const TypeNode& node = type_.nodes[index];
      if (node.size == 0 || node.size > kSampleBytesMax) {
        return refuse(index, "its size of " + std::to_string(node.size) + " bytes is impossible");
      }
      if (*bytes > node.size) return refuse(index, "its parts do not lie in it");
      bytes = node.size;
    }
    states_[index].bytes_min = *bytes;
    states_[index].done = true;
    return bytes;
  }

  Result<void> check_names(std::uint32_t index) const {
    const TypeNode& node = type_.nodes[index];
    if (node.members.size() > kTypeMembersMax) return refuse(index, "it has too many members");
    if (node.name.size() > kTypeNameMax) return refuse(index, "its name is too long");
    for (const TypeMember& member : node.members) {
      if (member.name.size() > kTypeNameMax) return refuse(index, "a member's name is too long");
    }
    return {};
  }

  Result<std::uint64_t> measure(std::uint32_t index, unsigned depth) {
    const TypeNode& node = type_.nodes[index];
    switch (node.kind) {
      case Kind::structure:
        return structure(index, depth);
      case Kind::union_:
        return union_of(index);
      case Kind::optional:
        if (type_.in_place) return refuse(index, "an optional is sent in place");
        if (node.element >= states_.size()) return refuse(index, "its value's type is not there");
        if (!has_value(node.element)) return refuse(index, "its value is none");
        return 1;
      case Kind::sequence:
        return sequence(index, depth);
      case Kind::array:
        return array(index, depth);
      case Kind::string:
        if (!type_.in_place) return 4;
        if (!has_count(node)) return refuse(index, "a text in memory has no bound or no count");
        return std::uint64_t{node.data_offset} + node.bound;
      case Kind::enumeration:
        if (node.size != 1 && node.size != 2 && node.size != 4) {
          return refuse(index, "an enum of " + std::to_string(node.size) + " bytes");
        }
        return node.size;
      case Kind::no_member:
        if (type_.in_place) return refuse(index, "a union's case is sent in place");
        return 0;
      case Kind::opaque:
        if (!type_.in_place) return refuse(index, "an opaque value is encoded");
        return node.size;
      default:
        return primitive_bytes(node.kind);
    }
  }

  /// Whether a value of that node is always one: an optional is a field only.
  [[nodiscard]] bool has_value(std::uint32_t index) const {
    const Kind kind = type_.nodes[index].kind;
    return kind != Kind::optional && kind != Kind::no_member;
  }

  static bool has_count(const TypeNode& node) {
    return node.bound > 0 && node.data_offset >= sizeof(std::uint32_t);
  }

  Result<std::uint64_t> structure(std::uint32_t index, unsigned depth) {
    const TypeNode& node = type_.nodes[index];
    if (node.members.empty()) return refuse(index, "a structure without fields");
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < node.members.size(); ++i) {
      const TypeMember& member = node.members[i];
      const Result<std::uint64_t> bytes = part(index, member.type, depth);
      if (!bytes) return bytes;
      if (type_.nodes[member.type].kind == Kind::no_member) {
        return refuse(index, "a field without a value");
      }
      const Kind kind = type_.nodes[member.type].kind;
      if (member.key && (kind == Kind::opaque || kind == Kind::optional)) {
        return refuse(index, "a key is opaque or optional");
      }
      if (member.id > kFieldIdMax) return refuse(index, "the id of a field is too large");
      sum = type_.in_place ? std::max(sum, member.offset + *bytes) : sum + *bytes;
      for (std::size_t j = 0; j < i; ++j) {
        if (node.members[j].id == member.id) return refuse(index, "two fields have one id");
      }
    }
    if (type_.in_place && overlaps(node)) return refuse(index, "two fields lie in one place");
    const bool may_lack = node.extensibility != Extensibility::final;
    if (may_lack && type_.in_place) return refuse(index, "it is sent in place, but not final");
    return may_lack ? std::min<std::uint64_t>(sum, 4) : sum;
  }

  /// Without it a sample of few bytes could have any number of values. Its fields were visited.
  [[nodiscard]] bool overlaps(const TypeNode& node) const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> places;  // begin and end
    for (const TypeMember& member : node.members) {
      places.emplace_back(member.offset, member.offset + states_[member.type].bytes_min);
    }
    std::ranges::sort(places);
    for (std::size_t i = 1; i < places.size(); ++i) {
      if (places[i].first < places[i - 1].second) return true;
    }
    return false;
  }

  Result<std::uint64_t> union_of(std::uint32_t index) {
    const TypeNode& node = type_.nodes[index];
    if (type_.in_place) return refuse(index, "a union is sent in place");
    if (node.members.empty()) return refuse(index, "a union without cases");
    if (node.element >= states_.size()) return refuse(index, "its discriminator is not there");
    const TypeNode& discriminator = type_.nodes[node.element];
    if (!is_label(discriminator)) return refuse(index, "its discriminator is no number");
    for (const TypeMember& member : node.members) {
      if (member.type >= states_.size()) return refuse(index, "the type of a case is not there");
      if (type_.nodes[member.type].kind == Kind::optional) return refuse(index, "an optional case");
    }
    return label_bytes(discriminator);
  }

  Result<std::uint64_t> sequence(std::uint32_t index, unsigned depth) {
    const TypeNode& node = type_.nodes[index];
    if (node.element >= states_.size()) return refuse(index, "its elements' type is not there");
    if (!has_value(node.element)) {
      return refuse(index, "its elements have no value");
    }
    if (!type_.in_place) return 4;
    if (!has_count(node)) return refuse(index, "a sequence in memory has no bound or no count");
    const Result<std::uint64_t> element = part(index, node.element, depth);
    if (!element) return element;
    return node.data_offset + std::uint64_t{node.bound} * *element;
  }

  Result<std::uint64_t> array(std::uint32_t index, unsigned depth) {
    const TypeNode& node = type_.nodes[index];
    const Result<std::uint64_t> element = part(index, node.element, depth);
    if (!element) return element;
    if (!has_value(node.element) || node.bound == 0) {
      return refuse(index, "its elements have no value");
    }
    return node.bound * *element;
  }

  const Type& type_;
  std::vector<State> states_;
};

}  // namespace

Result<LeastBytes> check_type(const Type& type) { return Check(type).run(); }

}  // namespace tutti::dds
