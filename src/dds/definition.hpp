/// \file definition.hpp
/// What a topic is: its name, its type and its options, as participants tell it to each other.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.hpp"
#include "tutti/dds/options.hpp"
#include "tutti/dds/type_support.hpp"

namespace tutti::dds {

inline constexpr std::size_t kTopicNameMax = 255;

struct Definition {
  std::string name{};
  TopicTypeInfo type{};
  TopicOptions options{};  ///< `bundle` is named
  bool operator==(const Definition&) const = default;

  /// An error that names the field, its value and what would be legal.
  [[nodiscard]] Result<void> validate() const;
  void encode(Encoder& out) const;
};

/// Empty: the bytes are no valid definition.
[[nodiscard]] std::optional<Definition> decode_definition(Decoder& in);
[[nodiscard]] std::optional<Definition> decode_definition(std::span<const std::byte> bytes);

/// How two definitions of one name differ, as people read it.
struct Difference {
  bool type = false;  ///< the types differ; else the options
  std::string had{};
  std::string wanted{};
};
[[nodiscard]] std::optional<Difference> difference(const Definition& had, const Definition& wanted);

}  // namespace tutti::dds
