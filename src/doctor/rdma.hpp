/// \file rdma.hpp
/// RDMA devices, as the kernel shows them: what a process needs before it can make a queue pair.
/// Source: the kernel's sysfs-class-infiniband.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "doctor/finding.hpp"

namespace tutti::doctor {

/// An address of a port. A RoCE port has several; rdma_cm uses the one of the bound IP address, as
/// RoCE v2.
struct Gid {
  std::uint32_t index = 0;
  std::string address{};     ///< IPv4 as such, else as IPv6
  std::string type{};        ///< "RoCE v2", "IB/RoCE v1"
  std::string net_device{};  ///< of the IP address; empty for InfiniBand
};

struct RdmaPort {
  std::uint32_t number = 0;
  std::string state{};        ///< "ACTIVE", "DOWN", ...
  std::string link{};         ///< "Ethernet" or "InfiniBand"
  std::string rate{};         ///< "100 Gb/sec (4X EDR)"
  std::vector<Gid> gids{};    ///< without the empty ones
  std::uint32_t net_mtu = 0;  ///< of the net device of its GIDs, in bytes; 0: none
};

struct RdmaDevice {
  std::string name{};
  std::vector<RdmaPort> ports{};
};

struct Rdma {
  std::vector<RdmaDevice> devices{};
  bool verbs_nodes = false;         ///< /dev/infiniband has the files that libibverbs opens ...
  bool verbs_nodes_usable = false;  ///< ... and this user may open them
  bool connection_manager = false;  ///< this user may open the file that librdmacm opens
  std::string library_error{};      ///< why the libraries cannot be loaded; empty: they are there
  std::optional<std::uint64_t> lock_limit_bytes{};  ///< of memory; nothing: unlimited
  bool may_lock_all = false;                        ///< CAP_IPC_LOCK: the limit does not apply
};

/// Reads it. `root` has dev/, proc/ and sys/ in it.
[[nodiscard]] Rdma read_rdma(const std::filesystem::path& root = "/");

/// The GID that RDMA over this port uses unless the user asks for another address: RoCE v2 with
/// IPv4 first, then with IPv6 that is not link-local, then any; with InfiniBand the first.
[[nodiscard]] const Gid* chosen_gid(const RdmaPort& port);

/// Where two members of this host would listen to try RDMA: at the first IPv4 address of a port
/// that is up, or, if none has one (InfiniBand), on loopback. Empty: no port is up, or RDMA may not
/// be used.
[[nodiscard]] std::string host_to_try(const Rdma& rdma);

/// Bytes of a packet's payload: the largest of 256 .. 4096 that fits the net device's frames with
/// RoCE v2's headers, 0 if none does.
[[nodiscard]] std::uint32_t path_mtu(std::uint32_t net_mtu);

[[nodiscard]] Findings findings_of(const Rdma& rdma);

}  // namespace tutti::doctor
