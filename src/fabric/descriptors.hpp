/// \file descriptors.hpp
/// What to do where no file descriptor is free: a handshake that needs some makes room for them, or
/// is tried again later.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "tutti/error.hpp"

namespace tutti {

/// No descriptor is free here: the same may succeed later.
inline constexpr ErrorCode kNoDescriptor = ErrorCode::timed_out;

/// Copies of the descriptor `any`: they keep `count` places free until they are closed. Otherwise
/// kNoDescriptor: `what`, "cannot ...", has to wait.
[[nodiscard]] Result<std::vector<UniqueFd>> reserve_descriptors(std::size_t count, int any,
                                                                const std::string& what);

/// Closes something of less use than what is to be done now, because of `why`. False: there is
/// nothing.
using MakeRoom = std::function<bool(const std::string& why)>;

/// take(), again and again while it lacks descriptors and there is room to make.
template <class Take>
[[nodiscard]] auto take_descriptors(const MakeRoom& make_room, Take take) -> decltype(take()) {
  auto taken = take();
  while (!taken && taken.error().code == kNoDescriptor && make_room(taken.error().message)) {
    taken = take();
  }
  return taken;
}

}  // namespace tutti
