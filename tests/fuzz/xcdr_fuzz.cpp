/// \file xcdr_fuzz.cpp
/// Samples and descriptions of types that anyone may send. The first byte of an input says what the
/// others are. What is decoded must be encoded and decoded again to the same value, and be shown.
#include <algorithm>

#include "base/assert.hpp"
#include "fuzz/fuzz.hpp"
#include "tutti/dds/json.hpp"
#include "unit/dds/samples.hpp"

namespace tutti::fuzz {
namespace {

using Bytes = std::vector<std::byte>;

template <class T>
void take_sample(std::span<const std::byte> bytes) {
  const Result<T> value = dds::decode<T>(bytes);
  const Result<std::string> json = dds::print_json(dds::type_of<T>(), bytes);
  if (!value) return;
  TUTTI_ASSERT(json.has_value());
  Bytes first, second;
  TUTTI_ASSERT(dds::encode(*value, first).has_value());
  const Result<T> again = dds::decode<T>(first);
  TUTTI_ASSERT(again.has_value());
  TUTTI_ASSERT(dds::encode(*again, second).has_value());
  TUTTI_ASSERT(first == second);  // not the values, as NaN is not equal to itself
}

/// The description, then a sample: where one ends is in the first two bytes.
void take_type(std::span<const std::byte> bytes) {
  if (bytes.size() < 2) return;
  const std::size_t size = std::min<std::size_t>(
      std::to_integer<std::size_t>(bytes[0]) | std::to_integer<std::size_t>(bytes[1]) << 8,
      bytes.size() - 2);
  const Result<dds::Type> type = dds::decode_type(bytes.subspan(2, size));
  if (!type) return;
  static_cast<void>(dds::print_json(*type, bytes.subspan(2 + size)));
  if (const auto made = dds::parse_json(*type, "{}")) {
    TUTTI_ASSERT(made->size() > 1'000'000 || dds::print_json(*type, *made).has_value());
  }
}

void take_json(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const auto made = dds::parse_json(dds::type_of<::samples::Everything>(), text)) {
    TUTTI_ASSERT(dds::decode<::samples::Everything>(*made).has_value());
  }
  static_cast<void>(dds::parse_json(dds::type_of<::samples::Numbers>(), text));
}

void add(std::vector<Bytes>& inputs, unsigned what, std::span<const std::byte> bytes) {
  Bytes& input = inputs.emplace_back(1, static_cast<std::byte>(what));
  input.insert(input.end(), bytes.begin(), bytes.end());
}

/// As it was encoded, and with headers that say another version or order.
template <class T>
void add_samples(std::vector<Bytes>& inputs, unsigned what) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Bytes bytes;
    TUTTI_ASSERT(dds::encode(::samples::Random(seed).make<T>(), bytes).has_value());
    for (unsigned form = 0; form < 12; ++form) {
      add(inputs, what, bytes);
      inputs.back()[2] = static_cast<std::byte>(form);
    }
    const auto json = dds::print_json(dds::type_of<T>(), bytes);
    if (json) add(inputs, 5, std::as_bytes(std::span(*json)));
  }
}

template <class T>
void add_type(std::vector<Bytes>& inputs) {
  Bytes sample = dds::encode_type(dds::type_of<T>()).value();
  const auto size = static_cast<std::uint16_t>(sample.size());
  const auto raw = std::as_bytes(std::span(&size, 1));
  sample.insert(sample.begin(), raw.begin(), raw.end());
  sample.resize(sample.size() + 200, std::byte{1});
  add(inputs, 4, sample);
}

}  // namespace

void take(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const std::span<const std::byte> rest = bytes.subspan(1);
  switch (std::to_integer<unsigned>(bytes[0])) {
    case 0:
      return take_sample<::samples::Everything>(rest);
    case 1:
      return take_sample<::samples::Settings>(rest);
    case 2:
      return take_sample<::samples::Reading>(rest);
    case 3:
      return take_sample<::samples::Tree>(rest);
    case 4:
      return take_type(rest);
    default:
      return take_json(rest);
  }
}

std::vector<Bytes> samples() {
  std::vector<Bytes> inputs;
  add_samples<::samples::Everything>(inputs, 0);
  add_samples<::samples::Settings>(inputs, 1);
  add_samples<::samples::Reading>(inputs, 2);
  add_samples<::samples::Tree>(inputs, 3);
  add_type<::samples::Everything>(inputs);
  add_type<::samples::Numbers>(inputs);
  add_type<::samples::Settings>(inputs);
  return inputs;
}

}  // namespace tutti::fuzz
