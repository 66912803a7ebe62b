"""The ports of scheduler-plugins against what its functions say: random inputs of each, with the answers.

golden/*.ndjson hold one input and its answer a line. The answers are those of sigs.k8s.io/scheduler-plugins v0.34.7 itself:
scheduler_plugins/run asks its code again (needs Go, and a while to compile).
"""
import json
import os
import socket
import sys
import tempfile
import time
import unittest
from unittest import mock

from door import TOP

sys.path.insert(0, os.path.join(TOP, "scheduler", "bus_plugin", "ports"))
try:
    import cluster
    import node_resource_topology as topology
    import target_load_packing as packing
    LACKS = None
except ImportError as error:  # of the machine, not of ours
    if error.name != "kubernetes":
        raise
    LACKS = "there is no python3-kubernetes"


def golden(name):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden", name + ".ndjson"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@unittest.skipIf(LACKS, LACKS)
class Ports(unittest.TestCase):
    def test_an_object_that_changes_is_never_gone(self):
        class Watched(dict):
            def pop(self, key, *default):
                assert gone, "it was taken out, for whoever looks now"
                return super().pop(key, *default)
        objects, gone, told = cluster.Objects.__new__(cluster.Objects), False, []
        objects.objects, objects.on_change = Watched(), lambda *pair: told.append(pair)
        for each in ("first", "second"):
            objects.change((None, "n"), each)
        self.assertEqual(objects.get("n"), "second")
        gone = True
        objects.change((None, "n"), None)
        self.assertIsNone(objects.get("n"))
        self.assertEqual(told, [(None, "first"), ("first", "second"), ("second", None)])

    def test_an_api_server_that_is_silent_is_not_waited_for(self):
        with socket.create_server(("127.0.0.1", 0)) as silent, tempfile.NamedTemporaryFile("w") as file, \
                mock.patch.object(cluster, "LIST_SECONDS", 1):
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "c", "users": [{"name": "u", "user": {}}],
                       "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                       "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:%d" % silent.getsockname()[1]}}]}, file)
            file.flush()
            with mock.patch.object(cluster.Objects, "follow", lambda self: None):
                objects = cluster.Objects(file.name, "/api/v1/nodes")
            begin = time.monotonic()
            with self.assertRaisesRegex(Exception, "timed out"):
                objects.call("/api/v1/nodes")
            self.assertLess(time.monotonic() - begin, 20)

    def test_target_load_packing(self):
        cases, seen = golden("target_load_packing"), set()
        for case in cases:
            def predict(spec, case=case):
                return packing.predicted(spec, packing.milli(case["default"]), case["multiplier"])
            said = packing.score(case["load"], packing.milli(case["capacity"].get("cpu", 0)), predict(case["spec"]),
                                 sum(map(predict, case["missing"])), case["target"])
            self.assertEqual(said, case["says"], case)
            seen.add(said)
        self.assertEqual(len(cases), 1000)
        self.assertGreater(len(seen), 90)

    def test_target_load_packing_as_its_own_tests(self):
        """The table of targetloadpacking_test.go: a node of 1000m, a target of 40."""
        self.assertEqual(packing.score(0, 1000, 0, 0, 40), 40)
        self.assertEqual(packing.score(50, 1000, 0, 0, 40), 33)
        self.assertEqual(packing.score(30, 1000, 1000, 0, 40), 0)
        self.assertEqual(packing.score(None, 1000, 0, 0, 40), 0)

    def test_recent_pods(self):
        """Those count that came after the load was taken, or less than a minute before, until they go."""
        recent = packing.Recent()
        pod = {"metadata": {"uid": "u"}, "spec": {"nodeName": "a", "containers": [{}]}}
        recent.changed(None, pod)
        at = recent.nodes["a"]["u"][0]
        self.assertEqual([recent.missing("a", end, lambda spec: 7) for end in (at - 100, at, at + 59, at + 60)], [7, 7, 7, 0])
        self.assertEqual(recent.missing("b", at, lambda spec: 7), 0)
        recent.changed(pod, None)
        self.assertEqual(recent.missing("a", at, lambda spec: 7), 0)

    def test_node_resource_topology(self):
        cases, seen = golden("node_resource_topology"), {}
        for case in cases:
            said = topology.verdict(case["pod"], case["node"], case["nrt"])
            self.assertEqual(said, case["says"], case)
            seen[said] = seen.get(said, 0) + 1
        self.assertEqual(len(cases), 500)
        self.assertEqual({"", "cannot align pod", "cannot align container", "cannot align init container"}, set(seen))
        self.assertGreater(min(seen.values()), 30)

    def test_quantities(self):
        for text, milli in (("1", 1000), ("250m", 250), ("1500u", 2), ("1e-1", 100), ("0.0001", 1), ("2Ki", 2048000), ("1E", 10**21), (".5", 500)):
            self.assertEqual(packing.milli(text), milli, text)
        for text in ("", "x", "1 ", "1mm", "1e", "--1"):
            with self.assertRaises(ValueError):
                packing.milli(text)
