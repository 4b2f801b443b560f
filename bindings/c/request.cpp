#include "tutti/c/request.h"

#include <exception>
#include <memory>
#include <span>
#include <string_view>

#include "c/handle.hpp"
#include "c/options.hpp"
#include "tutti/request.hpp"

struct tutti_reply {
  tutti::Reply reply;
};

namespace {

using std::chrono::nanoseconds;
using tutti::Node;
using tutti::Reply;
using tutti::Result;
using tutti::c::with;

const char* why_wrong(const char* member, const void* bytes, std::size_t size) {
  if (member == nullptr) return "the name of the member is NULL";
  return bytes == nullptr && size != 0 ? "bytes is NULL, though size is not 0" : nullptr;
}

std::span<const std::byte> span_of(const void* bytes, std::size_t size) {
  return {static_cast<const std::byte*>(bytes), size};
}

}  // namespace

void tutti_answer_write(tutti_answer_t* answer, const void* bytes, size_t size) {
  if (answer == nullptr || bytes == nullptr) return;
  const std::span<const std::byte> more = span_of(bytes, size);
  try {  // nothing is thrown through a program in C
    answer->bytes.insert(answer->bytes.end(), more.begin(), more.end());
  } catch (const std::exception&) {
    answer->out_of_memory = true;
  }
}

int tutti_node_send_to(tutti_node_t* node, const char* member, const void* bytes, size_t size,
                       int64_t timeout_ns, tutti_reply_t** reply, tutti_error_t* error) {
  if (reply != nullptr) *reply = nullptr;
  return with(node, "node", error, [&](Node& of) {
    if (reply == nullptr) return tutti::c::refused(error, "the place for the reply is NULL");
    if (const char* why = why_wrong(member, bytes, size)) return tutti::c::refused(error, why);
    auto place = std::make_unique<tutti_reply>();
    Result<Reply> got = of.send_to(member, span_of(bytes, size), nanoseconds(timeout_ns));
    if (!got) return tutti::c::failed(error, got.error());
    place->reply = std::move(*got);
    *reply = place.release();
    return tutti::c::ok(error);
  });
}

const void* tutti_reply_bytes(const tutti_reply_t* reply) {
  return reply == nullptr ? nullptr : reply->reply.bytes().data();
}

size_t tutti_reply_size(const tutti_reply_t* reply) {
  return reply == nullptr ? 0 : reply->reply.bytes().size();
}

void tutti_reply_destroy(tutti_reply_t* reply) { delete reply; }

int tutti_node_send_to_async(tutti_node_t* node, const char* member, const void* bytes, size_t size,
                             int64_t timeout_ns, tutti_reply_callback_t handler, void* user,
                             tutti_error_t* error) {
  return with(node, "node", error, [&](Node& of) {
    if (const char* why = why_wrong(member, bytes, size)) return tutti::c::refused(error, why);
    if (handler == nullptr) return tutti::c::refused(error, "the handler is NULL");
    const auto tell = [handler, user](const Result<Reply>& outcome) {
      if (outcome) {
        return handler(outcome->bytes().data(), outcome->bytes().size(), nullptr, user);
      }
      tutti_error_t why;
      tutti::c::failed(&why, outcome.error());
      handler(nullptr, 0, &why, user);
    };
    return tutti::c::done(error,
                          of.send_to(member, span_of(bytes, size), nanoseconds(timeout_ns), tell));
  });
}
