#include "tutti/c/group.h"

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "c/handle.hpp"
#include "node/group_sends.hpp"
#include "tutti/batch.hpp"

namespace tutti {

// A claim is filled in where it lies, in the struct of C, and committed there.
struct ClaimLayout {
  static_assert(sizeof(Claim) <= sizeof(tutti_claim_t));
  static_assert(alignof(Claim) <= alignof(tutti_claim_t));
  static_assert(offsetof(Claim, core_) == offsetof(tutti_claim_t, owner));
  static_assert(offsetof(Claim, data_) == offsetof(tutti_claim_t, data));
  static_assert(offsetof(Claim, size_) == offsetof(tutti_claim_t, size));
  static_assert(offsetof(Claim, end_) == offsetof(tutti_claim_t, end));
  static_assert(offsetof(Claim, index_) == offsetof(tutti_claim_t, index));
  static_assert(offsetof(Claim, outcome_) == offsetof(tutti_claim_t, outcome));
  static_assert(sizeof(ClaimOutcome) == sizeof(tutti_claim_t{}.outcome));
};

}  // namespace tutti

namespace {

using tutti::Batch;
using tutti::Claim;
using tutti::Group;
using tutti::GroupSends;
using tutti::Message;
using tutti::c::with;

constexpr const char* kGroup = "group";

// A message is handed on as it lies.
static_assert(sizeof(tutti_message_t) == sizeof(Message));
static_assert(offsetof(tutti_message_t, seq) == offsetof(Message, seq));
static_assert(offsetof(tutti_message_t, data) == offsetof(Message, data));
static_assert(offsetof(tutti_message_t, size) == offsetof(Message, size));
static_assert(offsetof(tutti_message_t, sender) == offsetof(Message, sender));
static_assert(offsetof(tutti_message_t, ticket) == offsetof(Message, ticket));
static_assert(offsetof(tutti_message_t, view) == offsetof(Message, view));

// Claims and batches lie in the caller's structs, which may be moved: nothing points to them.
static_assert(sizeof(Batch) <= sizeof tutti_batch_t{}.opaque &&
              alignof(Batch) <= alignof(uint64_t));

Claim& claim_in(tutti_claim_t& claim) { return *std::launder(reinterpret_cast<Claim*>(&claim)); }
Batch& batch_in(tutti_batch_t& batch) {
  return *std::launder(reinterpret_cast<Batch*>(batch.opaque));
}

// Whatever comes of a call, the struct is one that may be abandoned: only where there is data is
// the rest looked at.
void make_empty(tutti_claim_t* claim) {
  if (claim != nullptr) new (claim) Claim();
}

int code_of(tutti::ClaimOutcome outcome) {
  switch (outcome) {
    case tutti::ClaimOutcome::ok:
      return TUTTI_OK;
    case tutti::ClaimOutcome::full:
      return TUTTI_E_TIMED_OUT;
    case tutti::ClaimOutcome::stopped:
      return TUTTI_E_STOPPED;
    case tutti::ClaimOutcome::too_large:
    case tutti::ClaimOutcome::not_sender:
      break;
  }
  return TUTTI_E_INVALID_ARGUMENT;
}

[[gnu::noinline, gnu::cold]] int refuse_claim(tutti_group_t* group, tutti_claim_t* claim) {
  make_empty(claim);
  return with(group, kGroup, nullptr, [](Group&) { return TUTTI_E_INVALID_ARGUMENT; });
}

bool is_service(int service) {
  return service == TUTTI_SERVICE_OF_LEVEL || service == TUTTI_SERVICE_SAFE;
}

}  // namespace

void tutti_group_destroy(tutti_group_t* group) {
  if (group != nullptr) group->end();
}

tutti_group::tutti_group(const tutti::Group& group) : Handle(group) {
  core = &GroupSends::core_of(*get());
  sends.store(&GroupSends::core_of(*get()), std::memory_order_release);
}

// What becomes of each message is in one piece, with what is refused out of line.
[[gnu::flatten]] int tutti_group_try_claim(tutti_group_t* group, uint32_t size,
                                           tutti_claim_t* claim) {
  tutti::GroupCore* const sends = group != nullptr ? group->sends_to() : nullptr;
  if (sends == nullptr || claim == nullptr) [[unlikely]]
    return refuse_claim(group, claim);
  const Claim& made = *new (claim) Claim(sends->try_claim(size));
  return made ? TUTTI_OK : code_of(made.outcome());
}

int tutti_group_claim(tutti_group_t* group, uint32_t size, int64_t timeout_ns, tutti_claim_t* claim,
                      tutti_error_t* error) {
  make_empty(claim);
  return with(group, kGroup, error, [&](Group& of) -> int {
    if (claim == nullptr) return tutti::c::refused(error, "the place for the claim is NULL");
    tutti::Result<Claim> space = of.claim(size, std::chrono::nanoseconds(timeout_ns));
    if (!space) return tutti::c::failed(error, space.error());
    claim_in(*claim) = std::move(*space);
    return tutti::c::ok(error);
  });
}

namespace {

template <class Commit>
int commit_by(tutti_group_t* group, tutti_claim_t* claim, int service, uint64_t* ticket,
              const Commit& commit) {
  if (ticket != nullptr) *ticket = 0;
  return with(group, kGroup, nullptr, [&](Group& of) -> int {
    if (claim == nullptr || claim->data == nullptr || !is_service(service)) {
      return TUTTI_E_INVALID_ARGUMENT;
    }
    const tutti::Ticket given = commit(of, std::move(claim_in(*claim)));
    make_empty(claim);  // committed or given up: it has nothing left to destroy
    if (ticket != nullptr) *ticket = given.value;
    return given.value != 0 ? TUTTI_OK : TUTTI_E_INVALID_ARGUMENT;
  });
}

[[gnu::noinline]] int commit_any(tutti_group_t* group, tutti_claim_t* claim, int service,
                                 uint64_t* ticket) {
  return commit_by(group, claim, service, ticket, [service](Group& of, Claim&& space) {
    return of.commit(std::move(space), static_cast<tutti::Service>(service));
  });
}

}  // namespace

uint64_t tutti_message_tick(const tutti_message_t* message) {
  if (message == nullptr) return 0;
  const auto tick = reinterpret_cast<const Message*>(message)->tick();
  return tick ? tick->time_ns : 0;
}

int tutti_group_commit(tutti_group_t* group, tutti_claim_t* claim, int service, uint64_t* ticket) {
  if (group != nullptr && claim != nullptr && service == TUTTI_SERVICE_OF_LEVEL) [[likely]] {
    tutti::GroupCore* const sends = group->sends_to();
    if (sends != nullptr && claim->owner == sends && claim->data != nullptr) [[likely]] {
      // All that is told is written before, as a ring commits by end and index alone: so nothing
      // has to be kept in registers meanwhile.
      if (ticket != nullptr) *ticket = tutti::ticket_of(claim->index).value;
      claim->data = nullptr;
      claim->outcome = TUTTI_CLAIM_STOPPED;
      sends->commit(claim_in(*claim));
      return TUTTI_OK;
    }
  }
  return commit_any(group, claim, service, ticket);
}

int tutti_group_commit_used(tutti_group_t* group, tutti_claim_t* claim, uint32_t used, int service,
                            uint64_t* ticket) {
  return commit_by(group, claim, service, ticket, [used, service](Group& of, Claim&& space) {
    return of.commit(std::move(space), used, static_cast<tutti::Service>(service));
  });
}

void tutti_claim_abandon(tutti_claim_t* claim) {
  if (claim == nullptr) return;
  if (claim->data != nullptr && !tutti::c::is_of_parent(claim->owner)) claim_in(*claim).~Claim();
  make_empty(claim);
}

int tutti_group_send(tutti_group_t* group, const void* bytes, size_t size, int service,
                     int64_t timeout_ns, uint64_t* ticket, tutti_error_t* error) {
  if (ticket != nullptr) *ticket = 0;
  return with(group, kGroup, error, [&](Group& of) -> int {
    if (bytes == nullptr && size != 0) return tutti::c::refused(error, "the bytes are NULL");
    if (!is_service(service)) {
      return tutti::c::refused(error, "service " + std::to_string(service) + " is unknown");
    }
    const tutti::Result<tutti::Ticket> sent =
        of.send(std::span(static_cast<const std::byte*>(bytes), size),
                std::chrono::nanoseconds(timeout_ns), static_cast<tutti::Service>(service));
    if (!sent) return tutti::c::failed(error, sent.error());
    if (ticket != nullptr) *ticket = sent->value;
    return tutti::c::ok(error);
  });
}

int tutti_group_delivered(tutti_group_t* group, uint64_t ticket) {
  return with(group, kGroup, nullptr, [&](Group& of) { return of.delivered({ticket}) ? 1 : 0; });
}

int tutti_group_wait(tutti_group_t* group, uint64_t ticket, int64_t timeout_ns,
                     tutti_error_t* error) {
  return with(group, kGroup, error, [&](Group& of) {
    return tutti::c::done(error, of.wait({ticket}, std::chrono::nanoseconds(timeout_ns)));
  });
}

int tutti_group_on_delivered(tutti_group_t* group, uint64_t ticket,
                             tutti_delivered_callback_t callback, void* user,
                             tutti_error_t* error) {
  return with(group, kGroup, error, [&](Group& of) -> int {
    if (callback == nullptr) return tutti::c::refused(error, "the callback is NULL");
    return tutti::c::done(error,
                          of.on_delivered({ticket}, [callback, user](tutti::Result<void> done) {
                            if (done) return callback(nullptr, user);
                            tutti_error_t why;
                            static_cast<void>(tutti::c::failed(&why, done.error()));
                            callback(&why, user);
                          }));
  });
}

int tutti_group_on_space(tutti_group_t* group, uint32_t size, tutti_space_callback_t callback,
                         void* user, tutti_error_t* error) {
  return with(group, kGroup, error, [&](Group& of) -> int {
    if (callback == nullptr) return tutti::c::refused(error, "the callback is NULL");
    return tutti::c::done(error, of.on_space(size, [callback, user](tutti::Result<Claim> space) {
      if (!space) {
        tutti_error_t why;
        static_cast<void>(tutti::c::failed(&why, space.error()));
        return callback(nullptr, &why, user);
      }
      tutti_claim_t claim;
      new (&claim) Claim(std::move(*space));
      callback(&claim, nullptr, user);
    }));
  });
}

int tutti_group_barrier(tutti_group_t* group, int64_t timeout_ns, tutti_error_t* error) {
  return with(group, kGroup, error, [&](Group& of) {
    return tutti::c::done(error, of.barrier(std::chrono::nanoseconds(timeout_ns)));
  });
}

int tutti_group_take(tutti_group_t* group, size_t max, int64_t timeout_ns, tutti_batch_t* batch,
                     tutti_error_t* error) {
  if (batch != nullptr) *batch = {};  // it may be released, whatever comes of this
  return with(group, kGroup, error, [&](Group& of) -> int {
    if (batch == nullptr) return tutti::c::refused(error, "the place for the batch is NULL");
    tutti::Result<Batch> taken =
        timeout_ns > 0 ? of.take(max, std::chrono::nanoseconds(timeout_ns)) : of.take(max);
    if (!taken) return tutti::c::failed(error, taken.error());
    if (taken->empty()) return tutti::c::ok(error);
    batch->messages = reinterpret_cast<const tutti_message_t*>(taken->begin());
    batch->count = taken->size();
    batch->view = taken->view();
    new (batch->opaque) Batch(std::move(*taken));
    return tutti::c::ok(error);
  });
}

void tutti_batch_release(tutti_batch_t* batch) {
  if (batch == nullptr || batch->count == 0) return;
  batch_in(*batch).~Batch();
  *batch = {};
}

int tutti_batch_intact(const tutti_batch_t* batch) {
  if (batch == nullptr || batch->count == 0) return 1;
  return batch_in(const_cast<tutti_batch_t&>(*batch)).intact() ? 1 : 0;
}

int tutti_group_intact(tutti_group_t* group) {
  return with(group, kGroup, nullptr, [](Group& of) { return of.intact() ? 1 : 0; });
}

int tutti_group_event_fd(tutti_group_t* group, tutti_error_t* error) {
  return with(group, kGroup, error, [&](Group& of) {
    const tutti::Result<int> descriptor = of.event_fd();
    if (!descriptor) return tutti::c::failed(error, descriptor.error());
    tutti::c::ok(error);
    return *descriptor;
  });
}

int tutti_group_finish(tutti_group_t* group) {
  return with(group, kGroup, nullptr, [](Group& of) {
    of.finish();
    return 0;
  });
}

int tutti_group_leave(tutti_group_t* group, int64_t timeout_ns, tutti_error_t* error) {
  return with(group, kGroup, error, [&](Group& of) {
    return tutti::c::done(error, of.leave(std::chrono::nanoseconds(timeout_ns)));
  });
}

int tutti_group_complete(tutti_group_t* group) {
  return with(group, kGroup, nullptr, [](Group& of) { return of.complete() ? 1 : 0; });
}

int tutti_group_wait_complete(tutti_group_t* group, int64_t timeout_ns, tutti_error_t* error) {
  return with(group, kGroup, error, [&](Group& of) {
    return tutti::c::done(error, of.wait_complete(std::chrono::nanoseconds(timeout_ns)));
  });
}

const char* tutti_group_name(tutti_group_t* group) {
  const Group* of = group == nullptr ? nullptr : group->get();
  return of == nullptr ? nullptr : of->name().c_str();
}

const char* tutti_group_member(tutti_group_t* group, uint32_t index) {
  const Group* of = group == nullptr ? nullptr : group->get();
  if (of == nullptr || index >= of->members().size()) return nullptr;
  return of->members()[tutti::MemberIndex{index}].c_str();
}

int tutti_group_get_statistics(tutti_group_t* group, tutti_group_statistics_t* statistics) {
  return with(group, kGroup, nullptr, [&](Group& of) -> int {
    if (statistics == nullptr || statistics->size < sizeof statistics->size) {
      return TUTTI_E_INVALID_ARGUMENT;
    }
    const tutti::GroupStatistics from = of.statistics();
    tutti_group_statistics_t out{};
    out.size = statistics->size;
    out.sent_messages = from.sent_messages;
    out.sent_bytes = from.sent_bytes;
    out.received_messages = from.received_messages;
    out.delivered_messages = from.delivered_messages;
    out.delivered_bytes = from.delivered_bytes;
    out.nulls_sent = from.nulls_sent;
    out.null_pushes = from.null_pushes;
    out.pushes = from.pushes;
    out.sender_waits = from.sender_waits;
    out.token_visits = from.token_visits;
    out.token_rests = from.token_rests;
    out.token_parked_ns = from.token_parked_ns;
    out.token_held_ns = from.token_held_ns;
    out.frames_handed_on = from.frames_handed_on;
    out.bytes_handed_on = from.bytes_handed_on;
    out.persisted = from.persisted;
    out.logged_bytes = from.logged_bytes;
    out.replayed = from.replayed;
    out.snapshots = from.snapshots;
    out.snapshot_before = from.snapshot_before;
    out.log_from = from.log_from;
    std::memset(statistics, 0, out.size);
    std::memcpy(statistics, &out, std::min(out.size, sizeof out));
    return TUTTI_OK;
  });
}
