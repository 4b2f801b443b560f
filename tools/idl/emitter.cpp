/// \file emitter.cpp
#include "idl/emitter.hpp"

#include <utility>

#include "idl/spelling.hpp"

namespace tutti::idl {
namespace {

const char* extensibility(idl_extensibility_t value) {
  return value == IDL_FINAL ? "final" : value == IDL_APPENDABLE ? "appendable" : "mutable_";
}

/// The words with commas between, in lines of at most 100 columns that begin below `before`.
std::string listed(const std::string& before, const std::vector<std::string>& words,
                   const std::string& after) {
  const std::size_t newline = before.rfind('\n');
  const std::size_t indent =
      newline == std::string::npos ? before.find('(') + 1 : before.size() - newline - 1;
  std::string text = before;
  std::size_t column = newline == std::string::npos ? before.size() : before.size() - newline - 1;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool last = i + 1 == words.size();
    const std::string word = words[i] + (last ? after : ",");
    const bool fits = column + 1 + word.size() <= 100;
    if (i > 0) text += fits ? " " : "\n" + std::string(indent, ' ');
    column = (i == 0 ? column : fits ? column + 1 : indent) + word.size();
    text += word;
  }
  return text;
}

/// One more designated initialiser of TypeOptions, a list, on a line of its own.
std::string option(const char* name, const std::vector<std::string>& words) {
  if (words.empty()) return "";
  return ",\n              " +
         listed("\n              ." + std::string(name) + " = {", words, "}").substr(15);
}

/// Calls `visit` for the members and their declarators, those of bases first.
template <class Visit>
bool each_field_of(const idl_struct_t& type, const Visit& visit) {
  if (type.inherit_spec != nullptr &&
      !each_field_of(*static_cast<const idl_struct_t*>(type.inherit_spec->base), visit)) {
    return false;
  }
  return each_of(type.members, [&](const idl_member_t& member) {
    return each_of(member.declarators,
                   [&](const idl_declarator_t& declarator) { return visit(member, declarator); });
  });
}

/// An enum begins with one of its values, which 0 may not be.
std::string initial_of(const idl_member_t& member, const idl_declarator_t& declarator) {
  if (member.value.annotation != nullptr) return " = " + value_of(member.value.value);
  const void* target = idl_strip(member.type_spec, IDL_STRIP_ALIASES);
  if (!idl_is_enum(target) || member.optional.value || declarator.const_expr != nullptr)
    return "{}";
  const auto& type = *static_cast<const idl_enum_t*>(target);
  return " = " +
         value_of(type.default_enumerator != nullptr ? type.default_enumerator : type.enumerators);
}

}  // namespace

bool Emitter::refuse(const void* node, const std::string& problem) const {
  idl_error(&state_, idl_location(node), "%s", problem.c_str());
  return false;
}

bool Emitter::good_name(const void* node) const {
  const std::string problem = problem_of_name(idl_identifier(node));
  return problem.empty() || refuse(node, problem);
}

bool Emitter::has_extensibility(const void* node, const idl_annotation_appl_t* annotation) const {
  return annotation != nullptr ||
         refuse(node,
                std::string(idl_identifier(node)) +
                    " does not say how it may change: write @final, @appendable or @mutable "
                    "before it (without, DDS implementations differ in what they take it for)");
}

bool Emitter::run() {
  return each_of(state_.root, [&](const idl_node_t& node) { return definition(node); }) &&
         (text_ += unions_, true);
}

bool Emitter::definition(const idl_node_t& node) {
  // What an included file defines is in that file's header.
  if (idl_location(&node)->first.source != state_.sources && !idl_is_module(&node)) return true;
  const void* any = &node;
  if (idl_is_module(any)) return module(*static_cast<const idl_module_t*>(any));
  if (idl_is_forward(any)) {
    text_ += std::string("struct ") + idl_identifier(any) + ";\n";
    return true;
  }
  if (idl_is_struct(any)) return structure(*static_cast<const idl_struct_t*>(any));
  if (idl_is_union(any)) return union_type(*static_cast<const idl_union_t*>(any));
  if (idl_is_enum(any)) return enumeration(*static_cast<const idl_enum_t*>(any));
  if (idl_is_typedef(any)) return alias(*static_cast<const idl_typedef_t*>(any));
  if (idl_is_const(any)) return constant(*static_cast<const idl_const_t*>(any));
  if (idl_is_annotation_appl(any) || idl_mask(any) == IDL_ANNOTATION) return true;
  return refuse(any, std::string("there is no ") + idl_construct(any) + " here");
}

bool Emitter::module(const idl_module_t& module) {
  if (!good_name(&module)) return false;
  const std::string before = std::exchange(text_, "");
  const bool good = each_of(static_cast<const idl_node_t*>(module.definitions),
                            [&](const idl_node_t& node) { return definition(node); });
  // One of an included file leaves nothing here.
  const std::string name = idl_identifier(&module);
  if (!text_.empty()) {
    text_ = "namespace " + name + " {\n\n" + text_ + "}  // namespace " + name + "\n\n";
  }
  text_.insert(0, before);
  return good;
}

bool Emitter::structure(const idl_struct_t& type) {
  if (!good_name(&type) || !has_extensibility(&type, type.extensibility.annotation)) return false;
  if (type.keylist != nullptr) return refuse(&type, "a keylist: mark its members by @key instead");
  text_ += std::string("struct ") + idl_identifier(&type);
  if (type.inherit_spec != nullptr) text_ += " : " + qualified_name(type.inherit_spec->base);
  text_ += " {\n";
  const bool members = each_of(type.members, [&](const idl_member_t& member) {
    if (member.external.value) return refuse(&member, "there is no @external: leave it out");
    return each_of(member.declarators, [&](const idl_declarator_t& declarator) {
      const Spelled spelled = type_of(member.type_spec, &declarator, false);
      if (!spelled.problem.empty()) return refuse(&member, spelled.problem);
      const std::string text =
          member.optional.value ? "std::optional<" + spelled.text + ">" : spelled.text;
      const std::string initial = initial_of(member, declarator);
      text_ += "  " + text + " " + idl_identifier(&declarator) + initial + ";\n";
      return good_name(&declarator);
    });
  });
  text_ +=
      std::string("  bool operator==(const ") + idl_identifier(&type) + "&) const = default;\n};\n";
  return members && fields(type);
}

bool Emitter::fields(const idl_struct_t& type) {
  std::vector<std::string> names, keys, ids, bounds;
  std::uint32_t next_id = 0;
  each_field_of(type, [&](const idl_member_t& member, const idl_declarator_t& declarator) {
    const std::string name = idl_identifier(&declarator);
    names.push_back(name);
    if (member.key.value) keys.push_back("\"" + name + "\"");
    if (declarator.id.value != next_id) {
      ids.push_back("{\"" + name + "\", " + std::to_string(declarator.id.value) + "}");
    }
    next_id = declarator.id.value + 1;
    if (const std::uint32_t bound = bound_of(member.type_spec, &declarator)) {
      bounds.push_back("{\"" + name + "\", " + std::to_string(bound) + "}");
    }
    return true;
  });
  if (names.empty()) return refuse(&type, "a struct without members: a sample would have no bytes");
  if (names.size() > 256) return refuse(&type, "more than 256 members: put some into a struct");
  const std::string name = idl_identifier(&type);
  text_ += listed("TUTTI_FIELDS(" + name + ", ", names, ");\n");
  text_ += "TUTTI_OPTIONS(" + name + ", .name = \"" + qualified_name(&type).substr(2) +
           "\",\n              .extensibility = tutti::dds::Extensibility::" +
           extensibility(type.extensibility.value);
  text_ += option("keys", keys) + option("ids", ids) + option("bounds", bounds);
  text_ += ");\n\n";
  return true;
}

bool Emitter::union_type(const idl_union_t& type) {
  if (!good_name(&type) || !has_extensibility(&type, type.extensibility.annotation)) return false;
  if (type.extensibility.value == IDL_MUTABLE) {
    return refuse(&type, "there are no mutable unions: make it @appendable");
  }
  std::vector<std::string> alternatives;
  const bool good = each_of(type.cases, [&](const idl_case_t& each) {
    const Spelled spelled = type_of(each.type_spec, each.declarator, true);
    if (!spelled.problem.empty()) return refuse(&each, spelled.problem);
    alternatives.push_back(spelled.text);
    return true;
  });
  if (!good) return false;
  const std::string before = std::string("using ") + idl_identifier(&type) + " = ";
  text_ += before + listed("std::variant<", alternatives, ">;\n\n");
  return union_cases(type);
}

bool Emitter::union_cases(const idl_union_t& type) {
  const Spelled discriminator = type_of(type.switch_type_spec->type_spec, nullptr, true);
  std::string cases;
  const bool good = each_of(type.cases, [&](const idl_case_t& each) {
    if (idl_is_default_case(&each) || each.labels == nullptr || idl_next(each.labels) != nullptr ||
        each.labels->const_expr == nullptr) {
      return refuse(&each,
                    "a case of a union has more labels than one, or is the default: give "
                    "each a single label");
    }
    cases += (cases.empty() ? "" : ",\n                                                     ") +
             std::string("{") + value_of(each.labels->const_expr) + ", \"" +
             idl_identifier(each.declarator) + "\"}";
    return true;
  });
  unions_ += "template <>\nstruct tutti::dds::Union<" + qualified_name(&type) +
             "> {\n  using Discriminator = " + discriminator.text +
             ";\n  static constexpr UnionCase<Discriminator> cases[] = {" + cases +
             "};\n  static constexpr std::string_view name = \"" + qualified_name(&type).substr(2) +
             "\";\n  static constexpr Extensibility extensibility = Extensibility::" +
             extensibility(type.extensibility.value) + ";\n};\n\n";
  return good && (discriminator.problem.empty() || refuse(&type, discriminator.problem));
}

bool Emitter::enumeration(const idl_enum_t& type) {
  if (!good_name(&type)) return false;
  const std::uint16_t bits = type.bit_bound.annotation == nullptr ? 32 : type.bit_bound.value;
  const std::string name = idl_identifier(&type);
  std::vector<std::string> names;
  text_ += "enum class " + name + " : std::" +
           (bits <= 8    ? "uint8_t"
            : bits <= 16 ? "uint16_t"
                         : "int32_t") +
           " {\n";
  const bool good = each_of(type.enumerators, [&](const idl_enumerator_t& each) {
    names.emplace_back(idl_identifier(&each));
    text_ += "  " + names.back() + " = " + std::to_string(each.value.value) + ",\n";
    return good_name(&each);
  });
  text_ += "};\n";
  if (names.size() > 256) return refuse(&type, "more than 256 enumerators: use an integer");
  text_ += listed("TUTTI_ENUM(" + name + ", ", names, ");\n");
  text_ += "TUTTI_OPTIONS(" + name + ", .name = \"" + qualified_name(&type).substr(2) + "\");\n\n";
  return good;
}

bool Emitter::alias(const idl_typedef_t& alias) {
  return each_of(alias.declarators, [&](const idl_declarator_t& declarator) {
    const auto* type = static_cast<const idl_type_spec_t*>(alias.type_spec);
    const Spelled spelled = type_of(type, &declarator, false);
    if (!spelled.problem.empty()) return refuse(&declarator, spelled.problem);
    text_ += std::string("using ") + idl_identifier(&declarator) + " = " + spelled.text + ";\n\n";
    return good_name(&declarator);
  });
}

bool Emitter::constant(const idl_const_t& constant) {
  const Spelled spelled = type_of(constant.type_spec, nullptr, false);
  if (!spelled.problem.empty()) return refuse(&constant, spelled.problem);
  text_ += "inline constexpr " +
           (spelled.text == "std::string" ? std::string("std::string_view") : spelled.text) + " " +
           idl_identifier(&constant) + " = " + value_of(constant.const_expr) + ";\n\n";
  return good_name(&constant);
}

}  // namespace tutti::idl
