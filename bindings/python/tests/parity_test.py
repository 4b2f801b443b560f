"""What C++ has, Python has: options, enumerations, counters, codes, by the headers' text. What has
another form in Python is listed here, and nothing else."""

import dataclasses
import inspect
import re

import pytest
import tutti
import tutti.dds
from cluster import ROOT, alone

INCLUDE = ROOT / "include/tutti"
# The words of the binding's C++ are those of Python, which the parametrised tests below send
# through it.
ENUMERATIONS = ["Order", "Level", "Service", "FabricChoice", "Drive", "LeftReason", "ErrorCode"]
OTHERWISE = {
    "NodeOptions": {
        "idle": ["idle_spin", "idle_yield", "idle_sleep"],
        "on_view": [],  # Node.views
        "log": [],  # logging
    },
    "GroupOptions": {
        "delivery": [], "on_delivery": [],  # by taking, always
        "snapshot": [],  # save_state is the way in Python
    },
}
# Calls of C++ with another name in Python; none: Python has another way, or no use for it.
CALLS = {
    "Node": {
        "create": "__init__",
        "watch_views": "views", "watch_end": "ended_descriptor",
        "begin_start": None, "started": None,  # asyncio.to_thread(node.start)
        "state_dir": None, "may_wait": None,  # for layers above a node in C++
    },
    "Group": {
        "try_claim": "claim", "emplace": "send", "event_fd": "fileno",
        "delivered": "is_delivered", "on_delivered": "delivered", "on_space": "claimed",
        "commit": None,  # Claim.commit
        "intact": None,  # Batch.intact
        "may_ask_for": None, "may_hold": None, "may_wait": None,  # the calls themselves raise
    },
}


def header(*names):
    return "".join((INCLUDE / name).read_text(encoding="utf-8") for name in names)


def fields_of(text, name):
    body = re.search(rf"struct {name} \{{(.*?)\n\}}", text, re.S).group(1)
    body = re.sub(r"/\*.*?\*/|//[^\n]*", "", body, flags=re.S)
    body = re.sub(r"\n  \[\[nodiscard\]\][^;{]*(;|\{.*?\n  \})", "", body, flags=re.S)
    fields = []
    for part in filter(None, (part.strip() for part in body.split(";"))):
        if not part.startswith("static"):
            fields.append(re.search(r"(\w+)\s*(?:\{[^}]*\}|=.*)?$", part, re.S).group(1))
    return fields


def words_of(text, name):
    body = re.search(rf"enum class {name}\b[^{{]*\{{(.*?)\}}", text, re.S).group(1)
    body = re.sub(r"/\*.*?\*/|//[^\n]*", "", body, flags=re.S)
    return [word.split("=")[0].strip() for word in body.split(",") if word.strip()]


def calls_of(text, name):
    body = re.search(rf"class TUTTI_API {name} \{{(.*?)\n private:", text, re.S).group(1)
    body = re.sub(r"//[^\n]*", "", body)
    return {found for found in re.findall(r"^  [^\s(][^(\n]*?\b([a-z]\w*)\(", body, re.M)
            if found not in ("operator", "requires")}


@pytest.mark.parametrize("struct, function", [
    ("NodeOptions", tutti.Node.__init__), ("GroupOptions", tutti.Node.join)])
def test_options(struct, function):
    wanted = set()
    for field in fields_of(header("options.hpp"), struct):
        wanted |= set(OTHERWISE[struct].get(field, [field]))
    assert set(inspect.signature(function).parameters) - {"self", "timeout"} == wanted


@pytest.mark.parametrize("cls", [tutti.Node, tutti.Group])
def test_calls(cls):
    calls = calls_of(header("node.hpp", "group.hpp"), cls.__name__)
    assert {"leave", "send", "statistics"} <= calls if cls is tutti.Group else {
        "create", "join", "reserve", "send_to", "failure"} <= calls
    otherwise = CALLS[cls.__name__]
    assert set(otherwise) <= calls
    for call in calls:
        name = otherwise.get(call, call)
        assert name is None or hasattr(cls, name), f"{cls.__name__}::{call} is not in Python"


@pytest.mark.parametrize("name", ENUMERATIONS)
def test_enumerations(name):
    text = header("types.hpp", "error.hpp", "options.hpp", "view.hpp")
    words = words_of(text, name)
    assert [(member.name, member.value) for member in getattr(tutti, name)] == [
        (word, word) for word in words]


@pytest.mark.parametrize("name", ["GroupStatistics", "NodeStatistics", "MemberLag", "ViewChange",
                                  "Departure", "BatchHistogram"])
def test_records(name):
    fields = [field.name for field in dataclasses.fields(getattr(tutti, name))]
    assert fields == fields_of(header("statistics.hpp", "view.hpp"), name)


@pytest.mark.parametrize("name", ["BundleOptions", "ParticipantOptions"])
def test_options_of_participants(name):
    for field in fields_of(header("dds/options.hpp"), name):
        with tutti.Node("a", {"a": "127.0.0.1:7101"}) as node:
            options = {field: object()}
            if name == "BundleOptions":
                options = {"bundles": [options]}
            with pytest.raises((TypeError, tutti.Error)) as raised:
                tutti.dds.DomainParticipant(node, **options)
            assert "there is no option" not in str(raised.value)


def test_kinds_of_types():
    words = words_of(header("dds/kind.hpp"), "Kind")
    assert [kind.name.lower() for kind in tutti.dds._types.Kind] == [
        word.rstrip("_") for word in words]


def test_records_of_participants():
    fields = [field.name for field in dataclasses.fields(tutti.dds.ParticipantStatistics)]
    assert fields == fields_of(header("dds/participant.hpp"), "ParticipantStatistics")


def test_each_code_has_an_exception():
    for code in tutti.ErrorCode:
        name = "".join(word.capitalize() for word in code.split("_"))
        assert issubclass(getattr(tutti, name), tutti.Error)


def test_codes_come_as_their_exceptions():
    from tutti._errors import error_of
    for number, code in enumerate(tutti.ErrorCode):
        error = error_of(number, "why")
        assert error.code == code and type(error).__name__.lower() == code.replace("_", "")


@pytest.mark.parametrize("option, words", [
    ("fabric", tutti.FabricChoice), ("drive", tutti.Drive)])
def test_words_of_a_node_reach_the_library(option, words):
    for word in words:
        more = {"provider": "tcp"} if word == "ofi" else {}
        tutti.Node("a", {"a": "127.0.0.1:7101"}, **{option: word}, **more).close()


def test_words_of_a_group_reach_the_library():
    good = {("none", "unordered"), ("lcr", "atomic"), ("lcr", "durable")} | {
        (order, level) for order in ("round_robin", "token_ring")
        for level in ("agreed", "atomic", "durable")}
    for order in tutti.Order:
        for level in tutti.Level:
            with tutti.Node("a", {"a": "127.0.0.1:7101"}, state_dir="unused") as node:
                if (order, level) in good:
                    node.join("log", order=order, level=level, logged=level == "durable")
                else:
                    with pytest.raises(tutti.InvalidArgument):
                        node.join("log", order=order, level=level)


def test_counters_count():
    with alone() as (node, group):
        group.send_many(b"abc", 1)
        taken = 0
        while taken < 3:
            with group.take() as batch:
                taken += len(batch)
        assert group.statistics().delivered_messages == 3
        assert group.statistics().delivery.items == 3
        assert group.statistics().delivery.mean() > 0
        assert node.statistics().passes > 0
