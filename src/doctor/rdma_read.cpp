// What the kernel shows of RDMA devices.
#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "doctor/files.hpp"
#include "doctor/rdma.hpp"
#include "fabric/verbs/library.hpp"

namespace tutti::doctor {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kCapIpcLock = 14;

// "4: ACTIVE"
std::string after_colon(const std::string& text) {
  const std::size_t colon = text.find(": ");
  return colon == std::string::npos ? text : text.substr(colon + 2);
}

// "0000:0000:0000:0000:0000:ffff:0a09:0001", which is 10.9.0.1; empty if it is none at all.
std::string address_of(const std::string& gid) {
  in6_addr address{};
  if (::inet_pton(AF_INET6, gid.c_str(), &address) != 1) return {};
  if (std::ranges::all_of(address.s6_addr, [](std::uint8_t byte) { return byte == 0; })) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    ::inet_ntop(AF_INET, &address.s6_addr[12], text.data(), text.size());
  } else {
    ::inet_ntop(AF_INET6, &address, text.data(), text.size());
  }
  return text.data();
}

std::vector<Gid> read_gids(const fs::path& port) {
  std::vector<Gid> gids;
  for (const std::string& name : names_in(port / "gids")) {
    Gid gid{.index = static_cast<std::uint32_t>(number_of(name).value_or(0)),
            .address = address_of(text_of(port / "gids" / name).value_or("")),
            .type = text_of(port / "gid_attrs/types" / name).value_or(""),
            .net_device = text_of(port / "gid_attrs/ndevs" / name).value_or("")};
    if (!gid.address.empty()) gids.push_back(std::move(gid));
  }
  return gids;
}

RdmaPort read_port(const fs::path& root, const fs::path& path, std::string_view name) {
  RdmaPort port{.number = static_cast<std::uint32_t>(number_of(name).value_or(0)),
                .state = after_colon(text_of(path / "state").value_or("")),
                .link = text_of(path / "link_layer").value_or(""),
                .rate = text_of(path / "rate").value_or(""),
                .gids = read_gids(path)};
  if (const Gid* gid = chosen_gid(port); gid != nullptr && !gid->net_device.empty()) {
    const auto mtu =
        number_of(text_of(root / "sys/class/net" / gid->net_device / "mtu").value_or(""));
    port.net_mtu = static_cast<std::uint32_t>(mtu.value_or(0));
  }
  return port;
}

bool usable(const fs::path& file) { return ::access(file.c_str(), R_OK | W_OK) == 0; }

}  // namespace

Rdma read_rdma(const fs::path& root) {
  Rdma rdma;
  const fs::path devices = root / "sys/class/infiniband";
  for (const std::string& name : names_in(devices)) {
    RdmaDevice device{.name = name};
    const fs::path ports = devices / name / "ports";
    for (const std::string& port : names_in(ports)) {
      device.ports.push_back(read_port(root, ports / port, port));
    }
    rdma.devices.push_back(std::move(device));
  }
  const fs::path nodes = root / "dev/infiniband";
  for (const std::string& name : names_in(nodes)) {
    if (!name.starts_with("uverbs")) continue;
    rdma.verbs_nodes = true;
    rdma.verbs_nodes_usable |= usable(nodes / name);
  }
  rdma.connection_manager = usable(nodes / "rdma_cm");
  if (const Result<void>& there = verbs::library(); !there) {
    rdma.library_error = there.error().message;
  }
  const std::string limits = text_of(root / "proc/self/limits").value_or("");
  rdma.lock_limit_bytes = number_of(field_of(limits, "Max locked memory").value_or(""));
  const std::string status = text_of(root / "proc/self/status").value_or("");
  const std::uint64_t capabilities =
      number_of(field_of(status, "CapEff:").value_or(""), 16).value_or(0);
  rdma.may_lock_all = (capabilities >> kCapIpcLock & 1) != 0;
  return rdma;
}

}  // namespace tutti::doctor
