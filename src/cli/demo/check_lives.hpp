/// \file check_lives.hpp
/// Checks what members printed that were all killed and started again, life by life.
///
/// What any of them has printed is known from then on: a durable message, which every later life
/// begins with. So each output is a beginning of what is known, or goes on from it.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/demo/check.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

/// How far each of them went in one life, in bytes that are known afterwards.
struct LifeFound {
  std::uint64_t known_lines = 0;  ///< before it
  std::uint64_t new_lines = 0;    ///< that somebody printed in it
};

class KnownSequence {
 public:
  /// Of a life that is over, some of whose members may have been killed within a line, or, unless
  /// `all_caught_up`, before they had printed what was known. An error names the first difference.
  [[nodiscard]] Result<LifeFound> add(const std::vector<MemberFiles>& outputs, bool all_caught_up);

  /// An error unless the numbers go on from 0 without a gap, and so do the lines "SENDER.LIFE N" of
  /// each sender in each life: nothing twice, nothing left out, `last` lines of each in the last.
  [[nodiscard]] Result<void> check_lines(std::uint64_t last_life, std::uint64_t last,
                                         const std::vector<MemberFiles>& members) const;

  [[nodiscard]] std::uint64_t bytes() const { return known_.size(); }

 private:
  std::string known_;
  std::uint64_t lines_ = 0;
};

}  // namespace tutti::cli
