"""`tutti idl` makes C++ of IDL, and says what to write where it cannot."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import TUTTI

GOLDEN = Path(__file__).resolve().parents[1] / "unit/dds/idl"


def plugin_is_there():
    return shutil.which("idlc") and (Path(TUTTI).resolve().parents[1] /
                                     "lib/libtutti_idl.so").exists()


@unittest.skipUnless(plugin_is_there(), "idlc of cyclonedds-tools 0.10 is not installed")
class Idl(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def idl(self, *words):
        return subprocess.run([TUTTI, "idl", *map(str, words)], capture_output=True, text=True,
                              timeout=60, check=False)

    def make(self, text, name="a.idl"):
        (self.folder / name).write_text(text, encoding="utf-8")
        return self.idl(self.folder / name, "-o", self.folder / "out")

    def test_makes_what_is_compiled_in_the_unit_tests(self):
        done = self.idl(GOLDEN / "weather.idl", "-o", self.folder / "new/folder")
        self.assertEqual(done.returncode, 0, done.stderr)
        made = (self.folder / "new/folder/weather.hpp").read_text(encoding="utf-8")
        self.assertEqual(made, (GOLDEN / "weather.hpp").read_text(encoding="utf-8"))

    def test_refers_to_the_headers_of_included_files(self):
        (self.folder / "b.idl").write_text(
            "module m { @final struct B { long one; }; };\n", encoding="utf-8")
        done = self.make('#include "b.idl"\nmodule m { @final struct A { B two; }; };\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        made = (self.folder / "out/a.hpp").read_text(encoding="utf-8")
        self.assertIn('#include "b.hpp"', made)
        self.assertIn("::m::B two{};", made)
        self.assertNotIn("struct B", made)

    def refuses(self, text, *words):
        done = self.make(text)
        self.assertNotEqual(done.returncode, 0)
        for word in ("a.idl", *words):
            self.assertIn(word, done.stdout + done.stderr)
        self.assertFalse((self.folder / "out/a.hpp").exists())

    def test_refuses_what_has_no_extensibility(self):
        self.refuses("struct A { long one; };\n", "A does not say how it may change",
                     "write @final, @appendable or @mutable")
        self.refuses("@final struct B { long one; };\nunion A switch (long) { case 1: B one; };\n",
                     "A does not say how it may change")

    def test_refuses_what_cxx_has_not(self):
        self.refuses("@final struct A { long operator; };\n", "'operator' is a keyword of C++")
        self.refuses("@final struct A { wstring one; };\n")
        self.refuses("@final struct A { long double one; };\n", "use double")
        self.refuses("@final struct A { @external long one; };\n", "there is no @external")
        self.refuses("@final bitmask M { A_BIT };\n@final struct A { M one; };\n")
        self.refuses("@final union A switch (long) { case 1: case 2: long one; };\n",
                     "give each a single label")
        self.refuses("@final union A switch (long) { case 1: long one; default: long two; };\n",
                     "give each a single label")
        self.refuses("@final struct A { sequence<sequence<long, 3> > one; };\n",
                     "put it into a struct")
        self.refuses("@final struct A { map<long, long> one; };\n")

    def test_says_when_there_is_no_such_file(self):
        done = self.idl(self.folder / "none.idl")
        self.assertEqual(done.returncode, 2)
        self.assertIn("none.idl", done.stderr)


if __name__ == "__main__":
    unittest.main()
