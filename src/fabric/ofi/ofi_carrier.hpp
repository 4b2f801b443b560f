/// \file ofi_carrier.hpp
#pragma once
#include "fabric/carrier.hpp"

namespace tutti {

extern const CarrierKind kOfiCarrier;

}  // namespace tutti
