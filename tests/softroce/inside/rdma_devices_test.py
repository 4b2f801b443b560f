"""A device that goes while members use it: its member stops and says why, the others go on, and it
may come back."""

import unittest

from rdma import RdmaTest, run

NAMES = ("a", "b", "c")


class Devices(RdmaTest):
    def test_one_that_goes(self):
        addresses = self.address_list(NAMES)
        members = {name: self.start_fed(name, addresses, fabric="verbs") for name in NAMES}
        self.await_more(members.values())
        run("rdma", "link", "delete", "rxe1")
        try:
            cut_off = members.pop("b")
            self.expect_exit(cut_off, 3)
            for other in members:
                self.assertIn(f"member '{other}' was lost: the RDMA device was removed",
                              cut_off.said())
            self.await_view(members.values(), "view 2:", "b was lost")
            self.await_more(members.values())
        finally:
            run("rdma", "link", "add", "rxe1", "type", "rxe", "netdev", "v2")
        members["b"] = self.start_fed("b", addresses, "--join", fabric="verbs")
        self.await_view(members.values(), "view 3:", "b")
        self.await_more(members.values())
        self.expect_one_sequence(list(members.values()), [cut_off])


if __name__ == "__main__":
    unittest.main()
