/**
 * \file options.h
 * The options of a node and of a group, field by field those of tutti/options.hpp, which says what
 * they mean and which values are legal. Times are in nanoseconds.
 */
#ifndef TUTTI_C_OPTIONS_H
#define TUTTI_C_OPTIONS_H

#include "tutti/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tutti_order {
  TUTTI_ORDER_NONE = 0,
  TUTTI_ORDER_ROUND_ROBIN = 1,
  TUTTI_ORDER_TOKEN_RING = 2,
  TUTTI_ORDER_LCR = 3
};
enum tutti_level {
  TUTTI_LEVEL_UNORDERED = 0,
  TUTTI_LEVEL_AGREED = 1,
  TUTTI_LEVEL_ATOMIC = 2,
  TUTTI_LEVEL_DURABLE = 3 /**< with `logged` */
};
enum tutti_service { TUTTI_SERVICE_OF_LEVEL = 0, TUTTI_SERVICE_SAFE = 1 };
enum tutti_fabric {
  TUTTI_FABRIC_AUTOMATIC = 0,
  TUTTI_FABRIC_SHM = 1,
  TUTTI_FABRIC_TCP = 2,
  TUTTI_FABRIC_VERBS = 3,
  TUTTI_FABRIC_OFI = 4
};
enum tutti_drive { TUTTI_DRIVE_OWN_THREAD = 0, TUTTI_DRIVE_CALLER = 1 };
enum tutti_delivery {
  TUTTI_DELIVERY_PREDICATE = 0,
  TUTTI_DELIVERY_OWN = 1,
  TUTTI_DELIVERY_APPLICATION = 2 /**< tutti_group_take */
};
enum tutti_log_level {
  TUTTI_LOG_DEBUG = 0,
  TUTTI_LOG_INFO = 1,
  TUTTI_LOG_WARNING = 2,
  TUTTI_LOG_ERROR = 3
};

typedef struct tutti_member_address {
  const char* name;
  const char* address;
} tutti_member_address_t;

typedef struct tutti_node_options {
  size_t size; /**< of this struct: tutti_node_options_init sets it */
  const char* name;
  const tutti_member_address_t* members;
  size_t member_count;
  int32_t fabric; /**< enum tutti_fabric */
  int32_t drive;  /**< enum tutti_drive */
  const char* provider;
  const char* rdma_device;
  int64_t idle_spin_ns;
  int64_t idle_yield_ns;
  int32_t idle_sleep; /**< 0 or 1 */
  int32_t join_only;  /**< 0 or 1 */
  int64_t start_timeout_ns;
  int64_t suspect_after_ns;
  int64_t slow_after_ns;
  int64_t remove_after_ns;
  uint32_t founders;
  uint32_t litmus_rounds;
  void (*on_view)(const tutti_view_t* view, void* user); /**< `view` lives as long as the call */
  void (*log)(int level, const char* text, size_t length, void* user); /**< no zero at its end */
  void* user; /**< for these callbacks and on_request */
  /** Answers a request of the member `from`: writes the reply (tutti_answer_write) and returns 0,
   * or the text of an error and returns anything else. */
  int (*on_request)(const char* from, const void* bytes, size_t size, tutti_answer_t* answer,
                    void* user);
  uint32_t request_max_bytes; /**< of a request or a reply; 0: no requests */
  const char* state_dir;      /**< a folder of this node alone, for the logs of its groups */
  int32_t bootstrap;          /**< 0 or 1: the groups that are logged are new */
} tutti_node_options_t;

/** Takes the next bytes of a state that is being saved. */
typedef struct tutti_sink tutti_sink_t;
TUTTI_C_API void tutti_sink_write(tutti_sink_t* sink, const void* bytes, size_t size);

typedef struct tutti_group_options {
  size_t size; /**< of this struct: tutti_group_options_init sets it */
  const char* name;
  const char* const* members; /**< none: all */
  size_t member_count;
  const char* const* senders; /**< none: all members */
  size_t sender_count;
  int32_t order; /**< enum tutti_order */
  int32_t level; /**< enum tutti_level */
  uint32_t message_max_bytes;
  uint32_t window_messages; /**< its range depends on the number of senders: options.hpp */
  uint64_t window_bytes;
  uint32_t personal_window;
  uint32_t accelerated_window;
  uint32_t global_window;
  uint32_t maximum_gap;
  int32_t delivery; /**< enum tutti_delivery */
  int32_t stateful; /**< 0 or 1; then save_state and load_state */
  /** See tutti_group_intact. */
  void (*on_delivery)(const tutti_message_t* messages, size_t count, void* user);
  /** Return 0; anything else is an error of the state's transfer. */
  int (*save_state)(tutti_sink_t* sink, void* user);
  int (*load_state)(const void* bytes, size_t size, int first, int last, void* user);
  void* user;            /**< for these callbacks */
  uint32_t alignment;    /**< of each message's data */
  int64_t tick_every_ns; /**< 0: no ticks */
  /** Of a replicated machine alone, which has no on_delivery: as tutti::TakesTicks. May be NULL. */
  void (*on_tick)(uint64_t time_ns, void* user);
  int32_t logged; /**< 0 or 1; then the node has a state_dir */
  /** With `logged`: what is in the log from this number on is delivered first; 0: all. */
  uint64_t deliver_from;
  /** With `logged` and `stateful`: a snapshot after so many bytes of log; 0: not by size. */
  uint64_t snapshot_every_bytes;
  int64_t snapshot_every_ns;  /**< the same by age; 0: not by age */
  uint64_t keep_log_bytes;    /**< what stays of a log whatever snapshots there are */
  uint64_t log_segment_bytes; /**< the size of a file of the log */
  int32_t durable_quorum;     /**< 0 or 1: at level durable a majority of the logs is enough */
} tutti_group_options_t;

/** `size`: sizeof of the struct as the program knows it. 0, or TUTTI_E_INVALID_ARGUMENT if options
 *  is NULL or the size is no size of this struct. */
TUTTI_C_API int tutti_node_options_init(tutti_node_options_t* options, size_t size);
TUTTI_C_API int tutti_group_options_init(tutti_group_options_t* options, size_t size);

#ifdef __cplusplus
}
#endif

#endif
