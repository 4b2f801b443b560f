"""`tutti relay` and the Python client: processes that are no members publish and subscribe."""

import asyncio
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import SUSPECT_AFTER, TUTTI, WATCHDOG, free_ports, wait_until

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bindings/python"))
import tutti_client  # noqa: E402

TOPIC = "log:service=stored,history=keep_last(10000)"


def data_of(taken):
    return [one.data if isinstance(one, tutti_client.Sample) else one for one in taken]


class ClientsTest(unittest.TestCase):
    def setUp(self):
        self.relays = {}
        ports = free_ports(6)
        self.members = ",".join(f"{n}=127.0.0.1:{p}" for n, p in zip("abc", ports[:3]))
        self.listen = {n: f"127.0.0.1:{p}" for n, p in zip("abc", ports[3:])}

    def tearDown(self):
        for relay in self.relays.values():
            relay.kill()
            relay.wait(WATCHDOG)
            relay.stdout.close()

    def begin(self, name, *more):
        self.relays[name] = subprocess.Popen(
            [TUTTI, "relay", "--name", name, "--members", self.members, "--listen",
             self.listen[name], "--suspect-after", SUSPECT_AFTER, "--topic", TOPIC, *more], stdout=subprocess.PIPE, text=True)

    def await_relays(self):
        for name, relay in self.relays.items():
            self.assertEqual(relay.stdout.readline(), f"relay of {name} at {self.listen[name]}\n")

    def start(self, *more):
        for name in "abc":
            self.begin(name, *more)
        self.await_relays()

    def test_blocking_clients_publish_and_subscribe(self):
        self.start()
        with (tutti_client.Client([self.listen["a"]]) as writer,
              tutti_client.Client([self.listen["b"]]) as reader):
            self.assertEqual([one.name for one in reader.topics(WATCHDOG)], ["log"])
            subscription = reader.subscribe("log", "stored", timeout=WATCHDOG)
            positions = []
            for i in range(50):
                published = writer.publish("log", b"%d" % i, WATCHDOG)
                self.assertEqual(published.outcome, "delivered")
                sample = subscription.take(WATCHDOG)
                self.assertEqual((sample.data, sample.position), (b"%d" % i, published.position))
                positions.append(sample.position)
            late = writer.subscribe("log", positions[40], sample.epoch, timeout=WATCHDOG)
            self.assertEqual(data_of(late.take(WATCHDOG) for _ in range(10)),
                             [b"%d" % i for i in range(40, 50)])
            with self.assertRaises(TimeoutError):
                late.take(0.05)
            with self.assertRaises(tutti_client.RelayError):
                writer.topic("nothing", WATCHDOG)
            with self.assertRaises(ValueError):
                writer.publish("log", bytes(1 << 20), WATCHDOG)

    def test_a_token_is_asked_for(self):
        self.start("--token", "secret")
        with tutti_client.Client([self.listen["a"]], token="secret") as client:
            self.assertEqual(client.topic("log", WATCHDOG).name, "log")
        said = []
        with tutti_client.Client([self.listen["a"]], log=said.append) as stranger:
            with self.assertRaises(TimeoutError):
                stranger.topic("log", 0.5)
            wait_until(lambda: said, "the relay refuses it")
        self.assertIn("token", said[0])

    def test_asyncio_clients_lose_and_repeat_nothing_when_a_member_is_killed(self):
        self.start()

        async def run():
            relays = [self.listen["c"], self.listen["b"]]
            async with tutti_client.AsyncClient(relays) as client:
                subscription = await client.subscribe("log", "stored")
                first = [client.publish("log", b"%d" % i) for i in range(200)]
                waiting = [asyncio.ensure_future(one) for one in first]
                await waiting[20]
                self.relays["c"].send_signal(signal.SIGKILL)
                waiting += [asyncio.ensure_future(client.publish("log", b"%d" % i))
                            for i in range(200, 300)]
                outcomes = await asyncio.gather(*waiting)
                taken = [await subscription.take() for _ in range(300)]
                return outcomes, taken

        outcomes, taken = asyncio.run(asyncio.wait_for(run(), WATCHDOG))
        self.assertEqual({one.outcome for one in outcomes}, {"delivered"})
        self.assertEqual(data_of(taken), [b"%d" % i for i in range(300)])
        self.assertEqual([one.position for one in outcomes], [one.position for one in taken])

    def test_bad_words_are_refused(self):
        for words in ([], ["--topic", "log:deadline=3"], ["--topic", "log:service=best"],
                      ["--clients", "0"], ["--listen", "nowhere"]):
            with tempfile.TemporaryFile() as said:
                done = subprocess.run(
                    [TUTTI, "relay", "--name", "a", "--members", "a=127.0.0.1:0", *words],
                    stderr=said, check=False, timeout=WATCHDOG)
                self.assertEqual(done.returncode, 2)
        with self.assertRaises(ValueError):
            tutti_client.Client(["no port"])


if __name__ == "__main__":
    unittest.main()
