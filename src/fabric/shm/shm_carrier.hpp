/// \file shm_carrier.hpp
#pragma once
#include "fabric/carrier.hpp"

namespace tutti {

extern const CarrierKind kShmCarrier;

}  // namespace tutti
