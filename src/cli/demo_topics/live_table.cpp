#include "cli/demo_topics/live_table.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/log.hpp"

namespace tutti::cli {

LiveTable::LiveTable() : visible_(isatty(STDERR_FILENO) == 1) {}

void LiveTable::show(const std::string& text) {
  if (!visible_) return;
  clear();
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
  lines_ = static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

void LiveTable::clear() {
  if (lines_ == 0) return;
  drain_log();
  std::fprintf(stderr, "\033[%zuA\033[J", lines_);  // up, and erase what is below
  std::fflush(stderr);
  lines_ = 0;
}

}  // namespace tutti::cli
