#!/usr/bin/env python3
"""Makes golden.txt: samples encoded by programs that have no code in common with Tutti.

    python3 -m venv venv
    venv/bin/pip install cyclonedds-idl==0.2.0 pycdr2==1.0.0 rosbags==0.11.9
    venv/bin/python make_golden.py > golden.txt

Each line: the name of a case in golden_test.cpp, the encoder, the version of XCDR, the byte order,
the bytes. The values here are those in golden_test.cpp.
"""

import importlib
import sys

import numpy
from rosbags.typesys import Stores, get_types_from_msg, get_typestore


def cases_of(package):
    """Samples by name, made with the classes of cyclonedds_idl or of pycdr2 (whose are alike)."""
    idl = importlib.import_module(package)
    types = importlib.import_module(package + ".types")
    annotate = importlib.import_module(package + ".annotations")
    from dataclasses import dataclass
    from typing import Optional

    class Color(idl.IdlEnum, typename="Color", default="red"):
        red = 0
        green = 1
        blue = 7

    @dataclass
    @annotate.final
    class Point(idl.IdlStruct, typename="Point"):
        x: types.float64
        y: types.float64
        z: types.float64

    @dataclass
    @annotate.final
    class Numbers(idl.IdlStruct, typename="Numbers"):
        flag: bool
        letter: types.char
        i8: types.int8
        u8: types.uint8
        i16: types.int16
        u16: types.uint16
        i32: types.int32
        u32: types.uint32
        i64: types.int64
        u64: types.uint64
        f32: types.float32
        f64: types.float64
        color: Color

    numbers = Numbers(True, "z", -1, 200, -300, 60000, -70000, 4000000000, -(1 << 40), 1 << 63, 1.5,
                      -2.25, Color.blue)

    @dataclass
    @annotate.final
    class Lists(idl.IdlStruct, typename="Lists"):
        one: types.uint8
        text: str
        doubles: types.sequence[types.float64]
        points: types.sequence[Point]
        words: types.sequence[str]
        colors: types.sequence[Color]
        flags: types.sequence[bool]
        rows: types.sequence[types.sequence[types.uint16]]
        triple: types.array[types.int16, 3]
        matrix: types.array[types.array[types.int16, 2], 3]
        texts: types.array[str, 2]
        empty: types.sequence[types.int64]
        last: types.uint8

    lists = Lists(1, "hello", [1.0, 2.0], [Point(1, 2, 3), Point(4, 5, 6)], ["a", "", "ccc"],
                  [Color.green, Color.blue], [True, False, True], [[1, 2], [], [3]], [7, 8, 9],
                  [[1, 2], [3, 4], [5, 6]], ["x", "yy"], [], 255)

    @dataclass
    @annotate.appendable
    class Reading(idl.IdlStruct, typename="Reading"):
        sensor: types.int32
        annotate.key("sensor")
        unit: str
        values: types.sequence[types.float64]
        time: Optional[types.int64]

    reading = Reading(5, "mm", [0.5], 1 << 33)
    without = Reading(-5, "", [], None)

    @dataclass
    @annotate.final
    class Holder(idl.IdlStruct, typename="Holder"):
        first: types.uint8
        maybe: Optional[types.float64]
        perhaps: Optional[str]
        inner: Reading
        inners: types.sequence[Reading]
        last: types.uint8

    holder = Holder(3, 2.5, None, reading, [without, reading], 4)

    @annotate.final
    class Shape(idl.IdlUnion, discriminator=types.int32, typename="Shape"):
        point: types.case[1, Point]
        text: types.case[2, str]
        number: types.case[-3, types.int16]

    @dataclass
    @annotate.final
    class Shapes(idl.IdlStruct, typename="Shapes"):
        shapes: types.sequence[Shape]

    shapes = Shapes([Shape(point=Point(1, 2, 3)), Shape(text="t"), Shape(number=-4)])

    @dataclass
    @annotate.mutable
    class Settings(idl.IdlStruct, typename="Settings"):
        one: types.int8
        two: types.uint16
        annotate.member_id("two", 100)
        four: types.float32
        eight: types.int64
        text: str
        octets: types.sequence[types.uint8]
        shorts: types.sequence[types.int16]
        words: types.sequence[types.int32]
        doubles: types.sequence[types.float64]
        names: types.sequence[str]
        annotate.member_id("names", 0x0ffffff0)
        point: Point
        triple: types.array[types.int32, 3]
        pair: types.array[str, 2]
        reading: Optional[Reading]
        color: Optional[Color]

    settings = Settings(1, 2, 4.5, 8, "text", [1, 2, 3], [4, 5], [6], [7.5, 8.5], ["n", "mm"],
                        Point(1, 2, 3), [1, 2, 3], ["p", "q"], reading, None)

    return {"numbers": numbers, "lists": lists, "reading": reading, "without": without,
            "holder": holder, "shapes": shapes, "settings": settings}


def line(name, encoder, version, order, encoded):
    print(name, encoder, version, order, encoded.hex())


def write(package, versions):
    support = importlib.import_module(package + "._support")
    for name, value in cases_of(package).items():
        for version in versions(name):
            for order in ("Little", "Big"):
                line(name, package, version, order.lower(), value.__idl__.serialize(
                    value, version == 2, endianness=getattr(support.Endianness, order)))


def write_pycdr2():
    module = importlib.import_module("pycdr2")
    support = importlib.import_module("pycdr2._support")
    for name, value in cases_of("pycdr2").items():
        for order in ("Little", "Big"):
            line(name, "pycdr2", 2, order.lower(), value.__idl__.serialize(
                value, use_version_2=True, endianness=getattr(support.Endianness, order)))
    return module


def write_rosbags():
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(
        "bool flag\nint8 letter\nint8 i8\nuint8 u8\nint16 i16\nuint16 u16\nint32 i32\nuint32 u32\n"
        "int64 i64\nuint64 u64\nfloat32 f32\nfloat64 f64\nint32 color\n", "golden/msg/Numbers"))
    store.register(get_types_from_msg("float64 x\nfloat64 y\nfloat64 z\n", "golden/msg/Point"))
    store.register(get_types_from_msg(
        "uint8 one\nstring text\nfloat64[] doubles\ngolden/msg/Point[] points\nstring[] words\n"
        "int32[] colors\nbool[] flags\nint16[3] triple\nstring[2] texts\nint64[] empty\n"
        "uint8 last\n", "golden/msg/RosLists"))
    of = store.types
    point = of["golden/msg/Point"]
    samples = {
        "numbers": of["golden/msg/Numbers"](True, ord("z"), -1, 200, -300, 60000, -70000,
                                            4000000000, -(1 << 40), 1 << 63, 1.5, -2.25, 7),
        "roslists": of["golden/msg/RosLists"](
            1, "hello", numpy.array([1.0, 2.0]), [point(1, 2, 3), point(4, 5, 6)], ["a", "", "ccc"],
            numpy.array([1, 7], dtype=numpy.int32), numpy.array([True, False, True]),
            numpy.array([7, 8, 9], dtype=numpy.int16), ["x", "yy"],
            numpy.array([], dtype=numpy.int64), 255)}
    for name, value in samples.items():
        for order in ("little", "big"):
            line(name, "rosbags", 1, order, bytes(
                store.serialize_cdr(value, value.__msgtype__, little_endian=order == "little")))


if __name__ == "__main__":
    write("cyclonedds_idl", lambda name: (1, 2))
    write_pycdr2()
    write_rosbags()
    sys.exit(0)
