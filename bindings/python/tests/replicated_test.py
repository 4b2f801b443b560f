"""Replicated state machines, and states that joiners take over."""

import asyncio
import json
import logging
import threading
from concurrent import futures

import pytest
import tutti
from cluster import WATCHDOG, addresses, start_all, wait_until


class Counters:
    """Adds to counters by name; "bad" raises."""

    def __init__(self):
        self.counts = {}
        self.threads = set()

    def apply(self, command):
        self.threads.add(threading.current_thread().name)
        name = command.decode()
        if name == "bad":
            raise KeyError(name)
        self.counts[name] = self.counts.get(name, 0) + 1
        return self.counts[name]

    def save(self):
        return json.dumps(self.counts, sort_keys=True).encode()

    def load(self, state):
        self.counts = json.loads(state)


class Members:
    def __init__(self, names, members, machine=Counters, **options):
        self.nodes = [tutti.Node(name, members, suspect_after=40, **options) for name in names]
        self.machines = [tutti.Replicated(node, "counters", machine()) for node in self.nodes]

    def __enter__(self):
        start_all(self.nodes)
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            node.close()


def counts(machine):
    return machine.query(lambda counters: dict(counters.counts))


class Odd(Counters):
    """A machine whose apply() wants to end the program, or calls what would wait for itself."""

    copy = None

    def apply(self, command):
        if command == b"exit":
            raise SystemExit("not from here")
        if command == b"again":
            return self.copy.execute(b"x", WATCHDOG)
        return super().apply(command)


def test_an_apply_that_exits_or_waits_for_itself_stops_nobody():
    with Members("a", addresses("a"), Odd) as alone:
        machine = alone.machines[0]
        machine.query(lambda odd: setattr(odd, "copy", machine))
        with pytest.raises(SystemExit, match="not from here"):
            machine.execute(b"exit", WATCHDOG)
        with pytest.raises(tutti.InCallback):
            machine.execute(b"again", WATCHDOG)
        with pytest.raises(tutti.InCallback):
            machine.query(lambda _: machine.execute(b"x", WATCHDOG))
        assert machine.execute(b"x", WATCHDOG) == 1


class Held(Counters):
    """Applies nothing before it may; then also what raises an error of time."""

    def __init__(self):
        super().__init__()
        self.may = threading.Event()

    def apply(self, command):
        self.may.wait(WATCHDOG)
        if command == b"late":
            raise TimeoutError("mine")
        return super().apply(command)


def test_what_a_future_calls_may_not_wait_for_the_machine():
    with Members("a", addresses("a"), Held) as alone:
        machine = alone.machines[0]
        errors = []

        def again(_):
            for call in (machine.execute, machine.submit):
                try:
                    call(b"x", WATCHDOG)
                except tutti.Error as error:
                    errors.append(error)
            machine.submit(b"y", 0)
            alone.nodes[0].close()  # returns, though this thread is what it waits for elsewhere

        machine.submit(b"x").add_done_callback(again)
        machine._machine.may.set()
        wait_until(lambda: len(errors) == 2, "the callback's errors")
        assert {type(error) for error in errors} == {tutti.InCallback}


def test_an_error_of_time_that_apply_raises_is_its_own():
    with Members("a", addresses("a"), Held) as alone:
        alone.machines[0]._machine.may.set()
        for timeout in (None, WATCHDOG):
            with pytest.raises(TimeoutError, match="mine") as raised:
                alone.machines[0].execute(b"late", timeout)
            assert not isinstance(raised.value, tutti.Error)


def test_a_command_is_bytes():
    with Members("a", addresses("a")) as alone:
        for command in (5, True, "x", [1]):
            with pytest.raises(TypeError):
                alone.machines[0].execute(command, WATCHDOG)
        assert alone.machines[0].execute(memoryview(b"axb")[1:2], WATCHDOG) == 1


class Ticking(Counters):
    """Notes what was there at each tick; the third raises."""

    def __init__(self):
        super().__init__()
        self.ticks = []

    def on_tick(self, time_ns):
        self.ticks.append((time_ns, dict(self.counts)))
        if len(self.ticks) == 3:
            raise KeyError("third")


def test_ticks_come_between_commands_and_one_that_raises_stops_nobody(caplog):
    members = addresses("ab")
    nodes = [tutti.Node(name, members, suspect_after=40) for name in "ab"]
    machines = [tutti.Replicated(node, "counters", Ticking(), tick_every=0.002) for node in nodes]
    start_all(nodes)
    try:
        assert machines[0].execute(b"x", WATCHDOG) == 1
        seen = {"x": 1}
        wait_until(lambda: machines[1].query(lambda m: any(c == seen for _, c in m.ticks[3:])),
                   "ticks after the command")
        ticks = [machine.query(lambda m: list(m.ticks)) for machine in machines]
        both = min(len(each) for each in ticks)
        assert ticks[0][:both] == ticks[1][:both]
        times = [time_ns for time_ns, _ in ticks[0]]
        assert times == sorted(set(times))
        assert "on_tick() of group 'counters' raised" in caplog.text
    finally:
        for node in nodes:
            node.close()


def test_a_time_out_bounds_the_wait_for_space_too():
    class Stuck(Counters):
        go = threading.Event()

        def apply(self, command):
            self.go.wait(WATCHDOG)
            return super().apply(command)

    node = tutti.Node("a", addresses("a"))
    machine = tutti.Replicated(node, "counters", Stuck(), window_messages=2)
    node.start()
    try:
        for _ in range(8):  # more than the window has room for
            with pytest.raises(tutti.TimedOut):
                machine.execute(b"x", 0.05)
    finally:
        Stuck.go.set()
        node.close()


def test_commands_are_applied_everywhere_and_a_joiner_takes_the_state():
    members = addresses("abcd")
    with Members("abc", members, founders=3) as first:
        replies = [first.machines[i % 3].execute(b"x", WATCHDOG) for i in range(30)]
        assert sorted(replies) == list(range(1, 31))
        for machine in first.machines:
            wait_until(lambda m=machine: counts(m) == {"x": 30}, "all are applied")
        with Members("d", members, join_only=True) as joined:
            assert joined.machines[0].execute(b"y", WATCHDOG) == 1
            assert counts(joined.machines[0]) == {"x": 30, "y": 1}


def test_an_apply_that_raises_stops_nobody(caplog):
    with Members("ab", addresses("ab")) as both:
        with caplog.at_level(logging.ERROR, logger="tutti"), pytest.raises(KeyError, match="bad"):
            both.machines[0].execute(b"bad", WATCHDOG)
        assert "apply() of group 'counters' raised" in caplog.text
        assert both.machines[1].execute(b"x", WATCHDOG) == 1


def test_futures_for_asyncio():
    async def run(machine):
        replies = [asyncio.wrap_future(machine.submit(b"x")) for _ in range(10)]
        return await asyncio.wait_for(asyncio.gather(*replies), WATCHDOG)

    with Members("a", addresses("a")) as one:
        assert asyncio.run(run(one.machines[0])) == list(range(1, 11))


def test_the_end_of_the_node_ends_all_waits():
    entered, leave = threading.Event(), threading.Event()

    class Slow(Counters):
        def apply(self, command):
            entered.set()
            leave.wait(WATCHDOG)
            return super().apply(command)

    members = addresses("ab")
    with Members("ab", members, Slow) as both:
        first = both.machines[0].submit(b"x")
        second = both.machines[0].submit(b"x")
        assert entered.wait(WATCHDOG)
        with pytest.raises(tutti.TimedOut, match="may still"):
            both.machines[0].execute(b"x", 0.01)
        closing = threading.Thread(target=both.nodes[0].close)
        closing.start()
        wait_until(lambda: both.nodes[0].closed, "the node is closed")
        leave.set()
        closing.join(WATCHDOG)
        assert not futures.wait([first, second], WATCHDOG).not_done
        with pytest.raises(tutti.Error):
            both.machines[0].execute(b"x", WATCHDOG)


def test_a_command_sent_by_apply_is_refused():
    class Echo(Counters):
        def apply(self, command):
            with pytest.raises(tutti.InCallback):
                self.machine.execute(b"again")
            return super().apply(command)

    with Members("a", addresses("a"), Echo) as one:
        one.machines[0].query(lambda echo: setattr(echo, "machine", one.machines[0]))
        assert one.machines[0].execute(b"x", WATCHDOG) == 1


def test_a_load_that_raises_ends_the_start_and_is_reported(monkeypatch):
    reported = []
    monkeypatch.setattr("sys.unraisablehook", lambda what: reported.append(repr(what.exc_value)))

    class Broken(Counters):
        def load(self, state):
            raise RuntimeError("cannot load")

    members = addresses("abc")
    with Members("ab", members, founders=2) as both:
        both.machines[0].execute(b"x", WATCHDOG)
        joiner = tutti.Node("c", members, join_only=True, suspect_after=40,
                            start_timeout=WATCHDOG)
        broken = tutti.Replicated(joiner, "counters", Broken())
        with pytest.raises(tutti.Error, match="cannot load"):
            joiner.start()
        joiner.close()
        assert reported == ["RuntimeError('cannot load')"]
        assert both.machines[1].execute(b"x", WATCHDOG) == 2
        del broken


def test_a_batch_that_was_overwritten_ends_it(monkeypatch):
    with Members("a", addresses("a")) as one:
        assert one.machines[0].execute(b"x", WATCHDOG) == 1
        with monkeypatch.context() as others:
            others.setattr(tutti.Batch, "intact", lambda _: False)
            with pytest.raises(tutti.Stopped, match="have gone on without this member"):
                one.machines[0].execute(b"x", WATCHDOG)
        with pytest.raises(tutti.Stopped, match="have gone on without this member"):
            one.machines[0].execute(b"x", WATCHDOG)
        assert counts(one.machines[0]) == {"x": 1}


def test_a_save_that_raises_lets_the_next_member_give_the_state(monkeypatch):
    reported = []
    monkeypatch.setattr("sys.unraisablehook", lambda what: reported.append(repr(what.exc_value)))

    class Broken(Counters):
        def save(self):
            raise RuntimeError("cannot save")

    members = addresses("abc")
    nodes = [tutti.Node(name, members, suspect_after=40, founders=2) for name in "ab"]
    machines = [tutti.Replicated(nodes[0], "counters", Broken()),
                tutti.Replicated(nodes[1], "counters", Counters())]
    try:
        start_all(nodes)
        machines[0].execute(b"x", WATCHDOG)
        with Members("c", members, join_only=True) as joined:
            assert joined.machines[0].execute(b"x", WATCHDOG) == 2
        assert reported == ["RuntimeError('cannot save')"]
    finally:
        for node in nodes:
            node.close()
