"""Three members as Python processes stream the text of a folder to one another; one is killed on
the way. The outputs of the others must be identical, and that of the killed one their beginning.

    demo.py [FOLDER [PORT PORT PORT]]     (of 127.0.0.1; by default any that are free)
"""

import contextlib
import hashlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import tutti

NAMES = "abc"
VICTIM = "c"  # it kills itself
SUFFIXES = {".cpp", ".hpp", ".h", ".md", ".py"}


def send(group, folder):
    """Sends all lines of the folder's text, many in one call."""
    for path in sorted(Path(folder).rglob("*")):
        if path.suffix in SUFFIXES and path.is_file() and "build" not in path.parts:
            lines = path.read_bytes().splitlines(keepends=True)
            group.send_many(b"".join(lines), [len(line) for line in lines])
    group.finish()


def member(name, addresses, folder, output):
    # The one that is killed is seen by its connection. A busy machine may hold up the others.
    with (tutti.Node(name, addresses, fabric="shm", suspect_after=40) as node,
          open(output, "wb", 0) as file):
        group = node.join("text")
        node.start()
        threading.Thread(target=send, args=(group, folder)).start()
        for batch in group:
            if name == VICTIM and file.tell() > 100_000:
                os.kill(os.getpid(), signal.SIGKILL)
            file.write(b"".join(b"%d %d %b" % (message.seq, message.sender, bytes(message))
                                for message in batch))


def free_ports():
    """Below those that the system gives to outgoing connections: one of these may be gone before
    the member listens that it was meant for."""
    probes, ports = [], []
    for port in random.sample(range(10000, 21000), 1000):
        probe = socket.socket()  # all open until the end, so that no port comes twice
        probes.append(probe)
        with contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            ports.append(port)
        if len(ports) == len(NAMES):
            break
    for probe in probes:
        probe.close()
    return ports


def main(folder, *ports):
    addresses = json.dumps({name: f"127.0.0.1:{port}"
                            for name, port in zip(NAMES, ports or free_ports(), strict=True)})
    with tempfile.TemporaryDirectory() as outputs:
        files = {name: Path(outputs, name) for name in NAMES}
        members = {name: subprocess.Popen([sys.executable, __file__, "--member", name, addresses,
                                           folder, str(files[name])]) for name in NAMES}
        status = {name: process.wait() for name, process in members.items()}
        if status[VICTIM] == -signal.SIGKILL:
            print(f"member {VICTIM} was killed on the way")
        texts = {name: file.read_bytes() for name, file in files.items()}
        for name, text in texts.items():
            print(f"member {name}: {text.count(10)} lines, sha256 "
                  f"{hashlib.sha256(text).hexdigest()[:16]}")
        survivors = [name for name in NAMES if name != VICTIM]
        same = all(status[name] == 0 and texts[name] == texts[survivors[0]] for name in survivors)
        if not same or not texts[survivors[0]].startswith(texts[VICTIM]):
            sys.exit("the outputs differ")
        print("identical")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--member"]:
        member(sys.argv[2], json.loads(sys.argv[3]), *sys.argv[4:])
    else:
        main(*sys.argv[1:] or [str(Path(__file__).resolve().parents[1])])
