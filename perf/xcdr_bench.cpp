/// \file xcdr_bench.cpp
/// Question: how fast are samples encoded and decoded, and how does that compare with Fast CDR?
/// Set-up: one thread; a sample of 1 KB of mixed fields (`Mixed`), one of points (`Cloud`), one of
/// texts (`Names`); memory is used again. Fast CDR 1 writes version 1 of XCDR of the same fields,
/// where it is installed. Unit: bytes of the encoded sample per second. Command:
/// build/release/bin/xcdr_bench
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tutti/dds/cdr.hpp"

#ifdef TUTTI_FASTCDR
#include <fastcdr/Cdr.h>
#endif

namespace bench {

struct Point {
  double x = 1, y = 2, z = 3;
};
TUTTI_FIELDS(Point, x, y, z);

/// About 1 KB: numbers of all sizes, texts, an array, sequences of numbers and of structures.
struct Mixed {
  std::uint64_t sequence = 1;
  std::int64_t time = 2;
  std::uint32_t id = 3;
  std::uint32_t flags = 4;
  std::uint16_t kind = 5;
  std::uint8_t level = 6;
  bool valid = true;
  float weight = 7;
  double position[3] = {1, 2, 3};
  std::string name = "a sensor on the roof";
  std::string unit = "metres per second";
  std::array<float, 32> covariance{};
  std::vector<double> values = std::vector<double>(64, 1.5);
  std::vector<Point> path = std::vector<Point>(8);
  std::uint32_t checksum = 8;
};
TUTTI_FIELDS(Mixed, sequence, time, id, flags, kind, level, valid, weight, position, name, unit,
             covariance, values, path, checksum);

struct Cloud {
  std::uint64_t time = 1;
  std::vector<Point> points = std::vector<Point>(1000);
};
TUTTI_FIELDS(Cloud, time, points);

struct Names {
  std::vector<std::string> names = std::vector<std::string>(100, "a name of some length");
};
TUTTI_FIELDS(Names, names);

#ifdef TUTTI_FASTCDR
using eprosima::fastcdr::Cdr;
using eprosima::fastcdr::FastBuffer;

template <class Archive, class Value>
void pass(Archive& archive, Value& value, bool write) {
  if (write)
    archive << value;
  else
    archive >> value;
}

void each(Cdr& cdr, Point& p, bool write) {
  pass(cdr, p.x, write);
  pass(cdr, p.y, write);
  pass(cdr, p.z, write);
}
void each(Cdr& cdr, std::vector<Point>& points, bool write) {
  auto count = static_cast<std::uint32_t>(points.size());
  pass(cdr, count, write);
  points.resize(count);
  for (Point& point : points) each(cdr, point, write);
}
void each(Cdr& cdr, Mixed& m, bool write) {
  pass(cdr, m.sequence, write);
  pass(cdr, m.time, write);
  pass(cdr, m.id, write);
  pass(cdr, m.flags, write);
  pass(cdr, m.kind, write);
  pass(cdr, m.level, write);
  pass(cdr, m.valid, write);
  pass(cdr, m.weight, write);
  if (write)
    cdr.serializeArray(m.position, 3);
  else
    cdr.deserializeArray(m.position, 3);
  pass(cdr, m.name, write);
  pass(cdr, m.unit, write);
  pass(cdr, m.covariance, write);
  pass(cdr, m.values, write);
  each(cdr, m.path, write);
  pass(cdr, m.checksum, write);
}
void each(Cdr& cdr, Cloud& cloud, bool write) {
  pass(cdr, cloud.time, write);
  each(cdr, cloud.points, write);
}
void each(Cdr& cdr, Names& names, bool write) { pass(cdr, names.names, write); }

template <class T>
std::size_t write_fast(T& value, std::vector<char>& buffer) {
  FastBuffer fast(buffer.data(), buffer.size());
  Cdr cdr(fast, Cdr::LITTLE_ENDIANNESS, Cdr::DDS_CDR);
  cdr.serialize_encapsulation();
  each(cdr, value, true);
  return cdr.getSerializedDataLength();
}

// NOLINTBEGIN(readability-identifier-naming): the names of the benchmarks
template <class T>
void EncodeFastCdr(benchmark::State& state) {
  T value;
  std::vector<char> buffer(1 << 16);
  std::size_t size = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(size = write_fast(value, buffer));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(size));
}

template <class T>
void DecodeFastCdr(benchmark::State& state) {
  T value;
  std::vector<char> buffer(1 << 16);
  const std::size_t size = write_fast(value, buffer);
  for (auto _ : state) {
    FastBuffer fast(buffer.data(), size);
    Cdr cdr(fast, Cdr::LITTLE_ENDIANNESS, Cdr::DDS_CDR);
    cdr.read_encapsulation();
    each(cdr, value, false);
    benchmark::DoNotOptimize(value);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(size));
}
// NOLINTEND(readability-identifier-naming)
#endif

// NOLINTBEGIN(readability-identifier-naming)
template <class T>
void Encode(benchmark::State& state) {
  const T value;
  std::vector<std::byte> bytes;
  for (auto _ : state) {
    if (!tutti::dds::encode(value, bytes)) state.SkipWithError("refused");
    benchmark::DoNotOptimize(bytes.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
}

template <class T>
void Decode(benchmark::State& state) {
  T value;
  std::vector<std::byte> bytes;
  if (!tutti::dds::encode(value, bytes)) state.SkipWithError("refused");
  for (auto _ : state) {
    if (!tutti::dds::decode(bytes, value)) state.SkipWithError("refused");
    benchmark::DoNotOptimize(value);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
}
// NOLINTEND(readability-identifier-naming)

#ifdef TUTTI_FASTCDR
#define BENCH_TYPE(T)                   \
  BENCHMARK_TEMPLATE(Encode, T);        \
  BENCHMARK_TEMPLATE(EncodeFastCdr, T); \
  BENCHMARK_TEMPLATE(Decode, T);        \
  BENCHMARK_TEMPLATE(DecodeFastCdr, T)
#else
#define BENCH_TYPE(T)            \
  BENCHMARK_TEMPLATE(Encode, T); \
  BENCHMARK_TEMPLATE(Decode, T)
#endif
BENCH_TYPE(Mixed);
BENCH_TYPE(Cloud);
BENCH_TYPE(Names);

}  // namespace bench
