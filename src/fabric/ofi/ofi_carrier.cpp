/// \file ofi_carrier.cpp
/// libfabric joins nodes that have the same of its providers. The pair keeps the link's socket, on
/// which the two tell each other where to write.
#include "fabric/ofi/ofi_carrier.hpp"

#include <arpa/inet.h>

#include "fabric/address.hpp"
#include "fabric/control_record.hpp"
#include "fabric/ofi/offers.hpp"
#include "fabric/ofi/ofi_fabric.hpp"
#include "fabric/pairing.hpp"

namespace tutti {
namespace {

class OfiCarrier final : public CarrierOf<OfiFabric, OfiConnection> {
 public:
  explicit OfiCarrier(const CarrierContext& context) : CarrierOf(kOfiCarrier), context_(context) {}

  Result<std::unique_ptr<Fabric>> open(Sleeper& sleeper) override {
    const NodeOptions& node = context_.node;
    const Result<Address> address = address_from(node.members[context_.self.value].address);
    if (!address) return std::unexpected(address.error());
    const std::span<const std::byte> row(context_.own_row.data(), context_.own_row.size());
    auto fabric = opened(OfiFabric::create(sleeper, row, node.provider, address->host));
    const std::string caution = ofi::caution_of(node.provider);
    if (fabric && !caution.empty() && node.log) node.log(LogLevel::warning, caution);
    return fabric;
  }
  Result<std::optional<std::string>> offer(Link* /*called*/) override {
    return context_.node.provider;
  }
  std::unique_ptr<Pairing> pair(PairRequest request) override {
    return std::make_unique<SocketPairing<OfiConnection>>(std::move(request));
  }

 private:
  const CarrierContext context_;
};

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

// Providers whose endpoints have a node's own internet address.
bool has_internet_addresses(std::string_view provider) {
  const std::string_view core = provider.substr(0, provider.find(';'));
  return core == "tcp" || core == "net" || core == "verbs";
}

// Providers that reach no further than shared memory does.
bool needs_one_host(std::string_view provider) { return provider == "shm"; }

Fit fit_ofi(const CarrierEnd& mine, const CarrierEnd& theirs) {
  if (!mine.offer && !theirs.offer) return {};
  if (mine.offer != theirs.offer) {
    return {.why_not = both_fabrics(mine, theirs) +
                       ": libfabric joins members with the same provider only; it must be the same "
                       "at all members"};
  }
  const std::string apart = why_apart(mine.host, theirs.host);
  if (needs_one_host(*mine.offer) && !apart.empty()) {
    return {.why_not = both_fabrics(mine, theirs) + ", but this provider cannot join them: " +
                       apart + "; take one that goes over a network, such as 'ofi:tcp'"};
  }
  const int family = family_of(mine.address);
  const int their_family = family_of(theirs.address);
  const bool of_one_kind =
      family == their_family || family == AF_UNSPEC || their_family == AF_UNSPEC;
  if (has_internet_addresses(*mine.offer) && !of_one_kind) {
    return {.why_not = mine.name + " is at " + mine.address + " and " + theirs.name + " at " +
                       theirs.address +
                       ", but libfabric joins IPv4 with IPv4 only, and IPv6 with IPv6"};
  }
  return {.fits = true};
}

}  // namespace

const CarrierKind kOfiCarrier{
    .name = "ofi",
    .label = "libfabric",
    .automatic = false,
    .control_bytes_max = kControlBytesMax,
    .fit = fit_ofi,
    .make = [](const CarrierContext& context) -> std::unique_ptr<Carrier> {
      return std::make_unique<OfiCarrier>(context);
    }};

}  // namespace tutti
