/// \file hello_compare.cpp
/// What must agree between two members. Both ends run this with the roles swapped and reach the
/// same verdict.
#include <arpa/inet.h>

#include <algorithm>
#include <set>

#include "node/bootstrap/address.hpp"
#include "node/bootstrap/hello.hpp"
#include "node/text.hpp"

namespace tutti {
namespace {

std::unexpected<Error> differs(const std::string& what) { return fail(ErrorCode::mismatch, what); }

std::string quoted_printable(std::string_view text) { return "'" + printable(text) + "'"; }

std::string show(const std::string& text) { return quoted_printable(text); }
std::string show(Order order) { return quoted_printable(to_string(order)); }
std::string show(Level level) { return quoted_printable(to_string(level)); }
std::string show(std::uint64_t number) { return std::to_string(number); }

std::string show(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return quoted_printable(text);
}

/// The two hellos, for error texts.
struct Pair {
  const Hello& mine;
  const Hello& theirs;

  template <class Value>
  [[nodiscard]] Result<void> same(const std::string& field, const Value& here,
                                  const Value& there) const {
    if (here == there) return {};
    return differs(field + " is " + show(here) + " at " + printable(mine.name) + " but " +
                   show(there) + " at " + printable(theirs.name) +
                   "; it must be the same at all members");
  }
};

Result<void> check_identity(const Hello& mine, const Hello& theirs) {
  const std::string peer = printable(theirs.name);
  if (mine.incarnation == theirs.incarnation) {
    return differs("the address of " +
                   (mine.to.empty() ? quoted_printable(theirs.to) : quoted_printable(mine.to)) +
                   " leads back to " + quoted_printable(mine.name) +
                   " itself; check the members' addresses");
  }
  if (mine.name == theirs.name) {
    return differs("two processes were started as member " + quoted_printable(mine.name) +
                   "; each name may run once");
  }
  if (!mine.to.empty() && mine.to != theirs.name) {
    return differs("wrong peer: " + quoted_printable(mine.name) + " called the address of " +
                   quoted_printable(mine.to) + " but " + quoted_printable(peer) +
                   " answered there");
  }
  if (!theirs.to.empty() && theirs.to != mine.name) {
    return differs("wrong peer: " + quoted_printable(peer) + " called the address of " +
                   quoted_printable(theirs.to) + " but " + quoted_printable(mine.name) +
                   " answered there");
  }
  return {};
}

Result<void> check_members(const Pair& pair) {
  const auto& here = pair.mine.members;
  const auto& there = pair.theirs.members;
  const std::size_t common = std::min(here.size(), there.size());
  for (std::size_t i = 0; i < common; ++i) {
    const std::string field = "member list: name at place " + std::to_string(i);
    if (Result<void> r = pair.same(field, here[i].name, there[i].name); !r) return r;
    if (Result<void> r =
            pair.same("member list: address of " + here[i].name, here[i].address, there[i].address);
        !r) {
      return r;
    }
  }
  return pair.same<std::uint64_t>("member list: number of members", here.size(), there.size());
}

const GroupOptions* find_group(const Hello& hello, const std::string& name) {
  const auto at = std::ranges::find(hello.groups, name, &GroupOptions::name);
  return at == hello.groups.end() ? nullptr : &*at;
}

Result<void> check_group(const Pair& pair, const GroupOptions& here, const GroupOptions& there) {
  const std::string group = "group " + quoted_printable(here.name) + ": ";
  Result<void> r = pair.same(group + "members", here.members, there.members);
  if (r) r = pair.same(group + "senders", here.senders, there.senders);
  if (r) r = pair.same(group + "order", here.order, there.order);
  if (r) r = pair.same(group + "level", here.level, there.level);
  if (r) {
    r = pair.same<std::uint64_t>(group + "message_max_bytes", here.message_max_bytes,
                                 there.message_max_bytes);
  }
  if (r) r = pair.same(group + "window_bytes", here.window_bytes, there.window_bytes);
  if (r) {
    r = pair.same<std::uint64_t>(group + "window_messages", here.window_messages,
                                 there.window_messages);
  }
  if (r) r = pair.same<std::uint64_t>(group + "stateful", here.stateful, there.stateful);
  return r;
}

Result<void> joined(const Hello& declares, const Hello& other) {
  for (const GroupOptions& group : declares.groups) {
    if (find_group(other, group.name) != nullptr) continue;
    return differs("group " + quoted_printable(group.name) + ": " + printable(declares.name) +
                   " has joined it, but " + printable(other.name) +
                   " has not joined it; every member joins all groups before start");
  }
  return {};
}

Result<void> check_groups(const Pair& pair) {
  for (const GroupOptions& here : pair.mine.groups) {
    const GroupOptions* there = find_group(pair.theirs, here.name);
    if (there == nullptr) continue;
    if (Result<void> r = check_group(pair, here, *there); !r) return r;
  }
  if (Result<void> r = joined(pair.mine, pair.theirs); !r) return r;
  return joined(pair.theirs, pair.mine);
}

// Why the two cannot share memory; empty if they can.
std::string why_apart(const HostIdentity& here, const HostIdentity& there) {
  if (here.boot_id.empty() || there.boot_id.empty()) return "one of them cannot tell its host";
  if (here.boot_id != there.boot_id) return "they run on different hosts";
  if (here.user != there.user) return "they run as different users";
  if (here.network_namespace != there.network_namespace) {
    return "they run in different network namespaces";
  }
  return {};
}

std::string fabric_of(const Hello& hello) {
  NodeOptions node;
  node.fabric = hello.fabric;
  node.provider = hello.provider;
  return quoted_printable(fabric_text(node));
}

std::string both_fabrics(const Hello& mine, const Hello& theirs) {
  return "fabric is " + fabric_of(mine) + " at " + printable(mine.name) + " and " +
         fabric_of(theirs) + " at " + printable(theirs.name);
}

// As the member list says; empty if it does not.
std::string address_of(const Hello& hello) {
  const auto member = std::ranges::find(hello.members, hello.name, &MemberAddress::name);
  return member == hello.members.end() ? std::string() : member->address;
}

// AF_INET, AF_INET6, or, of a host's name, which the resolver decides, AF_UNSPEC.
int family_of(const std::string& address) {
  const Result<Address> parts = address_from(address);
  if (!parts) return AF_UNSPEC;
  const std::string host = parts->host.substr(0, parts->host.find('%'));
  in6_addr ignored{};
  for (const int family : {AF_INET, AF_INET6}) {
    if (::inet_pton(family, host.c_str(), &ignored) == 1) return family;
  }
  return AF_UNSPEC;
}

// Providers of libfabric's whose endpoints have a node's own internet address.
bool has_internet_addresses(std::string_view provider) {
  const std::string_view core = provider.substr(0, provider.find(';'));
  return core == "tcp" || core == "net" || core == "verbs";
}

// Providers of libfabric's that reach no further than shared memory does.
bool needs_one_host(std::string_view provider) { return provider == "shm"; }

Result<Transport> choose_ofi(const Hello& mine, const Hello& theirs, const std::string& apart) {
  if (mine.fabric != theirs.fabric || mine.provider != theirs.provider) {
    return differs(both_fabrics(mine, theirs) +
                   ": libfabric joins members with the same provider only; it must be the same at "
                   "all members");
  }
  if (needs_one_host(mine.provider) && !apart.empty()) {
    return differs(both_fabrics(mine, theirs) + ", but this provider cannot join them: " + apart +
                   "; take one that goes over a network, such as 'ofi:tcp'");
  }
  const std::string own = address_of(mine);
  const std::string other = address_of(theirs);
  const bool of_one_kind = family_of(own) == family_of(other) || family_of(own) == AF_UNSPEC ||
                           family_of(other) == AF_UNSPEC;
  if (has_internet_addresses(mine.provider) && !of_one_kind) {
    return differs(printable(mine.name) + " is at " + printable(own) + " and " +
                   printable(theirs.name) + " at " + printable(other) +
                   ", but libfabric joins IPv4 with IPv4 only, and IPv6 with IPv6");
  }
  return Transport::ofi;
}

// One of them wants RDMA and nothing else.
Result<Transport> choose_verbs(const Hello& mine, const Hello& theirs) {
  if (!mine.rdma_address.empty() && !theirs.rdma_address.empty()) return Transport::verbs;
  const Hello& without = mine.rdma_address.empty() ? mine : theirs;
  const bool would = without.fabric == FabricChoice::automatic;
  return differs(both_fabrics(mine, theirs) + ": they have none in common; " +
                 (would ? printable(without.name) + " has no RDMA device that works"
                        : std::string("'verbs' is for all members or for none")));
}

}  // namespace

Result<void> compatible(const Hello& mine, const Hello& theirs) {
  const Pair pair{mine, theirs};
  if (Result<void> r = check_identity(mine, theirs); !r) return r;
  Result<void> r = pair.same<std::uint64_t>("protocol version", mine.protocol, theirs.protocol);
  if (r) r = pair.same("version of Tutti", mine.library_version, theirs.library_version);
  if (r) r = check_members(pair);
  if (!r) return r;
  if (std::ranges::find(mine.members, theirs.name, &MemberAddress::name) == mine.members.end()) {
    return differs(quoted_printable(theirs.name) + " is not in the member list");
  }
  std::set<std::string_view> seen;
  for (const GroupOptions& group : theirs.groups) {
    if (!seen.insert(group.name).second) {
      return differs("group " + quoted_printable(group.name) + " stands twice in the hello of " +
                     printable(theirs.name));
    }
  }
  if (r = check_groups(pair); !r) return r;
  r = pair.same<std::uint64_t>("litmus_rounds", mine.litmus_rounds, theirs.litmus_rounds);
  if (!r) return r;
  if (Result<Transport> transport = choose_transport(mine, theirs); !transport) {
    return std::unexpected(transport.error());
  }
  return {};
}

Result<Transport> choose_transport(const Hello& mine, const Hello& theirs) {
  const std::string apart = why_apart(mine.host, theirs.host);
  if (mine.fabric == FabricChoice::ofi || theirs.fabric == FabricChoice::ofi) {
    return choose_ofi(mine, theirs, apart);
  }
  if (mine.fabric == FabricChoice::verbs || theirs.fabric == FabricChoice::verbs) {
    return choose_verbs(mine, theirs);
  }
  const bool shm = mine.fabric != FabricChoice::tcp && theirs.fabric != FabricChoice::tcp;
  const bool tcp = mine.fabric != FabricChoice::shm && theirs.fabric != FabricChoice::shm;
  if (shm && apart.empty()) return Transport::shm;
  // Only who has the choice says where it is called by RDMA.
  if (!mine.rdma_address.empty() && !theirs.rdma_address.empty()) return Transport::verbs;
  if (tcp) return Transport::tcp;
  const std::string both = both_fabrics(mine, theirs);
  if (!shm) return differs(both + ": they have none in common; 'auto' takes what both can");
  return differs(both + ", but shared memory cannot join them: " + apart +
                 "; 'auto' takes TCP between such members");
}

}  // namespace tutti
