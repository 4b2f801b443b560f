/// \file litmus.hpp
/// Tries, before another node is trusted with anything, whether the path from it ever shows a guard
/// before its data (fabric.hpp, F-order): many rounds of a block and a guard, in both directions.
///
///     guard | by slot: since, seen | block of kBlockBytes, on a line of its own
///
/// A round writes all of the block and then publishes the guard, its number. `since`
/// says from which round on a node takes part, `seen` what this node has seen of another's rounds.
/// Invariants: LI1 a node writes the block again only once all that take part have seen it. LI2
/// both words name the incarnation that they are for, so that the next one in that slot is not
/// meant. LI3 a path is good once each end has seen as many rounds of the other as were asked for,
/// and knows that the other has: then both are done with it. Threads: the predicate thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fabric/slot.hpp"
#include "membership/group_seat.hpp"
#include "membership/view.hpp"
#include "predicates/predicate_loop.hpp"
#include "tutti/indexed_by.hpp"

namespace tutti {

/// What trials need of a row, with so many nodes.
[[nodiscard]] std::size_t litmus_bytes(std::size_t nodes);

template <class Memory>
class Litmus final : public Stepped {
 public:
  /// Larger than one packet of any network.
  static constexpr std::size_t kBlockBytes = 8192;

  /// `offset`: of its words in all rows, on a line. `own_row` outlives this and is zero there.
  Litmus(ViewMember self, std::size_t nodes, std::uint32_t rounds, std::byte* own_row,
         std::size_t offset, RowOf row_of, Memory memory = {});

  /// The node is connected; or is not any more.
  void begin(Slot slot, std::uint64_t incarnation);
  void end(Slot slot);
  /// The path from the node is on trial.
  [[nodiscard]] bool tries(Slot slot) const { return paths_[slot].incarnation != 0; }

  /// Paths that were found good since the last call: from these nodes.
  [[nodiscard]] std::vector<Slot> take_good();
  /// What was wrong first, and with the path from which slot. Nothing is tried after that.
  struct Finding {
    Slot slot{};
    std::string what;
  };
  [[nodiscard]] const std::optional<Finding>& finding() const { return finding_; }

  bool step(Effects& effects) override;
  bool deliver() override { return false; }

 private:
  struct Path {
    std::uint64_t incarnation = 0;  // 0: not on trial
    std::uint64_t since = 0;        // the first of our rounds that it takes part in
    std::uint64_t heard = 0;        // the last of its rounds that we have seen
    std::uint32_t checked = 0;      // how many of them
    bool news = false;              // it has to be told
  };

  [[nodiscard]] std::uint64_t last_round_of(const Path& path) const {
    return path.since + rounds_ - 1;
  }
  [[nodiscard]] std::uint64_t load(Slot slot, std::size_t word) const;
  void store(std::size_t word, std::uint64_t value);
  [[nodiscard]] std::size_t block_at() const;
  [[nodiscard]] std::uint64_t seen_by(Slot slot) const;
  void hear(Slot slot);
  [[nodiscard]] bool done_with(Slot slot) const;
  [[nodiscard]] bool may_begin_round() const;
  void begin_round(Effects& effects);

  Slot self_;
  std::uint64_t incarnation_;
  std::uint32_t rounds_;
  std::byte* own_row_;
  std::size_t offset_;
  RowOf row_of_;
  Memory memory_;
  std::uint64_t round_ = 0;
  IndexedBy<Slot, Path> paths_;
  std::vector<Slot> good_;
  std::optional<Finding> finding_;
};

}  // namespace tutti
