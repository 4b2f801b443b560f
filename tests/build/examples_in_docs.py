#!/usr/bin/env python3
"""Compiles the examples in README.md and docs/: does each still say what the headers offer?

A block that starts with ```cpp and includes nothing is the body of a function that knows `members`.
One that starts with ```c is C; where libuv is not installed, one that includes it is not compiled.
${CXX} (default c++) only looks at the syntax. Exits 1 if a block does not compile, or if none is
found.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(cpp|c)\n(.*?)^```", re.M | re.S)
BODY = """#include <poll.h>

#include <cstdio>

#include "tutti/tutti.hpp"
[[maybe_unused]] static void example(const std::vector<tutti::MemberAddress>& members) {{
{}}}
"""


def has_libuv():
    return subprocess.run(["pkg-config", "--exists", "libuv"], check=False).returncode == 0


def compile_block(language, text, where):
    if "#include <uv.h>" in text and not has_libuv():
        print(f"{where}: not compiled, there is no libuv")
        return True
    code = text if "#include" in text else BODY.format(text)
    options = ["-x", "c++", "-std=c++23"] if language == "cpp" else ["-x", "c", "-std=gnu99"]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "example")
        source.write_text(code, encoding="utf-8")
        done = subprocess.run(
            [os.environ.get("CXX", "c++"), *options, "-fsyntax-only", "-Wall", "-Werror",
             f"-I{ROOT / 'include'}", str(source)], capture_output=True, text=True, check=False)
    print(f"{where}: {'compiles' if done.returncode == 0 else 'does not compile'}")
    print(done.stderr, end="")
    return done.returncode == 0


def main():
    blocks = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = path.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            blocks.append((match[1], match[2], f"{path.relative_to(ROOT)}:{line}"))
    good = [compile_block(*block) for block in blocks]
    return 0 if good and all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
