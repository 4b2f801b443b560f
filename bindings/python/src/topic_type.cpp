// Types as data: a dictionary of nodes, as TypeNode and TypeMember have them.
#include <nanobind/stl/string.h>

#include <utility>

#include "topics.hpp"

namespace tutti::python {
namespace {

template <class T>
T of(const nb::dict& from, const char* key) {
  T value{};
  if (!from.contains(key) || !nb::try_cast(nb::object(from[key]), value)) {
    raise({ErrorCode::invalid_argument,
           "the description of a type: '" + std::string(key) + "' is missing, or cannot be"});
  }
  return value;
}

dds::TypeMember member_from(const nb::dict& from) {
  return {.name = of<std::string>(from, "name"),
          .type = of<std::uint32_t>(from, "type"),
          .id = of<std::uint32_t>(from, "id"),
          .offset = of<std::uint32_t>(from, "offset"),
          .label = of<std::int64_t>(from, "label"),
          .key = of<bool>(from, "key")};
}

dds::TypeNode node_from(const nb::dict& from) {
  dds::TypeNode node{
      .kind = static_cast<dds::Kind>(of<std::uint8_t>(from, "kind")),
      .extensibility = static_cast<dds::Extensibility>(of<std::uint8_t>(from, "extensibility")),
      .name = of<std::string>(from, "name"),
      .size = of<std::uint32_t>(from, "size"),
      .align = of<std::uint32_t>(from, "align"),
      .element = of<std::uint32_t>(from, "element"),
      .bound = of<std::uint32_t>(from, "bound"),
      .data_offset = of<std::uint32_t>(from, "data_offset"),
      .members = {}};
  for (const nb::handle member : of<nb::list>(from, "members")) {
    node.members.push_back(member_from(nb::cast<nb::dict>(member)));
  }
  return node;
}

}  // namespace

dds::TopicTypeInfo type_info_from(const nb::dict& from) {
  const InPython inside;  // numbers of any class
  dds::Type type{.in_place = of<bool>(from, "in_place"), .nodes = {}};
  for (const nb::handle node : of<nb::list>(from, "nodes")) {
    type.nodes.push_back(node_from(nb::cast<nb::dict>(node)));
  }
  // Encoding checks it.
  dds::TopicTypeInfo info{.description = or_raise(dds::encode_type(type))};
  const dds::TypeNode& root = type.nodes.front();
  info.name = root.name;
  info.hash = dds::type_hash(type);
  if (type.in_place) {
    info.in_place_bytes = root.size;
    info.alignment = root.align;
  }
  for (const dds::TypeMember& member : root.members) info.keyed = info.keyed || member.key;
  return info;
}

nb::dict record_of(const dds::Type& type) {
  nb::list nodes;
  for (const dds::TypeNode& node : type.nodes) {
    nb::list members;
    for (const dds::TypeMember& member : node.members) {
      nb::dict one;
      one["name"] = text_from(member.name);
      one["type"] = member.type;
      one["id"] = member.id;
      one["offset"] = member.offset;
      one["label"] = member.label;
      one["key"] = member.key;
      members.append(one);
    }
    nb::dict one;
    one["kind"] = std::to_underlying(node.kind);
    one["extensibility"] = std::to_underlying(node.extensibility);
    one["name"] = text_from(node.name);
    one["size"] = node.size;
    one["align"] = node.align;
    one["element"] = node.element;
    one["bound"] = node.bound;
    one["data_offset"] = node.data_offset;
    one["members"] = members;
    nodes.append(one);
  }
  nb::dict all;
  all["in_place"] = type.in_place;
  all["nodes"] = nodes;
  return all;
}

}  // namespace tutti::python
