#include "fabric/carrier.hpp"

namespace tutti {

std::string both_fabrics(const CarrierEnd& mine, const CarrierEnd& theirs) {
  return "fabric is '" + mine.fabric + "' at " + mine.name + " and '" + theirs.fabric + "' at " +
         theirs.name;
}

std::string why_apart(const HostIdentity& here, const HostIdentity& there) {
  if (here.boot_id.empty() || there.boot_id.empty()) return "one of them cannot tell its host";
  if (here.boot_id != there.boot_id) return "they run on different hosts";
  if (here.user != there.user) return "they run as different users";
  if (here.network_namespace != there.network_namespace) {
    return "they run in different network namespaces";
  }
  return {};
}

}  // namespace tutti
