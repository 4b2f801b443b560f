#include "cli/terminal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "cli/log.hpp"
#include "cli/output.hpp"

namespace tutti::cli {
namespace {

std::string three_digits(double value, const char* unit) {
  const int decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%.*f%s", decimals, value, unit);
  return text.data();
}

}  // namespace

std::string short_number(double value) {
  if (value >= 1e9) return three_digits(value / 1e9, " G");
  if (value >= 1e6) return three_digits(value / 1e6, " M");
  if (value >= 1e4) return three_digits(value / 1e3, " k");
  return value == std::floor(value) ? grouped(static_cast<std::uint64_t>(value))
                                    : three_digits(value, "");
}

std::string short_time(double ns) {
  if (ns >= 1e9) return three_digits(ns / 1e9, " s");
  if (ns >= 1e6) return three_digits(ns / 1e6, " ms");
  if (ns >= 1e3) return three_digits(ns / 1e3, " us");
  return three_digits(std::max(ns, 0.0), " ns");
}

std::string short_bytes(double bytes) {
  if (bytes >= 1e9) return three_digits(bytes / 1e9, " GB");
  if (bytes >= 1e6) return three_digits(bytes / 1e6, " MB");
  if (bytes >= 1e3) return three_digits(bytes / 1e3, " KB");
  return three_digits(bytes, " B");
}

std::string grouped(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return text;
}

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      text += i == 0 ? row[i] + padding : "  " + padding + row[i];
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

Progress::Progress() : visible_(isatty(STDERR_FILENO) == 1) {}

void Progress::show(double fraction, const std::string& note) {
  if (!visible_) return;
  constexpr int kWidth = 30;
  drain_log();
  const double shown = std::clamp(fraction, 0.0, 1.0);
  std::string bar(static_cast<std::size_t>(shown * kWidth), '#');
  bar.resize(kWidth, '.');
  std::fprintf(stderr, "\r\033[K[%s] %3.0f %%  %s", bar.c_str(), shown * 100, note.c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::clear() {
  if (!drawn_) return;
  drain_log();
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

bool print(const std::string& text) {
  drain_log();  // a terminal shows both in the order in which they were said
  Output output(STDOUT_FILENO, "standard output");
  output.append(text);
  output.flush();
  if (output.failed()) log_error(output.error());
  return !output.failed();
}

bool write_file(const std::string& path, const std::string& text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) {
    log_error("cannot open " + path + " for writing: " + std::strerror(errno));
    return false;
  }
  Output output(fd, path);
  output.append(text);
  output.close();
  if (output.failed()) log_error(output.error());
  return !output.failed();
}

}  // namespace tutti::cli
