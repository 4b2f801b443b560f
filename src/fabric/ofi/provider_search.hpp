/// \file provider_search.hpp
/// Which of libfabric's providers there are here, which of them will do, and why another will not.
///
/// Asked for: one-sided writes that land in the order they were posted (FI_ORDER_RMA_WAW on both
/// sides). Of a provider that does not promise it, writes that tell when they have landed
/// (FI_DELIVERY_COMPLETE): without either, a guard could be seen before its data, and it is
/// refused. Of endpoints, connected ones (FI_EP_MSG) are taken before reliable datagrams
/// (FI_EP_RDM): they tell the end of a connection and never make it again on their own.
#pragma once
#include <cstddef>
#include <string>

#include "fabric/ofi/handles.hpp"
#include "fabric/ordering.hpp"
#include "tutti/error.hpp"

namespace tutti::ofi {

/// Order counts if it holds for writes of this size at least.
inline constexpr std::size_t kOrderedBytesMin = 4096;

/// Whether writes land in order while both sides live.
[[nodiscard]] bool promises_order(const fi_info& info);

/// What guards may rely on, also when the writer dies.
[[nodiscard]] Ordering ordering_of(const fi_info& info);

/// What to open for `name`, which is as libfabric spells it. `host`: where this node's endpoints
/// shall be, for providers with internet addresses; empty: anywhere. The error says why it will not
/// do, and which will.
[[nodiscard]] Result<Info> find_provider(const std::string& name, const std::string& host);

}  // namespace tutti::ofi
