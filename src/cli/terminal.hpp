/// \file terminal.hpp
/// Output for people: numbers with units, tables, a progress line.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace tutti::cli {

/// Three significant digits and a prefix, such as "45.2 M" for 45,212,345.
[[nodiscard]] std::string short_number(double value);
/// "312 ns", "4.51 us", "1.20 ms", "3.00 s".
[[nodiscard]] std::string short_time(double ns);
/// Decimal prefixes: "7.10 GB".
[[nodiscard]] std::string short_bytes(double bytes);
/// All digits, in groups of three: "1,234,567".
[[nodiscard]] std::string grouped(std::uint64_t value);

/// Columns as wide as their widest cell; the first one to the left, the others to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> head) { rows_.push_back(std::move(head)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// One line on standard error that is drawn again and again; nothing if that is no terminal.
class Progress {
 public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Whether the line is shown at all.
  [[nodiscard]] bool visible() const { return visible_; }
  /// `fraction` of the work is done, 0 .. 1; `note` follows the bar.
  void show(double fraction, const std::string& note);
  void clear();

 private:
  const bool visible_;
  bool drawn_ = false;
};

/// Writes `text` to standard output. False, with a message on standard error, if that fails.
[[nodiscard]] bool print(const std::string& text);

/// Replaces the file's contents. Otherwise the same as print.
[[nodiscard]] bool write_file(const std::string& path, const std::string& text);

}  // namespace tutti::cli
