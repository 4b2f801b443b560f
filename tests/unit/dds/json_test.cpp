// Samples as JSON by the description of their type, and back: a second reader and writer, that the
// compiled ones are compared with.
#include "tutti/dds/json.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "samples.hpp"

namespace tutti::dds {
namespace {

using samples::Everything, samples::Numbers, samples::Point, samples::Random, samples::Reading,
    samples::Settings;

struct Track {
  std::int32_t id = 0;
  bounded_string<6> name;
  bounded_vector<Point, 3> path;
  samples::Color color = samples::Color::red;
  std::uint8_t raw[2][2] = {};
  bool operator==(const Track& other) const {
    return id == other.id && name == other.name && path == other.path && color == other.color &&
           std::equal(&raw[0][0], &raw[0][0] + 4, &other.raw[0][0]);
  }
};
TUTTI_FIELDS(Track, id, name, path, color, raw);
struct Opaque {
  std::uint16_t a;
  std::uint8_t b[2];
};

template <class T>
std::vector<std::byte> sent(const T& value) {
  std::vector<std::byte> bytes;
  if constexpr (kInPlace<T>) {
    bytes.resize(sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
  } else {
    EXPECT_TRUE(encode(value, bytes));
  }
  return bytes;
}

template <class T>
std::string json_of(const T& value) {
  const Result<std::string> json = print_json(type_of<T>(), sent(value));
  EXPECT_TRUE(json) << json.error().message;
  return json.value_or("");
}

template <class T>
std::string why_not(std::string_view json) {
  const auto bytes = parse_json(type_of<T>(), json);
  return bytes ? "it is taken" : bytes.error().message;
}

TEST(Json, ShowsWhatWasEncoded) {
  Reading reading{.sensor = -7, .unit = "\"m\n", .values = {1.5, -2}, .time = {}};
  EXPECT_EQ(json_of(reading), R"({"sensor":-7,"unit":"\"m\n","values":[1.5,-2],"time":null})");
  reading.time = 1LL << 60;
  reading.values = {std::numeric_limits<double>::infinity(), 0.1};
  EXPECT_EQ(json_of(reading),
            R"({"sensor":-7,"unit":"\"m\n","values":["inf",0.1],"time":1152921504606846976})");
}

TEST(Json, ShowsWhatLiesInMemory) {
  Track track{.id = 1, .name = "ab", .path = {}, .color = samples::Color::blue, .raw = {}};
  track.path.push_back({1, 2, 3});
  track.raw[1][0] = 9;
  EXPECT_EQ(json_of(track),
            R"({"id":1,"name":"ab","path":[{"x":1,"y":2,"z":3}],"color":"blue","raw":[0,0,9,0]})");
  EXPECT_EQ(json_of(Opaque{0x0102, {0xab, 0xcd}}), "\"0201abcd\"");
}

TEST(Json, ShowsCountsOfStrangersUpToTheBoundOnly) {
  std::vector<std::byte> bytes = sent(Track{});
  bytes[4] = bytes[5] = std::byte{0xff};  // the count of the name
  const auto json = print_json(type_of<Track>(), bytes);
  ASSERT_TRUE(json);
  EXPECT_NE(json->find(R"("name":"\u0000\u0000\u0000\u0000\u0000\u0000")"), std::string::npos)
      << *json;
}

TEST(Json, ShowsTextThatIsNoUtf8) {
  Reading reading;
  reading.unit = "\xc3\xa9\xff\xed\xa0\x80";
  EXPECT_NE(json_of(reading).find("\"\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd"), std::string::npos);
}

template <class T>
void expect_json_round_trips(std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(::testing::Message() << type_name<T>() << ", seed " << seed);
    const T value = Random(seed).make<T>();
    const std::string json = json_of(value);
    const auto bytes = parse_json(type_of<T>(), json);
    ASSERT_TRUE(bytes) << bytes.error().message;
    if constexpr (kInPlace<T>) {
      T back;
      ASSERT_EQ(bytes->size(), sizeof(T));
      std::memcpy(&back, bytes->data(), sizeof(T));
      ASSERT_TRUE(back == value) << json;
    } else {
      const Result<T> back = decode<T>(*bytes);
      ASSERT_TRUE(back) << back.error().message;
      ASSERT_TRUE(*back == value) << json;
    }
  }
}

TEST(Json, MakesTheSampleThatItShowed) {
  expect_json_round_trips<Everything>(200);
  expect_json_round_trips<Settings>(200);
  expect_json_round_trips<Numbers>(100);
  expect_json_round_trips<Track>(100);
  expect_json_round_trips<samples::Tree>(50);
  expect_json_round_trips<samples::Shape>(50);
}

TEST(Json, MayLeaveFieldsOut) {
  const auto bytes = parse_json(type_of<Everything>(), R"({"text":"x"})");
  ASSERT_TRUE(bytes);
  Everything expected;
  expected.text = "x";
  expected.numbers.letter = 0;
  expected.numbers.wide = 0;
  expected.reading.unit = "";
  EXPECT_TRUE(decode<Everything>(*bytes).value() == expected);
}

TEST(Json, RefusesWhatDoesNotFit) {
  EXPECT_EQ(why_not<Reading>("{"),
            "cannot make a samples::Reading: this is no JSON; write one "
            "object, such as {\"name\": 1}");
  EXPECT_EQ(why_not<Reading>("[]"),
            "cannot make a samples::Reading: an object is expected here, not an array");
  EXPECT_EQ(why_not<Reading>(R"({"sensors":1})"),
            "cannot make a samples::Reading: \"sensors\" is none of its names; these are: sensor "
            "unit values time");
  EXPECT_EQ(why_not<Reading>(R"({"sensor":2147483648})"),
            "cannot make a samples::Reading, sensor: a whole number from -2147483648 to 2147483647 "
            "is expected here, not 2147483648");
  EXPECT_EQ(why_not<Reading>(R"({"values":[1,"x"]})"),
            "cannot make a samples::Reading, values[1]: a number, or one of \"nan\", \"inf\", "
            "\"-inf\" is expected here, not \"x\"");
  EXPECT_EQ(why_not<Reading>(R"({"unit":"123456789"})"),
            "cannot make a samples::Reading, unit: its length is 9, at most 8 are allowed; send "
            "less, or raise its bound on both sides");
  EXPECT_EQ(why_not<Numbers>(R"({"color":"pink"})"),
            "cannot make a samples::Numbers, color: one of red green blue is expected here, not "
            "\"pink\"");
  EXPECT_EQ(why_not<Everything>(R"({"shape":{"point":{},"text":""}})"),
            "cannot make a samples::Everything, shape: one case of the union is expected here, not "
            "an object");
  EXPECT_EQ(why_not<Opaque>("\"0102\""),
            "cannot make a " + std::string(type_name<Opaque>()) +
                ": 8 hexadecimal digits is expected here, not \"0102\"");
  EXPECT_EQ(
      why_not<Numbers>(R"({"level":256})"),
      "cannot make a samples::Numbers, level: a whole number of 1 bytes is expected here, not "
      "256");
  EXPECT_NE(why_not<Reading>("{\"sensor\":" + std::string(1'000'000, '[') +
                             std::string(1'000'000, ']') + "}")
                .find("not an array"),
            std::string::npos);
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += R"({"children":[)";
  for (int i = 0; i < 40; ++i) deep += "]}";
  EXPECT_NE(why_not<samples::Tree>(deep).find("deep in each other"), std::string::npos);
}

TEST(Json, SaysWhichBytesDoNotFitTheType) {
  EXPECT_EQ(
      print_json(type_of<Point>(), {}).error().message,
      "cannot print a samples::Point: it has 0 bytes, the type has 24; its sender has another "
      "version of the type: compare the two");
  const std::vector<std::byte> bytes = sent(Random(3).make<Everything>());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_FALSE(print_json(type_of<Everything>(), std::span(bytes).first(size)) &&
                 !decode<Everything>(std::span(bytes).first(size)));
  }
}

}  // namespace
}  // namespace tutti::dds
