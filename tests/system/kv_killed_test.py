"""The durable key-value example is killed as a whole, again and again, while its clients set keys: it
comes back from snapshots and from what its logs have behind them.

TUTTI_KILL_ROUNDS says how often, TUTTI_KILL_SEED where the random numbers begin.
"""

import contextlib
import json
import os
import random
import shutil
import threading
import unittest

from kv_test import AService
from support import tutti, wait_until

ROUNDS = int(os.environ.get("TUTTI_KILL_ROUNDS", "5"))
SEED = int(os.environ.get("TUTTI_KILL_SEED", "1"))
VALUE = "x" * 20_000
KEYS = 10  # of each client, so that the store stays small while the log grows


class Setter(threading.Thread):
    """A client that sets its keys in turn to rising numbers, until its member is gone."""

    def __init__(self, client, name, past):
        super().__init__()
        self.client = client
        self.name = name
        self.asked = past.asked if past else 0
        self.acknowledged = past.acknowledged if past else {}  # by key: the last number
        self.count = 0
        self.problem = None

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                self.asked += 1
                key = f"{self.name}-{self.asked % KEYS}"
                answer = self.client.ask(f"set {key} {self.asked} {VALUE}")
                if not answer.startswith("ok"):
                    if answer and not answer.startswith("error"):
                        self.problem = answer
                    return
                self.acknowledged[key] = self.asked
                self.count += 1


class AStoreThatIsKilled(AService):
    def words(self, name):
        return (*super().words(name), "--snapshot-every", "1")

    def start_service(self):
        self.stores = dict(zip("abc", super().start_service()))

    def log_of(self, name):
        done = tutti("log", "info", "--json", os.path.join(self.folder, "state", name, "kv"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)[0]

    def listed(self, name):
        client = self.client(name)
        client.file.write("list\n")
        client.file.flush()
        entries = {}
        while len(words := client.file.readline().split(" ", 2)) == 3:
            entries[words[0]] = int(words[1])
        self.assertEqual(words, [str(len(entries)), "entries\n"],
                         f"{name} said {self.stores[name].lines()}")
        return entries

    def set_and_kill(self, draw, past):
        """Returns the clients, by name; `past` has those of the round before."""
        setters = {f"{name}{i}": Setter(self.client(name), f"{name}{i}", past.get(f"{name}{i}"))
                   for name in "abc" for i in range(2)}
        goal = draw.randrange(1, 400)
        for setter in setters.values():
            setter.start()
        wait_until(lambda: sum(setter.count for setter in setters.values()) >= goal or
                   not any(setter.is_alive() for setter in setters.values()), "sets")
        for name in draw.sample("abc", 3):
            self.stores[name].process.kill()
        for store in self.stores.values():
            store.end()
        for setter in setters.values():
            setter.join()
            self.assertIsNone(setter.problem)
        return setters

    def check(self, setters):
        """Nothing that was acknowledged is lost, and all have the same."""
        entries = self.listed("a")
        for setter in setters.values():
            for key, number in setter.acknowledged.items():
                self.assertGreaterEqual(entries.get(key, 0), number, f"{key} is lost")
            for key in range(KEYS):
                self.assertLessEqual(entries.get(f"{setter.name}-{key}", 0), setter.asked)
        for other in "bc":
            self.assertEqual(self.listed(other), entries)

    def test_nothing_that_was_acknowledged_is_lost(self):
        draw = random.Random(SEED)
        setters = {}
        self.bootstrap()
        for turn in range(ROUNDS):
            self.start_service()
            if turn:
                self.check(setters)
            setters = self.set_and_kill(draw, setters)
            if turn % 3 == 2:  # a disk is lost
                shutil.rmtree(os.path.join(self.folder, "state", draw.choice("abc")))
        self.start_service()
        self.check(setters)
        infos = [self.log_of(name) for name in "abc"]
        self.assertTrue(any(info["snapshots"] for info in infos), infos)
        self.assertTrue(any(info["first"] > 0 for info in infos), "no log was let go")


del AService  # its own tests run where it is defined

if __name__ == "__main__":
    unittest.main()
