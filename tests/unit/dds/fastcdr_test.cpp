// What Fast CDR writes of random values, by version 1 of XCDR and in both byte orders, is decoded
// to the same values.
#include <gtest/gtest.h>

#include "samples.hpp"

#ifdef TUTTI_FASTCDR
#include <fastcdr/Cdr.h>

namespace fast {

using eprosima::fastcdr::Cdr;
using eprosima::fastcdr::FastBuffer;
using samples::Color, samples::Point;

struct Sample {
  std::uint8_t first = 0;
  double number = 0;
  std::int16_t small = 0;
  std::uint64_t large = 0;
  float real = 0;
  std::string text;
  std::vector<double> doubles;
  std::vector<std::string> words;
  std::vector<std::int16_t> shorts;
  std::vector<bool> flags;
  std::array<std::int64_t, 3> triple{};
  std::vector<Point> points;
  Color color = Color::red;
  std::array<std::string, 2> texts;
  std::int64_t last = 0;
  bool operator==(const Sample&) const = default;
};
TUTTI_FIELDS(Sample, first, number, small, large, real, text, doubles, words, shorts, flags, triple,
             points, color, texts, last);

std::vector<std::byte> written(const Sample& s, Cdr::Endianness order) {
  std::vector<char> memory(1 << 16);
  FastBuffer buffer(memory.data(), memory.size());
  Cdr cdr(buffer, order, Cdr::DDS_CDR);
  cdr.serialize_encapsulation();
  cdr << s.first << s.number << s.small << s.large << s.real << s.text << s.doubles << s.words
      << s.shorts << s.flags << s.triple << static_cast<std::uint32_t>(s.points.size());
  for (const Point& point : s.points) cdr << point.x << point.y << point.z;
  cdr << static_cast<std::int32_t>(s.color) << s.texts << s.last;
  const auto* begin = reinterpret_cast<const std::byte*>(memory.data());
  return {begin, begin + cdr.getSerializedDataLength()};
}

}  // namespace fast
#endif

namespace tutti::dds {
namespace {

TEST(FastCdr, WritesWhatIsReadHere) {
#ifdef TUTTI_FASTCDR
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const auto value = samples::Random(seed).make<fast::Sample>();
    for (const auto order : {fast::Cdr::LITTLE_ENDIANNESS, fast::Cdr::BIG_ENDIANNESS}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", order " << order);
      const Result<fast::Sample> read = decode<fast::Sample>(fast::written(value, order));
      ASSERT_TRUE(read) << read.error().message;
      ASSERT_TRUE(*read == value);
    }
  }
#else
  GTEST_SKIP() << "Fast CDR 1 is not installed: section [dds] of packages.txt";
#endif
}

}  // namespace
}  // namespace tutti::dds
