/// \file let_go.hpp
/// Finds wrong reads of rows of nodes that are gone. In production a row that was let go is not
/// mapped any more, and reading it ends the process; here its memory stays, and the first read of
/// it is recorded (P1). Members may still read the row of a removed node for what it sent before.
/// This keeps a copy of the row as it was then, and records reads of words written later (F1).
/// Threads: one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "membership/view.hpp"
#include "sim/row.hpp"

namespace tutti::sim {

class LetGo {
 public:
  /// Words before `life_end` belong to no view: a connected node may write them at any time.
  LetGo(std::uint32_t slots, std::size_t row_bytes, std::size_t life_end)
      : row_bytes_(row_bytes), life_end_(life_end), rows_(slots), writes_(slots) {}

  /// That word of each row lasts as long as the row: members read it even of a removed node (Y5).
  void add_lasting(std::size_t offset) { lasting_.push_back(offset); }

  /// A write to a row after its node was removed, which a member has read.
  struct Write {
    ViewMember source;
    std::uint64_t epoch = 0;  ///< the last view with it
    std::uint64_t offset = 0;
  };

  /// For the node in slot `reader`, the member `of` is in no view from now on; `epoch` was its
  /// last.
  void remove_member(std::uint32_t reader, const ViewMember& of, std::uint64_t epoch,
                     const std::byte* row, std::uint64_t now_ns);
  /// The node in slot `reader` must not read that row any more, of the node in slot `of`.
  void add(std::uint32_t reader, std::uint32_t of, const std::byte* row, std::uint64_t now_ns);
  /// It may read the row again: it is connected to it once more.
  void remove(std::uint32_t reader, const std::byte* row);
  /// A new node is in slot `reader`, which has no pointers into rows.
  void forget(std::uint32_t reader) { rows_[reader].clear(); }
  /// Keeps the memory, so that no other row gets the same addresses.
  void keep(std::unique_ptr<Row> replica) { kept_.push_back(std::move(replica)); }

  /// Called at every read.
  void look(std::uint32_t reader, const std::byte* cell, std::uint64_t now_ns) {
    if (!rows_[reader].empty()) [[unlikely]]
      search(reader, cell, now_ns);
  }
  void look(std::uint32_t reader, std::span<const std::byte> bytes, std::uint64_t now_ns) {
    if (rows_[reader].empty()) return;
    for (std::size_t at = 0; at < bytes.size(); at += 8) search(reader, &bytes[at], now_ns);
  }
  /// The first read of a row that was let go; empty if there was none.
  [[nodiscard]] const std::string& finding() const { return finding_; }
  /// Forbidden writes that the node has read since the last call, one per row.
  [[nodiscard]] std::vector<Write> take_writes(std::uint32_t reader) {
    return writes_[reader].empty() ? std::vector<Write>{} : std::exchange(writes_[reader], {});
  }

 private:
  struct Gone {
    const std::byte* begin;
    ViewMember of;
    std::uint64_t at_ns;
    std::uint64_t epoch = 0;
    std::vector<std::byte> was{};  // empty: it was let go
    bool noted = false;
  };
  void search(std::uint32_t reader, const std::byte* cell, std::uint64_t now_ns);

  std::size_t row_bytes_;
  std::size_t life_end_;
  std::vector<std::size_t> lasting_;
  std::vector<std::vector<Gone>> rows_;     // by reader
  std::vector<std::vector<Write>> writes_;  // likewise
  std::vector<std::unique_ptr<Row>> kept_;
  std::string finding_;
};

}  // namespace tutti::sim
