#!/usr/bin/env python3
"""What libtutti shows to programs is what is written down here.

    abi_test.py LIBRARY C_INTERFACE [--update]

cpp_names.txt lists the exported names of C++, c.abi the types and functions of the C interface, of
which C_INTERFACE has the debugging information. After a change that is meant, --update writes both
files anew: read the difference before you commit it.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEADERS = HERE.parents[1] / "include/tutti"
NAMES = HERE / "cpp_names.txt"
INTERFACE = HERE / "c.abi"
# Bits of abidiff's status.
FAILED = 1 | 2
UPDATE = "If the change is meant, run tests/abi/abi_test.py with --update"


def output_of(*command):
    try:
        return subprocess.run(command, check=True, text=True, capture_output=True).stdout
    except FileNotFoundError:
        sys.exit(f"{command[0]} is missing: install the packages of section [abi] of packages.txt")
    except subprocess.CalledProcessError as problem:
        sys.exit(f"{' '.join(map(str, command))}: {problem.stderr}")


def cpp_names(library):
    """One per line, without those of the C interface."""
    lines = output_of("nm", "-DC", "--defined-only", library).splitlines()
    names = {line.split(maxsplit=2)[2] for line in lines}
    return "".join(f"{name}\n" for name in sorted(names) if not name.startswith("tutti_"))


def c_interface(library):
    """The functions and the types of their arguments, as the headers for C have them."""
    return output_of("abidw", "--exported-interfaces-only", "--drop-private-types", "--headers-dir",
                     HEADERS / "c", "--header-file", HEADERS / "tutti.h", "--no-show-locs",
                     "--no-comp-dir-path", "--no-corpus-path", "--no-architecture",
                     "--type-id-style", "hash", library)


def compare_names(now):
    before = NAMES.read_text(encoding="utf-8")
    if now == before:
        return True
    gone = sorted(set(before.splitlines()) - set(now.splitlines()))
    new = sorted(set(now.splitlines()) - set(before.splitlines()))
    print("The exported names of C++ are not those of tests/abi/cpp_names.txt.", UPDATE)
    print("\n".join([f"  gone: {name}" for name in gone] + [f"  new: {name}" for name in new]))
    return False


def compare_interface(now):
    with tempfile.NamedTemporaryFile("w", suffix=".abi", encoding="utf-8") as file:
        file.write(now)
        file.flush()
        result = subprocess.run(["abidiff", INTERFACE, file.name], check=False, text=True,
                                capture_output=True)
    if result.returncode == 0:
        return True
    if result.returncode & FAILED:
        print(f"abidiff failed: {result.stderr}")
    else:
        print("The C interface is not that of tests/abi/c.abi. Functions may be added, and fields at",
              "the end of an options struct; whatever else changes breaks programs, and needs another",
              "TUTTI_ABI_VERSION.", UPDATE)
    print(result.stdout)
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="libtutti.so")
    parser.add_argument("c_interface", help="bindings/c with debugging information")
    parser.add_argument("--update", action="store_true", help="write down what is there now")
    arguments = parser.parse_args()
    names = cpp_names(arguments.library)
    interface = c_interface(arguments.c_interface)
    if arguments.update:
        NAMES.write_text(names, encoding="utf-8")
        INTERFACE.write_text(interface, encoding="utf-8")
        return 0
    return 0 if all([compare_names(names), compare_interface(interface)]) else 1


if __name__ == "__main__":
    sys.exit(main())
