/// \file json_reader.hpp
/// JSON from a peer: no deeper than a hello is, and read field by field with types and limits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace tutti {

/// Reads fields of one JSON object; the first that is missing or of a wrong type is remembered in
/// `problem`, and stands for the default of its type.
class JsonReader {
 public:
  using json = nlohmann::json;

  JsonReader(const json& object, std::optional<std::string>& problem);

  /// A text of at most `max` bytes.
  [[nodiscard]] std::string text(const char* field, std::size_t max);
  [[nodiscard]] std::uint64_t number(const char* field, std::uint64_t max);
  [[nodiscard]] bool flag(const char* field);
  /// An empty array if it is none, or too long.
  [[nodiscard]] const json& array(const char* field, std::size_t max);
  /// Null, and noted, if it is missing.
  [[nodiscard]] const json* find(const char* field);
  void note(const std::string& what);

 private:
  const json& object_;
  std::optional<std::string>& problem_;
};

/// A discarded value if the text is no JSON, or nested more deeply than anything we send: nothing
/// done with the value later goes deep.
[[nodiscard]] nlohmann::json parse_json(std::string_view text);

}  // namespace tutti
