#include "fabric/verbs/device_choice.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/system_error.hpp"

namespace tutti::verbs {
namespace {

struct Candidate {
  sockaddr_storage address{};  // port 0
  std::string text;
};

std::optional<Candidate> candidate_of(const ifaddrs& entry) {
  if (entry.ifa_addr == nullptr || (entry.ifa_flags & IFF_UP) == 0) return std::nullopt;
  if ((entry.ifa_flags & IFF_LOOPBACK) != 0) return std::nullopt;
  Candidate out;
  char text[INET6_ADDRSTRLEN] = {};
  if (entry.ifa_addr->sa_family == AF_INET) {
    sockaddr_in address{};
    std::memcpy(&address, entry.ifa_addr, sizeof address);
    ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
    std::memcpy(&out.address, &address, sizeof address);
  } else if (entry.ifa_addr->sa_family == AF_INET6) {
    sockaddr_in6 address{};
    std::memcpy(&address, entry.ifa_addr, sizeof address);
    // The others could not say over which of their links they mean it.
    if (IN6_IS_ADDR_LINKLOCAL(&address.sin6_addr)) return std::nullopt;
    ::inet_ntop(AF_INET6, &address.sin6_addr, text, sizeof text);
    std::memcpy(&out.address, &address, sizeof address);
  } else {
    return std::nullopt;
  }
  out.text = text;
  return out;
}

/// All addresses of this host, the likeliest first.
Result<std::vector<Candidate>> candidates(const std::string& near) {
  ifaddrs* entries = nullptr;
  if (::getifaddrs(&entries) != 0) return fail_system("cannot list this host's addresses");
  std::vector<Candidate> found;
  for (const ifaddrs* entry = entries; entry != nullptr; entry = entry->ifa_next) {
    if (std::optional<Candidate> candidate = candidate_of(*entry)) {
      found.push_back(std::move(*candidate));
    }
  }
  ::freeifaddrs(entries);
  const auto rank = [&near](const Candidate& candidate) {
    if (candidate.text == near) return 0;
    return candidate.address.ss_family == AF_INET ? 1 : 2;
  };
  std::ranges::stable_sort(found, {}, rank);
  return found;
}

bool is_address(const std::string& text) {
  in6_addr ignored{};
  return ::inet_pton(AF_INET, text.c_str(), &ignored) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), &ignored) == 1;
}

/// NAME[:PORT[:GID]], or one of our addresses.
struct Wish {
  std::string address;
  std::string name;
  std::optional<std::uint8_t> port;
  std::optional<std::uint32_t> gid;
};

template <class Number>
bool read_number(std::string_view text, std::optional<Number>& out) {
  Number number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  out = number;
  return end.ec == std::errc() && end.ptr == text.data() + text.size() && !text.empty();
}

Result<Wish> wish_from(const std::string& text) {
  Wish wish;
  if (is_address(text)) {
    wish.address = text;
    return wish;
  }
  const std::size_t colon = text.find(':');
  wish.name = text.substr(0, colon);
  if (colon == std::string::npos) return wish;
  std::string_view rest = std::string_view(text).substr(colon + 1);
  const std::size_t second = rest.find(':');
  bool good = read_number(rest.substr(0, second), wish.port);
  if (second != std::string_view::npos) {
    good = read_number(rest.substr(second + 1), wish.gid) && good;
  }
  if (good && !wish.name.empty()) return wish;
  return fail(ErrorCode::invalid_argument,
              "RDMA device '" + text +
                  "' is not legal; legal: NAME, NAME:PORT, NAME:PORT:GID (such as mlx5_0:1:3), or "
                  "an address of this host");
}

// Why the address at that device is not what is wished; empty if it is.
std::string why_not(const Wish& wish, const rdma_cm_id& id) {
  const std::string name = ::ibv_get_device_name(id.verbs->device);
  if (!wish.name.empty() && name != wish.name) return "belongs to '" + name + "'";
  if (wish.port && *wish.port != id.port_num) {
    return "belongs to port " + std::to_string(id.port_num) + " of '" + name + "'";
  }
  if (!wish.gid) return {};
  ibv_gid gid{};
  if (::ibv_query_gid(id.verbs, id.port_num, static_cast<int>(*wish.gid), &gid) != 0) {
    return "belongs to '" + name + "', which has no GID of index " + std::to_string(*wish.gid) +
           "; 'ibv_devinfo -v' lists them";
  }
  if (std::memcmp(&gid, &id.route.addr.addr.ibaddr.sgid, sizeof gid) == 0) return {};
  return "belongs to '" + name + "', but not with the GID of index " + std::to_string(*wish.gid) +
         "; 'ibv_devinfo -v' lists them: take one that has this address";
}

std::string port_state(const rdma_cm_id& id) {
  ibv_port_attr port{};
  if (::ibv_query_port(id.verbs, id.port_num, &port) != 0) return "its port cannot be asked";
  if (port.state == IBV_PORT_ACTIVE) return {};
  return std::string("its port ") + std::to_string(id.port_num) + " is " +
         ::ibv_port_state_str(port.state) + "; look at the cable and at 'rdma link'";
}

}  // namespace

Result<CmId> choose_device(rdma_event_channel* channel, const std::string& choice,
                           const std::string& near) {
  const Result<std::vector<Candidate>> all = candidates(near);
  if (!all) return std::unexpected(all.error());
  const Result<Wish> wish = wish_from(choice);
  if (!wish) return std::unexpected(wish.error());
  std::string seen;
  for (const Candidate& candidate : *all) {
    if (!wish->address.empty() && candidate.text != wish->address) continue;
    rdma_cm_id* raw = nullptr;
    if (::rdma_create_id(channel, &raw, nullptr, RDMA_PS_TCP) != 0) {
      return fail_system("cannot ask for RDMA devices");
    }
    CmId id(raw);
    sockaddr_storage address = candidate.address;
    const int bound = ::rdma_bind_addr(id.get(), reinterpret_cast<sockaddr*>(&address));
    std::string why;
    if (bound != 0 || id->verbs == nullptr) {
      why = "belongs to no RDMA device";
    } else if (why = why_not(*wish, *id); why.empty()) {
      const std::string state = port_state(*id);
      if (state.empty()) return id;
      why = std::string("belongs to '") + ::ibv_get_device_name(id->verbs->device) + "', but " +
            state;
    }
    seen += (seen.empty() ? "" : "; ") + candidate.text + " " + why;
  }
  const std::string wanted = choice.empty() ? "no RDMA device with an IP address that could be used"
                                            : "no RDMA device or address '" + choice + "'";
  return fail(ErrorCode::system, wanted + " (" + (seen.empty() ? "no address at all" : seen) +
                                     "); 'rdma link' lists the devices, 'ip addr' the addresses");
}

}  // namespace tutti::verbs
