#include "tutti/c/replicated.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "c/handle.hpp"
#include "c/options.hpp"
#include "tutti/replicated.hpp"

namespace tutti::c {

// The machine of a program in C: its callbacks.
struct Machine {
  using Bytes = std::vector<std::byte>;
  struct Command {
    Bytes bytes;
    void encode(Bytes& out) const { out.insert(out.end(), bytes.begin(), bytes.end()); }
    static std::optional<Command> decode(std::span<const std::byte> in) {
      return Command{{in.begin(), in.end()}};
    }
  };
  using Reply = Bytes;

  Reply apply(const Command& command) {
    Reply reply;
    const StateSink write = [&reply](std::span<const std::byte> bytes) {
      reply.insert(reply.end(), bytes.begin(), bytes.end());
    };
    tutti_sink sink{write};
    call(command.bytes.data(), command.bytes.size(), &sink, user);
    return reply;
  }
  void on_tick(const Tick& at) const {
    if (tick != nullptr) tick(at.time_ns, user);
  }
  [[nodiscard]] Result<void> save(const StateSink& write) const { return save_state(write); }
  [[nodiscard]] Result<void> load(const StatePiece& piece) const { return load_state(piece); }

  tutti_apply_callback_t call = nullptr;
  void* user = nullptr;
  SaveState save_state{};
  LoadState load_state{};
  TickCallback tick = nullptr;
};

}  // namespace tutti::c

struct tutti_replicated : tutti::c::Handle<tutti::Replicated<tutti::c::Machine>> {
  using Handle::Handle;
};

namespace {

using tutti::Node;
using tutti::c::Machine;
using tutti::c::with;
using Copy = tutti::Replicated<Machine>;

constexpr const char* kReplicated = "replicated machine";

tutti::Result<tutti::GroupOptions> machine_options(const tutti_group_options_t* options,
                                                   tutti_apply_callback_t apply) {
  tutti::Result<tutti::GroupOptions> from = tutti::c::options_from(options);
  if (!from) return from;
  const auto refuse = [](const char* why) {
    return tutti::fail(tutti::ErrorCode::invalid_argument, why);
  };
  if (apply == nullptr) return refuse("apply is NULL: it is what changes the machine's state");
  if (from->on_delivery) {
    return refuse("on_delivery is set: the messages of a replicated machine go to apply");
  }
  if (!from->save_state || !from->load_state) {
    return refuse("save_state or load_state is NULL: members that join take the state by them");
  }
  return from;
}

}  // namespace

int tutti_replicated_join(tutti_node_t* node, const tutti_group_options_t* options,
                          tutti_apply_callback_t apply, tutti_replicated_t** replicated,
                          tutti_error_t* error) {
  if (replicated != nullptr) *replicated = nullptr;
  return with(node, "node", error, [&](Node& of) {
    if (replicated == nullptr) {
      return tutti::c::refused(error, "the place for the replicated machine is NULL");
    }
    tutti::Result<tutti::GroupOptions> from = machine_options(options, apply);
    if (!from) return tutti::c::failed(error, from.error());
    const tutti::Result<tutti::c::TickCallback> tick = tutti::c::tick_callback_of(options);
    if (!tick) return tutti::c::failed(error, tick.error());
    Machine machine{apply, options->user, std::move(from->save_state), std::move(from->load_state),
                    *tick};
    tutti::Result<Copy> joined = Copy::join(of, std::move(*from), std::move(machine));
    if (!joined) return tutti::c::failed(error, joined.error());
    *replicated = new tutti_replicated(std::move(*joined));
    return tutti::c::ok(error);
  });
}

void tutti_replicated_destroy(tutti_replicated_t* replicated) {
  if (replicated != nullptr) replicated->end();
}

int tutti_replicated_execute(tutti_replicated_t* replicated, const void* command, size_t size,
                             int64_t timeout_ns, void* reply, size_t capacity, size_t* reply_size,
                             tutti_error_t* error) {
  if (reply_size != nullptr) *reply_size = 0;
  return with(replicated, kReplicated, error, [&](Copy& of) {
    if (command == nullptr && size != 0) return tutti::c::refused(error, "the command is NULL");
    if (reply == nullptr && capacity != 0) {
      return tutti::c::refused(error, "the reply is NULL, though its capacity is not 0");
    }
    const auto* begin = static_cast<const std::byte*>(command);
    const tutti::Result<Machine::Reply> replied =
        of.execute({{begin, begin + size}}, std::chrono::nanoseconds(timeout_ns));
    if (!replied) return tutti::c::failed(error, replied.error());
    const std::size_t taken = std::min(capacity, replied->size());
    if (taken != 0) std::memcpy(reply, replied->data(), taken);
    if (reply_size != nullptr) *reply_size = replied->size();
    return tutti::c::ok(error);
  });
}

int tutti_replicated_query(tutti_replicated_t* replicated, void (*read)(void* user), void* user,
                           tutti_error_t* error) {
  return with(replicated, kReplicated, error, [&](Copy& of) {
    if (read == nullptr) return tutti::c::refused(error, "read is NULL");
    of.query([&](const Machine&) { read(user); });
    return tutti::c::ok(error);
  });
}

int tutti_replicated_query_latest(tutti_replicated_t* replicated, void (*read)(void* user),
                                  void* user, int64_t timeout_ns, tutti_error_t* error) {
  return with(replicated, kReplicated, error, [&](Copy& of) {
    if (read == nullptr) return tutti::c::refused(error, "read is NULL");
    return tutti::c::done(error, of.query_latest([&](const Machine&) { read(user); },
                                                 std::chrono::nanoseconds(timeout_ns)));
  });
}

int tutti_replicated_group(tutti_replicated_t* replicated, tutti_group_t** group,
                           tutti_error_t* error) {
  if (group != nullptr) *group = nullptr;
  return with(replicated, kReplicated, error, [&](Copy& of) {
    if (group == nullptr) return tutti::c::refused(error, "the place for the group is NULL");
    *group = new tutti_group(of.group());
    return tutti::c::ok(error);
  });
}
