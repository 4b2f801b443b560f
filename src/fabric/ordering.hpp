/// \file ordering.hpp
/// What a network promises of the one-sided writes of one member to another, beyond that they land.
///
/// The table needs: who sees the guard sees the data (fabric.hpp, F-order). Where writes land as
/// they were posted, a guard is posted behind its data. Where nothing is promised (Amazon's EFA;
/// any network that spreads a connection over several paths), a guard is posted once all that was
/// posted before is known to have landed, and says itself when all its bytes are there. Without a
/// promise and without word of the landing, a network cannot carry the table: it is refused.
/// Source: libfabric's fi_endpoint(3).
#pragma once
#include <cstdint>

namespace tutti {

enum class Ordering : std::uint8_t {
  writes,  ///< writes land in the order of posting
  none,    ///< they land in any order, but their completion tells that they have
};

}  // namespace tutti
