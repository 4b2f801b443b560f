/// \file handles.hpp
/// Owners of what libibverbs and librdmacm give: each destroys its object when it goes, so the
/// members of a struct stand in the order in which the objects need each other.
#pragma once
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <memory>

namespace tutti::verbs {

template <auto Destroy>
struct Destroyer {
  template <class Object>
  void operator()(Object* object) const {
    Destroy(object);  // nothing to be done if it fails: the kernel frees the rest with the process
  }
};

template <class Object, auto Destroy>
using Owned = std::unique_ptr<Object, Destroyer<Destroy>>;

using EventChannel = Owned<rdma_event_channel, rdma_destroy_event_channel>;
using CmId = Owned<rdma_cm_id, rdma_destroy_id>;
using ProtectionDomain = Owned<ibv_pd, ibv_dealloc_pd>;
using MemoryRegion = Owned<ibv_mr, ibv_dereg_mr>;
using CompletionChannel = Owned<ibv_comp_channel, ibv_destroy_comp_channel>;
using CompletionQueue = Owned<ibv_cq, ibv_destroy_cq>;
/// The queue pair that was made for an id; the id outlives it.
using QueuePair = Owned<rdma_cm_id, rdma_destroy_qp>;

}  // namespace tutti::verbs
