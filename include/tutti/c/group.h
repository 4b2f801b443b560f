/**
 * \file group.h
 * One group: send to it, take from it, learn what became of a message; as tutti::Group (group.hpp).
 */
#ifndef TUTTI_C_GROUP_H
#define TUTTI_C_GROUP_H

#include "tutti/c/options.h"
#include "tutti/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** NULL is fine. */
TUTTI_C_API void tutti_group_destroy(tutti_group_t* group);

enum tutti_claim_outcome {
  TUTTI_CLAIM_OK = 0,
  TUTTI_CLAIM_FULL = 1,
  TUTTI_CLAIM_TOO_LARGE = 2,
  TUTTI_CLAIM_NOT_SENDER = 3,
  TUTTI_CLAIM_STOPPED = 4
};

/** Of a tick: nanoseconds since the Unix epoch, by the clock of the member that put it into the
 *  sequence. 0 of anything else. */
TUTTI_C_API uint64_t tutti_message_tick(const tutti_message_t* message);

/** Space for one message: fill `data`, then commit or abandon it, once. It may be moved, but then
 *  the old copy must not be used any more. */
typedef struct tutti_claim {
  void* owner; /**< the library's */
  void* data;  /**< aligned to the option alignment; NULL if there is none */
  uint32_t size;
  uint32_t end;       /**< the library's */
  uint64_t index;     /**< the library's */
  int32_t outcome;    /**< enum tutti_claim_outcome */
  uint64_t opaque[3]; /**< the library's */
} tutti_claim_t;

/** Never blocks. 0 if there is space; else a negative code, and claim->outcome says why:
 *  TUTTI_E_TIMED_OUT for TUTTI_CLAIM_FULL. */
TUTTI_C_API int tutti_group_try_claim(tutti_group_t* group, uint32_t size, tutti_claim_t* claim);
TUTTI_C_API int tutti_group_claim(tutti_group_t* group, uint32_t size, int64_t timeout_ns,
                                  tutti_claim_t* claim, tutti_error_t* error);
/** `service`: enum tutti_service; one that is none leaves the claim as it was, and so does a handle
 * that is no group's: abandon it then. In the child of a fork it is the parent's claim: abandoned
 * there, it stays as it is in the parent. Else the claim is empty afterwards,
 * also if it could not be committed: `data` is NULL and `outcome` TUTTI_CLAIM_STOPPED. `ticket` may
 * be NULL. */
TUTTI_C_API int tutti_group_commit(tutti_group_t* group, tutti_claim_t* claim, int service,
                                   uint64_t* ticket);
/** The first `used` bytes of the claim are the message, at most as many as were claimed. */
TUTTI_C_API int tutti_group_commit_used(tutti_group_t* group, tutti_claim_t* claim, uint32_t used,
                                        int service, uint64_t* ticket);
TUTTI_C_API void tutti_claim_abandon(tutti_claim_t* claim);

/** Copies the bytes into a claim, which it waits for until the time-out, and commits it. */
TUTTI_C_API int tutti_group_send(tutti_group_t* group, const void* bytes, size_t size, int service,
                                 int64_t timeout_ns, uint64_t* ticket, tutti_error_t* error);

/** 1 if this member has delivered it, 0 if not, or a negative code. */
TUTTI_C_API int tutti_group_delivered(tutti_group_t* group, uint64_t ticket);
TUTTI_C_API int tutti_group_wait(tutti_group_t* group, uint64_t ticket, int64_t timeout_ns,
                                 tutti_error_t* error);

/** `error` is NULL if the message was delivered. Called once, as tutti::Group::on_delivered says.
 */
typedef void (*tutti_delivered_callback_t)(const tutti_error_t* error, void* user);
TUTTI_C_API int tutti_group_on_delivered(tutti_group_t* group, uint64_t ticket,
                                         tutti_delivered_callback_t callback, void* user,
                                         tutti_error_t* error);

/** The same for space: either `claim` or `error` is not NULL. Whoever is called commits or abandons
 *  the claim, there or, in a copy, later. */
typedef void (*tutti_space_callback_t)(tutti_claim_t* claim, const tutti_error_t* error,
                                       void* user);
TUTTI_C_API int tutti_group_on_space(tutti_group_t* group, uint32_t size,
                                     tutti_space_callback_t callback, void* user,
                                     tutti_error_t* error);

/** Waits until this member has delivered all that any member had delivered when this was called. At
 *  TUTTI_LEVEL_ATOMIC alone. */
TUTTI_C_API int tutti_group_barrier(tutti_group_t* group, int64_t timeout_ns, tutti_error_t* error);

/** Messages that were taken, as tutti::Batch: release it once. It may be moved like a claim. */
typedef struct tutti_batch {
  const tutti_message_t* messages;
  size_t count;
  uint64_t view;
  uint64_t opaque[6]; /**< the library's */
} tutti_batch_t;

/** With TUTTI_DELIVERY_APPLICATION. `timeout_ns` 0: never blocks, and the batch may be empty. An
 *  empty batch need not be released. TUTTI_E_COMPLETE: nothing comes any more. */
TUTTI_C_API int tutti_group_take(tutti_group_t* group, size_t max, int64_t timeout_ns,
                                 tutti_batch_t* batch, tutti_error_t* error);
/** Idempotent; NULL is fine. */
TUTTI_C_API void tutti_batch_release(tutti_batch_t* batch);
/** 1 if what was read so far is what was sent, else 0 (Batch::intact). */
TUTTI_C_API int tutti_batch_intact(const tutti_batch_t* batch);
/** For on_delivery, as tutti::Group::intact: 1 if what it has read so far is what was sent; 0 once
 *  members on this host have gone on without this one and used the space again. A callback that
 *  acts on the world outside asks after it has read and before it acts. A negative code: the
 *  handle. */
TUTTI_C_API int tutti_group_intact(tutti_group_t* group);
/** The descriptor, which is not to be read or closed; or a negative code. */
TUTTI_C_API int tutti_group_event_fd(tutti_group_t* group, tutti_error_t* error);

TUTTI_C_API int tutti_group_finish(tutti_group_t* group);
/** Leaves a group that was joined after the start (tutti_node_join_within). */
TUTTI_C_API int tutti_group_leave(tutti_group_t* group, int64_t timeout_ns, tutti_error_t* error);
/** 1 if all senders finished and every member has delivered everything, 0 if not, or a code. */
TUTTI_C_API int tutti_group_complete(tutti_group_t* group);
TUTTI_C_API int tutti_group_wait_complete(tutti_group_t* group, int64_t timeout_ns,
                                          tutti_error_t* error);

/** NULL for a handle that is none. */
TUTTI_C_API const char* tutti_group_name(tutti_group_t* group);
/** The name of the member with that index, such as tutti_message.sender; NULL beyond the last. */
TUTTI_C_API const char* tutti_group_member(tutti_group_t* group, uint32_t index);

/** The counters of tutti::GroupStatistics that are single numbers, by its names. */
typedef struct tutti_group_statistics {
  size_t size; /**< of this struct, to be set by the caller */
  uint64_t sent_messages;
  uint64_t sent_bytes;
  uint64_t received_messages;
  uint64_t delivered_messages;
  uint64_t delivered_bytes;
  uint64_t nulls_sent;
  uint64_t null_pushes;
  uint64_t pushes;
  uint64_t sender_waits;
  uint64_t token_visits;
  uint64_t token_rests;
  uint64_t token_parked_ns;
  uint64_t token_held_ns;
  uint64_t frames_handed_on;
  uint64_t bytes_handed_on;
  uint64_t persisted;
  uint64_t logged_bytes;
  uint64_t replayed;
  uint64_t snapshots;
  uint64_t snapshot_before;
  uint64_t log_from;
} tutti_group_statistics_t;
TUTTI_C_API int tutti_group_get_statistics(tutti_group_t* group,
                                           tutti_group_statistics_t* statistics);

#ifdef __cplusplus
}
#endif

#endif
