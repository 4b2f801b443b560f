#!/usr/bin/env python3
"""Checks what the compiler does not: which folder may include which, and what the core may use.

    architecture_test.py [ROOT]       check the tree (default: the one this file is in)
    architecture_test.py --self-test  prove that forged bad trees are refused

${CXX} (default c++) compiles each public header alone. One line per finding; exits 1 if any.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Each folder of src/ may include itself and what stands before it; tutti/ is open to all.
LIBRARY = ("base xcdr log restart fabric sst smc flow predicates multicast ring membership requests "
           "engine node dds relay").split()
# Not in libtutti: a library of their own, for the command, the tests and the benchmarks.
# client is for programs that are no members: it is linked without libtutti.
TOOLS = "client history doctor sim".split()
LAYERS = LIBRARY + TOOLS + ["cli"]
# The checker judges the others, so it uses nothing of theirs.
# A client knows the frames, nothing else of the library.
ONLY = {"history": {"base", "history"}, "client": {"base", "relay", "client"}}

# Single-threaded state machines: time and effects come and go through step().
CORE = {"sst", "flow", "smc", "predicates", "multicast", "ring", "membership", "requests",
        "engine", "restart"}
BANNED_IN_CORE = [(re.compile(pattern, re.M), word) for pattern, word in (
    (r"\bstd\s*::\s*\w*mutex\b", "a mutex"),
    (r"\bstd\s*::\s*condition_variable\w*", "a condition variable"),
    (r"\bstd\s*::\s*j?thread\b", "a thread"),
    (r"\bpthread_\w+", "a thread"),
    (r"\bsleep_(for|until)\b", "a sleep"),
    (r"\b\w+_clock\b", "a clock"),
    (r"\b(clock_gettime|gettimeofday)\b", "a clock"),
    (r"\b(secure_)?getenv\b", "an environment variable"),
    (r"\b(s?rand|random|drand48)\s*\(|\brandom_device\b", "a random source"),
    (r"\bunordered_\w+", "a hash map"),
    (r"\b(m|c|re|aligned_)alloc\s*\(|\bposix_memalign\b", "an allocation"),
    (r"^[ \t]*#[ \t]*include[ \t]*<(mutex|shared_mutex|thread|condition_variable|random"
     r"|unordered_map|unordered_set|iostream|fstream)>", "a header of such things"),
)]

# Who may use what is not ours: first folder of the include -> folders of src/.
FOREIGN = {
    "boost": {"fabric", "node", "relay", "client", "cli"},
    "nlohmann": {"xcdr", "node", "cli"},
    "spdlog": {"cli"},
    "CLI": {"cli"},
    "infiniband": {"fabric"},
    "rdma": {"fabric"},
}

# Headers that cost a compiler seconds: included in .cpp files only. What they declare is named in
# headers by a forward declaration (cli/cli11_fwd.hpp, <nlohmann/json_fwd.hpp>).
HEAVY = re.compile(r"CLI/.*|spdlog/.*|nlohmann/json\.hpp|boost/asio\.hpp")
# Headers that exist for the .cpp files that convert to JSON and back.
HEAVY_ALLOWED = re.compile(r".*_json\.hpp")

CODE = {".hpp", ".h", ".cpp"}
TEXT = CODE | {".py", ".sh", ".md", ".txt", ".cmake", ".in", ".json", ".yml", ".map",
               ".pml"}
TEXT_NAMES = {"dev", "run", ".clang-format", ".clang-tidy", ".editorconfig", ".gitignore"}
ROOTS = ("include src tools tests perf examples bindings docs models cmake deploy .ci").split()
HEADER_LINES_MAX = 250
FILE_LINES_MAX = 400
COLUMNS_MAX = 100

STD_HEADER = re.compile(r"[a-z_0-9]+")
C_HEADER = re.compile(r"std[a-z]+\.h")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)

# What a header's first comment says of an invariant begins with its label: in a list, or in a
# sentence. Elsewhere a label is only cited.
FILE_COMMENT = re.compile(r"\A(?:///[^\n]*\n)+")
INVARIANT = re.compile(r"(?:^///  |\b[Ii]nvariants?:?(?: |\n/// )|[.;:](?: |\n/// ))"
                       r"([A-Z]{1,2}\d{1,2})(?=:? )(?! (?:to|and|see|of)\b)", re.M)

# Numbers first, so that the quotes in 1'000 open no character literal.
TOKEN = re.compile(
    r"""(?P<number>\b\d[\w.]*(?:'[\w.]+)*)
      | (?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
      | (?P<include>^[ \t]*\#[ \t]*include[ \t]*[<"][^>"\n]+[>"])
      | (?P<literal>R"(?P<mark>[^\s()\\]*)\(.*?\)(?P=mark)"
          | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*')""", re.S | re.M | re.X)


def code_only(text):
    """The text without comments and literals, its lines where they were."""
    def blank(match):
        if match["number"] or match["include"]:
            return match[0]
        return (" " if match["comment"] else '""') + "\n" * match[0].count("\n")
    return TOKEN.sub(blank, text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


class Tree:
    def __init__(self, root):
        self.root = Path(root)
        self.findings = []
        self.invariants = {}  # label -> where it was defined first

    def report(self, path, line, what):
        self.findings.append(f"{path.relative_to(self.root)}:{line}: {what}")

    def files(self):
        yield from (p for p in sorted(self.root.iterdir()) if p.is_file())
        for folder in ROOTS:
            for path in sorted((self.root / folder).rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    yield path

    def check(self):
        for path in self.files():
            if path.suffix not in TEXT and path.name not in TEXT_NAMES:
                continue
            text = path.read_text(encoding="utf-8")
            self.check_text(path, text)
            if path.suffix in CODE:
                parts = path.relative_to(self.root).parts
                code = code_only(text)
                if path.suffix != ".cpp":
                    self.check_invariants(path, text)
                if path.suffix != ".cpp" and parts[0] != "include":
                    self.check_weight(path, code)
                if parts[0] == "src":
                    self.check_layer(path, parts, code)
                elif parts[:2] == ("include", "tutti"):
                    self.check_public(path, code)
        self.check_public_headers_compile()
        return self.findings

    def check_text(self, path, text):
        lines = text.split("\n")
        for number, line in enumerate(lines, 1):
            if line != line.rstrip():
                self.report(path, number, "trailing blanks")
            if path.suffix in CODE and len(line) > COLUMNS_MAX:
                self.report(path, number, f"{len(line)} columns, at most {COLUMNS_MAX}")
        if text and not text.endswith("\n"):
            self.report(path, len(lines), "no line end at the end of the file")
        if path.suffix in CODE | {".py", ".sh"}:
            limit = HEADER_LINES_MAX if path.suffix in {".hpp", ".h"} else FILE_LINES_MAX
            if text.count("\n") > limit:
                self.report(path, limit + 1, f"{text.count(chr(10))} lines, at most {limit}")

    def check_invariants(self, path, text):
        """A label is that of one invariant: who looks for it finds one place."""
        comment = FILE_COMMENT.match(text)
        for match in INVARIANT.finditer(comment[0]) if comment else ():
            here = f"{path.relative_to(self.root)}:{line_of(text, match.start(1))}"
            before = self.invariants.setdefault(match[1], here)
            if before != here:
                self.report(path, line_of(text, match.start(1)),
                            f"{match[1]} is the label of an invariant in {before}")

    def check_layer(self, path, parts, code):
        layer = parts[1] if len(parts) > 2 else None
        if layer not in LAYERS:
            self.report(path, 1, f"not in a folder of src/ known here: {' '.join(LAYERS)}")
            return
        allowed = ONLY.get(layer) or LAYERS[:LAYERS.index(layer) + 1]
        for match in INCLUDE.finditer(code):
            line, name = line_of(code, match.start(2)), match[2]
            first = name.split("/")[0] if "/" in name else None
            if match[1] == '"':
                if first not in LAYERS and first != "tutti":
                    self.report(path, line, f'"{name}" is not named from src/ or include/')
                elif first in TOOLS and layer in LIBRARY:
                    self.report(path, line, f'libtutti comes without {first}: "{name}"')
                elif first != "tutti" and first not in allowed:
                    self.report(path, line, f'{layer} may not include {first}: "{name}"')
            elif layer not in FOREIGN.get(first, {layer}):
                self.report(path, line, f"{layer} may not use <{name}>")
        if layer in CORE:
            for pattern, word in BANNED_IN_CORE:
                for match in pattern.finditer(code):
                    self.report(path, line_of(code, match.start()),
                                f"{word} in the core: {match[0].strip()}")

    def check_weight(self, path, code):
        for match in INCLUDE.finditer(code):
            if HEAVY.fullmatch(match[2]) and not HEAVY_ALLOWED.fullmatch(path.name):
                self.report(path, line_of(code, match.start(2)),
                            f"<{match[2]}> takes seconds to compile: include it in .cpp files only")

    def check_public(self, path, code):
        for match in INCLUDE.finditer(code):
            name = match[2]
            known = name.startswith("tutti/")
            if match[1] == "<":
                known = known or STD_HEADER.fullmatch(name) or C_HEADER.fullmatch(name)
            if not known:
                self.report(path, line_of(code, match.start(2)),
                            f"a public header includes only std and tutti/, not {name}")

    def check_public_headers_compile(self):
        compiler = os.environ.get("CXX", "c++").split()
        folder = self.root / "include"
        headers = sorted((folder / "tutti").rglob("*.h*"))

        def compiled(path):
            return subprocess.run(
                [*compiler, "-std=c++23", "-Wall", "-Wextra", "-fsyntax-only", "-I", str(folder),
                 "-x", "c++", "-"],
                input=f'#include "{path.relative_to(folder)}"\n', capture_output=True, text=True,
                check=False)

        with ThreadPoolExecutor(os.cpu_count()) as compilers:
            for path, done in zip(headers, compilers.map(compiled, headers), strict=True):
                if done.returncode != 0:
                    self.report(path, 1, "does not compile alone:\n" + done.stderr)


class SelfTest(unittest.TestCase):
    def findings(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return Tree(folder).check()

    def refuses(self, name, text, *words):
        found = self.findings({name: text})
        self.assertEqual(len(found), 1, found)
        for word in (name, *words):
            self.assertIn(word, found[0])

    def accepts(self, files):
        self.assertEqual(self.findings(files), [])

    def test_accepts_a_good_tree(self):
        self.accepts({
            "include/tutti/a.hpp": '#pragma once\n#include <span>\n#include "tutti/b.hpp"\n',
            "include/tutti/b.hpp": "#pragma once\n#include <cstdint>\n",
            "src/smc/ring.hpp": '#include "sst/table.hpp"\n#include "tutti/b.hpp"\n',
            "src/fabric/tcp/a.cpp": "#include <boost/asio.hpp>\n#include <mutex>\n",
            "src/node/a.cpp": "std::mutex m; std::thread t;\n",
            "docs/a.md": "x" * 200 + "\n"})

    def test_refuses_an_include_that_points_up(self):
        self.refuses("src/sst/a.hpp", '\n#include "smc/ring.hpp"\n', ":2:", "sst may not")

    def test_refuses_tools_in_the_library(self):
        for layer in LIBRARY:
            for tool in TOOLS:
                with self.subTest(layer=layer, tool=tool):
                    self.refuses(f"src/{layer}/a.cpp", f'#include "{tool}/a.hpp"\n',
                                 f"libtutti comes without {tool}")

    def test_refuses_a_checker_that_uses_what_it_judges(self):
        self.refuses("src/history/a.cpp", '#include "membership/a.hpp"\n', "history may not")
        self.accepts({"src/history/a.cpp": '#include "base/a.hpp"\n',
                      "src/sim/a.cpp": '#include "history/a.hpp"\n#include "engine/a.hpp"\n'})

    def test_refuses_an_include_beside_the_layers(self):
        self.refuses("src/sst/a.hpp", '#include "table.hpp"\n', "not named from src/")
        self.refuses("src/sst/a.hpp", '#include "../smc/ring.hpp"\n', "not named from src/")

    def test_refuses_an_unknown_folder(self):
        self.refuses("src/misc/a.hpp", "", "not in a folder")
        self.refuses("src/a.hpp", "", "not in a folder")

    def test_refuses_foreign_headers_where_they_do_not_belong(self):
        self.refuses("src/multicast/a.cpp", "#include <boost/asio.hpp>\n", "<boost/asio.hpp>")
        self.refuses("src/node/a.cpp", "#include <spdlog/spdlog.h>\n", "spdlog")

    def test_refuses_heavy_headers_in_headers(self):
        for name in ("CLI/CLI.hpp", "nlohmann/json.hpp", "spdlog/spdlog.h", "boost/asio.hpp"):
            folder = "tests/support" if name.startswith("boost") else "src/cli"
            with self.subTest(name=name):
                self.refuses(f"{folder}/a.hpp", f"#pragma once\n#include <{name}>\n", ":2:",
                             "in .cpp files only")
                self.accepts({f"{folder}/a.cpp": f"#include <{name}>\n"})
        self.accepts({"src/cli/a.hpp": "#include <nlohmann/json_fwd.hpp>\n",
                      "src/cli/a_json.hpp": "#include <nlohmann/json.hpp>\n"})

    def test_refuses_foreign_headers_in_public_ones(self):
        for name in ("<infiniband/verbs.h>", "<spdlog/spdlog.h>", '"sst/table.hpp"'):
            found = self.findings({"include/tutti/a.hpp": f"#include {name}\n"})
            self.assertIn("a public header includes only", found[0])

    def test_refuses_a_public_header_that_does_not_compile_alone(self):
        self.refuses("include/tutti/a.hpp", "inline std::string s;\n", "does not compile alone")

    def test_refuses_each_banned_word_in_the_core(self):
        for text in ("std::mutex m;", "std::shared_mutex m;", "std::thread t;", "std::jthread t;",
                     "std::chrono::steady_clock::now();", "clock_gettime(0, 0);",
                     'std::getenv("A");', "int a = rand();", "std::unordered_map<int, int> m;",
                     "std::this_thread::sleep_for(a);", "void* p = malloc(1);",
                     "#include <mutex>", "#include <thread>"):
            for layer in CORE:
                with self.subTest(text=text, layer=layer):
                    self.refuses(f"src/{layer}/a.cpp", text + "\n", "in the core")

    def test_comments_and_strings_are_not_code(self):
        self.accepts({"src/sst/a.cpp": (
            "// no std::mutex \\\n std::mutex\n/* std::thread\n rand() */\n"
            'auto a = "\\" std::mutex"; auto b = R"x(")" std::mutex)x"; int c = 1\'000;\n'
            "// #include \"smc/ring.hpp\"\nchar d = '\"'; char e = '\\'';\n"
            "int operand(int); int f = operand(1); int g_clockwise;\n")})
        self.refuses("src/sst/a.cpp", "/* a\n */ int c = 1'000; std::mutex m; // '\n", ":2:")
        self.refuses("src/sst/a.cpp", "char d = '\"'; std::mutex m; char e = '\"';\n", "mutex")

    def test_refuses_two_invariants_of_one_label(self):
        one = "/// \\file a.hpp\n/// Invariants: Q1 a; Q2 b. Q3: c\n"
        self.refuses("src/sst/a.hpp", one + "/// and what it says. Q2 d.\n", ":3:", "Q2")
        self.assertEqual(len(self.findings({
            "src/sst/a.hpp": one, "src/sst/b.hpp": "/// Invariants:\n///  Q1  a\n///  Q3  b\n"})),
            2)
        self.accepts({"src/sst/a.hpp": one,
                      "src/sst/b.hpp": "/// As Q1 says (Q2). Q1 to Q3 hold.\n// Q3 here.\n"})

    def test_refuses_long_and_untidy_text(self):
        self.refuses("src/sst/a.hpp", "\n" * 251, "251 lines")
        self.refuses("src/sst/a.cpp", "\n" * 401, "401 lines")
        self.refuses("tests/unit/sst/a.cpp", "//" + "x" * 99 + "\n", "101 columns")
        self.refuses("docs/a.md", "a \n", "trailing blanks")
        self.refuses("docs/a.md", "a", "no line end")


def main():
    if sys.argv[1:] == ["--self-test"]:
        unittest.main(argv=sys.argv[:1])
    root = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    findings = Tree(root).check()
    print(*findings, sep="\n", end="\n" if findings else "")
    print(f"{len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
