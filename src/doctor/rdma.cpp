#include "doctor/rdma.hpp"

#include <algorithm>
#include <string_view>

namespace tutti::doctor {
namespace {

constexpr std::uint32_t kRoceHeaderBytes = 40 + 8 + 12 + 16 + 4 + 4;  // IPv6 UDP BTH RETH imm ICRC
constexpr std::uint32_t kPacketBytesMax = 4096;
constexpr std::uint32_t kPacketBytesMin = 256;
constexpr std::uint64_t kLockedBytes = 256'000'000;  // rows of a few members

bool is_ipv4(const Gid& gid) { return gid.address.find(':') == std::string::npos; }
bool is_link_local(const Gid& gid) { return gid.address.starts_with("fe80:"); }
bool is_roce_v2(const Gid& gid) { return gid.type == "RoCE v2"; }

Finding no_device() {
  return {.subject = "RDMA devices",
          .grade = Grade::could_be_better,
          .what = "none: members on other hosts are reached by TCP",
          .how =
              "for an InfiniBand or RoCE adapter load its driver (ibv_devices lists the devices "
              "found); to try RDMA in software: modprobe rdma_rxe && rdma link add rxe0 type "
              "rxe netdev eth0"};
}

Finding nodes_finding(const Rdma& rdma) {
  Finding finding{.subject = "RDMA access", .what = "/dev/infiniband exists and is usable"};
  if (rdma.verbs_nodes_usable && rdma.connection_manager) return finding;
  finding.grade = Grade::broken;
  if (!rdma.verbs_nodes) {
    finding.what = "/dev/infiniband/uverbs* does not exist";
    finding.how = "modprobe ib_uverbs; in a container, also pass it in: --device /dev/infiniband";
  } else if (!rdma.verbs_nodes_usable) {
    finding.what = "this user may not open /dev/infiniband/uverbs*";
    finding.how = "make them readable and writable for this user (udev, or the group 'rdma')";
  } else {
    finding.what = "/dev/infiniband/rdma_cm does not exist, or this user may not open it";
    finding.how = "modprobe rdma_ucm; in a container, also pass it in: --device /dev/infiniband";
  }
  return finding;
}

Finding library_finding(const Rdma& rdma) {
  return {.subject = "RDMA libraries",
          .grade = Grade::broken,
          .what = rdma.library_error,
          .how = "apt-get install libibverbs1 librdmacm1 ibverbs-providers"};
}

Finding lock_finding(const Rdma& rdma) {
  Finding finding{.subject = "locked memory"};
  if (rdma.may_lock_all) {
    finding.what = "no limit for this user (CAP_IPC_LOCK)";
  } else if (!rdma.lock_limit_bytes) {
    finding.what = "no limit";
  } else {
    finding.what = "at most " + std::to_string(*rdma.lock_limit_bytes / 1024) + " KiB";
    if (*rdma.lock_limit_bytes >= kLockedBytes) return finding;
    finding.grade = Grade::broken;
    finding.what += ": RDMA locks every row, which is several megabytes for each member";
    finding.how =
        "ulimit -l unlimited; for good: '* - memlock unlimited' in "
        "/etc/security/limits.d/tutti.conf, LimitMEMLOCK=infinity in a systemd unit, "
        "--ulimit memlock=-1 for a container";
  }
  return finding;
}

std::string gid_text(const Gid& gid) {
  return "GID " + std::to_string(gid.index) + " " + gid.address +
         (gid.net_device.empty() ? "" : " (" + gid.type + ", " + gid.net_device + ")");
}

Finding port_finding(const RdmaDevice& device, const RdmaPort& port) {
  Finding finding{.subject = device.name + " port " + std::to_string(port.number)};
  finding.what = port.link + ", " + port.state + ", " + port.rate;
  if (port.state != "ACTIVE") {
    finding.grade = Grade::broken;
    finding.how = port.link == "InfiniBand"
                      ? "plug the cable in; a port that stays INIT waits for a subnet manager: "
                        "start opensm on one host"
                      : "plug the cable in and bring its net device up: ip link set DEVICE up";
    return finding;
  }
  const Gid* gid = chosen_gid(port);
  if (gid == nullptr) {
    finding.grade = Grade::broken;
    finding.what += ", without a GID";
    finding.how = "give its net device an IP address";
    return finding;
  }
  finding.what += "; uses " + gid_text(*gid);
  if (port.link == "InfiniBand") return finding;
  if (!is_roce_v2(*gid)) {
    finding.grade = Grade::could_be_better;
    finding.how = "RoCE v1 is not routed: have the adapter use RoCE v2 (cma_roce_mode)";
    return finding;
  }
  if (is_link_local(*gid)) {
    finding.grade = Grade::broken;
    finding.how = "give " + gid->net_device + " an IP address: members need one to connect";
    return finding;
  }
  const std::uint32_t packet = path_mtu(port.net_mtu);
  finding.what += ", packets of " + std::to_string(packet) + " bytes";
  if (packet < kPacketBytesMax) {
    finding.grade = Grade::could_be_better;
    finding.how = "with frames for packets of 4096 bytes, large messages cost less: ip link set " +
                  gid->net_device + " mtu 4200 or more, on all hosts and switches";
  }
  return finding;
}

}  // namespace

const Gid* chosen_gid(const RdmaPort& port) {
  const auto worth = [](const Gid& gid) {
    if (!is_roce_v2(gid)) return 0;
    if (is_ipv4(gid)) return 3;
    return is_link_local(gid) ? 1 : 2;
  };
  const auto best = std::ranges::max_element(port.gids, {}, worth);  // the first of equals
  return best == port.gids.end() ? nullptr : &*best;
}

std::string host_to_try(const Rdma& rdma) {
  if (!rdma.verbs_nodes_usable || !rdma.connection_manager) return {};
  std::string host;
  for (const RdmaDevice& device : rdma.devices) {
    for (const RdmaPort& port : device.ports) {
      if (port.state != "ACTIVE") continue;
      const Gid* gid = chosen_gid(port);
      if (gid != nullptr && is_ipv4(*gid)) return gid->address;
      host = "127.0.0.1";
    }
  }
  return host;
}

std::uint32_t path_mtu(std::uint32_t net_mtu) {
  std::uint32_t packet = kPacketBytesMax;
  while (packet >= kPacketBytesMin && packet + kRoceHeaderBytes > net_mtu) packet /= 2;
  return packet >= kPacketBytesMin ? packet : 0;
}

Findings findings_of(const Rdma& rdma) {
  if (rdma.devices.empty()) return {no_device()};
  Findings findings;
  for (const RdmaDevice& device : rdma.devices) {
    for (const RdmaPort& port : device.ports) findings.push_back(port_finding(device, port));
  }
  findings.push_back(nodes_finding(rdma));
  if (!rdma.library_error.empty()) findings.push_back(library_finding(rdma));
  findings.push_back(lock_finding(rdma));
  return findings;
}

}  // namespace tutti::doctor
