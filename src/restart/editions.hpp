/// \file editions.hpp
/// What a node remembers of the others' state directories, so that one that was put back from an
/// older copy is noticed: such a node has forgotten what it has promised, accepted and installed.
///
/// Invariants:
///  ED1  No false alarm. A node tells an edition of itself once it is on its disk, and each save
///       has a higher one. So a node whose directory is as it left it, after whatever crash, shows
///       no edition that is older than one that it has told. A new directory has a number that
///       nobody has heard of.
///  ED2  A node hears editions in the order in which the other one told them. So a directory before
///       the last one was given up, and is an older copy if it is shown again.
///  ED3  Bounded, whatever others say: kDirectoriesMax for each node, of which the first one heard
///       of is forgotten.
/// Threads: one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "restart/views.hpp"

namespace tutti::restart {

/// The edition of that node that was heard of, and shows that `told` is of an older copy. Nothing:
/// it is the newest that was heard of, or newer, or of a new directory.
[[nodiscard]] std::optional<Edition> newer_than(const Edition& told, std::uint32_t slot,
                                                const std::vector<HeardOf>& heard);

/// "save 12, and has save 7 now", or that another directory came later.
[[nodiscard]] std::string to_string(const Edition& newer, const Edition& told);

class Editions {
 public:
  static constexpr std::size_t kDirectoriesMax = 16;

  /// As the file `views` has them.
  explicit Editions(std::vector<HeardOf> heard = {}) : heard_(std::move(heard)) {}

  /// That node tells this of itself, and it is not of an older copy.
  void note(std::uint32_t slot, const Edition& told);
  [[nodiscard]] const std::vector<HeardOf>& heard() const { return heard_; }
  /// These views as they are to be saved: with the next edition, and all that was heard.
  [[nodiscard]] Views next(Views views) const;

 private:
  std::vector<HeardOf> heard_;  // slots ascending
};

}  // namespace tutti::restart
