#!/usr/bin/env python3
"""Types that no topic can have are refused when they are compiled, with what to do instead.

${CXX} (default c++) only looks at the syntax. Exits 1 if a type is taken, or refused in other words.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REFUSED = [
    ("struct T { int* to; }; TUTTI_FIELDS(T, to);", "a topic's type has a pointer in it"),
    ("struct T { std::vector<long double> a; }; TUTTI_FIELDS(T, a);", "has a long double in it"),
    ("enum class E : long { a }; struct T { E e; }; TUTTI_FIELDS(T, e);", "has an enum of 8 bytes"),
    ("struct Q { int a; }; struct T { Q q; std::string s; }; TUTTI_FIELDS(T, q, s);",
     "whose fields are not known: name them by TUTTI_FIELDS"),
    ("struct T { int a; }; TUTTI_FIELDS(T, a); TUTTI_OPTIONS(T, .keys = {\"b\"});",
     "TUTTI_OPTIONS names a field that TUTTI_FIELDS does not"),
    ("struct T { int a, b; }; TUTTI_FIELDS(T, a, b); TUTTI_OPTIONS(T, .ids = {{\"a\", 1}, {\"b\", 1}});",
     "or two fields have the same id"),
    ("struct T { std::vector<std::optional<int>> a; }; TUTTI_FIELDS(T, a);",
     "only a field can be one"),
    ("struct T { std::variant<int, float> a; }; TUTTI_FIELDS(T, a);", "tutti::dds::Union<"),
]


def refused(text, words):
    code = ('#include "tutti/dds/cdr.hpp"\n' + text +
            "\nvoid f(const T& t, std::vector<std::byte>& b) { (void)tutti::dds::encode(t, b); }\n")
    done = subprocess.run(
        [os.environ.get("CXX", "c++"), "-x", "c++", "-std=c++23", "-fsyntax-only",
         f"-I{ROOT / 'include'}", "-"], input=code, capture_output=True, text=True, check=False)
    good = done.returncode != 0 and words in done.stderr
    print(f"{'refused' if good else 'NOT REFUSED in these words'}: {words}")
    if not good:
        print(done.stderr, end="")
    return good


if __name__ == "__main__":
    sys.exit(0 if all([refused(*each) for each in REFUSED]) else 1)
