"""Types of topics: the same description and hash as C++ gives the same structure, and samples that
come back as they were."""

import enum
import math
import sys
from dataclasses import dataclass, field
from dataclasses import fields as dataclass_fields
from typing import Optional

import pytest
import tutti
from cluster import WATCHDOG, alone_in_domain
from tutti import dds


@dds.enumeration("same::Color", bits=8)
class Color(enum.Enum):
    red = 0
    green = 7


@dds.structure("same::Point")
@dataclass
class Point:
    x: float = 0.0
    y: dds.float32 = 0.0


@dds.structure("same::Robot", keys=["id"])
@dataclass
class Robot:
    id: dds.uint16 = 0
    at: Point = field(default_factory=Point)
    color: Color = Color.red
    grid: dds.array(dds.array(dds.int16, 3), 2) = field(default_factory=lambda: [[0] * 3] * 2)
    on: bool = False
    seen: int = 0


@dds.structure("same::Tree")
@dataclass
class Tree:
    name: str = ""
    children: list["Tree"] = field(default_factory=list)


@dds.structure("same::Report", extensibility="appendable", keys=["station"], ids={"notes": 40})
@dataclass
class Report:
    station: dds.uint32 = 0
    unit: dds.string(16) = "K"
    values: dds.sequence(dds.float32, 1024) = field(default_factory=list)
    calibrated_ns: int | None = None
    at: Optional[Point] = None
    notes: list[str] = field(default_factory=list)
    color: Color = Color.red
    tree: Tree = field(default_factory=Tree)


# As in tests/unit/dds/same_types_test.cpp.
@pytest.mark.parametrize("cls, hash", [
    (Point, 14241724955535722901), (Robot, 8218533641680962556), (Tree, 17719779072982144465),
    (Report, 5286114778071267524)])
def test_a_type_has_the_hash_that_it_has_in_cpp(cls, hash):
    with alone_in_domain() as (_, participant):
        assert participant.create_topic("t", cls).raw.info_record()["hash"] == hash


@dds.structure("All")
@dataclass
class All:
    flag: bool = True
    raw: dds.byte = 255
    i8: dds.int8 = -128
    u8: dds.uint8 = 255
    i16: dds.int16 = -32768
    u16: dds.uint16 = 65535
    i32: dds.int32 = -(1 << 31)
    u32: dds.uint32 = (1 << 32) - 1
    i64: dds.int64 = -(1 << 63)
    u64: dds.uint64 = (1 << 64) - 1
    f32: dds.float32 = 0.5
    f64: dds.float64 = 0.1
    letter: dds.char = "x"
    wide: dds.char16 = 0x20AC


SAMPLES = [
    All(),
    Point(math.inf, -math.inf),
    Robot(7, Point(1.5, 2.5), Color.green, [[1, 2, 3], [-4, 5, 6]], True, -1),
    Tree("root", [Tree("leaf"), Tree("branch", [Tree("€")])]),
    Report(1, "°C", [0.5, 1.5], 1 << 62, Point(1, 2), ["a", ""], Color.green, Tree("t")),
    Report(2),
]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_a_sample_comes_back_as_it_was(sample):
    with alone_in_domain() as (_, participant):
        topic = participant.create_topic("t", type(sample))
        reader, writer = topic.reader(), topic.writer()
        writer.write(sample, timeout=WATCHDOG)
        [taken] = reader.take(timeout=WATCHDOG)
        assert taken.data == sample and taken.valid
        assert taken.sender == "a" and taken.view == 1 and taken.timestamp_ns > 1e18


def test_nan_comes_back():
    with alone_in_domain() as (_, participant):
        topic = participant.create_topic("t", Point)
        reader = topic.reader()
        topic.writer().write(Point(math.nan, 1), timeout=WATCHDOG)
        assert math.isnan(reader.take(timeout=WATCHDOG)[0].data.x)


@pytest.mark.parametrize("sample, says", [
    (Report(-1), "station"),
    (Report(1, unit="x" * 17), "unit"),
    (Report(1, values=[0.0] * 1025), "values"),
    (Report(1, notes=[7]), "notes"),
])
def test_a_value_that_does_not_fit_is_refused(sample, says):
    with alone_in_domain() as (_, participant):
        topic = participant.create_topic("t", Report)
        reader, writer = topic.reader(), topic.writer()
        with pytest.raises(tutti.Error, match=says):
            writer.write(sample, timeout=WATCHDOG)
        assert reader.take(timeout=0) == []


def test_an_object_of_another_class_is_refused():
    with alone_in_domain() as (_, participant):
        writer = participant.create_topic("t", Point).writer()
        with pytest.raises(TypeError, match="a Point is expected"):
            writer.write(Tree())


def test_what_makes_no_type_is_refused():
    with pytest.raises(TypeError, match="put @dataclass"):
        dds.structure("x")(object)
    with pytest.raises(ValueError, match="has no field 'b'"):
        @dds.structure("x", keys=["b"])
        @dataclass
        class Bad:
            a: int
    with pytest.raises(ValueError, match="extensibility"):
        dds.structure("x", extensibility="none")
    with pytest.raises(ValueError, match="bits"):
        dds.enumeration("x", bits=64)

    @dds.structure("x")
    @dataclass
    class WithDict:
        a: dict

    @dataclass
    class Plain:
        a: int

    with alone_in_domain() as (_, participant):
        with pytest.raises(TypeError, match="WithDict.a is"):
            participant.create_topic("t", WithDict)
        with pytest.raises(TypeError, match="put @dds.structure"):
            participant.create_topic("t", Plain)


@pytest.mark.parametrize("make", [
    lambda: dds.enumeration("x", bits=8)(enum.Enum("E", {"a": 0, "b": 256})),
    lambda: dds.enumeration("x", bits=8)(enum.Enum("E", {"a": -1, "b": 255})),
    lambda: dds.enumeration("x")(enum.Enum("E", {"a": "text"})),
    lambda: dds.string(-1), lambda: dds.sequence(int, 1 << 32), lambda: dds.array(int, 0),
    lambda: dds.structure("x", ids={"x": 1 << 28})(Point),
])
def test_what_does_not_fit_the_wire_is_refused(make):
    with pytest.raises(ValueError):
        make()


def test_keys_may_come_from_an_iterator():
    @dds.structure("x", keys=(name for name in ["a"]))
    @dataclass
    class Keyed:
        a: int = 0

    with alone_in_domain() as (_, participant):
        assert participant.create_topic("t", Keyed).raw.info_record()["keyed"]
    with pytest.raises(TypeError, match="list of names"):
        dds.structure("x", keys="a")


def test_a_key_must_be_there():
    """As C++ has it: also of a structure that is a key, what counts of it."""
    with pytest.raises(ValueError, match="Plain.k is a key, but Plain.k may be None"):
        @dds.structure("x", keys=["k"])
        @dataclass
        class Plain:
            k: int | None = None

    with pytest.raises(ValueError, match="Recursive.k may be None"):
        @dds.structure("x", keys=["k"])
        @dataclass
        class Recursive:
            others: list["Recursive"]
            k: Optional[int] = None

    @dds.structure("inner")
    @dataclass
    class Inner:
        a: int = 0
        b: int | None = None

    with pytest.raises(ValueError, match="Outer.k is a key, but Inner.b may be None"):
        @dds.structure("x", keys=["k"])
        @dataclass
        class Outer:
            k: Inner

    @dds.structure("inner", keys=["a"])
    @dataclass
    class Keyed:
        a: int = 0
        b: int | None = None

    @dds.structure("x", keys=["k"])
    @dataclass
    class WithKeyed:
        k: Keyed
        later: "Later | None" = None  # what it is is known when the topic is made

    assert WithKeyed


def test_a_key_whose_type_comes_later_must_be_there():
    global Later

    @dds.structure("x", keys=["k"])
    @dataclass
    class Early:
        k: "Later"

    @dds.structure("later")
    @dataclass
    class Later:
        a: int | None = None

    with alone_in_domain() as (_, participant):
        with pytest.raises(ValueError, match="Early.k is a key, but Later.a may be None"):
            participant.create_topic("t", Early)


class Within:
    """Known already when the structure of that name is made."""


def test_a_key_that_contains_itself_is_an_error():
    global Within

    @dds.structure("x", keys=["k"])
    @dataclass
    class Within:
        k: "Within"
        n: int

    with alone_in_domain() as (_, participant):
        with pytest.raises(tutti.Mismatch, match="contains itself"):
            participant.create_topic("t", Within)


def test_a_key_may_name_what_a_module_will_have():
    @dds.structure("x", keys=["k"])
    @dataclass
    class Early:
        k: "sys.NotThereYet"

    assert dataclass_fields(Early)[0].name == "k"


def test_rows_of_an_array_have_one_length():
    with alone_in_domain() as (_, participant):
        writer = participant.create_topic("t", Robot).writer()
        for grid in ([[1, 2], [3, 4, 5, 6]], [[1, 2, 3]]):
            with pytest.raises(ValueError, match="2 rows"):
                writer.write(Robot(grid=grid))


def test_one_bad_sample_costs_no_other():
    @dds.structure("test::Checked")
    @dataclass
    class Checked:
        x: int = 0

        def __post_init__(self):
            assert self.x >= 0

    with alone_in_domain() as (_, participant):
        topic = participant.create_topic("t", Checked)
        reader, writer = topic.reader(), topic.writer()
        for x in (1, -1, 2):
            writer.write_json('{"x": %d}' % x, timeout=WATCHDOG)
        writer.wait_for_acknowledgments(timeout=WATCHDOG)
        taken = reader.take(timeout=WATCHDOG)
        assert [(one.data and one.data.x, one.valid) for one in taken] == [
            (1, True), (None, False), (2, True)]


def test_a_sample_in_memory_is_an_array_of_numpy():
    numpy = pytest.importorskip("numpy")
    with alone_in_domain() as (_, participant):
        topic = participant.create_topic("t", Robot)
        reader, writer = topic.reader(), topic.writer()
        row = numpy.zeros(1, topic.dtype)
        row["id"], row["grid"][0, 4], row["at"]["y"] = 9, -5, 0.25
        writer.write_raw(row, timeout=WATCHDOG)
        [taken] = reader.take(timeout=WATCHDOG)
        assert taken.data == Robot(9, Point(0, 0.25), Color.red, [[0, 0, 0], [0, -5, 0]])
        assert numpy.frombuffer(taken.raw, topic.dtype)[0]["grid"][4] == -5
        assert participant.create_topic("u", Tree).dtype is None
