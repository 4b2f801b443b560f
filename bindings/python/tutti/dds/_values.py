"""Samples as objects: to what JSON says of them (include/tutti/dds/json.hpp), and back."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ._types import Kind, Spec, fields_of, spec_of

Convert = Callable[[Any], Any]


def _float(value: Any) -> Any:
    number = float(value)
    return number if math.isfinite(number) else str(number)  # "nan", "inf", "-inf"


class _Converters:
    """The functions for the parts of a type. A type may contain itself, so those of a structure are
    looked up when they are first called."""

    def __init__(self, out: bool) -> None:
        self._out = out  # to JSON
        self._structures: dict[type, Convert] = {}

    def of(self, spec: Spec) -> Convert | None:
        """None: the value is the same in JSON."""
        match spec.kind:
            case Kind.FLOAT32 | Kind.FLOAT64:
                return _float if self._out else float
            case Kind.ENUMERATION:
                return self._enumeration(spec.python)
            case Kind.SEQUENCE | Kind.ARRAY:
                return self._list(spec)
            case Kind.OPTIONAL:
                part = self.of(spec_of(spec.element, "an optional's value"))
                return part and (lambda value: None if value is None else part(value))
            case Kind.STRUCTURE:
                cls = spec.python
                if cls not in self._structures:
                    self._structures[cls] = lambda value: self._structures[cls](value)
                    self._structures[cls] = self._structure(cls)
                return lambda value: self._structures[cls](value)
        return None

    def _enumeration(self, cls: Any) -> Convert:
        if self._out:
            return lambda value: cls(value).name
        return lambda value: cls[value] if isinstance(value, str) else value

    def _list(self, spec: Spec) -> Convert:
        if spec.python is bytes:
            return list if self._out else bytes
        element = spec_of(spec.element, "an element")
        part = self.of(element)
        if spec.kind is Kind.ARRAY and element.kind is Kind.ARRAY:  # one array in JSON
            return self._nested(spec.bound, part)
        if part is None:
            return list
        return lambda values: [part(value) for value in values]

    def _nested(self, count: int, part: Convert | None) -> Convert:
        if self._out:
            def flat(rows: Any) -> list[Any]:
                if len(rows) != count or len({len(row) for row in rows}) != 1:
                    raise ValueError(f"an array of {count} rows of one length is expected, "
                                     f"not {rows!r}")
                return [value for row in rows for value in (part(row) if part else row)]

            return flat

        def rows(values: list[Any]) -> list[Any]:
            size = len(values) // count
            parts = [values[at:at + size] for at in range(0, len(values), size)]
            return [part(one) if part else one for one in parts]

        return rows

    def _structure(self, cls: type) -> Convert:
        parts = [(name, self.of(spec)) for name, spec in fields_of(cls)]
        if self._out:
            def plain(value: Any) -> dict[str, Any]:
                if not isinstance(value, cls):
                    raise TypeError(f"a {cls.__name__} is expected, not {value!r}")
                return {name: part(getattr(value, name)) if part else getattr(value, name)
                        for name, part in parts}
            return plain

        converters = dict(parts)

        def made(value: dict[str, Any]) -> Any:
            # A field that its sender does not have keeps its initial value.
            return cls(**{name: part(one) if (part := converters[name]) else one
                          for name, one in value.items()})
        return made


def to_plain(cls: type) -> Convert:
    convert = _Converters(True).of(Spec(Kind.STRUCTURE, python=cls))
    assert convert is not None
    return convert


def from_plain(cls: type) -> Convert:
    convert = _Converters(False).of(Spec(Kind.STRUCTURE, python=cls))
    assert convert is not None
    return convert
