/// \file describe.hpp
/// Makes the description of a type (type.hpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tutti/dds/description.hpp"
#include "tutti/dds/topic_type.hpp"

namespace tutti::dds::detail {

/// Has one address for each type.
template <class T>
inline constexpr char kAddressOf = 0;

class Describer {
 public:
  explicit Describer(bool in_place) { type_.in_place = in_place; }

  Type take() && { return std::move(type_); }

  /// The node of T, a new one unless T has one. With a bound of its own a node is always new.
  template <class T>
  std::uint32_t node_of(std::uint32_t bound = 0) {
    if constexpr (Container<T>::kString || Container<T>::kSequence) {
      if (bound == 0) bound = static_cast<std::uint32_t>(Container<T>::bound);
    }
    for (const Known& known : known_) {
      if (known.address == &kAddressOf<T> && known.bound == bound) return known.index;
    }
    const auto index = static_cast<std::uint32_t>(type_.nodes.size());
    known_.push_back({&kAddressOf<T>, bound, index});
    type_.nodes.emplace_back();
    // Parts are added meanwhile, so the node is filled in last.
    TypeNode node{.kind = kKind<T>, .bound = bound};
    if (type_.in_place) {
      node.size = sizeof(T);
      node.align = alignof(T);
    }
    fill<T>(node);
    type_.nodes[index] = std::move(node);
    return index;
  }

 private:
  struct Known {
    const char* address;
    std::uint32_t bound;
    std::uint32_t index;
  };

  template <class T>
  void fill(TypeNode& node) {
    if constexpr (kKind<T> == Kind::enumeration) {
      node.name = name_of<T>();
      node.size = sizeof(T);
      if constexpr (HasEnumerators<T>) {
        each_enumerator<T>([&](const char* name, T value) {
          node.members.push_back({.name = name, .label = static_cast<std::int64_t>(value)});
          return true;
        });
      }
    } else if constexpr (kKind<T> == Kind::sequence) {
      node.element = node_of<typename Container<T>::Element>();
      if constexpr (Container<T>::kBounded) {
        if (type_.in_place) node.data_offset = T::data_offset();
      }
    } else if constexpr (kKind<T> == Kind::string) {
      if constexpr (Container<T>::kBounded) {
        if (type_.in_place) node.data_offset = T::data_offset();
      }
    } else if constexpr (kKind<T> == Kind::array) {
      using Inner = typename Innermost<T>::type;
      node.element = node_of<Inner>();
      node.bound = array_count<T>();
    } else if constexpr (kKind<T> == Kind::union_) {
      fill_union(node, std::type_identity<T>{});
    } else if constexpr (kKind<T> == Kind::structure) {
      fill_structure<T>(node);
    } else if constexpr (kKind<T> == Kind::opaque) {
      node.name = name_of<T>();
    }
  }

  template <class T>
  static consteval std::uint32_t array_count() {
    if constexpr (Container<T>::kArray) {
      return static_cast<std::uint32_t>(Container<T>::count) *
             array_count<typename Container<T>::Element>();
    } else {
      return 1;
    }
  }

  template <class... Alternatives>
  void fill_union(TypeNode& node, std::type_identity<std::variant<Alternatives...>>) {
    using Traits = Union<std::variant<Alternatives...>>;
    node.name = name_of<std::variant<Alternatives...>>();
    node.extensibility = union_extensibility<std::variant<Alternatives...>>();
    node.element = node_of<typename Traits::Discriminator>();
    std::size_t index = 0;
    (add_case(node, Traits::cases[index++], node_of<Alternatives>()), ...);
  }
  template <class Case>
  static void add_case(TypeNode& node, const Case& with, std::uint32_t type) {
    node.members.push_back({.name = std::string(with.name),
                            .type = type,
                            .label = static_cast<std::int64_t>(with.label)});
  }

  template <class T>
  void fill_structure(TypeNode& node) {
    refuse_bad_structure<T>();
    node.name = name_of<T>();
    node.extensibility = kExtensibility<T>;
    each_field<T>([&](auto field) {
      using Field = decltype(field);
      constexpr FieldOptions kOptions = kFieldOptions<T>[Field::index];
      node.members.push_back(
          {.name = field.name,
           .type = field_node<typename Field::Value>(kOptions.bound),
           .id = kOptions.id,
           .offset = type_.in_place ? static_cast<std::uint32_t>(Field::offset) : 0,
           .key = kOptions.key});
      return true;
    });
  }

  template <class T>
  std::uint32_t field_node(std::uint32_t bound) {
    refuse_unsupported<T>();
    if constexpr (kKind<T> == Kind::optional) {
      TypeNode node{.kind = Kind::optional};
      node.element = node_of<typename T::value_type>(bound);
      type_.nodes.push_back(std::move(node));
      return static_cast<std::uint32_t>(type_.nodes.size() - 1);
    } else {
      return node_of<T>(bound);
    }
  }

  Type type_;
  std::vector<Known> known_;
};

template <class T>
Type describe() {
  Describer describer(kInPlace<T>);
  describer.node_of<T>();
  return std::move(describer).take();
}

}  // namespace tutti::dds::detail
