/// \file check_type.hpp
/// Whether a description of a type can be used: what a stranger sent might have indexes of nodes
/// that are not there, or a structure that contains itself.
///
/// X3: after the check, walking a sample by the description ends: every node but sequences,
/// optionals and unions contains only nodes that do not contain it, nothing lies more than
/// kDepthMax deep but for these, and the smallest sample has at most kSampleBytesMax bytes. In
/// memory every part lies inside what contains it.
#pragma once
#include <cstdint>
#include <vector>

#include "tutti/dds/type.hpp"
#include "tutti/error.hpp"

namespace tutti::dds {

/// The bytes that a value of each node has at least, encoded or in memory.
using LeastBytes = std::vector<std::uint64_t>;

[[nodiscard]] Result<LeastBytes> check_type(const Type& type);

}  // namespace tutti::dds
