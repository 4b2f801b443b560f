"""`tutti doctor`: what it says of this host, whatever host that is."""

import json
import os
import unittest

from support import SystemTest, tutti

GRADES = ("good", "could be better", "broken")
ALWAYS = ("cores", "isolated cores", "clock rate", "memory", "huge pages")
LOOPBACKS = ("loopback shm", "loopback tcp")


class DoctorTest(SystemTest):
    def examine(self, *arguments):
        """The findings by subject; also that the exit status goes with them."""
        done = tutti("doctor", "--json", *arguments)
        findings = json.loads(done.stdout)["findings"]
        broken = any(finding["grade"] == "broken" for finding in findings)
        self.assertEqual(done.returncode, 1 if broken else 0)
        return {finding["subject"]: finding for finding in findings}

    def test_every_line_says_what_was_found_and_what_to_do(self):
        findings = self.examine("--no-loopback")
        for subject in ALWAYS:
            self.assertIn(subject, findings)
        self.assertTrue(any("RDMA" in subject for subject in findings))
        for subject, finding in findings.items():
            self.assertIn(finding["grade"], GRADES)
            self.assertNotEqual(finding["what"], "", subject)
            self.assertEqual(finding["how"] == "", finding["grade"] == "good", subject)

    def test_the_providers_of_libfabric_say_what_they_promise(self):
        findings = self.examine("--no-loopback")
        self.assertRegex(findings["libfabric"]["what"], r"version \d+\.\d+")
        tcp = findings["libfabric tcp"]
        self.assertEqual(tcp["grade"], "good", tcp["what"])
        for part in ("FI_EP_MSG", "FI_ORDER_RMA_WAW", "--fabric 'ofi:tcp'"):
            self.assertIn(part, tcp["what"])

    def test_members_without_libfabric_need_not_have_it(self):
        with open(os.path.join(self.folder, "libfabric.so.1"), "wb"):
            pass  # found first, and no library
        done = tutti("doctor", "--json", "--no-loopback",
                     env={**os.environ, "LD_LIBRARY_PATH": self.folder})
        findings = {finding["subject"]: finding for finding in json.loads(done.stdout)["findings"]}
        self.assertEqual(findings["libfabric"]["grade"], "could be better")
        self.assertIn("cannot load libfabric", findings["libfabric"]["what"])
        self.assertNotIn("libfabric tcp", findings)

    def test_members_on_this_host_understand_each_other(self):
        findings = self.examine()
        for subject in LOOPBACKS:
            self.assertEqual(findings[subject]["grade"], "good", findings[subject]["what"])
            self.assertIn("messages delivered unchanged", findings[subject]["what"])
        self.assertFalse(set(LOOPBACKS) & set(self.examine("--no-loopback")))

    def test_members_talk_over_the_fabrics_that_are_named(self):
        findings = self.examine("--fabric", "ofi:tcp", "--fabric", "shm")
        self.assertEqual({subject for subject in findings if subject.startswith("loopback")},
                         {"loopback ofi:tcp", "loopback shm"})
        self.assertEqual(findings["loopback ofi:tcp"]["grade"], "good")
        findings = self.examine("--fabric", "ofi:no-such")
        self.assertEqual(findings["loopback ofi:no-such"]["grade"], "broken")
        self.assertIn("has no provider 'no-such'", findings["loopback ofi:no-such"]["what"])

    def test_members_talk_in_the_order_that_is_named(self):
        for order in ("token_ring", "lcr"):
            subject = "loopback shm " + order
            finding = self.examine("--fabric", "shm", "--order", order)[subject]
            self.assertEqual(finding["grade"], "good", finding["what"])
        for order, why in (("totem", "totem"), ("none", "--order none")):
            done = tutti("doctor", "--order", order)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertIn(why, done.stderr)

    def test_a_fabric_that_tutti_does_not_have_is_a_mistake_in_the_command(self):
        done = tutti("doctor", "--fabric", "shm", "--fabric", "ofy:tcp")
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stdout, "")
        self.assertIn("fabric 'ofy' is unknown", done.stderr)

    def test_people_read_a_line_for_each_and_what_to_do_below_it(self):
        text = tutti("doctor", "--no-loopback").stdout
        for finding in self.examine("--no-loopback").values():
            self.assertIn(finding["subject"], text)
            if finding["how"]:
                self.assertIn("-> " + finding["how"], text)


if __name__ == "__main__":
    unittest.main()
