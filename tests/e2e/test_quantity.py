"""The arithmetic that the end-to-end checks rest on: python3 -m unittest test_quantity."""
import unittest
from fractions import Fraction

import checks
import quantity


def pod(name, node, *requests, **spec):
    containers = [{"resources": {"requests": r}} for r in requests]
    return {"metadata": {"name": name}, "spec": dict(spec, nodeName=node, containers=containers)}


def node(name, **allocatable):
    return {"metadata": {"name": name}, "status": {"allocatable": dict(allocatable, pods="110")}}


class Parse(unittest.TestCase):
    def test_plain_and_decimal_suffixes(self):
        for text, value in (("0", 0), ("12", 12), ("100m", Fraction(1, 10)), ("1500m", Fraction(3, 2)),
                            ("2k", 2000), ("3M", 3000000), ("1n", Fraction(1, 10 ** 9)),
                            ("1u", Fraction(1, 10 ** 6)), ("1E", 10 ** 18)):
            self.assertEqual(quantity.parse(text), value, text)

    def test_binary_suffixes(self):
        self.assertEqual(quantity.parse("500Mi"), 500 * 2 ** 20)
        self.assertEqual(quantity.parse("0.5Gi"), 2 ** 29)
        self.assertEqual(quantity.parse("1Ei"), 2 ** 60)

    def test_exponents_fractions_and_signs(self):
        for text, value in (("1e3", 1000), ("1.5E2", 150), ("2e-3", Fraction(2, 1000)),
                            (".5", Fraction(1, 2)), ("5.", 5), ("-1", -1), ("+1Ki", 1024)):
            self.assertEqual(quantity.parse(text), value, text)

    def test_nothing_is_rounded(self):
        self.assertEqual(sum(quantity.parse("100m") for _ in range(10)), 1)
        self.assertEqual(quantity.parse("9007199254740993") - quantity.parse("9007199254740992"), 1)

    def test_other_texts_are_refused(self):
        for text in ("", "m", "1 ", "1mi", "1KI", "1e", "0x10", "1Kim", "ten", "1.2.3", None):
            with self.assertRaises(ValueError, msg=repr(text)):
                quantity.parse(text)


class Pods(unittest.TestCase):
    def test_containers_add_up_and_a_pod_counts_one(self):
        total = quantity.of_pod(pod("p", "n", {"cpu": "100m"}, {"cpu": "1", "memory": "1Ki"}))
        self.assertEqual(total, {"cpu": Fraction(11, 10), "memory": 1024, "pods": 1})

    def test_an_init_container_counts_where_it_is_larger(self):
        one = pod("p", "n", {"cpu": "1", "memory": "10"},
                  initContainers=[{"resources": {"requests": {"cpu": "3", "memory": "5"}}}])
        self.assertEqual(quantity.of_pod(one), {"cpu": 3, "memory": 10, "pods": 1})

    def test_a_sidecar_stays_beside_the_containers_and_later_init_steps(self):
        side = {"restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}
        step = {"resources": {"requests": {"cpu": "3"}}}
        self.assertEqual(quantity.of_pod(pod("p", "n", {"cpu": "2"}, initContainers=[side]))["cpu"], 3)
        both = pod("p", "n", {"cpu": "2"}, initContainers=[side, step])
        self.assertEqual(quantity.of_pod(both)["cpu"], 4)

    def test_overhead_is_added(self):
        self.assertEqual(quantity.of_pod(pod("p", "n", {"cpu": "1"}, overhead={"cpu": "5m"}))["cpu"],
                         Fraction(1005, 1000))


class Overcommit(unittest.TestCase):
    def test_a_full_node_is_in_order(self):
        pods = [pod(str(i), "n", {"cpu": "100m"}) for i in range(10)]
        self.assertEqual(checks.overcommitted([node("n", cpu="1")], pods), [])

    def test_one_millicore_too_many_is_found(self):
        pods = [pod("a", "n", {"cpu": "999m"}), pod("b", "n", {"cpu": "2m"})]
        self.assertEqual(len(checks.overcommitted([node("n", cpu="1")], pods)), 1)

    def test_a_resource_that_the_node_lacks_is_found(self):
        pods = [pod("a", "n", {"nvidia.com/gpu": "1"})]
        self.assertEqual(len(checks.overcommitted([node("n", cpu="1")], pods)), 1)

    def test_an_unknown_node_is_found(self):
        self.assertEqual(len(checks.overcommitted([], [pod("a", "gone", {"cpu": "1"})])), 1)

    def test_finished_and_unbound_pods_take_nothing(self):
        done = dict(pod("a", "n", {"cpu": "5"}), status={"phase": "Succeeded"})
        self.assertEqual(checks.overcommitted([node("n", cpu="1")], [done, pod("b", "", {"cpu": "5"})]),
                         [])


if __name__ == "__main__":
    unittest.main()
