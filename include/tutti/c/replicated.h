/**
 * \file replicated.h
 * A state machine of which every member of a group has a copy, as tutti::Replicated
 * (replicated.hpp): all members apply commands in the same order.
 */
#ifndef TUTTI_C_REPLICATED_H
#define TUTTI_C_REPLICATED_H

#include "tutti/c/group.h"
#include "tutti/c/options.h"
#include "tutti/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tutti_replicated tutti_replicated_t;

/** Changes the state. Two copies in the same state that apply the same command must come to the
 * same state: no clocks, no random numbers, no addresses. What it writes to `reply` is what
 *  tutti_replicated_execute returns at the member that sent the command. `user` is that of the
 *  group's options. */
typedef void (*tutti_apply_callback_t)(const void* command, size_t size, tutti_sink_t* reply,
                                       void* user);

/** Joins the group; before tutti_node_start. The options have save_state and load_state, and no
 *  on_delivery: commands are delivered to `apply`. */
TUTTI_C_API int tutti_replicated_join(tutti_node_t* node, const tutti_group_options_t* options,
                                      tutti_apply_callback_t apply, tutti_replicated_t** replicated,
                                      tutti_error_t* error);
/** NULL is fine. The copy lives as long as the node. */
TUTTI_C_API void tutti_replicated_destroy(tutti_replicated_t* replicated);

/** Applies the command at all members, and waits for the reply of the copy here. `reply` takes the
 *  first `capacity` bytes of it, and may be NULL; `reply_size`, which may be NULL, takes the size
 *  that it has. After an error the command may still be applied. */
TUTTI_C_API int tutti_replicated_execute(tutti_replicated_t* replicated, const void* command,
                                         size_t size, int64_t timeout_ns, void* reply,
                                         size_t capacity, size_t* reply_size, tutti_error_t* error);

/** Calls `read` while no command is applied here. Keep it short: deliveries wait for it. The copy
 *  may be behind the others'. */
TUTTI_C_API int tutti_replicated_query(tutti_replicated_t* replicated, void (*read)(void* user),
                                       void* user, tutti_error_t* error);
/** The same, once the copy has applied all that any member had when this was called. At
 *  TUTTI_LEVEL_ATOMIC alone. */
TUTTI_C_API int tutti_replicated_query_latest(tutti_replicated_t* replicated,
                                              void (*read)(void* user), void* user,
                                              int64_t timeout_ns, tutti_error_t* error);

/** A handle of its group, which the caller destroys. */
TUTTI_C_API int tutti_replicated_group(tutti_replicated_t* replicated, tutti_group_t** group,
                                       tutti_error_t* error);

#ifdef __cplusplus
}
#endif

#endif
