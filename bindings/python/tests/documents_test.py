"""Every snippet of docs/python.md runs, and examples/hello.py in three processes."""

import asyncio
import re
import subprocess
import sys

import numpy
import pytest
import tutti
from cluster import ROOT, WATCHDOG, addresses, free_ports

SNIPPETS = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/python.md").read_text("utf-8"),
                      re.M | re.S)


def test_there_are_snippets():
    assert len(SNIPPETS) >= 4


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_a_snippet(snippet):
    names = {"tutti": tutti, "numpy": numpy, "asyncio": asyncio, "members": addresses("a")}
    exec(compile(snippet, "docs/python.md", "exec"), names)


def test_three_processes_print_the_same(tmp_path):
    text = (ROOT / "examples/hello.py").read_text("utf-8")
    shown = re.search(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"),
                      re.M | re.S)[1]
    assert shown in text  # what README.md shows is this program
    for address in addresses().values():
        text = re.sub(r"127\.0\.0\.1:710\d", address, text, count=1)
    text = text.replace("members)", "members, suspect_after=40)")  # a busy machine may hold one up
    program = tmp_path / "hello.py"
    program.write_text(text)
    members = [subprocess.Popen([sys.executable, program, name], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True) for name in "abc"]
    outputs = [member.communicate(timeout=WATCHDOG) for member in members]
    assert [member.returncode for member in members] == [0, 0, 0], outputs
    assert outputs[0] == outputs[1] == outputs[2]
    lines = outputs[0][0].splitlines()
    assert [line.split()[0] for line in lines] == ["0", "1", "2"]
    assert sorted(line.split(" ", 1)[1] for line in lines) == [
        f"{name} hello from {name}" for name in "abc"]


def test_the_demo_says_identical(tmp_path):
    for i in range(40):
        (tmp_path / f"{i}.md").write_text("".join(f"{i} says {n}\n" for n in range(500)))
    ports = map(str, free_ports(3))
    done = subprocess.run([sys.executable, ROOT / "examples/demo.py", tmp_path, *ports],
                          timeout=WATCHDOG, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("member c was killed on the way\n") and done.stdout.endswith("identical\n")
