/**
 * \file request.h
 * Requests to one other member, and their replies: as tutti/request.hpp and Node::send_to. They
 * need the option request_max_bytes; the member that answers needs on_request.
 */
#ifndef TUTTI_C_REQUEST_H
#define TUTTI_C_REQUEST_H

#include "tutti/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Adds bytes to the answer of on_request: to the reply if that returns 0, else to the text of the
 *  error that the caller gets. */
TUTTI_C_API void tutti_answer_write(tutti_answer_t* answer, const void* bytes, size_t size);

/** Sends a request to the member of that name and waits for its reply, which is to be destroyed. On
 *  an error `*reply` is NULL. Not inside a callback of the node. */
TUTTI_C_API int tutti_node_send_to(tutti_node_t* node, const char* member, const void* bytes,
                                   size_t size, int64_t timeout_ns, tutti_reply_t** reply,
                                   tutti_error_t* error);
/** Its bytes, valid until it is destroyed. */
TUTTI_C_API const void* tutti_reply_bytes(const tutti_reply_t* reply);
TUTTI_C_API size_t tutti_reply_size(const tutti_reply_t* reply);
/** NULL is fine. */
TUTTI_C_API void tutti_reply_destroy(tutti_reply_t* reply);

/** Takes the outcome of a request, once, on a thread of the node: the bytes of the reply, or else
 *  `error`, which is NULL with a reply. Both live as long as the call. */
typedef void (*tutti_reply_callback_t)(const void* bytes, size_t size, const tutti_error_t* error,
                                       void* user);
/** The same without waiting: calls `handler` once. An error means that nothing was sent and that it
 *  is not called: TUTTI_E_NO_SPACE if there is none right now. Allowed inside callbacks. */
TUTTI_C_API int tutti_node_send_to_async(tutti_node_t* node, const char* member, const void* bytes,
                                         size_t size, int64_t timeout_ns,
                                         tutti_reply_callback_t handler, void* user,
                                         tutti_error_t* error);

#ifdef __cplusplus
}
#endif

#endif
