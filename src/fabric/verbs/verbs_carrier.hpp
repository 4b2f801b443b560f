/// \file verbs_carrier.hpp
#pragma once
#include "fabric/carrier.hpp"

namespace tutti {

extern const CarrierKind kVerbsCarrier;

}  // namespace tutti
