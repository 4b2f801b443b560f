/// \file provider_search.hpp
/// Which of libfabric's providers there are here, which of them will do, and why another will not.
///
/// Asked for: one-sided writes that land in the order they were posted (FI_ORDER_RMA_WAW on both
/// sides), without which a guard could be seen before its data: a provider that does not promise
/// it is refused. Of endpoints, connected ones (FI_EP_MSG) are taken before reliable datagrams
/// (FI_EP_RDM): they tell the end of a connection and never make it again on their own.
#pragma once
#include <cstddef>
#include <string>

#include "fabric/ofi/handles.hpp"
#include "tutti/error.hpp"

namespace tutti::ofi {

/// Writes of this size at least must be ordered.
inline constexpr std::size_t kOrderedBytesMin = 4096;

/// Whether writes through it land in order. The error says which promise is missing.
[[nodiscard]] Result<void> check_order(const fi_info& info);

/// What to open for `name`, which is as libfabric spells it. `host`: where this node's endpoints
/// shall be, for providers with internet addresses; empty: anywhere. The error says why it will not
/// do, and which will.
[[nodiscard]] Result<Info> find_provider(const std::string& name, const std::string& host);

}  // namespace tutti::ofi
