"""`tutti demo`: members as processes, real text, outputs compared."""

import os
import unittest

from support import SystemTest, numbered, tutti


class DemoTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.scratch = os.path.join(self.folder, "scratch")
        os.mkdir(self.scratch)

    def file(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def demo(self, *arguments):
        once = [] if "--repeat" in arguments else ["--repeat", 1]
        return tutti("demo", *once, *arguments, env={**os.environ, "TMPDIR": self.scratch},
                     cwd=self.folder)

    def expect_success(self, word, *arguments):
        done = self.demo(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        self.assertIn(f"\n{word}: ", done.stdout)
        self.assertEqual(os.listdir(self.scratch), [], "files were left behind")
        return done.stdout

    def expect_error(self, status, *arguments):
        done = self.demo(*arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(os.listdir(self.scratch), [])
        return done.stderr

    def test_all_levels_and_fabrics(self):
        files = [self.file(f"{i}.txt", numbered(1000, b"file %d" % i)) for i in range(3)]
        for fabric in ("auto", "shm", "tcp"):
            for level in ("atomic", "agreed", "unordered"):
                with self.subTest(fabric=fabric, level=level):
                    word = "complete" if level == "unordered" else "identical"
                    said = self.expect_success(word, "--fabric", fabric, "--level", level, *files)
                    self.assertIn("3,000 lines in all", said)

    def test_a_token_ring(self):
        files = [self.file(f"{i}.txt", numbered(1000, b"file %d" % i)) for i in range(3)]
        for fabric in ("shm", "tcp", "ofi:tcp"):
            for level in ("atomic", "agreed"):
                for accelerated in (0, 4):
                    with self.subTest(fabric=fabric, level=level, accelerated=accelerated):
                        self.expect_success(
                            "identical", "--order", "token_ring", "--fabric", fabric, "--level",
                            level, "--personal-window", 8, "--accelerated-window", accelerated,
                            *files)

    def test_a_chain(self):
        files = [self.file(f"{i}.txt", numbered(1000, b"file %d" % i)) for i in range(3)]
        for fabric in ("shm", "tcp", "ofi:tcp"):
            with self.subTest(fabric=fabric):
                self.expect_success("identical", "--order", "lcr", "--fabric", fabric, *files)
        self.assertIn("'lcr' goes with level 'atomic'",
                      self.expect_error(2, "--order", "lcr", "--level", "agreed", *files))

    def test_the_holder_of_the_token_may_be_killed(self):
        path = self.file("text", numbered(20_000, b"line"))
        for fabric in ("shm", "tcp"):
            with self.subTest(fabric=fabric):
                self.expect_success("identical", "--order", "token_ring", "--kill", "--fabric",
                                    fabric, path)

    def test_a_member_of_a_chain_may_be_killed(self):
        path = self.file("text", numbered(20_000, b"line"))
        for fabric in ("shm", "tcp", "ofi:tcp"):
            with self.subTest(fabric=fabric):
                self.expect_success("identical", "--order", "lcr", "--kill", "--fabric", fabric,
                                    path)

    def test_windows_that_make_no_sense_together(self):
        path = self.file("t", b"line\n")
        for windows, named in (
                (("--accelerated-window", 9, "--personal-window", 8), "accelerated_window"),
                (("--global-window", 7, "--personal-window", 8, "--accelerated-window", 0),
                 "global_window"),
                (("--maximum-gap", 7), "maximum_gap"), (("--personal-window", 0), "personal_window")):
            with self.subTest(windows=windows):
                self.assertIn(named, self.expect_error(2, "--order", "token_ring", *windows, path))

    def test_a_member_is_killed_and_comes_again(self):
        """However short the text: its last line waits for the one that comes again."""
        texts = (b"one line\n", b"x\n" + b"long " * 10_000 + b"\n", numbered(20_000, b"line"))
        for fabric in ("shm", "tcp", "ofi:tcp"):
            for text in texts:
                with self.subTest(fabric=fabric, bytes=len(text)):
                    path = self.file(f"{len(text)}.txt", text)
                    said = self.expect_success("identical", "--kill", "--fabric", fabric, path)
                    self.assertIn("b was killed and joined again", said)

    def test_a_durable_group_whose_logs_are_compared(self):
        files = [self.file(f"{i}.txt", numbered(1000, b"file %d" % i)) for i in range(3)]
        for fabric in ("shm", "tcp"):
            for order in ("round_robin", "token_ring", "lcr"):
                with self.subTest(fabric=fabric, order=order):
                    said = self.expect_success("identical", "--durable", "--order", order,
                                               "--fabric", fabric, *files)
                    self.assertIn("identical: the logs of all members, record by record", said)

    def test_a_member_that_logs_is_killed_and_comes_again(self):
        path = self.file("text", numbered(20_000, b"line"))
        for fabric in ("shm", "tcp"):
            with self.subTest(fabric=fabric):
                said = self.expect_success("identical", "--durable", "--kill", "--fabric", fabric,
                                           path)
                self.assertIn("that of the killed one is the beginning", said)
        self.assertIn("excludes", self.expect_error(2, "--durable", "--level", "atomic", path))

    def test_the_table_has_a_row_for_each_member(self):
        said = self.expect_success("identical", "--members", 4, self.file("t", b"one\ntwo\n"))
        table = said[said.index("lines sent"):]
        for name in "abcd":
            self.assertRegex(table, rf"\n *{name} +2 +8 ")

    def test_odd_texts(self):
        texts = (b"\n", b"no newline", b"\0\xff binary \x80\n\n\n", b"x" * 300_000 + b"\nshort\n")
        files = [self.file(f"{i}.odd", text) for i, text in enumerate(texts)]
        self.expect_success("identical", *files)
        self.expect_success("identical", "--members", 2, files[3])
        self.expect_success("identical", files[0], self.file("empty", b""))

    def test_files_are_repeated(self):
        path = self.file("t", b"a line\n")
        said = self.expect_success("identical", "--repeat", 500, "--members", 2, path)
        self.assertIn("sent 500 times: 1,000 lines in all", said)

    def test_a_missing_file(self):
        said = self.expect_error(2, "/nonexistent/file")
        self.assertIn("cannot read /nonexistent/file: No such file", said)

    def test_what_is_no_text_file(self):
        self.assertIn("is a folder", self.expect_error(2, "/"))
        self.assertIn("empty", self.expect_error(2, self.file("empty", b"")))

    def test_no_file_outside_the_projects_tree(self):
        self.assertIn("name some text files", self.expect_error(2))

    def test_wrong_options(self):
        path = self.file("t", b"line\n")
        for members in (0, 1, 17):
            self.assertIn("2 to 16", self.expect_error(2, "--members", members, path))
        self.assertIn("level 'x'", self.expect_error(2, "--level", "x", path))
        self.assertIn("fabric 'x'", self.expect_error(2, "--fabric", "x", path))


if __name__ == "__main__":
    unittest.main()
