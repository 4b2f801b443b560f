"""The types of topics, from dataclasses: the same description as C++ makes of the same structure
(include/tutti/dds/detail/describe.hpp), so that participants of both have one topic."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, TypeVar

T = TypeVar("T")


class Kind(enum.IntEnum):
    """As in include/tutti/dds/kind.hpp."""

    BOOLEAN = 1
    BYTE = 2
    INT8 = 3
    UINT8 = 4
    INT16 = 5
    UINT16 = 6
    INT32 = 7
    UINT32 = 8
    INT64 = 9
    UINT64 = 10
    FLOAT32 = 11
    FLOAT64 = 12
    CHAR8 = 13
    CHAR16 = 14
    STRING = 15
    ENUMERATION = 16
    SEQUENCE = 17
    ARRAY = 18
    STRUCTURE = 19
    UNION = 20
    OPTIONAL = 21
    NO_MEMBER = 22
    OPAQUE = 23


SIZES = {Kind.BOOLEAN: 1, Kind.BYTE: 1, Kind.INT8: 1, Kind.UINT8: 1, Kind.INT16: 2, Kind.UINT16: 2,
         Kind.INT32: 4, Kind.UINT32: 4, Kind.INT64: 8, Kind.UINT64: 8, Kind.FLOAT32: 4,
         Kind.FLOAT64: 8, Kind.CHAR8: 1, Kind.CHAR16: 2}
EXTENSIBILITY = ("final", "appendable", "mutable")


@dataclasses.dataclass(frozen=True)
class Spec:
    """What a type of Python is on the wire."""

    kind: Kind
    bound: int = 0  # of a string or sequence, 0 is none; of an array its count
    element: Any = None  # as an annotation
    python: Any = None  # the class of a structure or an enumeration


byte = Annotated[int, Spec(Kind.BYTE)]
int8 = Annotated[int, Spec(Kind.INT8)]
uint8 = Annotated[int, Spec(Kind.UINT8)]
int16 = Annotated[int, Spec(Kind.INT16)]
uint16 = Annotated[int, Spec(Kind.UINT16)]
int32 = Annotated[int, Spec(Kind.INT32)]
uint32 = Annotated[int, Spec(Kind.UINT32)]
int64 = Annotated[int, Spec(Kind.INT64)]
uint64 = Annotated[int, Spec(Kind.UINT64)]
float32 = Annotated[float, Spec(Kind.FLOAT32)]
float64 = Annotated[float, Spec(Kind.FLOAT64)]
#: One character of 8 bits, and one of UTF-16, which is its number.
char = Annotated[str, Spec(Kind.CHAR8)]
char16 = Annotated[int, Spec(Kind.CHAR16)]

_PLAIN = {bool: Spec(Kind.BOOLEAN), int: Spec(Kind.INT64), float: Spec(Kind.FLOAT64),
          str: Spec(Kind.STRING)}


def _bound(value: int, least: int) -> int:
    if not least <= value < 1 << 32:
        raise ValueError(f"{value}: must be from {least} to {(1 << 32) - 1}")
    return value


def string(bound: int) -> Any:
    """A str of at most so many bytes of UTF-8."""
    bound = _bound(bound, 0)
    return Annotated[str, Spec(Kind.STRING, bound)]


def sequence(element: Any, bound: int = 0) -> Any:
    """A list of at most so many elements; 0 is no bound."""
    bound = _bound(bound, 0)
    return Annotated[list, Spec(Kind.SEQUENCE, bound, element)]


def array(element: Any, count: int) -> Any:
    """A list of just so many elements."""
    count = _bound(count, 1)
    return Annotated[list, Spec(Kind.ARRAY, count, element)]


@dataclasses.dataclass(frozen=True)
class _Options:
    name: str
    extensibility: int
    in_place: bool
    keys: tuple[str, ...]
    ids: Mapping[str, int]


def structure(name: str, *, keys: Iterable[str] = (), extensibility: str = "final",
              in_place: bool = True,
              ids: Mapping[str, int] | None = None) -> Callable[[type[T]], type[T]]:
    """Makes a dataclass a type of topics: `name` is that of C++ or IDL, such as "weather::Reading".

    A field is a bool, int (int64), float (float64), str, one of the types of this module, an
    enumeration, another structure, a list of these, or one of them `| None`. The options are those
    of TUTTI_OPTIONS (include/tutti/dds/fields.hpp). A key must be there: no field of `keys` is
    optional, nor is one that counts of a structure among them. A structure of numbers, enumerations, arrays
    and such structures that is final is sent as it lies in the memory of a C++ program.
    """
    if isinstance(keys, str):
        raise TypeError(f"keys = {keys!r}: must be a list of names")
    keys = tuple(keys)
    if extensibility not in EXTENSIBILITY:
        raise ValueError(f"extensibility = {extensibility!r}: must be one of {', '.join(EXTENSIBILITY)}")

    def of(cls: type[T]) -> type[T]:
        if not dataclasses.is_dataclass(cls):
            raise TypeError(f"{cls.__name__} is no dataclass: put @dataclass below @structure")
        names = [field.name for field in dataclasses.fields(cls)]
        for field, number in (ids or {}).items():
            if not 0 <= number < 1 << 28:
                raise ValueError(f"the id of {field!r} is {number}: must be from 0 to 0x0fffffff")
        for unknown in {*keys, *(ids or {})} - set(names):
            raise ValueError(f"{cls.__name__} has no field {unknown!r}")
        if not names:
            raise ValueError(f"{cls.__name__} has no field: a sample would have no bytes")
        if not all(field.init for field in dataclasses.fields(cls)):
            raise ValueError(f"{cls.__name__} has a field with init=False: no sample could be made")
        options = _Options(name, EXTENSIBILITY.index(extensibility), in_place, keys,
                           dict(ids or {}))
        cls.__tutti_type__ = options  # type: ignore[attr-defined]
        for key in keys:
            # What is known later describe() looks at again.
            with contextlib.suppress(NameError, TypeError, AttributeError):
                _must_be_there(cls, key, spec_of(_hint_of(cls, key), key))
        return cls

    return of


def enumeration(name: str, *, bits: int = 32) -> Callable[[type[T]], type[T]]:
    """Makes an enum.Enum of numbers a type of fields; `bits` is 8, 16 or 32."""
    if bits not in (8, 16, 32):
        raise ValueError(f"bits = {bits}: must be 8, 16 or 32")

    def of(cls: type[T]) -> type[T]:
        if not (isinstance(cls, type) and issubclass(cls, enum.Enum)):
            raise TypeError(f"{cls.__name__} is no enum.Enum")
        for one in cls:
            if type(one.value) is not int or not -(1 << bits - 1) <= one.value < 1 << bits:
                raise ValueError(f"{cls.__name__}.{one.name} is {one.value!r}: must be a number of "
                                 f"{bits} bits")
        if len({one.value % (1 << bits) for one in cls}) < len(cls):
            raise ValueError(f"two values of {cls.__name__} are the same in {bits} bits")
        cls.__tutti_enum__ = (name, bits // 8)  # type: ignore[attr-defined]
        return cls

    return of


def spec_of(annotation: Any, where: str) -> Spec:
    """What an annotation says; `where` is for errors."""
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if isinstance(annotation, type) and "__tutti_type__" in vars(annotation):
        return Spec(Kind.STRUCTURE, python=annotation)
    if isinstance(annotation, type) and "__tutti_enum__" in vars(annotation):
        return Spec(Kind.ENUMERATION, python=annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        for note in arguments[1:]:
            if isinstance(note, Spec):
                return note
    if origin is list and len(arguments) == 1:
        return Spec(Kind.SEQUENCE, element=arguments[0])
    if origin in (typing.Union, types.UnionType) and len(arguments) == 2 and type(None) in arguments:
        present = arguments[0] if arguments[1] is type(None) else arguments[1]
        return Spec(Kind.OPTIONAL, element=present)
    if annotation is bytes:
        return Spec(Kind.SEQUENCE, element=byte, python=bytes)
    raise TypeError(f"{where} is {annotation!r}: no type that a topic can have; take bool, int, float, "
                    "str, a type of tutti.dds, a list of these, or one of them | None")


def fields_of(cls: type) -> list[tuple[str, Spec]]:
    hints = typing.get_type_hints(cls, include_extras=True)
    return [(field.name, spec_of(hints[field.name], f"{cls.__name__}.{field.name}"))
            for field in dataclasses.fields(cls)]


def _must_be_there(cls: type, name: str, spec: Spec) -> None:
    """Raises for a key that may be None: C++ refuses it, too (detail/key.hpp)."""
    if (lacks := _optional_in(f"{cls.__name__}.{name}", spec)) is not None:
        raise ValueError(f"{cls.__name__}.{name} is a key, but {lacks} may be None: a key must be "
                         "there")


def _optional_in(where: str, spec: Spec, above: tuple[type, ...] = ()) -> str | None:
    """What may be None of that key. A structure counts with its own keys, or with all its fields."""
    if spec.kind is Kind.OPTIONAL:
        return where
    if spec.kind is not Kind.STRUCTURE or spec.python in above:
        return None
    cls, fields = spec.python, dict(fields_of(spec.python))
    of_fields = (_optional_in(f"{cls.__name__}.{name}", fields[name], (*above, cls))
                 for name in cls.__tutti_type__.keys or fields)
    return next(filter(None, of_fields), None)


def _hint_of(cls: type, name: str) -> Any:
    """The type of one field, whatever classes the others name that come later."""
    [annotation] = [field.type for field in dataclasses.fields(cls) if field.name == name]
    alone = type(cls.__name__, (), {"__module__": cls.__module__,
                                    "__annotations__": {name: annotation}})
    return typing.get_type_hints(alone, include_extras=True)[name]


def _lies_in_memory(spec: Spec, above: tuple[type, ...] = ()) -> bool:
    match spec.kind:
        case Kind.ENUMERATION:
            return True
        case Kind.ARRAY:
            return _lies_in_memory(spec_of(spec.element, "an element"), above)
        case Kind.STRUCTURE:
            options = spec.python.__tutti_type__
            return (spec.python not in above and options.in_place and options.extensibility == 0
                    and all(_lies_in_memory(field, (*above, spec.python))
                            for _, field in fields_of(spec.python)))
        case kind:
            return kind in SIZES


class _Describer:
    """Gives the nodes of a type the numbers that detail::Describer gives them."""

    def __init__(self, in_place: bool) -> None:
        self.in_place = in_place
        self.nodes: list[dict[str, Any]] = []
        self._known: dict[Any, int] = {}

    def node_of(self, spec: Spec) -> int:
        key = self._key(spec)
        if key in self._known:
            return self._known[key]
        index = self._known[key] = len(self.nodes)
        node = {"kind": int(spec.kind), "extensibility": 0, "name": "", "size": 0, "align": 0,
                "element": 0, "bound": spec.bound, "data_offset": 0, "members": []}
        self.nodes.append(node)
        self._fill(spec, node)
        if self.in_place:
            node["size"], node["align"] = _layout(spec)
        return index

    def _key(self, spec: Spec) -> Any:
        element = None if spec.element is None else self._key(spec_of(spec.element, "an element"))
        return spec.kind, spec.bound, element, spec.python if spec.python is not bytes else None

    def _fill(self, spec: Spec, node: dict[str, Any]) -> None:
        match spec.kind:
            case Kind.ENUMERATION:
                node["name"], node["size"] = spec.python.__tutti_enum__
                node["members"] = [_member(one.name, label=one.value) for one in spec.python]
            case Kind.SEQUENCE:
                node["element"] = self.node_of(spec_of(spec.element, "an element"))
            case Kind.ARRAY:
                count, element = _flat(spec)
                node["element"], node["bound"] = self.node_of(element), count
            case Kind.STRUCTURE:
                options = spec.python.__tutti_type__
                node["name"], node["extensibility"] = options.name, options.extensibility
                offset, number = 0, -1
                for name, field in fields_of(spec.python):
                    if name in options.keys:
                        _must_be_there(spec.python, name, field)
                    if self.in_place:
                        size, align = _layout(field)
                        offset = -(-offset // align) * align
                    number = options.ids.get(name, number + 1)
                    node["members"].append(_member(name, self._field(field), number, offset,
                                                   key=name in options.keys))
                    if self.in_place:
                        offset += size

    def _field(self, spec: Spec) -> int:
        if spec.kind is not Kind.OPTIONAL:
            return self.node_of(spec)
        element = self.node_of(spec_of(spec.element, "an optional's value"))
        self.nodes.append({"kind": int(Kind.OPTIONAL), "extensibility": 0, "name": "", "size": 0,
                           "align": 0, "element": element, "bound": 0, "data_offset": 0,
                           "members": []})
        return len(self.nodes) - 1


def _member(name: str, type: int = 0, id: int = 0, offset: int = 0, label: int = 0,
            key: bool = False) -> dict[str, Any]:
    return {"name": name, "type": type, "id": id, "offset": offset, "label": label, "key": key}


def _flat(spec: Spec) -> tuple[int, Spec]:
    """An array of arrays is one array."""
    count = 1
    while spec.kind is Kind.ARRAY:
        count *= spec.bound
        spec = spec_of(spec.element, "an element")
    return count, spec


def _layout(spec: Spec) -> tuple[int, int]:
    """Size and alignment in the memory of a C++ program."""
    if spec.kind is Kind.ENUMERATION:
        return (spec.python.__tutti_enum__[1],) * 2
    if spec.kind is Kind.ARRAY:
        count, element = _flat(spec)
        size, align = _layout(element)
        return count * size, align
    if spec.kind is Kind.STRUCTURE:
        end, most = 0, 1
        for _, field in fields_of(spec.python):
            size, align = _layout(field)
            end, most = -(-end // align) * align + size, max(most, align)
        return -(-end // most) * most, most
    return (SIZES[spec.kind],) * 2


def describe(cls: type) -> dict[str, Any]:
    """The description of a structure, as the library takes it."""
    if "__tutti_type__" not in vars(cls):
        raise TypeError(f"{cls.__name__} is no type of topics: put @dds.structure(name) above it")
    spec = Spec(Kind.STRUCTURE, python=cls)
    describer = _Describer(_lies_in_memory(spec))
    describer.node_of(spec)
    return {"in_place": describer.in_place, "nodes": describer.nodes}
