#include "tutti/c/node.h"

#include <memory>
#include <string>
#include <utility>

#include "c/handle.hpp"
#include "c/options.hpp"
#include "tutti/bootstrap.hpp"
#include "tutti/version.hpp"

namespace {

using tutti::Node;
using tutti::c::with;

constexpr const char* kNode = "node";

// Of a group that is no replicated machine.
tutti::Result<tutti::GroupOptions> plain_options_from(const tutti_group_options_t* options) {
  tutti::Result<tutti::GroupOptions> from = tutti::c::options_from(options);
  if (!from) return from;
  if (const auto tick = tutti::c::tick_callback_of(options); !tick || *tick != nullptr) {
    return tutti::fail(tutti::ErrorCode::invalid_argument,
                       "on_tick is set: it is for replicated machines alone; a "
                       "group's ticks come among its messages (TUTTI_TICK)");
  }
  return from;
}

template <class Join>
int joined_with(tutti_node_t* node, const tutti_group_options_t* options, tutti_group_t** group,
                tutti_error_t* error, const Join& join) {
  if (group != nullptr) *group = nullptr;
  return with(node, kNode, error, [&](Node& of) {
    if (group == nullptr) return tutti::c::refused(error, "the place for the group is NULL");
    tutti::Result<tutti::GroupOptions> from = plain_options_from(options);
    if (!from) return tutti::c::failed(error, from.error());
    tutti::Result<tutti::Group> joined = join(of, std::move(*from));
    if (!joined) return tutti::c::failed(error, joined.error());
    *group = new tutti_group(*joined);
    return tutti::c::ok(error);
  });
}

}  // namespace

uint32_t tutti_abi_version() { return TUTTI_ABI_VERSION; }

const char* tutti_version() { return tutti::version().data(); }

const char* tutti_code_name(int code) {
  switch (code) {
    case TUTTI_OK:
      return "ok";
    case TUTTI_E_INVALID_ARGUMENT:
      return "invalid_argument";
    case TUTTI_E_MISMATCH:
      return "mismatch";
    case TUTTI_E_UNREACHABLE:
      return "unreachable";
    case TUTTI_E_TIMED_OUT:
      return "timed_out";
    case TUTTI_E_PEER_LOST:
      return "peer_lost";
    case TUTTI_E_STOPPED:
      return "stopped";
    case TUTTI_E_IN_CALLBACK:
      return "in_callback";
    case TUTTI_E_SYSTEM:
      return "system";
    case TUTTI_E_COMPLETE:
      return "complete";
    case TUTTI_E_REFUSED:
      return "refused";
    case TUTTI_E_NO_SPACE:
      return "no_space";
    case TUTTI_E_DAMAGED:
      return "damaged";
    default:
      return "unknown";
  }
}

int tutti_node_create(const tutti_node_options_t* options, tutti_node_t** node,
                      tutti_error_t* error) {
  return tutti::c::guarded(error, [&] {
    if (node == nullptr) return tutti::c::refused(error, "the place for the node is NULL");
    *node = nullptr;
    tutti::Result<tutti::NodeOptions> from = tutti::c::options_from(options);
    if (!from) return tutti::c::failed(error, from.error());
    tutti::Result<Node> made = Node::create(std::move(*from));
    if (!made) return tutti::c::failed(error, made.error());
    *node = new tutti_node(std::move(*made));
    return tutti::c::ok(error);
  });
}

void tutti_node_destroy(tutti_node_t* node) {
  if (node != nullptr) node->end();
}

int tutti_node_join(tutti_node_t* node, const tutti_group_options_t* options, tutti_group_t** group,
                    tutti_error_t* error) {
  return joined_with(node, options, group, error,
                     [](Node& of, tutti::GroupOptions from) { return of.join(std::move(from)); });
}

int tutti_node_reserve(tutti_node_t* node, const tutti_group_options_t* options, size_t count,
                       tutti_error_t* error) {
  return with(node, kNode, error, [&](Node& of) {
    const tutti::Result<tutti::GroupOptions> from = plain_options_from(options);
    if (!from) return tutti::c::failed(error, from.error());
    return tutti::c::done(error, of.reserve(*from, count));
  });
}

int tutti_node_join_within(tutti_node_t* node, const tutti_group_options_t* options,
                           int64_t timeout_ns, tutti_group_t** group, tutti_error_t* error) {
  return joined_with(node, options, group, error, [&](Node& of, tutti::GroupOptions from) {
    return of.join(std::move(from), std::chrono::nanoseconds(timeout_ns));
  });
}

int tutti_node_start(tutti_node_t* node, tutti_error_t* error) {
  return with(node, kNode, error, [&](Node& of) { return tutti::c::done(error, of.start()); });
}

int tutti_node_begin_start(tutti_node_t* node, tutti_error_t* error) {
  return with(node, kNode, error, [&](Node& of) {
    const tutti::Result<int> over = of.begin_start();
    if (!over) return tutti::c::failed(error, over.error());
    tutti::c::ok(error);
    return *over;
  });
}

int tutti_node_started(tutti_node_t* node, tutti_error_t* error) {
  return with(node, kNode, error, [&](Node& of) {
    const std::optional<tutti::Result<void>> started = of.started();
    if (started && !*started) return tutti::c::failed(error, started->error());
    tutti::c::ok(error);
    return started ? 1 : 0;
  });
}

int64_t tutti_node_poll(tutti_node_t* node) {
  std::size_t did = 0;
  const int status = with(node, kNode, nullptr, [&](Node& of) {
    did = of.poll();
    return 0;
  });
  return status != 0 ? status : static_cast<int64_t>(did);
}

int tutti_node_wait(tutti_node_t* node, int64_t timeout_ns) {
  return with(node, kNode, nullptr, [&](Node& of) {
    of.wait(std::chrono::nanoseconds(timeout_ns));
    return 0;
  });
}

int tutti_node_stop(tutti_node_t* node, int64_t timeout_ns, tutti_error_t* error) {
  return with(node, kNode, error, [&](Node& of) {
    return tutti::c::done(error, of.stop(std::chrono::nanoseconds(timeout_ns)));
  });
}

int tutti_node_leave(tutti_node_t* node, int64_t timeout_ns, tutti_error_t* error) {
  return with(node, kNode, error, [&](Node& of) {
    return tutti::c::done(error, of.leave(std::chrono::nanoseconds(timeout_ns)));
  });
}

int tutti_node_failure(tutti_node_t* node, tutti_error_t* error) {
  return with(node, kNode, error, [&](Node& of) {
    const std::optional<tutti::Error> failure = of.failure();
    return failure ? tutti::c::failed(error, *failure) : tutti::c::ok(error);
  });
}

int tutti_node_view(tutti_node_t* node, void (*see)(const tutti_view_t*, void*), void* user,
                    tutti_error_t* error) {
  return with(node, kNode, error, [&](Node& of) {
    if (see == nullptr) return tutti::c::refused(error, "the function that sees the view is NULL");
    tutti::c::show(of.view(), see, user);
    return tutti::c::ok(error);
  });
}

int tutti_bootstrap(const tutti_node_options_t* options, const char* const* groups,
                    size_t group_count, tutti_error_t* error) {
  return tutti::c::guarded(error, [&] {
    const tutti::Result<tutti::NodeOptions> from = tutti::c::options_from(options);
    if (!from) return tutti::c::failed(error, from.error());
    const auto names = tutti::c::names_from(groups, group_count, "groups");
    if (!names) return tutti::c::failed(error, names.error());
    return tutti::c::done(error, tutti::bootstrap(*from, *names));
  });
}
