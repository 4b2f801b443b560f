/// \file tcp_carrier.hpp
#pragma once
#include "fabric/carrier.hpp"

namespace tutti {

extern const CarrierKind kTcpCarrier;

}  // namespace tutti
