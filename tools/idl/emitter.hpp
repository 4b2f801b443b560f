/// \file emitter.hpp
/// Writes a header of C++ for an IDL file: plain types, and what TUTTI_FIELDS and its like say.
#pragma once
#include <string>
#include <vector>

#include "idl/idl_tree.hpp"

namespace tutti::idl {

class Emitter {
 public:
  explicit Emitter(const idl_pstate_t& state) : state_(state) {}

  /// All of the file but what it includes. False after a problem was printed.
  bool run();

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  bool definition(const idl_node_t& node);
  bool module(const idl_module_t& module);
  bool structure(const idl_struct_t& type);
  bool fields(const idl_struct_t& type);
  bool union_type(const idl_union_t& type);
  bool union_cases(const idl_union_t& type);
  bool enumeration(const idl_enum_t& type);
  bool alias(const idl_typedef_t& alias);
  bool constant(const idl_const_t& constant);

  /// Prints what is wrong and where; always false.
  bool refuse(const void* node, const std::string& problem) const;
  bool has_extensibility(const void* node, const idl_annotation_appl_t* annotation) const;
  bool good_name(const void* node) const;

  const idl_pstate_t& state_;
  std::string text_;
  std::string unions_;  // specialisations, which stand outside of all namespaces
};

}  // namespace tutti::idl
