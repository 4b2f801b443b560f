/// \file record_text.hpp
/// A record of a log as one line: for people, or as a JSON object.
#pragma once
#include <string>

#include "cli/log/reading.hpp"

namespace tutti::cli {

/// How the bytes of a record are shown; `automatic`: as text if all of it is, else as hex.
enum class PayloadAs : std::uint8_t { automatic, hex, text, none };

/// The words of --payload.
[[nodiscard]] Result<PayloadAs> payload_as(const std::string& word);

/// With the end of the line.
[[nodiscard]] std::string text_line(const log::Record& record, const Place& place,
                                    PayloadAs payload);
[[nodiscard]] std::string json_line(const log::Record& record, const Place& place,
                                    PayloadAs payload);

}  // namespace tutti::cli
