/// \file group_sends.hpp
/// In the place of the library's header of this name, for src/dds/writer.cpp: what a group does for
/// each message that is sent, here by the groups of the simulated cluster.
#pragma once
#include "domain/cores.hpp"

namespace tutti {

class GroupSends {
 public:
  [[nodiscard]] static GroupCore& core_of(const Group& group) noexcept { return *group.core_; }
};

}  // namespace tutti
