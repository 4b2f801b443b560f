#include "fabric/verbs/device.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/system_error.hpp"
#include "fabric/verbs/device_choice.hpp"
#include "fabric/verbs/library.hpp"

namespace tutti::verbs {
namespace {

// Deep enough for a round trip's worth of small writes, shallow enough that control words, which
// merge only before they are posted, are never far behind.
constexpr std::uint32_t kSendQueueDepth = 128;
constexpr std::uint32_t kSendQueueDepthMin = 32;
constexpr std::uint32_t kWriteBytesMax = 1U << 20;  // so that one write delays no other for long
constexpr int kBacklog = 256;

std::string text_of(const sockaddr* address, std::uint16_t port) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address->sa_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
    ::inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
    return "[" + std::string(text) + "]:" + std::to_string(port);
  }
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
  ::inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
  return std::string(text) + ":" + std::to_string(port);
}

std::string locked_memory_advice() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return "; this process may lock " + std::to_string(limit.rlim_cur / 1024) +
         " KiB of memory (ulimit -l): raise it to 'unlimited', under systemd with "
         "LimitMEMLOCK=infinity, or use smaller windows";
}

}  // namespace

bool is_there() { return ::access("/dev/infiniband/rdma_cm", R_OK | W_OK) == 0; }

Result<void> set_non_blocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) {
    return fail_system("cannot use an RDMA event descriptor");
  }
  return {};
}

// Everything that calls the libraries for RDMA has an event channel.
Result<EventChannel> make_event_channel() {
  if (const Result<void>& there = library(); !there) return std::unexpected(there.error());
  EventChannel channel(::rdma_create_event_channel());
  if (channel == nullptr) {
    return fail_system(
        "RDMA is not there: /dev/infiniband/rdma_cm cannot be used (is the module rdma_ucm loaded, "
        "and is the device in this container?)");
  }
  if (Result<void> r = set_non_blocking(channel->fd); !r) return std::unexpected(r.error());
  return channel;
}

Result<std::shared_ptr<Device>> Device::open(const std::string& choice, const std::string& near,
                                             std::span<const std::byte> own_row) {
  std::shared_ptr<Device> device(new Device(own_row));
  Result<EventChannel> calls = make_event_channel();
  if (!calls) return std::unexpected(std::move(calls.error()));
  device->calls_ = std::move(*calls);
  Result<CmId> bound = choose_device(device->calls_.get(), choice, near);
  if (!bound) return std::unexpected(std::move(bound.error()));
  device->listener_ = std::move(*bound);
  device->name_ = ::ibv_get_device_name(device->context()->device);
  if (Result<void> r = device->set_up(); !r) {
    return fail(r.error().code, "RDMA device '" + device->name_ + "': " + r.error().message);
  }
  return device;
}

Result<void> Device::set_up() {
  if (Result<void> r = ask_limits(); !r) return r;
  domain_.reset(::ibv_alloc_pd(context()));
  if (domain_ == nullptr) return fail_system("cannot get a protection domain");
  // Only the device itself reads it, for our own writes.
  Result<MemoryRegion> row = register_memory(own_row_, 0);
  if (!row) return std::unexpected(std::move(row.error()));
  own_region_ = std::move(*row);
  completions_.reset(::ibv_create_comp_channel(context()));
  if (completions_ == nullptr) return fail_system("cannot get a completion channel");
  if (Result<void> r = set_non_blocking(completions_->fd); !r) return r;
  if (Result<void> r = set_non_blocking(context()->async_fd); !r) return r;
  if (::rdma_listen(listener_.get(), kBacklog) != 0) return fail_system("cannot listen");
  address_ = text_of(own_address(), ntohs(::rdma_get_src_port(listener_.get())));
  return {};
}

Result<void> Device::ask_limits() {
  ibv_device_attr device{};
  ibv_port_attr port{};
  if (::ibv_query_device(context(), &device) != 0 ||
      ::ibv_query_port(context(), listener_->port_num, &port) != 0) {
    return fail_system("cannot ask what it can");
  }
  const int depth_max = std::min(device.max_qp_wr, device.max_cqe - 16);
  if (depth_max < static_cast<int>(kSendQueueDepthMin)) {
    return fail(ErrorCode::system,
                "its queues hold " + std::to_string(depth_max) +
                    " work requests; needed: " + std::to_string(kSendQueueDepthMin));
  }
  limits_.send_queue_depth = std::min(kSendQueueDepth, static_cast<std::uint32_t>(depth_max));
  limits_.write_bytes_max = std::min(kWriteBytesMax, port.max_msg_sz);
  return {};
}

Result<MemoryRegion> Device::register_memory(std::span<const std::byte> bytes, int access) const {
  auto* begin = const_cast<std::byte*>(bytes.data());  // written only if `access` says so
  MemoryRegion region(::ibv_reg_mr(domain_.get(), begin, bytes.size(), access));
  if (region != nullptr) return region;
  const int error = errno;
  const bool memory = error == ENOMEM || error == EAGAIN || error == EPERM;
  Error problem =
      fail_system("cannot register " + std::to_string(bytes.size()) + " bytes of memory for RDMA",
                  error)
          .error();
  if (memory) problem.message += locked_memory_advice();
  return std::unexpected(std::move(problem));
}

Result<std::optional<Call>> Device::next_call() {
  rdma_cm_event* event = nullptr;
  while (::rdma_get_cm_event(calls_.get(), &event) == 0) {
    if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
      const bool removed = event->event == RDMA_CM_EVENT_DEVICE_REMOVAL;
      ::rdma_ack_cm_event(event);
      if (removed) return fail(ErrorCode::system, "RDMA device '" + name_ + "' was removed");
      continue;  // of a call that was dropped meanwhile
    }
    CmId id(event->id);
    const rdma_conn_param& said = event->param.conn;
    Result<Greeting> greeting =
        decode_greeting({static_cast<const std::byte*>(said.private_data), said.private_data_len});
    ::rdma_ack_cm_event(event);  // before `id` may go
    if (!greeting) return std::unexpected(std::move(greeting.error()));
    return Call{std::move(id), *greeting};
  }
  return std::optional<Call>();
}

}  // namespace tutti::verbs
