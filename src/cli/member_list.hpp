/// \file member_list.hpp
/// The lists of the command line: `a=HOST:PORT,b=HOST:PORT` and `a,b`. Only their form is checked
/// here; names, addresses and duplicates are the library's to judge (NodeOptions::validate).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tutti/error.hpp"
#include "tutti/options.hpp"

namespace tutti::cli {

/// The parts of `text` between commas; an empty text has none.
[[nodiscard]] inline std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) parts.emplace_back();  // a trailing comma is a part left out, not an ending
  }
  return parts;
}

[[nodiscard]] inline Result<std::vector<MemberAddress>> members_from(std::string_view text) {
  std::vector<MemberAddress> members;
  for (const std::string& part : split_list(text)) {
    const std::size_t equals = part.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == part.size()) {
      return fail(ErrorCode::invalid_argument,
                  "--members: '" + part + "' is not of the form NAME=HOST:PORT");
    }
    members.push_back({part.substr(0, equals), part.substr(equals + 1)});
  }
  if (members.empty()) {
    return fail(ErrorCode::invalid_argument, "--members: give at least one NAME=HOST:PORT");
  }
  return members;
}

/// `members_from` backwards.
[[nodiscard]] inline std::string to_text(const std::vector<MemberAddress>& members) {
  std::string text;
  for (const MemberAddress& member : members) {
    if (!text.empty()) text += ',';
    text += member.name + '=' + member.address;
  }
  return text;
}

}  // namespace tutti::cli
