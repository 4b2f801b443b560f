/// \file crc32c.hpp
/// CRC32C (Castagnoli), with the processor's instruction where there is one. Threads: any.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace tutti {

/// Of `bytes`; give the result of what came before to go on with it.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// The same without the processor's instruction.
[[nodiscard]] std::uint32_t crc32c_by_table(std::span<const std::byte> bytes,
                                            std::uint32_t before = 0);

}  // namespace tutti
