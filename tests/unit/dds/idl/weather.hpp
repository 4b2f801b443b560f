// Made by `tutti idl` of weather.idl: change that, not this.
// clang-format off
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tutti/dds/bounded.hpp"
#include "tutti/dds/fields.hpp"

namespace weather {

inline constexpr std::uint32_t STATIONS_MAX = 100U;

enum class Sky : std::uint8_t {
  CLOUDS = 4,
  RAIN = 5,
  CLEAR = 6,
};
TUTTI_ENUM(Sky, CLOUDS, RAIN, CLEAR);
TUTTI_OPTIONS(Sky, .name = "weather::Sky");

struct Position {
  double latitude{};
  double longitude{};
  bool operator==(const Position&) const = default;
};
TUTTI_FIELDS(Position, latitude, longitude);
TUTTI_OPTIONS(Position, .name = "weather::Position",
              .extensibility = tutti::dds::Extensibility::final);

using Unit = std::string;

using Matrix = std::array<std::array<double, 3>, 2>;

using Source = std::variant<::weather::Position, tutti::dds::bounded_string<20>>;

struct Reading {
  std::uint32_t station{};
  ::weather::Position at{};
  ::weather::Sky sky = ::weather::Sky::CLOUDS;
  float scale = 1.5F;
  ::weather::Unit scale_unit{};
  std::vector<tutti::dds::bounded_string<16>> others{};
  std::vector<float> values{};
  ::weather::Matrix matrix{};
  std::array<std::uint8_t, 4> raw{};
  ::weather::Source source{};
  std::optional<std::int64_t> calibrated_ns{};
  bool operator==(const Reading&) const = default;
};
TUTTI_FIELDS(Reading, station, at, sky, scale, scale_unit, others, values, matrix, raw, source,
             calibrated_ns);
TUTTI_OPTIONS(Reading, .name = "weather::Reading",
              .extensibility = tutti::dds::Extensibility::appendable,
              .keys = {"station"},
              .bounds = {{"scale_unit", 16}, {"values", 1024}});

struct Node;
using Nodes = std::vector<::weather::Node>;

struct Node {
  std::string name{};
  ::weather::Nodes children{};
  bool operator==(const Node&) const = default;
};
TUTTI_FIELDS(Node, name, children);
TUTTI_OPTIONS(Node, .name = "weather::Node",
              .extensibility = tutti::dds::Extensibility::mutable_,
              .ids = {{"name", 7}});

struct Named : ::weather::Position {
  std::string name{};
  bool is_open{};
  char grade{};
  bool operator==(const Named&) const = default;
};
TUTTI_FIELDS(Named, latitude, longitude, name, is_open, grade);
TUTTI_OPTIONS(Named, .name = "weather::Named",
              .extensibility = tutti::dds::Extensibility::final);

}  // namespace weather

template <>
struct tutti::dds::Union<::weather::Source> {
  using Discriminator = std::int32_t;
  static constexpr UnionCase<Discriminator> cases[] = {{1, "at"},
                                                     {-2, "name"}};
  static constexpr std::string_view name = "weather::Source";
  static constexpr Extensibility extensibility = Extensibility::appendable;
};
