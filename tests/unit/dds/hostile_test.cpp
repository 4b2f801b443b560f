// Bytes that a stranger might send: cut, changed, with lengths that nothing follows.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string_view>

#include "samples.hpp"
#include "support/sanitized.hpp"
#include "tutti/dds/json.hpp"

namespace {

/// Bytes that were allocated since it was set to 0, by all of this program.
thread_local std::size_t allocated = 0;

}  // namespace

// GCC sees through some of these and then takes free() for a mistake.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(std::size_t size) {
  allocated += size;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tutti::dds {
namespace {

using samples::Everything, samples::Random, samples::Reading, samples::Settings, samples::Tree;
using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::initializer_list<unsigned> values) {
  Bytes bytes;
  for (const unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

template <class T>
Bytes encoded(const T& value) {
  Bytes bytes;
  EXPECT_TRUE(encode(value, bytes));
  return bytes;
}

/// Decoding and printing end, whatever is in there, and agree on whether it is a sample; what is
/// decoded can be encoded again. An element takes more memory than on the wire, up to so many
/// times.
template <class T>
bool decodes(const Bytes& bytes, std::size_t times) {
  // In memory of exactly that size, so that a sanitizer sees what reads behind its end.
  const Bytes exact(bytes.begin(), bytes.end());
  allocated = 0;
  const Result<T> value = decode<T>(exact);
  EXPECT_LE(allocated, 4096 + times * bytes.size());
  const Result<std::string> json = print_json(type_of<T>(), exact);
  // The static reader refuses enumerators that have no name; the other one shows their numbers.
  Bytes again;
  if (value) {
    EXPECT_TRUE(json) << json.error().message;
    EXPECT_TRUE(encode(*value, again));
  }
  return value.has_value();
}

/// In both versions and orders: the header's second byte says which.
template <class T>
void expect_safe(const Bytes& bytes, std::size_t times) {
  Bytes changed = bytes;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    changed.resize(size);
    std::copy_n(bytes.begin(), size, changed.begin());
    decodes<T>(changed, times);
  }
  changed = bytes;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const unsigned mask : {0x01U, 0x80U, 0xffU, 0x7fU, 0x10U}) {
      changed[at] = bytes[at] ^ static_cast<std::byte>(mask);
      decodes<T>(changed, times);
    }
    changed[at] = bytes[at];
    if (at + 4 > bytes.size()) continue;
    for (std::size_t i = 0; i < 4; ++i) changed[at + i] = std::byte{0xff};
    decodes<T>(changed, times);
    for (std::size_t i = 0; i < 4; ++i) changed[at + i] = bytes[at + i];
  }
}

TEST(Hostile, BytesThatWereCutOrChangedAreHarmless) {
  for (std::uint64_t seed = 1; seed <= (tutti::testing::kSanitized ? 1 : 4); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Bytes bytes = encoded(Random(seed).make<Everything>());
    expect_safe<Everything>(bytes, 64);
    for (const unsigned form : {0U, 1U, 6U}) {  // other versions and orders of the same bytes
      bytes[1] = static_cast<std::byte>(form);
      expect_safe<Everything>(bytes, 64);
    }
    bytes = encoded(Random(seed).make<Settings>());
    for (const unsigned form : {2U, 3U, 10U, 11U}) {
      bytes[1] = static_cast<std::byte>(form);
      expect_safe<Settings>(bytes, 64);
    }
  }
}

TEST(Hostile, EveryCutOfAFinalTypeIsNoticed) {
  const Bytes bytes = encoded(Random(9).make<Everything>());
  const std::size_t padding = std::to_integer<std::size_t>(bytes[3]) & 3;
  for (std::size_t size = 0; size + padding < bytes.size(); ++size) {
    ASSERT_FALSE(decodes<Everything>(Bytes(bytes.begin(), bytes.begin() + size), 64)) << size;
  }
}

TEST(Hostile, LengthsThatNothingFollowsAllocateNothing) {
  const Bytes many = bytes_of({0, 7, 0, 0, 0xff, 0xff, 0xff, 0xff});
  allocated = 0;
  EXPECT_EQ(decode<std::vector<double>>(many).error().message,
            "cannot decode a sequence: its length is 4294967295, but 0 bytes are left; the sample "
            "was cut, or its sender has another version of the type: compare the two");
  EXPECT_FALSE(decode<std::string>(many));
  EXPECT_FALSE(decode<std::vector<bool>>(many));
  EXPECT_FALSE(decode<std::vector<std::string>>(many));
  EXPECT_FALSE(decode<std::vector<std::vector<Reading>>>(many));
  EXPECT_LE(allocated, 4096U);
}

// X3: a bound that a field was given does not replace what the object can hold.
TEST(Hostile, MoreThanABoundedObjectHoldsIsRefused) {
  Bytes bytes = encoded(std::vector<std::int32_t>(20, 7));
  detail::Reader reader;
  ASSERT_TRUE(reader.open_sample(bytes, Extensibility::final));
  struct {
    bounded_vector<std::int32_t, 4> held;
    std::int32_t behind[20] = {};
  } object;
  EXPECT_FALSE(detail::read_value(reader, object.held, 100, 0));
  for (const std::int32_t one : object.behind) EXPECT_EQ(one, 0);

  bytes = encoded(std::string("longer than four"));
  detail::Reader text;
  ASSERT_TRUE(text.open_sample(bytes, Extensibility::final));
  bounded_string<4> held;
  EXPECT_FALSE(detail::read_value(text, held, 100, 0));
  EXPECT_TRUE(held.empty());
}

// Each level doubles the values of a sample that has a single byte.
TEST(Hostile, FieldsThatLieInEachOtherAreRefused) {
  Type type{.in_place = true};
  for (std::uint32_t level = 0; level < 12; ++level) {
    type.nodes.push_back({.kind = Kind::structure,
                          .size = 1,
                          .members = {{.name = "a", .type = level + 1, .id = 0},
                                      {.name = "b", .type = level + 1, .id = 1}}});
  }
  type.nodes.push_back({.kind = Kind::uint8, .size = 1});
  const Result<std::string> json = print_json(type, Bytes(1));
  ASSERT_FALSE(json);
  EXPECT_NE(json.error().message.find("two fields lie in one place"), std::string::npos)
      << json.error().message;
  EXPECT_FALSE(parse_json(type, "{}"));
}

/// Trees in a single line: `depth` of them, in bytes that each have what the reader asks for.
Bytes line_of_trees(std::size_t depth, std::size_t size) {
  Bytes bytes = bytes_of({0, 7, 0, 0});
  for (std::size_t i = 0; i < depth; ++i) {
    const auto left = static_cast<std::uint32_t>(size - bytes.size() - 8);
    const std::uint32_t words[] = {0, left, 1};  // value and padding, size, count
    const auto raw = std::as_bytes(std::span(words));
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  }
  bytes.resize(size);
  return bytes;
}

TEST(Hostile, ValuesThatLieTooDeepAreRefused) {
  const Bytes bytes = line_of_trees(100'000, 1'300'000);
  const Result<Tree> tree = decode<Tree>(bytes);
  ASSERT_FALSE(tree);
  EXPECT_NE(tree.error().message.find("more than 32 deep"), std::string::npos)
      << tree.error().message;
  EXPECT_NE(tree.error().message.find("children[0].children[0]"), std::string::npos);
  EXPECT_FALSE(print_json(type_of<Tree>(), bytes));
}

TEST(Hostile, RefusesAValueThatNoObjectMayHave) {
  EXPECT_EQ(decode<bool>(bytes_of({0, 7, 0, 0, 2})).error().message,
            "cannot decode a boolean: the value 2 is none of the type's; its sender has another "
            "version of it: compare the two");
  EXPECT_FALSE(decode<samples::Color>(bytes_of({0, 7, 0, 0, 3, 0, 0, 0})));
  EXPECT_TRUE(decode<samples::Level>(bytes_of({0, 7, 0, 0, 3})));
  // A text that has no end.
  EXPECT_FALSE(decode<std::string>(bytes_of({0, 7, 0, 0, 2, 0, 0, 0, 'a', 'b', 0, 0})));
}

TEST(Hostile, SaysWhenTheOtherSideHasAnotherExtensibility) {
  Bytes bytes = encoded(Reading{});
  bytes[1] = std::byte{7};
  EXPECT_EQ(decode<Reading>(bytes).error().message,
            "cannot decode a samples::Reading: it was sent as plain CDR2, but the type is "
            "appendable here; give it the same extensibility on both sides");
  bytes[1] = std::byte{0x40};
  EXPECT_NE(decode<Reading>(bytes).error().message.find("is no form of XCDR"), std::string::npos);
  EXPECT_FALSE(decode<Reading>(bytes_of({0, 9, 0, 3, 0})));
}

}  // namespace
}  // namespace tutti::dds
