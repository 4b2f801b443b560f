#include "cli/log/record_text.hpp"

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "cli/log/printable.hpp"

namespace tutti::cli {
namespace {

std::string_view payload_of(const log::Record& record) {
  return {reinterpret_cast<const char*>(record.data.data()), record.data.size()};
}

/// The time that a tick brings; nothing if its bytes are none.
std::optional<std::uint64_t> time_of(const log::Record& record) {
  std::uint64_t time_ns = 0;
  if (!record.tick || record.data.size() != sizeof time_ns) return {};
  std::memcpy(&time_ns, record.data.data(), sizeof time_ns);
  return time_ns;
}

bool as_text(std::string_view payload, PayloadAs wanted) {
  return wanted == PayloadAs::text || (wanted == PayloadAs::automatic && is_text(payload));
}

}  // namespace

Result<PayloadAs> payload_as(const std::string& word) {
  if (word == "auto") return PayloadAs::automatic;
  if (word == "hex") return PayloadAs::hex;
  if (word == "text") return PayloadAs::text;
  if (word == "none") return PayloadAs::none;
  return fail(ErrorCode::invalid_argument,
              "--payload: '" + word + "' is none of auto, hex, text, none");
}

std::string text_line(const log::Record& record, const Place& place, PayloadAs payload) {
  std::string line = std::to_string(record.seq) + "  view " + std::to_string(record.view) +
                     "  sender " + std::to_string(record.sender) + "  offset " +
                     std::to_string(place.offset);
  if (const auto time_ns = time_of(record))
    return line + "  tick " + std::to_string(*time_ns) + "\n";
  line += (record.tick ? "  tick of " : "  ") + std::to_string(record.data.size()) + " bytes";
  const std::string_view bytes = payload_of(record);
  if (payload != PayloadAs::none && !bytes.empty()) {
    line += as_text(bytes, payload) ? "  \"" + escaped(bytes) + "\"" : "  " + hex_of(bytes);
  }
  return line + "\n";
}

std::string json_line(const log::Record& record, const Place& place, PayloadAs payload) {
  nlohmann::json value = {{"seq", record.seq},
                          {"view", record.view},
                          {"sender", record.sender},
                          {"tick", record.tick},
                          {"file", std::filesystem::path(place.segment.path).filename().string()},
                          {"offset", place.offset},
                          {"bytes", record.data.size()}};
  if (const auto time_ns = time_of(record)) value["time_ns"] = *time_ns;
  if (payload != PayloadAs::none) {
    const std::string_view bytes = payload_of(record);
    if (as_text(bytes, payload)) {
      value["text"] = bytes;
    } else {
      value["hex"] = hex_of(bytes);
    }
  }
  return value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace tutti::cli
