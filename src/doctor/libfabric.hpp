/// \file libfabric.hpp
/// libfabric's providers: which of them can connect members (fabric ofi:PROVIDER), and why others
/// cannot.
#pragma once
#include "doctor/finding.hpp"
#include "fabric/ofi/offers.hpp"

namespace tutti::doctor {

/// The findings about `ofi::offers()`. Without libfabric everything works except that fabric.
[[nodiscard]] Findings findings_of(const Result<ofi::Offers>& libfabric);

}  // namespace tutti::doctor
