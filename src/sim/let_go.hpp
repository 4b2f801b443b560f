/// \file let_go.hpp
/// Rows that nodes have let go of. In production such a row is not mapped any more and reading it
/// ends the process; here its memory stays, and the first read of it is noted.
/// Threads: one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/row.hpp"

namespace tutti::sim {

class LetGo {
 public:
  LetGo(std::uint32_t slots, std::size_t row_bytes) : row_bytes_(row_bytes), rows_(slots) {}

  /// The node in slot `reader` must not read that row any more, of the node in slot `of`.
  void add(std::uint32_t reader, std::uint32_t of, const std::byte* row, std::uint64_t now_ns);
  /// It may again: it is connected to the same row once more.
  void remove(std::uint32_t reader, const std::byte* row);
  /// Another node is in that slot now, with nothing that points into any row.
  void forget(std::uint32_t reader) { rows_[reader].clear(); }
  /// Keeps the memory, so that no other row comes to lie there.
  void keep(std::unique_ptr<Row> replica) { kept_.push_back(std::move(replica)); }

  /// At every read.
  void look(std::uint32_t reader, const std::byte* cell, std::uint64_t now_ns) {
    if (!rows_[reader].empty()) [[unlikely]]
      search(reader, cell, now_ns);
  }
  /// The first read of a row that was let go; empty if there was none.
  [[nodiscard]] const std::string& finding() const { return finding_; }

 private:
  struct Gone {
    const std::byte* begin;
    std::uint32_t of;
    std::uint64_t at_ns;
  };
  void search(std::uint32_t reader, const std::byte* cell, std::uint64_t now_ns);

  std::size_t row_bytes_;
  std::vector<std::vector<Gone>> rows_;  // by reader
  std::vector<std::unique_ptr<Row>> kept_;
  std::string finding_;
};

}  // namespace tutti::sim
