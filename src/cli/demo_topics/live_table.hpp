/// \file live_table.hpp
/// A table on standard error that is drawn again in its place; nothing if that is no terminal.
#pragma once
#include <cstddef>
#include <string>

namespace tutti::cli {

class LiveTable {
 public:
  LiveTable();
  ~LiveTable() { clear(); }
  LiveTable(const LiveTable&) = delete;
  LiveTable& operator=(const LiveTable&) = delete;

  [[nodiscard]] bool visible() const { return visible_; }
  /// Lines, each with its end.
  void show(const std::string& text);
  void clear();

 private:
  const bool visible_;
  std::size_t lines_ = 0;  // that are drawn now
};

}  // namespace tutti::cli
