/**
 * \file types.h
 * The small types of Tutti for C: error codes, messages, views.
 */
#ifndef TUTTI_C_TYPES_H
#define TUTTI_C_TYPES_H

#include <stddef.h>
#include <stdint.h>

#define TUTTI_C_API __attribute__((visibility("default")))

/** Grows when a struct or function of this interface changes its meaning. */
#define TUTTI_ABI_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

/** That of the library that runs: the program was made for TUTTI_ABI_VERSION. */
TUTTI_C_API uint32_t tutti_abi_version(void);
/** For example "0.1.0". */
TUTTI_C_API const char* tutti_version(void);

/** As tutti::ErrorCode, in its order. */
enum tutti_code {
  TUTTI_OK = 0,
  TUTTI_E_INVALID_ARGUMENT = -1,
  TUTTI_E_MISMATCH = -2,
  TUTTI_E_UNREACHABLE = -3,
  TUTTI_E_TIMED_OUT = -4,
  TUTTI_E_PEER_LOST = -5,
  TUTTI_E_STOPPED = -6,
  TUTTI_E_IN_CALLBACK = -7,
  TUTTI_E_SYSTEM = -8,
  TUTTI_E_COMPLETE = -9,
  TUTTI_E_REFUSED = -10,
  TUTTI_E_NO_SPACE = -11,
  TUTTI_E_DAMAGED = -12
};

/** The name of a code, such as "timed_out". */
TUTTI_C_API const char* tutti_code_name(int code);

typedef struct tutti_error {
  int32_t code;
  char message[508]; /**< ends with a zero; a longer one is cut */
} tutti_error_t;

typedef struct tutti_node tutti_node_t;
typedef struct tutti_group tutti_group_t;
typedef struct tutti_reply tutti_reply_t;
typedef struct tutti_answer tutti_answer_t;

/** The ticket of a tick of the group's clock (option tick_every_ns), which comes among the
 * messages. */
#define TUTTI_TICK UINT64_MAX

/** As tutti::Message: valid in the delivery callback, or until its batch is released. */
typedef struct tutti_message {
  uint64_t seq;
  const void* data; /**< aligned to the option alignment */
  uint32_t size;
  uint32_t sender; /**< index among the group's members: tutti_group_member */
  uint64_t ticket; /**< of one's own message, as commit or send gave it; else 0; or TUTTI_TICK */
  uint64_t view;   /**< in which it is delivered */
} tutti_message_t;

enum tutti_left_reason { TUTTI_LEFT = 0, TUTTI_SUSPECTED = 1 };

/** A member of a view, or one that has gone. */
typedef struct tutti_view_member {
  const char* name;
  uint64_t incarnation;
  int32_t joined; /**< 1: it was not in the view before */
  int32_t reason; /**< of one that has gone: enum tutti_left_reason */
} tutti_view_member_t;

/** As tutti::ViewChange. */
typedef struct tutti_view {
  uint64_t number; /**< 0: this node is in no view yet */
  uint32_t rank;   /**< of this node */
  uint32_t member_count;
  const tutti_view_member_t* members; /**< by rank */
  uint32_t left_count;
  const tutti_view_member_t* left;
} tutti_view_t;

#ifdef __cplusplus
}
#endif

#endif
