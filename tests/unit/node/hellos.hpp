/// \file hellos.hpp
/// Hellos to start from, for the tests that read and compare them.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "node/bootstrap/hello.hpp"

namespace tutti {

inline constexpr std::uint16_t kOtherVersion = kProtocolVersion + 1;

inline std::string versions_differ(std::uint16_t there = kOtherVersion) {
  return "protocol version is " + std::to_string(there) + " there but " +
         std::to_string(kProtocolVersion) + " here";
}

inline GroupOptions group(const std::string& name, std::vector<std::string> members) {
  GroupOptions options;
  options.name = name;
  options.members = members;
  options.senders = std::move(members);
  // Not the defaults, so that those may change.
  options.message_max_bytes = 65536;
  options.window_bytes = 1U << 20U;
  options.window_messages = 65536;
  return options;
}

inline Hello hello(const std::string& name, std::uint64_t incarnation) {
  Hello h;
  h.library_version = "1.2.3";
  h.name = name;
  h.members = {{"a", "h:1"}, {"b", "h:2"}, {"c", "h:3"}};
  h.incarnation = incarnation;
  h.host = {"boot", 1000, 42};
  h.row_bytes = 4096;
  h.carriers = {{"shm", "tutti-0123"}, {"tcp", ""}};
  h.groups = {group("log", {"a", "b", "c"})};
  return h;
}

}  // namespace tutti
