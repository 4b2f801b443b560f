/// \file streams.hpp
/// Keeps descriptors 0, 1 and 2 taken, so that no socket or file can become "standard input".
#pragma once
#include <fcntl.h>
#include <unistd.h>

namespace tutti::cli {

/// Opens those that the caller closed, in the wrong direction: using them is then an error, as it
/// would have been. Call first of all.
inline void occupy_standard_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) != -1) continue;
    // The lowest free descriptor is this one.
    [[maybe_unused]] const int opened =
        ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace tutti::cli
