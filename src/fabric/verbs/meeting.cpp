#include "fabric/verbs/meeting.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "base/system_error.hpp"

namespace tutti::verbs {
namespace {

constexpr int kResolveMs = 2000;

// What is not acknowledged for 4.096 us * 2^14, some 70 ms, or up to 2^18, a second, is sent again,
// six times. Not seven times: SoftRoCE takes 7 for ever.
constexpr std::uint8_t kAckTimeoutMin = 14;
constexpr std::uint8_t kAckTimeoutMax = 18;
constexpr std::uint8_t kRetries = 6;

// The transport's word that a peer is dead comes last: after it was suspected, if that is soon. A
// lost packet does not wait so long, for the next one that arrives tells of it.
std::uint8_t ack_timeout(std::chrono::nanoseconds give_up_after) {
  std::uint8_t exponent = kAckTimeoutMin;
  const auto gives_up = [&] {
    return std::chrono::nanoseconds(4096) * (std::int64_t{1} << exponent) * (kRetries + 1);
  };
  while (exponent < kAckTimeoutMax && gives_up() < give_up_after) ++exponent;
  return exponent;
}

std::optional<sockaddr_storage> parse(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  std::string host = text.substr(0, colon);
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto number = std::from_chars(text.data() + colon + 1, end, port);
  if (number.ec != std::errc() || number.ptr != end || port == 0) return std::nullopt;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  sockaddr_storage out{};
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    std::memcpy(&out, &v4, sizeof v4);
  } else if (::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
    std::memcpy(&out, &v6, sizeof v6);
  } else {
    return std::nullopt;
  }
  return out;
}

rdma_conn_param parameters(std::span<const std::byte> greeting) {
  rdma_conn_param out{};
  out.private_data = greeting.data();
  out.private_data_len = static_cast<std::uint8_t>(greeting.size());
  out.responder_resources = 0;  // nobody reads or does atomics: peers may write, and no more
  out.initiator_depth = 0;
  out.flow_control = 1;
  out.retry_count = kRetries;
  out.rnr_retry_count = kRetries;  // here 7 is for ever everywhere
  return out;
}

std::string why_failed(rdma_cm_event_type event, int status) {
  if (event == RDMA_CM_EVENT_REJECTED) return "it refused the connection";
  std::string text = ::rdma_event_str(event);
  if (status < 0) text += std::string(": ") + std::strerror(-status);
  return text;
}

}  // namespace

Result<std::unique_ptr<Meeting>> Meeting::call(std::shared_ptr<Device> device,
                                               const Acquaintance& who,
                                               const std::string& address) {
  std::optional<sockaddr_storage> there = parse(address);
  if (!there) {
    return fail(ErrorCode::mismatch, "'" + address + "' is no RDMA address that can be called");
  }
  std::unique_ptr<Meeting> out(new Meeting(std::move(device), who));
  out->address_ = address;
  Result<EventChannel> events = make_event_channel();
  if (!events) return std::unexpected(std::move(events.error()));
  out->events_ = std::move(*events);
  rdma_cm_id* id = nullptr;
  if (::rdma_create_id(out->events_.get(), &id, nullptr, RDMA_PS_TCP) != 0) {
    return fail_system("cannot call " + address + " by RDMA");
  }
  out->id_.reset(id);
  // Before the route is resolved, which is told the other end, too. Older kernels cannot: then the
  // default, some seconds, stands.
  std::uint8_t timeout = ack_timeout(who.give_up_after);
  static_cast<void>(
      ::rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof timeout));
  // From our device's address, so that the connection goes through this device.
  sockaddr_storage here{};
  const sockaddr* own = out->device_->own_address();
  if (own->sa_family != there->ss_family) {
    return fail(ErrorCode::mismatch, "it has the RDMA address " + address + ", we have " +
                                         out->device_->address() +
                                         ": both need IPv4, or both IPv6");
  }
  std::memcpy(&here, own, own->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
  reinterpret_cast<sockaddr_in*>(&here)->sin_port = 0;  // where sockaddr_in6 has it, too
  if (::rdma_resolve_addr(id, reinterpret_cast<sockaddr*>(&here),
                          reinterpret_cast<sockaddr*>(&*there), kResolveMs) != 0) {
    return fail(ErrorCode::peer_lost, fail_system("no RDMA route to " + address).error().message);
  }
  return out;
}

Result<std::unique_ptr<Meeting>> Meeting::answer(std::shared_ptr<Device> device,
                                                 const Acquaintance& who, Call call) {
  const Greeting& greeting = call.greeting;
  if (greeting.from != who.peer_incarnation || greeting.to != who.incarnation) {
    return fail(ErrorCode::mismatch, "the RDMA connection that came is somebody else's");
  }
  std::unique_ptr<Meeting> out(new Meeting(std::move(device), who));
  Result<EventChannel> events = make_event_channel();
  if (!events) return std::unexpected(std::move(events.error()));
  if (::rdma_migrate_id(call.id.get(), events->get()) != 0) {
    return fail_system("cannot take over an RDMA connection");
  }
  out->events_ = std::move(*events);
  out->id_ = std::move(call.id);
  if (Result<void> r = out->make_pair(); !r) return std::unexpected(std::move(r.error()));
  if (Result<void> r = out->meet(greeting); !r) return std::unexpected(std::move(r.error()));
  const auto words = encode_greeting(out->own_greeting());
  rdma_conn_param answer = parameters(words);
  if (::rdma_accept(out->pair_->id.get(), &answer) != 0) {
    return fail(ErrorCode::peer_lost,
                fail_system("cannot accept the RDMA connection").error().message);
  }
  return out;
}

Result<void> Meeting::make_pair() {
  Result<std::shared_ptr<Pair>> pair =
      Pair::make(device_, std::move(events_), std::move(id_), who_.peer_row_bytes);
  if (!pair) return std::unexpected(std::move(pair.error()));
  pair_ = std::move(*pair);
  return {};
}

Result<std::shared_ptr<Pair>> Meeting::step() {
  rdma_event_channel* const events = events_ != nullptr ? events_.get() : pair_->events.get();
  rdma_cm_event* event = nullptr;
  while (!connected_ && ::rdma_get_cm_event(events, &event) == 0) {
    const rdma_cm_event_type type = event->event;
    const int status = event->status;
    Result<void> done;
    // The end that called learns the other's row with this; the other knows it from the call.
    if (type == RDMA_CM_EVENT_ESTABLISHED && !address_.empty()) {
      const rdma_conn_param& said = event->param.conn;
      const Result<Greeting> greeting = decode_greeting(
          {static_cast<const std::byte*>(said.private_data), said.private_data_len});
      done = greeting ? meet(*greeting) : std::unexpected(greeting.error());
    }
    ::rdma_ack_cm_event(event);
    if (done) done = happened(type, status);
    if (!done) return std::unexpected(std::move(done.error()));
  }
  return connected_ ? std::exchange(pair_, nullptr) : nullptr;
}

Result<void> Meeting::happened(rdma_cm_event_type event, int status) {
  switch (event) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      if (::rdma_resolve_route(id_.get(), kResolveMs) == 0) return {};
      return fail_system("no RDMA route to " + address_);
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      return connect();
    case RDMA_CM_EVENT_ESTABLISHED:
      connected_ = true;
      return {};
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      return fail(ErrorCode::system, "RDMA device '" + device_->name() + "' was removed");
    case RDMA_CM_EVENT_ADDR_CHANGE:
    case RDMA_CM_EVENT_TIMEWAIT_EXIT:
      return {};
    default:
      return fail(ErrorCode::peer_lost, "cannot connect by RDMA" +
                                            (address_.empty() ? "" : " to " + address_) + ": " +
                                            why_failed(event, status));
  }
}

Result<void> Meeting::connect() {
  if (Result<void> r = make_pair(); !r) return r;
  const auto words = encode_greeting(own_greeting());
  rdma_conn_param offer = parameters(words);
  if (::rdma_connect(pair_->id.get(), &offer) == 0) return {};
  return fail(ErrorCode::peer_lost,
              fail_system("cannot connect by RDMA to " + address_).error().message);
}

Result<void> Meeting::meet(const Greeting& greeting) {
  if (greeting.from != who_.peer_incarnation || greeting.to != who_.incarnation) {
    return fail(ErrorCode::peer_lost, "another node answered at " + address_);
  }
  const std::size_t needed = device_->own_row().size();
  if (greeting.region_bytes % kBellBytes != 0 || greeting.region_bytes < needed) {
    return fail(ErrorCode::mismatch, "it makes room for " + std::to_string(greeting.region_bytes) +
                                         " bytes of our row, which has " + std::to_string(needed) +
                                         "; run the same version at all members");
  }
  pair_->remote_row = greeting.region;
  pair_->remote_bell = greeting.region + greeting.region_bytes;
  pair_->remote_key = greeting.rkey;
  return {};
}

Greeting Meeting::own_greeting() const {
  return {.from = who_.incarnation,
          .to = who_.peer_incarnation,
          .region = reinterpret_cast<std::uint64_t>(pair_->region.bytes().data()),
          .region_bytes = pair_->row_bytes(),
          .rkey = pair_->region_key->rkey,
          .slot = who_.slot};
}

}  // namespace tutti::verbs
