/// \file device_choice.hpp
/// Which RDMA device a node uses, found by its address: rdma_cm connects by IP, so a device without
/// one is of no use here.
#pragma once
#include <string>

#include "fabric/verbs/handles.hpp"
#include "tutti/error.hpp"

namespace tutti::verbs {

/// An id bound to an address of the chosen device, which the id holds open. See Device::open.
[[nodiscard]] Result<CmId> choose_device(rdma_event_channel* channel, const std::string& choice,
                                         const std::string& near);

}  // namespace tutti::verbs
