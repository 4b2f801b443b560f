/// \file device.hpp
/// The RDMA device that a node uses: its protection domain, our own row in it, and the port where
/// others call. One per node; the carrier, the fabric and every pair share it.
///
/// Threads: any, but for next_call(), which one thread calls. The own row outlives the device.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "fabric/verbs/greeting.hpp"
#include "fabric/verbs/handles.hpp"
#include "tutti/error.hpp"

namespace tutti::verbs {

/// What the device can, asked at open().
struct DeviceLimits {
  std::uint32_t send_queue_depth = 0;  ///< work requests under way to one peer
  std::uint32_t write_bytes_max = 0;   ///< of one write
};

/// Somebody calls: not answered yet. Whoever drops it hangs up.
struct Call {
  CmId id;
  Greeting greeting;
};

class Device {
 public:
  /// `choice` is a device, NAME[:PORT[:GID]] ("mlx5_0:1:3", the GID by its index), or one of our
  /// addresses ("10.0.0.1"); empty: the device that has the address `near`, where a node listens,
  /// or else the first one that is up.
  /// Errors name each device that was looked at and why it is not used.
  [[nodiscard]] static Result<std::shared_ptr<Device>> open(const std::string& choice,
                                                            const std::string& near,
                                                            std::span<const std::byte> own_row);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  /// HOST:PORT or [IPv6]:PORT where others call.
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] const DeviceLimits& limits() const { return limits_; }

  /// Readable when somebody called.
  [[nodiscard]] int calls_fd() const { return calls_->fd; }
  /// The next call that came; empty if none waits. An error is one call's: it was refused.
  [[nodiscard]] Result<std::optional<Call>> next_call();

  // For pairs and the fabric.
  [[nodiscard]] ibv_context* context() const { return listener_->verbs; }
  [[nodiscard]] ibv_pd* domain() const { return domain_.get(); }
  [[nodiscard]] const sockaddr* own_address() const { return &listener_->route.addr.src_addr; }
  [[nodiscard]] std::span<const std::byte> own_row() const { return own_row_; }
  [[nodiscard]] std::uint32_t own_row_key() const { return own_region_->lkey; }
  [[nodiscard]] ibv_comp_channel* completions() const { return completions_.get(); }

  /// Registers memory for what `access` says, and nothing else; never with relaxed ordering, so
  /// that writes land in order. The error says what to do about locked memory.
  [[nodiscard]] Result<MemoryRegion> register_memory(std::span<const std::byte> bytes,
                                                     int access) const;

 private:
  explicit Device(std::span<const std::byte> own_row) : own_row_(own_row) {}
  [[nodiscard]] Result<void> set_up();
  [[nodiscard]] Result<void> ask_limits();

  std::span<const std::byte> own_row_;
  EventChannel calls_;
  CmId listener_;  // holds the device open
  ProtectionDomain domain_;
  MemoryRegion own_region_;
  CompletionChannel completions_;
  DeviceLimits limits_;
  std::string name_;
  std::string address_;
};

/// Whether this host offers RDMA to this process at all; costs a look into /dev.
[[nodiscard]] bool is_there();

/// What is read from it does not wait.
[[nodiscard]] Result<void> set_non_blocking(int fd);

[[nodiscard]] Result<EventChannel> make_event_channel();

}  // namespace tutti::verbs
