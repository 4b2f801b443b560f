/// \file libfabric.hpp
/// libfabric's providers: which of them connect members (fabric ofi:PROVIDER), and why others do
/// not.
#pragma once
#include "doctor/finding.hpp"
#include "fabric/ofi/offers.hpp"

namespace tutti::doctor {

/// Of what ofi::offers() returns. Where it cannot be loaded, all works but that fabric.
[[nodiscard]] Findings findings_of(const Result<ofi::Offers>& libfabric);

}  // namespace tutti::doctor
