/// \file freeze.hpp
/// Replaces memory that others write by a copy of what it shows, in its place.
#pragma once
#include <cstddef>
#include <span>

#include "tutti/error.hpp"

namespace tutti {

/// Afterwards `mapping`, whole pages, shows what it showed during the call and changes no more: it
/// is private and read-only, and what others write goes to memory that is not mapped here. Words
/// are copied in ascending order, so a guard that lies before its data is never newer than the data
/// copied. Error: no memory for the copy; then nothing has changed.
[[nodiscard]] Result<void> freeze_mapping(std::span<std::byte> mapping);

}  // namespace tutti
