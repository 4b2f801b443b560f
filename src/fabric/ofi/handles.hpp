/// \file handles.hpp
/// libfabric's objects, closed when their owner goes, and its errors as text.
#pragma once
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <memory>
#include <string>

#include "fabric/ofi/library.hpp"
#include "tutti/error.hpp"

namespace tutti::ofi {

/// Closing fails only while something that was made of the object is still open: an order of
/// members that would do that shows in the first test.
struct CloseFid {
  template <class Fid>
  void operator()(Fid* object) const {
    fi_close(&object->fid);
  }
};
template <class Fid>
using Owned = std::unique_ptr<Fid, CloseFid>;

struct FreeInfo {
  void operator()(fi_info* info) const { loaded().freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

/// In libfabric's words; `status` is what a call returned: a negative errno of its.
[[nodiscard]] inline std::string text_of(long status) {
  return loaded().strerror(static_cast<int>(-status));
}

[[nodiscard]] inline std::unexpected<Error> fail_ofi(const std::string& what, long status) {
  return fail(ErrorCode::system, what + ": " + text_of(status));
}

}  // namespace tutti::ofi
