#include "c/options.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "c/result.hpp"
#include "tutti/version.hpp"

namespace tutti::c {
namespace {

// Of the first version of each struct: a program that is older does not exist.
constexpr std::size_t kNodeOptionsMin = offsetof(tutti_node_options_t, on_request);
constexpr std::size_t kGroupOptionsMin = offsetof(tutti_group_options_t, logged);

tutti_node_options_t node_defaults() {
  const NodeOptions from;
  tutti_node_options_t out{};
  out.fabric = static_cast<std::int32_t>(from.fabric);
  out.drive = static_cast<std::int32_t>(from.drive);
  out.idle_spin_ns = from.idle.spin.count();
  out.idle_yield_ns = from.idle.yield.count();
  out.idle_sleep = from.idle.sleep ? 1 : 0;
  out.start_timeout_ns = from.start_timeout.count();
  out.suspect_after_ns = from.suspect_after.count();
  out.slow_after_ns = from.slow_after.count();
  out.remove_after_ns = from.remove_after.count();
  out.founders = from.founders;
  out.litmus_rounds = from.litmus_rounds;
  out.request_max_bytes = from.request_max_bytes;
  return out;
}

tutti_group_options_t group_defaults() {
  const GroupOptions from;
  tutti_group_options_t out{};
  out.order = static_cast<std::int32_t>(from.order);
  out.level = static_cast<std::int32_t>(from.level);
  out.message_max_bytes = from.message_max_bytes;
  out.window_messages = from.window_messages;
  out.window_bytes = from.window_bytes;
  out.personal_window = from.personal_window;
  out.accelerated_window = from.accelerated_window;
  out.global_window = from.global_window;
  out.maximum_gap = from.maximum_gap;
  out.delivery = static_cast<std::int32_t>(from.delivery);
  out.alignment = from.alignment;
  out.tick_every_ns = from.tick_every.count();
  out.logged = from.logged ? 1 : 0;
  out.deliver_from = from.deliver_from;
  out.snapshot_every_bytes = from.snapshot_every_bytes;
  out.snapshot_every_ns = from.snapshot_every.count();
  out.keep_log_bytes = from.keep_log_bytes;
  out.log_segment_bytes = from.log_segment_bytes;
  out.durable_quorum = from.durable_quorum ? 1 : 0;
  return out;
}

// A program of a newer header has a larger struct: what we do not know of it is zero.
template <class Options>
int init(Options* options, std::size_t size, std::size_t least, const Options& defaults) {
  if (options == nullptr || size < least) return TUTTI_E_INVALID_ARGUMENT;
  std::memset(options, 0, size);
  std::memcpy(options, &defaults, std::min(size, sizeof defaults));
  options->size = size;
  return TUTTI_OK;
}

// As this library knows them: what an older program does not know has its default.
template <class Options>
Result<Options> known(const Options* given, std::size_t least, const Options& defaults,
                      const char* what) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, std::string("the ") + what + " options " + why);
  };
  if (given == nullptr) return refuse("are NULL");
  if (given->size < least) {
    return refuse("have the size " + std::to_string(given->size) +
                  ", which no version has; call tutti_" + what + "_options_init first");
  }
  const auto* bytes = reinterpret_cast<const char*>(given);
  if (std::any_of(bytes + std::min(given->size, sizeof(Options)), bytes + given->size,
                  [](char byte) { return byte != 0; })) {
    return refuse(
        "set something that this library does not know: the program was made for a newer "
        "one than " +
        std::string(version()));
  }
  Options out = defaults;
  std::memcpy(&out, given, std::min(given->size, sizeof out));
  return out;
}

std::string text(const char* words) {
  return words == nullptr ? std::string() : std::string(words);
}

// An unknown number is refused by validate(), which names the field; one that does not fit becomes
// one that is unknown.
template <class Enum>
Enum enum_from(std::int32_t value) {
  return static_cast<Enum>(value < 0 || value > 255 ? 255 : value);
}

RequestHandler answered_by(decltype(tutti_node_options_t::on_request) handle, void* user) {
  return [handle, user](const Request& request) -> Result<std::vector<std::byte>> {
    tutti_answer answer;
    const std::string from(request.from);  // ends with a zero
    const int status =
        handle(from.c_str(), request.bytes.data(), request.bytes.size(), &answer, user);
    if (answer.out_of_memory) {
      return fail(ErrorCode::refused, "there was no memory for the answer of on_request");
    }
    if (status == 0) return std::move(answer.bytes);
    if (answer.bytes.empty()) {
      return fail(ErrorCode::refused, "on_request returned " + std::to_string(status));
    }
    return fail(ErrorCode::refused,
                {reinterpret_cast<const char*>(answer.bytes.data()), answer.bytes.size()});
  };
}

void set_state_callbacks(GroupOptions& out, const tutti_group_options_t& from) {
  if (from.save_state != nullptr) {
    out.save_state = [save = from.save_state,
                      user = from.user](const StateSink& write) -> Result<void> {
      tutti_sink sink{write};
      const int status = save(&sink, user);
      if (status == 0) return {};
      return fail(ErrorCode::stopped, "save_state returned " + std::to_string(status));
    };
  }
  if (from.load_state != nullptr) {
    out.load_state = [load = from.load_state,
                      user = from.user](const StatePiece& piece) -> Result<void> {
      const int status = load(piece.bytes.data(), piece.bytes.size(), piece.first ? 1 : 0,
                              piece.last ? 1 : 0, user);
      if (status == 0) return {};
      return fail(ErrorCode::stopped, "load_state returned " + std::to_string(status));
    };
  }
}

}  // namespace

Result<std::vector<std::string>> names_from(const char* const* list, std::size_t count,
                                            const std::string& what) {
  std::vector<std::string> out;
  if (count != 0 && list == nullptr) {
    return fail(ErrorCode::invalid_argument,
                what + " is NULL, though its count is " + std::to_string(count));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (list[i] == nullptr) {
      return fail(ErrorCode::invalid_argument, what + '[' + std::to_string(i) + "] is NULL");
    }
    out.emplace_back(list[i]);
  }
  return out;
}

void show(const ViewChange& change, void (*see)(const tutti_view_t*, void*), void* user) {
  std::vector<tutti_view_member_t> members;
  for (Rank rank; rank.value < change.members.size(); ++rank.value) {
    const std::string& name = change.members[rank];
    const bool joined = std::ranges::find(change.joined, name) != change.joined.end();
    members.push_back({name.c_str(), change.incarnations[rank], joined ? 1 : 0, 0});
  }
  std::vector<tutti_view_member_t> left;
  for (const Departure& gone : change.left) {
    left.push_back(
        {gone.member.c_str(), gone.incarnation, 0, static_cast<std::int32_t>(gone.reason)});
  }
  const tutti_view_t view{change.view,
                          change.rank.value,
                          static_cast<std::uint32_t>(members.size()),
                          members.data(),
                          static_cast<std::uint32_t>(left.size()),
                          left.data()};
  see(&view, user);
}

Result<NodeOptions> options_from(const tutti_node_options_t* options) {
  const Result<tutti_node_options_t> from =
      known(options, kNodeOptionsMin, node_defaults(), "node");
  if (!from) return std::unexpected(from.error());
  NodeOptions out;
  out.name = text(from->name);
  if (from->member_count != 0 && from->members == nullptr) {
    return fail(ErrorCode::invalid_argument,
                "members is NULL, though member_count is " + std::to_string(from->member_count));
  }
  for (std::size_t i = 0; i < from->member_count; ++i) {
    out.members.push_back({text(from->members[i].name), text(from->members[i].address)});
  }
  out.fabric = enum_from<FabricChoice>(from->fabric);
  out.drive = enum_from<Drive>(from->drive);
  out.provider = text(from->provider);
  out.rdma_device = text(from->rdma_device);
  out.idle = {.spin = std::chrono::nanoseconds(from->idle_spin_ns),
              .yield = std::chrono::nanoseconds(from->idle_yield_ns),
              .sleep = from->idle_sleep != 0};
  out.join_only = from->join_only != 0;
  out.start_timeout = std::chrono::nanoseconds(from->start_timeout_ns);
  out.suspect_after = std::chrono::nanoseconds(from->suspect_after_ns);
  out.slow_after = std::chrono::nanoseconds(from->slow_after_ns);
  out.remove_after = std::chrono::nanoseconds(from->remove_after_ns);
  out.founders = from->founders;
  out.litmus_rounds = from->litmus_rounds;
  out.request_max_bytes = from->request_max_bytes;
  out.state_dir = text(from->state_dir);
  out.bootstrap = from->bootstrap != 0;
  if (from->on_request != nullptr) out.on_request = answered_by(from->on_request, from->user);
  if (from->on_view != nullptr) {
    out.on_view = [see = from->on_view, user = from->user](const ViewChange& change) {
      show(change, see, user);
    };
  }
  if (from->log != nullptr) {
    out.log = [log = from->log, user = from->user](LogLevel level, std::string_view line) {
      log(static_cast<int>(level), line.data(), line.size(), user);
    };
  }
  return out;
}

Result<GroupOptions> options_from(const tutti_group_options_t* options) {
  const Result<tutti_group_options_t> from =
      known(options, kGroupOptionsMin, group_defaults(), "group");
  if (!from) return std::unexpected(from.error());
  GroupOptions out;
  out.name = text(from->name);
  Result<std::vector<std::string>> members =
      names_from(from->members, from->member_count, "members");
  if (!members) return std::unexpected(members.error());
  Result<std::vector<std::string>> senders =
      names_from(from->senders, from->sender_count, "senders");
  if (!senders) return std::unexpected(senders.error());
  out.members = std::move(*members);
  out.senders = std::move(*senders);
  out.order = enum_from<Order>(from->order);
  out.level = enum_from<Level>(from->level);
  out.message_max_bytes = from->message_max_bytes;
  out.window_messages = from->window_messages;
  out.window_bytes = from->window_bytes;
  out.personal_window = from->personal_window;
  out.accelerated_window = from->accelerated_window;
  out.global_window = from->global_window;
  out.maximum_gap = from->maximum_gap;
  out.alignment = from->alignment;
  out.tick_every = std::chrono::nanoseconds(from->tick_every_ns);
  out.logged = from->logged != 0;
  out.deliver_from = from->deliver_from;
  out.snapshot_every_bytes = from->snapshot_every_bytes;
  out.snapshot_every = std::chrono::nanoseconds(from->snapshot_every_ns);
  out.keep_log_bytes = from->keep_log_bytes;
  out.log_segment_bytes = from->log_segment_bytes;
  out.durable_quorum = from->durable_quorum != 0;
  out.delivery = enum_from<DeliveryThread>(from->delivery);
  out.stateful = from->stateful != 0;
  if (from->on_delivery != nullptr) {
    out.on_delivery = [deliver = from->on_delivery,
                       user = from->user](std::span<const Message> batch) {
      deliver(reinterpret_cast<const tutti_message_t*>(batch.data()), batch.size(), user);
    };
  }
  set_state_callbacks(out, *from);
  return out;
}

Result<TickCallback> tick_callback_of(const tutti_group_options_t* options) {
  const Result<tutti_group_options_t> from =
      known(options, kGroupOptionsMin, group_defaults(), "group");
  if (!from) return std::unexpected(from.error());
  return from->on_tick;
}

}  // namespace tutti::c

void tutti_sink_write(tutti_sink_t* sink, const void* bytes, size_t size) {
  sink->write({static_cast<const std::byte*>(bytes), size});
}

int tutti_node_options_init(tutti_node_options_t* options, size_t size) {
  return tutti::c::init(options, size, tutti::c::kNodeOptionsMin, tutti::c::node_defaults());
}

int tutti_group_options_init(tutti_group_options_t* options, size_t size) {
  return tutti::c::init(options, size, tutti::c::kGroupOptionsMin, tutti::c::group_defaults());
}
