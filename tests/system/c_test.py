"""The C interface as a program in C uses it: three members, what a program may do wrong, and that
no option of the C++ interface is missing in C."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import TUTTI, WATCHDOG, free_ports

BIN = os.path.dirname(TUTTI)
INCLUDE = Path(__file__).resolve().parents[2] / "include/tutti"
COUNT = 2000


class Members(unittest.TestCase):
    def deliver(self, modes):
        """Three members, each taking its messages in that way. Returns what they printed."""
        addresses = ",".join(f"{name}=127.0.0.1:{port}"
                             for name, port in zip("abc", free_ports(3)))
        with tempfile.TemporaryDirectory() as folder:
            outputs = [open(os.path.join(folder, name), "w+", encoding="utf-8") for name in "abc"]
            errors = [open(os.path.join(folder, name + ".err"), "w+", encoding="utf-8")
                      for name in "abc"]
            members = [subprocess.Popen([os.path.join(BIN, "c_member"), name, addresses, mode,
                                         str(COUNT)], stdout=output, stderr=error)
                       for name, mode, output, error in zip("abc", modes, outputs, errors)]
            try:
                status = [member.wait(WATCHDOG) for member in members]
            finally:
                for member in members:
                    member.kill()
                    member.wait()
                for file in (*outputs, *errors):
                    file.seek(0)
                said = [file.read() for file in errors]
                printed = [file.read() for file in outputs]
                for file in (*outputs, *errors):
                    file.close()
        self.assertEqual(status, [0, 0, 0], said)
        for text in said:
            self.assertIn("view 1: a b c\n", text)
            self.assertIn(f"delivered {3 * COUNT}\n", text)
        return printed

    def check(self, *modes):
        printed = self.deliver(modes)
        self.assertEqual(printed[0], printed[1])
        self.assertEqual(printed[0], printed[2])
        lines = printed[0].splitlines()
        self.assertEqual([int(line.split()[0]) for line in lines], list(range(3 * COUNT)))
        for name in "abc":
            own = [line.split(" ", 2)[2] for line in lines if line.split()[1] == name]
            self.assertEqual(own, [f"{name} says {i}" for i in range(COUNT)])

    def test_callbacks(self):
        self.check("callback", "callback", "callback")

    def test_taking_by_a_call_that_waits_and_in_an_event_loop(self):
        self.check("take", "event", "callback")


class Misuse(unittest.TestCase):
    def test_each_is_an_error_and_never_a_crash(self):
        done = subprocess.run([os.path.join(BIN, "c_misuse"), f"127.0.0.1:{free_ports(1)[0]}"],
                              capture_output=True, text=True, timeout=WATCHDOG, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "0 failures\n"), done.stderr)


def struct_of(text, name):
    """The fields of a struct, by a header's text."""
    body = re.search(rf"struct {name} \{{(.*?)\n\}}", text, re.S).group(1)
    body = re.sub(r"/\*.*?\*/|//[^\n]*", "", body, flags=re.S)
    body = re.sub(r"\n  \[\[nodiscard\]\][^;]*;", "", body)
    fields = []
    for line in filter(None, (part.strip() for part in body.split(";"))):
        function = re.search(r"\(\*(\w+)\)\(", line)
        word = function or re.search(r"(\w+)\s*(?:\{[^}]*\}|=.*)?$", line, re.S)
        fields.append(word.group(1))
    return fields


def enum_of(text, name):
    body = re.search(rf"enum (?:class )?{name}\b[^{{]*\{{(.*?)\}}", text, re.S).group(1)
    body = re.sub(r"/\*.*?\*/|//[^\n]*", "", body, flags=re.S)
    return [word.split("=")[0].strip() for word in body.split(",") if word.strip()]


class Parity(unittest.TestCase):
    """What C++ has, C has. What has another form there is listed here, and nothing else."""

    OTHERWISE = {
        "idle": ["idle_spin_ns", "idle_yield_ns", "idle_sleep"],
        "members": ["members", "member_count"], "senders": ["senders", "sender_count"],
        "snapshot": [],  # save_state is the way in C
    }
    TIMES = {"start_timeout", "suspect_after", "slow_after", "remove_after", "tick_every",
             "snapshot_every"}
    OF_C = {"size", "user"}
    OF_GROUPS_IN_C = {"on_tick"}  # of a replicated machine: TakesTicks in C++

    def test_options(self):
        cpp = (INCLUDE / "options.hpp").read_text(encoding="utf-8")
        c = (INCLUDE / "c/options.h").read_text(encoding="utf-8")
        for there, here in (("NodeOptions", "tutti_node_options"),
                            ("GroupOptions", "tutti_group_options")):
            wanted = set(self.OF_C)
            if there == "GroupOptions":
                wanted |= self.OF_GROUPS_IN_C
            for field in struct_of(cpp, there):
                wanted |= set(self.OTHERWISE.get(
                    field, [field + "_ns" if field in self.TIMES else field]))
            self.assertEqual(set(struct_of(c, here)), wanted, there)

    def test_enumerations(self):
        cpp = "".join((INCLUDE / name).read_text(encoding="utf-8")
                      for name in ("types.hpp", "error.hpp", "options.hpp", "view.hpp",
                                   "group.hpp", "claim.hpp"))
        c = "".join((INCLUDE / "c" / name).read_text(encoding="utf-8")
                    for name in ("types.h", "options.h", "group.h"))
        for there, here, prefix in (
                ("Order", "tutti_order", "TUTTI_ORDER_"),
                ("Level", "tutti_level", "TUTTI_LEVEL_"),
                ("Service", "tutti_service", "TUTTI_SERVICE_"),
                ("FabricChoice", "tutti_fabric", "TUTTI_FABRIC_"),
                ("Drive", "tutti_drive", "TUTTI_DRIVE_"),
                ("DeliveryThread", "tutti_delivery", "TUTTI_DELIVERY_"),
                ("LogLevel", "tutti_log_level", "TUTTI_LOG_"),
                ("LeftReason", "tutti_left_reason", "TUTTI_"),
                ("ClaimOutcome", "tutti_claim_outcome", "TUTTI_CLAIM_")):
            self.assertEqual([prefix + word.upper() for word in enum_of(cpp, there)],
                             enum_of(c, here), there)
        codes = ["TUTTI_OK"] + ["TUTTI_E_" + word.upper() for word in enum_of(cpp, "ErrorCode")]
        self.assertEqual(codes, enum_of(c, "tutti_code"))

    def test_statistics(self):
        cpp = (INCLUDE / "statistics.hpp").read_text(encoding="utf-8")
        c = (INCLUDE / "c/group.h").read_text(encoding="utf-8")
        histograms = {"send", "receive", "delivery", "pending", "persist"}
        self.assertEqual(struct_of(c, "tutti_group_statistics"),
                         ["size"] + [field for field in struct_of(cpp, "GroupStatistics")
                                     if field not in histograms])


if __name__ == "__main__":
    unittest.main()
