/// \file json_reader.cpp
#include "node/bootstrap/json_reader.hpp"

#include <nlohmann/json.hpp>

namespace tutti {
namespace {

using nlohmann::json;

constexpr int kDepthMax = 6;

}  // namespace

JsonReader::JsonReader(const json& object, std::optional<std::string>& problem)
    : object_(object), problem_(problem) {
  if (!object.is_object()) note("is not an object");
}

std::string JsonReader::text(const char* field, std::size_t max) {
  const json* value = find(field);
  if (value == nullptr) return {};
  const auto* text = value->get_ptr<const std::string*>();
  if (text == nullptr || text->size() > max) {
    note(std::string(field) + " is not a text of at most " + std::to_string(max) + " bytes");
    return {};
  }
  return *text;
}

std::uint64_t JsonReader::number(const char* field, std::uint64_t max) {
  const json* value = find(field);
  if (value == nullptr) return 0;
  const auto* number = value->get_ptr<const json::number_unsigned_t*>();
  if (number == nullptr || *number > max) {
    note(std::string(field) + " is not a number of at most " + std::to_string(max));
    return 0;
  }
  return *number;
}

bool JsonReader::flag(const char* field) {
  const json* value = find(field);
  if (value != nullptr && !value->is_boolean()) note(std::string(field) + " is not true or false");
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

const json& JsonReader::array(const char* field, std::size_t max) {
  static const json none = json::array();
  const json* value = find(field);
  if (value == nullptr) return none;
  if (value->is_array() && value->size() <= max) return *value;
  note(std::string(field) + " is not a list of at most " + std::to_string(max));
  return none;
}

const json* JsonReader::find(const char* field) {
  if (!object_.is_object()) return nullptr;
  const auto at = object_.find(field);
  if (at != object_.end()) return &*at;
  note(std::string(field) + " is missing");
  return nullptr;
}

void JsonReader::note(const std::string& what) {
  if (!problem_) problem_ = what;
}

json parse_json(std::string_view text) {
  bool deep = false;
  const auto limit = [&deep](int depth, json::parse_event_t, json&) {
    deep = deep || depth > kDepthMax;
    return !deep;
  };
  json value = json::parse(text, limit, false);
  return deep ? json(json::value_t::discarded) : value;
}

}  // namespace tutti
