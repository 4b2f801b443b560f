/// \file exit_code.hpp
/// The exit statuses of the command, the same for every subcommand.
#pragma once
#include "tutti/error.hpp"

namespace tutti::cli {

enum ExitCode : int {
  kExitOk = 0,
  kExitError = 1,
  kExitUsage = 2,       ///< the command line is wrong; nothing was started
  kExitMemberLost = 3,  ///< the majority was lost: what was printed is a prefix of the sequence
  kExitUnsafe = 4,      ///< sim: a safety property was violated
  kExitDamaged = 4,     ///< log: a log on disk is not as it was written
  kExitUnfinished = 5,  ///< sim: a run did not finish
};

/// The status that tells an error of the library to the shell.
[[nodiscard]] inline int exit_code_of(const Error& error) {
  if (error.code == ErrorCode::invalid_argument) return kExitUsage;
  if (error.code == ErrorCode::peer_lost) return kExitMemberLost;
  return kExitError;
}

}  // namespace tutti::cli
