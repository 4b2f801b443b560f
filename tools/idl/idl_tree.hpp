/// \file idl_tree.hpp
/// The tree that idlc made of an IDL file (Debian's cyclonedds-dev 0.10), which is in C.
#pragma once

extern "C" {
#include <idl/processor.h>
#include <idl/retcode.h>
#include <idl/tree.h>
#include <idlc/generator.h>
}

namespace tutti::idl {

/// Calls `visit` for the node and all that follow it in its list, as long as it returns true.
template <class Node, class Visit>
bool each_of(const Node* first, const Visit& visit) {
  for (const Node* node = first; node != nullptr; node = static_cast<const Node*>(idl_next(node))) {
    if (!visit(*node)) return false;
  }
  return true;
}

}  // namespace tutti::idl
