#include "node/carriers.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "fabric/ofi/ofi_carrier.hpp"
#include "fabric/shm/shm_carrier.hpp"
#include "fabric/tcp/tcp_carrier.hpp"
#include "fabric/verbs/verbs_carrier.hpp"

namespace tutti {
namespace {

constexpr std::array<const CarrierKind*, 4> kCarriers{
    &kOfiCarrier,  // a node that uses it uses no other
    &kShmCarrier,
    &kVerbsCarrier,
    &kTcpCarrier,
};

bool allows(const NodeOptions& node, const CarrierKind& kind) {
  if (node.fabric == FabricChoice::automatic) return kind.automatic;
  return kind.name == to_string(node.fabric);
}

}  // namespace

std::span<const CarrierKind* const> carrier_kinds() { return kCarriers; }

std::vector<std::unique_ptr<Carrier>> make_carriers(const CarrierContext& context) {
  std::vector<std::unique_ptr<Carrier>> carriers;
  for (const CarrierKind* kind : kCarriers) {
    if (allows(context.node, *kind)) carriers.push_back(kind->make(context));
  }
  return carriers;
}

std::size_t control_bytes_max(const NodeOptions& node) {
  std::size_t bytes = std::numeric_limits<std::size_t>::max();
  for (const CarrierKind* kind : kCarriers) {
    if (allows(node, *kind)) bytes = std::min(bytes, kind->control_bytes_max);
  }
  return bytes;
}

}  // namespace tutti
