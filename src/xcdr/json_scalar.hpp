/// \file json_scalar.hpp
/// Numbers, characters, enumerators and texts as JSON, and back.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "tutti/dds/description.hpp"

namespace tutti::dds {

/// A value of up to 8 bytes as it is in memory: the lowest `scalar_bytes(node)` of `bits`.
void append_scalar(std::string& json, const TypeNode& node, std::uint64_t bits);
void append_text(std::string& json, std::string_view text);
/// As text in quotes: two digits a byte.
void append_hex(std::string& json, const std::byte* bytes, std::size_t count);

/// Of a number, a character or an enum; 0 for other kinds.
[[nodiscard]] std::uint32_t scalar_bytes(const TypeNode& node);

/// The value that a scalar has when it is left out.
[[nodiscard]] std::uint64_t initial_bits(const TypeNode& node);

/// Converts JSON into `bits`. Returns "" or what was expected instead.
[[nodiscard]] std::string parse_scalar(const nlohmann::json& json, const TypeNode& node,
                                       std::uint64_t& bits);
/// Converts the digits that append_hex makes; false if these are not so many.
[[nodiscard]] bool parse_hex(std::string_view digits, std::byte* bytes, std::size_t count);

}  // namespace tutti::dds
