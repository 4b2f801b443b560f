/// \file sample_text.hpp
/// Samples of a topic as JSON and back, by the description of its type; as hexadecimal digits if
/// there is none. Threads: any; it is never changed.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/dds/type.hpp"
#include "tutti/dds/type_support.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

[[nodiscard]] std::string hex(std::span<const std::byte> bytes);
/// Nothing: it is no even number of hexadecimal digits.
[[nodiscard]] std::optional<std::vector<std::byte>> from_hex(std::string_view digits);

class SampleText {
 public:
  /// An error if the description is none.
  [[nodiscard]] static Result<SampleText> of(const dds::TopicTypeInfo& type);

  /// JSON of one line; an error names the field that does not fit.
  [[nodiscard]] Result<std::string> print(std::span<const std::byte> sample) const;
  [[nodiscard]] Result<std::vector<std::byte>> parse(std::string_view text) const;
  /// The fields, one a line; empty if they are not known.
  [[nodiscard]] std::string fields() const;

 private:
  std::optional<dds::Type> type_;  // nothing: bytes
};

}  // namespace tutti::cli
