/// \file openings.hpp
/// The groups that were opened at run time in a world: each time a group is opened it is one of its
/// own in the histories, with a number of its own. Checks that all members see the same of them.
/// Threads: one.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "membership/open_groups.hpp"

namespace tutti::sim {

class Openings {
 public:
  struct Opening {
    OpenGroup group{};  ///< as it was opened
    std::optional<std::uint64_t> first_seq{};
    /// By incarnation, the view in which a member took its wish back, or was in it without one.
    std::map<std::uint64_t, std::uint64_t> parted{};
  };

  /// `groups`: how many numbers are given to those that all nodes have.
  explicit Openings(std::size_t groups) : groups_(groups) {}

  /// A member is in a view with the group. `first_seq`: with which number the view begins, if it is
  /// that in which the group was opened and the member knows it.
  void enter(const OpenGroup& group, std::optional<std::uint64_t> first_seq);
  void part(const OpenGroup& group, std::uint64_t incarnation, std::uint64_t view);
  /// The number of the group in the histories; somebody was in a view with it.
  [[nodiscard]] std::uint16_t number_of(const OpenGroup& group) const;
  [[nodiscard]] const std::vector<Opening>& all() const { return all_; }
  /// Of one of all().
  [[nodiscard]] std::uint16_t number(std::size_t index) const {
    return static_cast<std::uint16_t>(groups_ + index);
  }
  [[nodiscard]] const std::string& finding() const { return finding_; }

  /// From now on no application changes its mind.
  void calm() { calm_ = true; }
  [[nodiscard]] bool is_calm() const { return calm_; }

 private:
  [[nodiscard]] std::vector<Opening>::const_iterator find(const OpenGroup& group) const;

  std::size_t groups_;
  std::vector<Opening> all_;
  std::string finding_;
  bool calm_ = false;
};

}  // namespace tutti::sim
