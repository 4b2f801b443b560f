/// \file json.hpp
/// The result of a limit program: one flat JSON object on one line of standard output.
/// Keys and strings are ours and need no escaping.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace limits {

class Json {
 public:
  Json& add(std::string_view key, std::string_view value) {
    return raw(key, '"' + std::string(value) + '"');
  }
  Json& add(std::string_view key, int64_t value) { return raw(key, std::to_string(value)); }
  Json& add(std::string_view key, double value) { return raw(key, number(value)); }
  Json& add(std::string_view key, const std::vector<double>& values) {
    std::string list;
    for (const double value : values) list += (list.empty() ? "" : ", ") + number(value);
    return raw(key, '[' + list + ']');
  }

  /// Writes the line. Returns what `main` returns: 0, or 1 if standard output does not take it.
  [[nodiscard]] int print() const {
    const bool written = std::printf("{%s}\n", fields_.c_str()) > 0 && std::fflush(stdout) == 0;
    if (!written) std::perror("standard output");
    return written ? 0 : 1;
  }

 private:
  static std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.6g", value);
    return text;
  }

  Json& raw(std::string_view key, const std::string& value) {
    fields_ += (fields_.empty() ? "\"" : ", \"") + std::string(key) + "\": " + value;
    return *this;
  }

  std::string fields_;
};

}  // namespace limits
