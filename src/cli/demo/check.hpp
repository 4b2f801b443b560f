/// \file check.hpp
/// Checks what the members of a demo printed: that all outputs are the same, and that they hold
/// exactly what was sent.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "tutti/error.hpp"

namespace tutti::cli {

/// One member's files.
struct MemberFiles {
  std::string member;
  std::filesystem::path input;
  std::filesystem::path output;
  std::filesystem::path log;  ///< the folder of its log; empty: it has none
  bool killed = false;        ///< on the way: a beginning of its input and output is enough
};

/// An error with the first line that differs, if the outputs are not all the same.
[[nodiscard]] Result<void> check_identical(const std::vector<MemberFiles>& members);

/// An error unless `killed` delivered a beginning of what `reference` did, and `again`, its second
/// start, the end of it, from some line on.
[[nodiscard]] Result<void> check_killed(const MemberFiles& reference, const MemberFiles& killed,
                                        const MemberFiles& again);

/// An error unless that output has each sender's input, whole and in order; how the senders'
/// lines are interleaved does not matter.
[[nodiscard]] Result<void> check_senders(const MemberFiles& checked,
                                         const std::vector<MemberFiles>& members);

}  // namespace tutti::cli
