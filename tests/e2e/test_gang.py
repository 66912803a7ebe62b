"""Tests of what judges groups: the bound on packing, and whether one was ever bound in part."""
import unittest

import gang

MEMBERS = {"a-0": ("a", 3), "a-1": ("a", 3), "a-2": ("a", 3), "a-3": ("a", 3),
           "b-0": ("b", 2), "b-1": ("b", 2)}


def play(*steps):
    """Complaints about "+pod" (bind sent), "=pod" (bound) and "!pod" (refused), in that order."""
    records = []
    for step in steps:
        message = "bind" if step[0] == "+" else "bind_result"
        records.append((message, {"name": step[1:], "bound": step[0] == "="}, len(records)))
    return gang.partly_bound(records, MEMBERS)


class Bus(unittest.TestCase):
    def test_whole_groups(self):
        self.assertEqual([], play("+a-0", "+a-1", "=a-0", "+a-2", "=a-1", "=a-2", "+b-0", "+b-1", "=b-1", "=b-0"))

    def test_late_members_and_plain_pods(self):
        self.assertEqual([], play("+plain", "+a-0", "+a-1", "+a-2", "+b-0", "+b-1", "=a-0", "=plain", "+a-3",
                                  "=a-1", "=a-3", "=a-2", "=b-0", "=b-1"))

    def test_results_of_others_may_come_between(self):
        self.assertEqual([], play("+b-0", "+b-1", "+a-0", "=b-0", "+a-1", "=b-1", "+a-2"))

    def test_bind_of_another_between(self):
        self.assertIn("b-0 was sent between the binds of a", play("+a-0", "+b-0", "+a-1", "+a-2", "+b-1"))
        self.assertIn("plain was sent between the binds of a", play("+a-0", "+a-1", "+plain", "+a-2"))

    def test_never_whole(self):
        self.assertEqual(["a: its binds are not all there"], play("+a-0", "+a-1"))
        self.assertEqual(["a: its binds are not all there"], play("+a-0", "=a-0"))

    def test_refused(self):
        self.assertEqual(["a: 1 bound and 1 under way of at least 3"],
                         play("+a-0", "+a-1", "+a-2", "=a-0", "!a-1"))


class Packing(unittest.TestCase):
    def test_exact(self):
        self.assertEqual((2, True), gang.rounds([8, 8, 8, 8], 16))
        self.assertEqual((1, True), gang.rounds([1] * 16, 16))

    def test_bound(self):
        # Three of nine do not fit two by two into sixteen: the sum says two rounds, it takes three.
        self.assertEqual((2, False), gang.rounds([9, 9, 9], 16))


if __name__ == "__main__":
    unittest.main()
