/**
 * \file node.h
 * One member of a cluster, as tutti::Node (node.hpp).
 */
#ifndef TUTTI_C_NODE_H
#define TUTTI_C_NODE_H

#include "tutti/c/options.h"
#include "tutti/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Checks the options; opens nothing yet. */
TUTTI_C_API int tutti_node_create(const tutti_node_options_t* options, tutti_node_t** node,
                                  tutti_error_t* error);
/** Ends the node as ~Node does; NULL is fine. Not inside one of its callbacks. */
TUTTI_C_API void tutti_node_destroy(tutti_node_t* node);

/** Declares a group, before the start. Destroy the handle with tutti_group_destroy; it may outlive
 *  the node. */
TUTTI_C_API int tutti_node_join(tutti_node_t* node, const tutti_group_options_t* options,
                                tutti_group_t** group, tutti_error_t* error);
/** Reserves places for `count` groups that are joined after the start, with these options; before
 *  the start, and the same at all nodes. */
TUTTI_C_API int tutti_node_reserve(tutti_node_t* node, const tutti_group_options_t* options,
                                   size_t count, tutti_error_t* error);
/** Joins a group after the start, with options that were reserved: waits until this node is in it.
 *  tutti_group_leave leaves it; destroying the handle does not. */
TUTTI_C_API int tutti_node_join_within(tutti_node_t* node, const tutti_group_options_t* options,
                                       int64_t timeout_ns, tutti_group_t** group,
                                       tutti_error_t* error);

TUTTI_C_API int tutti_node_start(tutti_node_t* node, tutti_error_t* error);
/** Begins a start and returns at once a descriptor that becomes readable once the start has ended,
 *  well or not; or a negative code. The descriptor is not to be read or closed. */
TUTTI_C_API int tutti_node_begin_start(tutti_node_t* node, tutti_error_t* error);
/** 1 once the node has started, 0 before, or the code of why the start has failed. */
TUTTI_C_API int tutti_node_started(tutti_node_t* node, tutti_error_t* error);
/** With TUTTI_DRIVE_CALLER: how much was done, or a negative code. */
TUTTI_C_API int64_t tutti_node_poll(tutti_node_t* node);
TUTTI_C_API int tutti_node_wait(tutti_node_t* node, int64_t timeout_ns);
TUTTI_C_API int tutti_node_stop(tutti_node_t* node, int64_t timeout_ns, tutti_error_t* error);
TUTTI_C_API int tutti_node_leave(tutti_node_t* node, int64_t timeout_ns, tutti_error_t* error);

/** 0 while the node goes on; else the code of what ended its groups. */
TUTTI_C_API int tutti_node_failure(tutti_node_t* node, tutti_error_t* error);

/** Calls `see` once, before it returns, with the view that the node is in. */
TUTTI_C_API int tutti_node_view(tutti_node_t* node, void (*see)(const tutti_view_t*, void* user),
                                void* user, tutti_error_t* error);

/** Founds groups that are logged, before any node has started, as tutti::bootstrap (bootstrap.hpp).
 *  `groups`: the names of all groups that are logged. */
TUTTI_C_API int tutti_bootstrap(const tutti_node_options_t* options, const char* const* groups,
                                size_t group_count, tutti_error_t* error);

#ifdef __cplusplus
}
#endif

#endif
