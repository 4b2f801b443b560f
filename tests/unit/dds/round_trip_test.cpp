// What is encoded is decoded again: random values, and the edges.
#include <gtest/gtest.h>

#include "samples.hpp"

namespace tutti::dds {
namespace {

using samples::Everything, samples::Random, samples::Reading, samples::Settings;

template <class T>
void expect_round_trips(std::uint64_t seeds) {
  std::vector<std::byte> bytes;
  T into{};
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(::testing::Message() << type_name<T>() << ", seed " << seed);
    const T value = Random(seed).make<T>();
    const Result<void> encoded = encode(value, bytes);
    ASSERT_TRUE(encoded) << encoded.error().message;
    ASSERT_EQ(bytes.size(), encoded_size(value));
    const Result<void> decoded = decode(bytes, into);  // over what the last seed left there
    ASSERT_TRUE(decoded) << decoded.error().message;
    ASSERT_TRUE(into == value);
    const Result<T> anew = decode<T>(bytes);
    ASSERT_TRUE(anew && *anew == value);
  }
}

TEST(RoundTrip, GivesBackRandomValues) {
  expect_round_trips<Everything>(500);
  expect_round_trips<Settings>(500);
  expect_round_trips<samples::Numbers>(100);
  expect_round_trips<samples::Tree>(100);
  expect_round_trips<samples::Shape>(100);
  expect_round_trips<std::vector<std::string>>(20);
  expect_round_trips<std::string>(20);
}

TEST(RoundTrip, NeedsExactlyTheSpaceItSays) {
  const Everything value = Random(7).make<Everything>();
  std::vector<std::byte> bytes(encoded_size(value));
  ASSERT_EQ(encode(value, std::span(bytes)).value(), bytes.size());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Result<std::size_t> written = encode(value, std::span(bytes).first(size));
    ASSERT_FALSE(written);
    ASSERT_EQ(written.error().code, ErrorCode::no_space);
  }
}

TEST(RoundTrip, KeepsTheMemoryOfStringsAndVectors) {
  Reading value{.sensor = 1, .unit = "m", .values = {1, 2, 3}, .time = 4};
  std::vector<std::byte> bytes;
  ASSERT_TRUE(encode(value, bytes));
  Reading into;
  into.values.resize(50);
  const double* memory = into.values.data();
  ASSERT_TRUE(decode(bytes, into));
  EXPECT_EQ(into, value);
  EXPECT_EQ(into.values.data(), memory);
  const std::byte* encoded = bytes.data();
  ASSERT_TRUE(encode(value, bytes));
  EXPECT_EQ(bytes.data(), encoded);
}

TEST(RoundTrip, RefusesToEncodeMoreThanABoundAllows) {
  std::vector<std::byte> bytes;
  Everything value;
  value.readings.resize(3);
  value.readings[2].unit = "123456789";
  const Result<void> done = encode(value, bytes);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(done.error().message,
            "cannot encode a samples::Everything, readings[2].unit: its length is 9, at most 8 are "
            "allowed; send less, or raise its bound on both sides");
}

TEST(RoundTrip, RefusesATreeThatIsTooDeep) {
  samples::Tree root;
  samples::Tree* at = &root;
  std::vector<std::byte> bytes;
  unsigned depth = 0;
  while (encode(root, bytes)) {
    EXPECT_EQ(decode<samples::Tree>(bytes).value(), root);
    at = &at->children.emplace_back();
    ASSERT_LT(++depth, detail::kDepthMax);
  }
  EXPECT_GT(depth, 10U);
}

}  // namespace
}  // namespace tutti::dds
