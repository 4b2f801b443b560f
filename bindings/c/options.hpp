/// \file options.hpp
/// Options of the C interface as those of the C++ interface.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "tutti/c/options.h"
#include "tutti/options.hpp"

struct tutti_sink {
  const tutti::StateSink& write;
};

struct tutti_answer {
  std::vector<std::byte> bytes;
  bool out_of_memory = false;
};

namespace tutti::c {

[[nodiscard]] Result<NodeOptions> options_from(const tutti_node_options_t* options);
[[nodiscard]] Result<GroupOptions> options_from(const tutti_group_options_t* options);

/// `what` is named in an error.
[[nodiscard]] Result<std::vector<std::string>> names_from(const char* const* list,
                                                          std::size_t count,
                                                          const std::string& what);

using TickCallback = void (*)(std::uint64_t time_ns, void* user);
[[nodiscard]] Result<TickCallback> tick_callback_of(const tutti_group_options_t* options);

/// Calls `see` with the view as a struct of C, which lives as long as the call.
void show(const ViewChange& change, void (*see)(const tutti_view_t*, void*), void* user);

}  // namespace tutti::c
