/// \file text.hpp
/// Events in words, for messages. Values from outside the enums are printed as numbers.
#pragma once
#include <string>
#include <string_view>

#include "history/event.hpp"
#include "history/make_event.hpp"

namespace tutti::history {

[[nodiscard]] std::string_view to_string(EventKind kind);

/// Such as "2:1f3a", with the incarnation in hexadecimal, or "harness".
[[nodiscard]] std::string to_string(NodeRef node);

/// One line, such as "deliver of group 0 in view 3 at 1.500 s: ordinal 17 is ticket 5 of 2:1f3a,
/// ...".
[[nodiscard]] std::string to_string(const Event& event);

}  // namespace tutti::history
