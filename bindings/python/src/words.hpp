/// \file words.hpp
/// The names of enumerators, as they are in the C++ headers and as Python spells them: each list is
/// in the order of its enumeration.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>

#include "tutti/error.hpp"
#include "tutti/group.hpp"
#include "tutti/options.hpp"
#include "tutti/types.hpp"
#include "tutti/view.hpp"

namespace tutti::python {

template <class Enumeration>
struct Words;

template <>
struct Words<Order> {
  static constexpr std::array all{"none", "round_robin", "token_ring", "lcr"};
};
template <>
struct Words<Level> {
  static constexpr std::array all{"unordered", "agreed", "atomic", "durable"};
};
template <>
struct Words<Service> {
  static constexpr std::array all{"of_level", "safe"};
};
template <>
struct Words<FabricChoice> {
  static constexpr std::array all{"automatic", "shm", "tcp", "verbs", "ofi"};
};
template <>
struct Words<Drive> {
  static constexpr std::array all{"own_thread", "caller"};
};
template <>
struct Words<DeliveryThread> {
  static constexpr std::array all{"predicate", "own", "application"};
};
template <>
struct Words<LogLevel> {
  static constexpr std::array all{"debug", "info", "warning", "error"};
};
template <>
struct Words<LeftReason> {
  static constexpr std::array all{"left", "suspected"};
};

template <class Enumeration>
constexpr const char* word_of(Enumeration value) {
  return Words<Enumeration>::all.at(static_cast<std::size_t>(value));
}

}  // namespace tutti::python
