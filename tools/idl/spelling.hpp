/// \file spelling.hpp
/// How IDL's names, types and values are spelled in C++.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "idl/idl_tree.hpp"

namespace tutti::idl {

/// A type of C++, or why there is none.
struct Spelled {
  std::string text;
  std::string problem;
};

/// `::module::Name` of what has a name.
[[nodiscard]] std::string qualified_name(const void* node);

/// The type of a field, a case or an alias, with the dimensions of its declarator. `element`: it
/// lies in a sequence or an array, so it carries its bound itself.
[[nodiscard]] Spelled type_of(const idl_type_spec_t* type, const idl_declarator_t* declarator,
                              bool element);

/// What TypeOptions::bounds says of a field; 0 if nothing.
[[nodiscard]] std::uint32_t bound_of(const idl_type_spec_t* type,
                                     const idl_declarator_t* declarator);

/// A literal or an enumerator, of the type that it is given to.
[[nodiscard]] std::string value_of(const void* value);

/// Why C++ cannot have that identifier: "" if it can.
[[nodiscard]] std::string problem_of_name(const char* identifier);

}  // namespace tutti::idl
