// Descriptions of types: what the hash tells apart, and what strangers may send.
#include "tutti/dds/type.hpp"

#include <gtest/gtest.h>

#include <set>

#include "samples.hpp"
#include "tutti/dds/json.hpp"

namespace tutti::dds {
namespace {

using samples::Everything, samples::Numbers, samples::Point, samples::Random, samples::Settings;

/// Types of one name, that differ each in one thing.
namespace base {
struct T {
  std::int32_t a = 0;
  float b = 0;
};
TUTTI_FIELDS(T, a, b);
TUTTI_OPTIONS(T, .name = "T");
}  // namespace base
namespace other_name {
struct T {
  std::int32_t a = 0;
  float c = 0;
};
TUTTI_FIELDS(T, a, c);
TUTTI_OPTIONS(T, .name = "T");
}  // namespace other_name
namespace other_kind {
struct T {
  std::uint32_t a = 0;
  float b = 0;
};
TUTTI_FIELDS(T, a, b);
TUTTI_OPTIONS(T, .name = "T");
}  // namespace other_kind
namespace other_order {
struct T {
  float b = 0;
  std::int32_t a = 0;
};
TUTTI_FIELDS(T, a, b);
TUTTI_OPTIONS(T, .name = "T");
}  // namespace other_order
namespace other_offset {
struct T {
  std::int32_t a = 0;
  alignas(8) float b = 0;
};
TUTTI_FIELDS(T, a, b);
TUTTI_OPTIONS(T, .name = "T");
}  // namespace other_offset
namespace other_key {
struct T {
  std::int32_t a = 0;
  float b = 0;
};
TUTTI_FIELDS(T, a, b);
TUTTI_OPTIONS(T, .name = "T", .keys = {"a"});
}  // namespace other_key
namespace other_way {
struct T {
  std::int32_t a = 0;
  float b = 0;
};
TUTTI_FIELDS(T, a, b);
TUTTI_OPTIONS(T, .name = "T", .in_place = false);
}  // namespace other_way
namespace other_extensibility {
struct T {
  std::int32_t a = 0;
  float b = 0;
};
TUTTI_FIELDS(T, a, b);
TUTTI_OPTIONS(T, .name = "T", .extensibility = Extensibility::appendable);
}  // namespace other_extensibility
namespace without {
struct T {
  std::int32_t a;
  float b;
};
}  // namespace without

TEST(TypeHash, DiffersWithEachDifferenceOfTheTypes) {
  const std::set<std::uint64_t> hashes = {
      type_hash<base::T>(),        type_hash<other_name::T>(),          type_hash<other_kind::T>(),
      type_hash<other_order::T>(), type_hash<other_offset::T>(),        type_hash<other_key::T>(),
      type_hash<other_way::T>(),   type_hash<other_extensibility::T>(), type_hash<without::T>()};
  EXPECT_EQ(hashes.size(), 9U);
}

TEST(TypeHash, IsTheSameInEveryBuild) {
  // A change of this number is one of what members tell each other: they no longer understand
  // those that were built before.
  EXPECT_EQ(type_hash<base::T>(), 5751425615412682718U);
  EXPECT_EQ(type_hash<samples::Everything>(), 15696356107320785091U);
}

template <class T>
Type passed_on() {
  const auto bytes = encode_type(type_of<T>());
  EXPECT_TRUE(bytes) << bytes.error().message;
  const Result<Type> type = decode_type(bytes.value());
  EXPECT_TRUE(type) << type.error().message;
  return type.value();
}

TEST(Type, CanBeSent) {
  EXPECT_EQ(type_hash(passed_on<Everything>()), type_hash<Everything>());
  EXPECT_EQ(type_hash(passed_on<Numbers>()), type_hash<Numbers>());
  EXPECT_EQ(type_hash(passed_on<samples::Tree>()), type_hash<samples::Tree>());
  EXPECT_EQ(type_hash(passed_on<std::vector<double>>()), type_hash<std::vector<double>>());
  EXPECT_LT(encode_type(type_of<Everything>())->size(), 8192U);
}

std::string why_not(const Type& type) {
  std::vector<std::byte> bytes;
  EXPECT_FALSE(encode_type(type));
  EXPECT_FALSE(print_json(type, std::vector<std::byte>(64)));
  const auto made = parse_json(type, "{}");
  return made ? "it is taken" : made.error().message;
}

TEST(Type, ThatCannotBeIsRefused) {
  EXPECT_NE(why_not({}).find("it has no nodes"), std::string::npos);
  Type type = type_of<Point>();
  type.nodes[0].members[1].type = 77;
  EXPECT_NE(why_not(type).find("node 77: it is named, but not there"), std::string::npos);
  type = type_of<Point>();
  type.nodes[0].members[1].type = 0;
  EXPECT_NE(why_not(type).find("node 0: it contains itself"), std::string::npos);
  type = type_of<Point>();
  type.nodes[0].members[2].offset = 17;
  EXPECT_NE(why_not(type).find("its parts do not lie in it"), std::string::npos);
  type = type_of<Point>();
  type.nodes[0].members[2].id = 0;
  EXPECT_NE(why_not(type).find("two fields have one id"), std::string::npos);
  type = type_of<bounded_string<5>>();
  type.nodes[0].data_offset = 0;
  EXPECT_NE(why_not(type).find("no bound or no count"), std::string::npos);
  type = type_of<bounded_string<5>>();
  type.nodes[0].bound = 0;
  EXPECT_NE(why_not(type).find("no bound or no count"), std::string::npos);
  type = type_of<samples::Reading>();
  for (TypeNode& node : type.nodes) {
    if (node.kind == Kind::optional)
      node.element = static_cast<std::uint32_t>(&node - &type.nodes[0]);
  }
  EXPECT_NE(why_not(type).find("its value is none"), std::string::npos);
  type = type_of<std::array<std::int32_t, 4>>();
  type.in_place = false;
  type.nodes[0].bound = 1U << 30;
  EXPECT_NE(why_not(type).find("its samples are too large"), std::string::npos);
}

/// A structure of two of the next, and so on: samples of 2^levels numbers.
Type doubling(std::uint32_t levels) {
  Type type;
  for (std::uint32_t i = 0; i < levels; ++i) {
    TypeNode node{.kind = Kind::structure};
    node.members.push_back({.name = "a", .type = i + 1, .id = 0});
    node.members.push_back({.name = "b", .type = i + 1, .id = 1});
    type.nodes.push_back(node);
  }
  type.nodes.push_back({.kind = Kind::uint8});
  return type;
}

TEST(Type, ThatGrowsWithoutEndIsRefused) {
  EXPECT_TRUE(encode_type(doubling(10)));
  EXPECT_NE(why_not(doubling(30)).find("its samples are too large"), std::string::npos);
  Type type = doubling(40);
  for (TypeNode& node : type.nodes) {
    if (!node.members.empty()) node.members.pop_back();
  }
  EXPECT_NE(why_not(type).find("deep"), std::string::npos);
  std::reverse(type.nodes.begin(), type.nodes.end());  // the innermost first
  for (std::uint32_t i = 1; i < type.nodes.size(); ++i) type.nodes[i].members[0].type = i - 1;
  EXPECT_NE(why_not(type).find("deep"), std::string::npos);
}

TEST(Type, OfAStrangerIsHarmless) {
  for (const Type& type : {type_of<Everything>(), type_of<Settings>(), type_of<Numbers>()}) {
    const std::vector<std::byte> good = encode_type(type).value();
    std::vector<std::byte> sample(256, std::byte{1});
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (const unsigned mask : {0x01U, 0x06U}) {
        std::vector<std::byte> bytes = good;
        bytes[at] ^= static_cast<std::byte>(mask);
        const Result<Type> changed = decode_type(bytes);
        if (!changed) continue;
        if (changed->in_place) sample.resize(std::min(changed->nodes[0].size, 65536U));
        const auto json = print_json(*changed, sample);
        if (const auto made = parse_json(*changed, "{}")) {
          const auto shown = print_json(*changed, *made);
          ASSERT_TRUE(shown) << shown.error().message;
        }
      }
      const std::vector<std::byte> cut(good.begin(), good.begin() + static_cast<long>(at));
      ASSERT_FALSE(decode_type(cut) && at + 3 < good.size()) << at;
    }
  }
}

}  // namespace
}  // namespace tutti::dds
