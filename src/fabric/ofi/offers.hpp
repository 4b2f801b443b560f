/// \file offers.hpp
/// What libfabric has on this host, for people: no header of libfabric's is needed to read it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/error.hpp"

namespace tutti::ofi {

/// A provider of one-sided writes, with the endpoints that a node would take.
struct Offer {
  std::string provider{};
  bool connected = false;           ///< FI_EP_MSG; else FI_EP_RDM
  bool ordered = false;             ///< FI_ORDER_RMA_WAW at both sides
  std::uint64_t ordered_bytes = 0;  ///< max_order_waw_size
  std::string why_not{};            ///< it will not do; empty: it will
};

/// What a user of that provider should know before relying on it; empty: nothing.
[[nodiscard]] std::string caution_of(std::string_view provider);

struct Offers {
  std::string version{};           ///< libfabric's, such as "1.17"
  std::vector<Offer> providers{};  ///< each once, by name
};

/// Fails where libfabric cannot be loaded.
[[nodiscard]] Result<Offers> offers();

}  // namespace tutti::ofi
