/// \file arguments.hpp
/// The command line of a demo's members.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/common_options.hpp"

namespace tutti::cli {

inline constexpr const char* kDemoGroup = "demo";

/// Of `tutti run`, the same for all members, who listen at these ports of 127.0.0.1.
[[nodiscard]] std::vector<std::string> shared_arguments(const std::vector<std::string>& members,
                                                        std::uint64_t longest_line,
                                                        const FabricAndLevel& words,
                                                        const std::vector<int>& ports);

/// As the library has it.
[[nodiscard]] std::vector<MemberAddress> loopback_addresses(const std::vector<std::string>& members,
                                                            const std::vector<int>& ports);

}  // namespace tutti::cli
