#include "fabric/verbs/library.hpp"

#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <array>
#include <cstddef>
#include <string>

#include "base/assert.hpp"

// Macros of the header, which call the functions in the end.
#undef ibv_query_port
#undef ibv_reg_mr

// What of the two interfaces is a function that anybody here calls, be it through an inline
// function of the headers: library, what it returns, name, parameters, arguments.
// clang-format off
#define TUTTI_RDMA_FUNCTIONS(X) \
  X(verbs, void, ibv_ack_async_event, (ibv_async_event* event), (event)) \
  X(verbs, void, ibv_ack_cq_events, (ibv_cq* cq, unsigned int count), (cq, count)) \
  X(verbs, ibv_pd*, ibv_alloc_pd, (ibv_context* context), (context)) \
  X(verbs, ibv_comp_channel*, ibv_create_comp_channel, (ibv_context* context), (context)) \
  X(verbs, ibv_cq*, ibv_create_cq, \
    (ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel, int vector), \
    (context, cqe, cq_context, channel, vector)) \
  X(verbs, int, ibv_dealloc_pd, (ibv_pd* pd), (pd)) \
  X(verbs, int, ibv_dereg_mr, (ibv_mr* mr), (mr)) \
  X(verbs, int, ibv_destroy_comp_channel, (ibv_comp_channel* channel), (channel)) \
  X(verbs, int, ibv_destroy_cq, (ibv_cq* cq), (cq)) \
  X(verbs, const char*, ibv_event_type_str, (ibv_event_type type), (type)) \
  X(verbs, int, ibv_get_async_event, (ibv_context* context, ibv_async_event* event), \
    (context, event)) \
  X(verbs, int, ibv_get_cq_event, (ibv_comp_channel* channel, ibv_cq** cq, void** context), \
    (channel, cq, context)) \
  X(verbs, const char*, ibv_get_device_name, (ibv_device* device), (device)) \
  X(verbs, int, ibv_modify_qp, (ibv_qp* qp, ibv_qp_attr* attr, int mask), (qp, attr, mask)) \
  X(verbs, const char*, ibv_port_state_str, (ibv_port_state state), (state)) \
  X(verbs, int, ibv_query_device, (ibv_context* context, ibv_device_attr* attr), (context, attr)) \
  X(verbs, int, ibv_query_gid, (ibv_context* context, std::uint8_t port, int index, ibv_gid* gid), \
    (context, port, index, gid)) \
  X(verbs, int, ibv_query_port, \
    (ibv_context* context, std::uint8_t port, _compat_ibv_port_attr* attr), (context, port, attr)) \
  X(verbs, ibv_mr*, ibv_reg_mr, (ibv_pd* pd, void* at, std::size_t length, int access), \
    (pd, at, length, access)) \
  X(verbs, ibv_mr*, ibv_reg_mr_iova2, \
    (ibv_pd* pd, void* at, std::size_t length, std::uint64_t iova, unsigned int access), \
    (pd, at, length, iova, access)) \
  X(verbs, const char*, ibv_wc_status_str, (ibv_wc_status status), (status)) \
  X(cm, int, rdma_accept, (rdma_cm_id* id, rdma_conn_param* parameters), (id, parameters)) \
  X(cm, int, rdma_ack_cm_event, (rdma_cm_event* event), (event)) \
  X(cm, int, rdma_bind_addr, (rdma_cm_id* id, sockaddr* address), (id, address)) \
  X(cm, int, rdma_connect, (rdma_cm_id* id, rdma_conn_param* parameters), (id, parameters)) \
  X(cm, rdma_event_channel*, rdma_create_event_channel, (), ()) \
  X(cm, int, rdma_create_id, \
    (rdma_event_channel* channel, rdma_cm_id** id, void* context, rdma_port_space space), \
    (channel, id, context, space)) \
  X(cm, int, rdma_create_qp, (rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr* attr), (id, pd, attr)) \
  X(cm, void, rdma_destroy_event_channel, (rdma_event_channel* channel), (channel)) \
  X(cm, int, rdma_destroy_id, (rdma_cm_id* id), (id)) \
  X(cm, void, rdma_destroy_qp, (rdma_cm_id* id), (id)) \
  X(cm, int, rdma_disconnect, (rdma_cm_id* id), (id)) \
  X(cm, const char*, rdma_event_str, (rdma_cm_event_type type), (type)) \
  X(cm, int, rdma_get_cm_event, (rdma_event_channel* channel, rdma_cm_event** event), \
    (channel, event)) \
  X(cm, __be16, rdma_get_src_port, (rdma_cm_id* id), (id)) \
  X(cm, int, rdma_listen, (rdma_cm_id* id, int backlog), (id, backlog)) \
  X(cm, int, rdma_migrate_id, (rdma_cm_id* id, rdma_event_channel* channel), (id, channel)) \
  X(cm, int, rdma_resolve_addr, \
    (rdma_cm_id* id, sockaddr* from, sockaddr* to, int timeout_ms), (id, from, to, timeout_ms)) \
  X(cm, int, rdma_resolve_route, (rdma_cm_id* id, int timeout_ms), (id, timeout_ms)) \
  X(cm, int, rdma_set_option, \
    (rdma_cm_id* id, int level, int name, void* value, std::size_t length), \
    (id, level, name, value, length))
// clang-format on

namespace tutti::verbs {
namespace {

enum class File : std::uint8_t { verbs, cm };

enum Index : std::size_t {
#define TUTTI_INDEX(file, returns, name, parameters, arguments) at_##name,
  TUTTI_RDMA_FUNCTIONS(TUTTI_INDEX)
#undef TUTTI_INDEX
      kFunctions
};

struct Entry {
  File file;
  const char* name;
};

constexpr std::array<Entry, kFunctions> kEntries{{
#define TUTTI_ENTRY(file, returns, name, parameters, arguments) {File::file, #name},
    TUTTI_RDMA_FUNCTIONS(TUTTI_ENTRY)
#undef TUTTI_ENTRY
}};

using Functions = std::array<void*, kFunctions>;

std::unexpected<Error> missing(const std::string& why) {
  return fail(
      ErrorCode::system,
      "cannot load the libraries for RDMA: " + why +
          "; install them (libibverbs1 and librdmacm1 of Debian 12), or use another fabric, "
          "such as 'tcp'");
}

Result<Functions> load(const char* verbs_file, const char* cm_file) {
  Functions functions{};
  void* const verbs = ::dlopen(verbs_file, RTLD_NOW | RTLD_LOCAL);
  if (verbs == nullptr) return missing(::dlerror());
  void* const cm = ::dlopen(cm_file, RTLD_NOW | RTLD_LOCAL);
  if (cm == nullptr) return missing(::dlerror());
  for (std::size_t i = 0; i < kFunctions; ++i) {
    functions[i] = ::dlsym(kEntries[i].file == File::verbs ? verbs : cm, kEntries[i].name);
    if (functions[i] == nullptr) return missing(::dlerror());
  }
  return functions;
}

// Loaded once: library() waits for the thread that loads.
const Result<Functions>& functions() {
  static const Result<Functions> at_first_use = load("libibverbs.so.1", "librdmacm.so.1");
  return at_first_use;
}

template <class Function>
Function* function_at(Index index) {
  TUTTI_ASSERT(functions().has_value(), index);  // library() has said so
  return reinterpret_cast<Function*>((*functions())[index]);
}

}  // namespace

const Result<void>& library() {
  static const Result<void> there = [] {
    return functions() ? Result<void>() : std::unexpected(functions().error());
  }();
  return there;
}

Result<void> try_load(const char* verbs_file, const char* cm_file) {
  const Result<Functions> loaded = load(verbs_file, cm_file);
  return loaded ? Result<void>() : std::unexpected(loaded.error());
}

}  // namespace tutti::verbs

// Hidden: in the shared library they are ours alone. A program that is linked with the static one
// and calls the two libraries itself calls these, which call them.
#define TUTTI_FORWARD(file, returns, name, parameters, arguments)                            \
  extern "C" __attribute__((visibility("hidden"))) returns name parameters {                 \
    return tutti::verbs::function_at<returns parameters>(tutti::verbs::at_##name) arguments; \
  }
TUTTI_RDMA_FUNCTIONS(TUTTI_FORWARD)
#undef TUTTI_FORWARD
