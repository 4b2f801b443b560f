/// \file type_fields.hpp
/// A description of a type is itself encoded: these are its fields. Appendable, so that later
/// versions of Tutti may add to it.
#pragma once
#include "tutti/dds/type.hpp"

namespace tutti::dds {

TUTTI_ENUM(Extensibility, final, appendable, mutable_);
TUTTI_ENUM(Kind, boolean, byte, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32,
           float64, char8, char16, string, enumeration, sequence, array, structure, union_,
           optional, no_member, opaque);

TUTTI_FIELDS(TypeMember, name, type, id, offset, label, key);
TUTTI_OPTIONS(TypeMember, .extensibility = Extensibility::appendable);

TUTTI_FIELDS(TypeNode, kind, extensibility, name, size, align, element, bound, data_offset,
             members);
TUTTI_OPTIONS(TypeNode, .extensibility = Extensibility::appendable);

TUTTI_FIELDS(Type, in_place, nodes);
TUTTI_OPTIONS(Type, .extensibility = Extensibility::appendable);

}  // namespace tutti::dds
