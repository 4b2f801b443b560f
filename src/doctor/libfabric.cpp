#include "doctor/libfabric.hpp"

#include <limits>
#include <string>

namespace tutti::doctor {
namespace {

std::string order_text(const ofi::Offer& offer) {
  if (!offer.ordered) return "writes in no order";
  const bool any = offer.ordered_bytes >= std::numeric_limits<std::uint64_t>::max() / 2;
  return "writes in order (FI_ORDER_RMA_WAW), " +
         (any ? "of any size" : "of up to " + std::to_string(offer.ordered_bytes) + " bytes");
}

Finding provider_finding(const ofi::Offer& offer) {
  Finding finding{.subject = "libfabric " + offer.provider};
  finding.what = std::string(offer.connected ? "connections" : "datagrams") + " (" +
                 (offer.connected ? "FI_EP_MSG" : "FI_EP_RDM") + "), " + order_text(offer);
  if (offer.why_not.empty()) {
    finding.what += "; --fabric 'ofi:" + offer.provider + "'";
    if (const std::string caution = ofi::caution_of(offer.provider); !caution.empty()) {
      finding.grade = Grade::could_be_better;
      finding.how = caution;
    }
    return finding;
  }
  finding.grade = Grade::could_be_better;
  finding.what += "; not for members: " + offer.why_not;
  finding.how = "use another provider of libfabric, or another fabric";
  return finding;
}

}  // namespace

Findings findings_of(const Result<ofi::Offers>& libfabric) {
  if (!libfabric) {
    return {{.subject = "libfabric",
             .grade = Grade::could_be_better,
             .what = "not installed: " + libfabric.error().message,
             .how = "install it for --fabric ofi:PROVIDER; nothing else needs it"}};
  }
  Findings findings{{.subject = "libfabric", .what = "version " + libfabric->version}};
  if (libfabric->providers.empty()) {
    findings[0].grade = Grade::could_be_better;
    findings[0].what += ", without a provider of one-sided writes";
    findings[0].how = "install its providers for --fabric ofi:PROVIDER; nothing else needs them";
  }
  for (const ofi::Offer& offer : libfabric->providers) findings.push_back(provider_finding(offer));
  return findings;
}

}  // namespace tutti::doctor
