"""Samples that are sent as they lie in memory, for numpy."""

from __future__ import annotations

from typing import Any

from ._types import Kind

_FORMATS = {Kind.BOOLEAN: "?", Kind.BYTE: "u1", Kind.INT8: "i1", Kind.UINT8: "u1", Kind.INT16: "<i2",
            Kind.UINT16: "<u2", Kind.INT32: "<i4", Kind.UINT32: "<u4", Kind.INT64: "<i8",
            Kind.UINT64: "<u8", Kind.FLOAT32: "<f4", Kind.FLOAT64: "<f8", Kind.CHAR8: "S1",
            Kind.CHAR16: "<u2"}


def dtype_of(described: dict[str, Any], index: int = 0) -> Any:
    """Of one node of a description. What numpy has no type for (bounded strings and vectors, opaque
    values) is bytes."""
    import numpy

    node = described["nodes"][index]
    kind = Kind(node["kind"])
    if kind in _FORMATS:
        return numpy.dtype(_FORMATS[kind])
    if kind is Kind.ENUMERATION:
        signed = any(one["label"] < 0 for one in node["members"]) or node["size"] == 4
        return numpy.dtype(f"<{'i' if signed else 'u'}{node['size']}")
    if kind is Kind.ARRAY:
        return numpy.dtype((dtype_of(described, node["element"]), (node["bound"],)))
    if kind is Kind.STRUCTURE:
        return numpy.dtype({"names": [one["name"] for one in node["members"]],
                            "formats": [dtype_of(described, one["type"]) for one in node["members"]],
                            "offsets": [one["offset"] for one in node["members"]],
                            "itemsize": node["size"]})
    return numpy.dtype(("V", node["size"]))
