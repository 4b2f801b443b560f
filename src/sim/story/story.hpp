/// \file story.hpp
/// Stories: what happens in a small group, as its members record it. A story is a text that people
/// read and a test checks (docs/stories).
///
/// A story is Markdown. Each of its fenced blocks has commands, a line "----", and below that what
/// the members then did, as teller.hpp tells it. Each block continues the one before.
/// Threads: one.
#pragma once
#include <string>
#include <string_view>

#include "tutti/error.hpp"

namespace tutti::sim {

/// Returns the story with what its members do now. The error names the line and what is wrong with
/// a command.
[[nodiscard]] Result<std::string> retell(std::string_view story);

/// The commands, a line each.
[[nodiscard]] std::string_view about_stories();

}  // namespace tutti::sim
