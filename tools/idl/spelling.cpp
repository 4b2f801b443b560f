/// \file spelling.cpp
#include "idl/spelling.hpp"

#include <cmath>
#include <cstdio>
#include <set>
#include <string_view>

namespace tutti::idl {
namespace {

const char* primitive(idl_type_t type) {
  switch (type) {
    case IDL_CHAR:
      return "char";
    case IDL_WCHAR:
      return "char16_t";
    case IDL_BOOL:
      return "bool";
    case IDL_OCTET:
    case IDL_UINT8:
      return "std::uint8_t";
    case IDL_INT8:
      return "std::int8_t";
    case IDL_SHORT:
    case IDL_INT16:
      return "std::int16_t";
    case IDL_USHORT:
    case IDL_UINT16:
      return "std::uint16_t";
    case IDL_LONG:
    case IDL_INT32:
      return "std::int32_t";
    case IDL_ULONG:
    case IDL_UINT32:
      return "std::uint32_t";
    case IDL_LLONG:
    case IDL_INT64:
      return "std::int64_t";
    case IDL_ULLONG:
    case IDL_UINT64:
      return "std::uint64_t";
    case IDL_FLOAT:
      return "float";
    case IDL_DOUBLE:
      return "double";
    default:
      return nullptr;
  }
}

/// Whether the declarator is that of an array, `T name[2][3]`.
bool is_array(const idl_declarator_t* declarator) {
  return declarator != nullptr && declarator->const_expr != nullptr;
}

/// A type without the dimensions of a declarator.
Spelled plain_type_of(const idl_type_spec_t* type, bool element) {
  if (idl_is_alias(type)) {
    // An alias of a bounded string or sequence has no bound in C++: a field says it itself.
    const void* target = idl_strip(type, IDL_STRIP_ALIASES);
    if (element && idl_is_bounded(target)) return plain_type_of(target, element);
    return {qualified_name(type), ""};
  }
  if (idl_is_string(type)) {
    const std::uint32_t bound = idl_bound(type);
    if (!element || bound == 0) return {"std::string", ""};
    return {"tutti::dds::bounded_string<" + std::to_string(bound) + ">", ""};
  }
  if (idl_is_sequence(type)) {
    if (element && idl_bound(type) != 0) {
      return {"", "a bounded sequence lies in a sequence or an array: put it into a struct"};
    }
    Spelled inner = type_of(idl_type_spec(type), nullptr, true);
    if (inner.problem.empty()) inner.text = "std::vector<" + inner.text + ">";
    return inner;
  }
  if (idl_is_constr_type(type) || idl_is_forward(type)) {
    if (idl_is_bitmask(type)) return {"", "there are no bitmasks: use an integer"};
    return {qualified_name(type), ""};
  }
  if (const char* name = primitive(idl_type(type))) return {name, ""};
  return {"", std::string("there is no ") + idl_construct(type) +
                  ": use double for long double, string for wstring"};
}

std::string escaped(std::string_view text) {
  std::string quoted = "\"";
  for (const char character : text) {
    char octal[8];
    if (character >= ' ' && character <= '~' && character != '"' && character != '\\') {
      quoted.push_back(character);
    } else {
      std::snprintf(octal, sizeof(octal), "\\%03o", static_cast<unsigned char>(character));
      quoted.append(octal);
    }
  }
  return quoted.append("\"");
}

std::string of_float(double value, bool is_double) {
  if (std::isnan(value) || std::isinf(value)) {
    const std::string limits =
        is_double ? "std::numeric_limits<double>::" : "std::numeric_limits<float>::";
    return (value < 0 ? "-" : "") + limits + (std::isnan(value) ? "quiet_NaN()" : "infinity()");
  }
  char digits[40];
  std::snprintf(digits, sizeof(digits), is_double ? "%.17g" : "%.9g", value);
  const bool whole = std::string_view(digits).find_first_of(".e") == std::string_view::npos;
  return std::string(digits) + (whole ? ".0" : "") + (is_double ? "" : "F");
}

}  // namespace

std::string qualified_name(const void* node) {
  std::string name;
  for (const void* at = node; at != nullptr; at = idl_parent(at)) {
    const char* identifier = idl_is_module(at) || at == node ? idl_identifier(at) : nullptr;
    if (identifier != nullptr) name = std::string("::") + identifier + name;
  }
  return name;
}

Spelled type_of(const idl_type_spec_t* type, const idl_declarator_t* declarator, bool element) {
  Spelled spelled = plain_type_of(type, element || is_array(declarator));
  if (!spelled.problem.empty() || !is_array(declarator)) return spelled;
  std::string after;
  each_of(static_cast<const idl_literal_t*>(declarator->const_expr),
          [&](const idl_literal_t& size) {
            spelled.text.insert(0, "std::array<");
            after.insert(0, ", " + std::to_string(size.value.uint32) + ">");
            return true;
          });
  spelled.text += after;
  return spelled;
}

std::uint32_t bound_of(const idl_type_spec_t* type, const idl_declarator_t* declarator) {
  if (is_array(declarator)) return 0;
  const void* target = idl_strip(type, IDL_STRIP_ALIASES);
  return idl_is_bounded(target) ? idl_bound(target) : 0;
}

std::string value_of(const void* value) {
  if (idl_is_enumerator(value)) {
    return qualified_name(idl_parent(value)) + "::" + idl_identifier(value);
  }
  const auto& literal = *static_cast<const idl_literal_t*>(value);
  switch (idl_type(value)) {
    case IDL_BOOL:
      return literal.value.bln ? "true" : "false";
    case IDL_CHAR:
      return "static_cast<char>(" + std::to_string(literal.value.chr) + ")";
    case IDL_INT8:
      return std::to_string(literal.value.int8);
    case IDL_OCTET:
    case IDL_UINT8:
      return std::to_string(literal.value.uint8);
    case IDL_SHORT:
    case IDL_INT16:
      return std::to_string(literal.value.int16);
    case IDL_USHORT:
    case IDL_UINT16:
      return std::to_string(literal.value.uint16);
    case IDL_LONG:
    case IDL_INT32:
      // -2147483648 is no literal of C++.
      return literal.value.int32 == INT32_MIN ? "std::numeric_limits<std::int32_t>::min()"
                                              : std::to_string(literal.value.int32);
    case IDL_ULONG:
    case IDL_UINT32:
      return std::to_string(literal.value.uint32) + "U";
    case IDL_LLONG:
    case IDL_INT64:
      return literal.value.int64 == INT64_MIN ? "std::numeric_limits<std::int64_t>::min()"
                                              : std::to_string(literal.value.int64) + "LL";
    case IDL_ULLONG:
    case IDL_UINT64:
      return std::to_string(literal.value.uint64) + "ULL";
    case IDL_FLOAT:
      return of_float(static_cast<double>(literal.value.flt), false);
    case IDL_DOUBLE:
      return of_float(literal.value.dbl, true);
    case IDL_STRING:
      return escaped(literal.value.str);
    default:
      return "{}";
  }
}

std::string problem_of_name(const char* identifier) {
  static const std::set<std::string_view> kKeywords = {
      "alignas",      "alignof",   "and",           "asm",         "auto",      "bool",
      "break",        "catch",     "class",         "concept",     "constexpr", "continue",
      "co_await",     "co_return", "co_yield",      "decltype",    "delete",    "do",
      "else",         "explicit",  "export",        "extern",      "for",       "friend",
      "goto",         "if",        "inline",        "int",         "mutable",   "namespace",
      "new",          "noexcept",  "not",           "nullptr",     "operator",  "or",
      "private",      "protected", "register",      "requires",    "return",    "signed",
      "sizeof",       "static",    "static_assert", "static_cast", "template",  "this",
      "thread_local", "throw",     "try",           "typeid",      "typename",  "using",
      "virtual",      "volatile",  "while",         "xor"};
  if (!kKeywords.contains(identifier)) return "";
  return std::string("'") + identifier + "' is a keyword of C++: choose another name";
}

}  // namespace tutti::idl
