/// \file carriers.hpp
/// All carriers that a node may have. See fabric/carrier.hpp.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "fabric/carrier.hpp"
#include "tutti/options.hpp"

namespace tutti {

/// The first that fits a pair carries its posts.
[[nodiscard]] std::span<const CarrierKind* const> carrier_kinds();

/// One carrier of each kind that the node's fabric option allows, in that order.
[[nodiscard]] std::vector<std::unique_ptr<Carrier>> make_carriers(const CarrierContext& context);

/// What all carriers that the node's fabric option allows have room for.
[[nodiscard]] std::size_t control_bytes_max(const NodeOptions& node);

}  // namespace tutti
