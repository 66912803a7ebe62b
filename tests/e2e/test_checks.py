"""The checks that look for what must not happen can find it: python3 -B -m unittest test_checks."""
import json
import os
import tempfile
import unittest

import audit
import checks
import kube
import objects


def record(user, verb, resource, code=201, **more):
    """A line of an audit log."""
    body = more.get("body")
    return json.dumps({
        "stage": more.get("stage", "ResponseComplete"), "verb": verb, "user": {"username": user},
        "objectRef": {"resource": resource, "subresource": more.get("subresource"), "name": "x"},
        "responseStatus": {"code": code}, "requestObject": body,
        "requestReceivedTimestamp": "2026-01-02T03:04:05.250000Z"}) + "\n"


def binding(uid, code=201, user="a"):
    return record(user, "create", "pods", code, subresource="binding",
                  body={"kind": "Binding", "metadata": {"uid": uid}})


def lease(code):
    return record("a", "update", "leases", code)


class AuditLog(unittest.TestCase):
    def setUp(self):
        handle, self.path = tempfile.mkstemp()
        os.close(handle)
        self.addCleanup(os.unlink, self.path)
        self.log = audit.Log(self.path)

    def write(self, *lines):
        with open(self.path, "a") as file:
            file.write("".join(lines))

    def test_bindings_are_those_of_pods_and_granted_ones_are_201(self):
        self.write(binding("1"), binding("2", 409), record("a", "create", "pods"),
                   record("a", "create", "events"), binding("3", user="b"))
        self.assertEqual([r.uid for r in self.log.bindings()], ["1", "2", "3"])
        self.assertEqual([r.uid for r in self.log.bound()], ["1", "3"])
        self.assertEqual([r.uid for r in self.log.bound("b")], ["3"])

    def test_reads_and_unfinished_requests_are_no_writes(self):
        self.write(record("a", "get", "pods"), record("a", "watch", "pods"),
                   record("a", "create", "events", stage="ResponseStarted"))
        self.assertEqual(self.log.writes(), [])

    def test_half_a_line_is_read_when_it_is_complete(self):
        line = binding("1")
        self.write(line[:40])
        self.assertEqual(self.log.bound(), [])
        self.write(line[40:])
        self.assertEqual(len(self.log.bound()), 1)
        self.assertEqual(len(self.log.bound()), 1)

    def test_only_granted_writes_of_the_lease_count(self):
        self.write(lease(200), lease(409), record("a", "get", "leases", 200))
        self.assertEqual(len(self.log.leases()), 1)

    def test_times_keep_their_fractions(self):
        self.write(binding("1"), binding("2"))
        first, second = self.log.bound()
        self.assertEqual(first.at, second.at)
        self.assertEqual(first.at % 1, 0.25)

    def test_one_binding_each_finds_a_second_and_a_missing_one(self):
        self.write(binding("1"), binding("2"))
        checks.one_binding_each(self.log, ["1", "2"])
        with self.assertRaisesRegex(checks.Failed, "1 pods without"):
            checks.one_binding_each(self.log, ["1", "2", "3"], seconds=0)
        self.write(binding("3", 409))
        with self.assertRaisesRegex(checks.Failed, "1 pods without"):
            checks.one_binding_each(self.log, ["1", "2", "3"], seconds=0)
        self.write(binding("2"))
        with self.assertRaisesRegex(checks.Failed, "more than once"):
            checks.one_binding_each(self.log, ["1", "2"])

    def test_a_request_that_timed_out_or_whose_handler_went_may_be_the_one(self):
        self.write(binding("1", 504))
        self.write(binding("2", 500))
        checks.one_binding_each(self.log, ["1", "2"])


class Shapes(unittest.TestCase):
    def test_shape_of_a_refused_and_of_a_bound_pod(self):
        pod = dict(objects.pod("p"), metadata={"name": "p", "uid": "u"})
        pod["status"] = {"conditions": [{"type": "PodScheduled", "status": "False",
                                         "reason": "Unschedulable", "message": "0/1"}]}
        self.assertEqual(objects.shape(pod), ("u", "", ("Unschedulable", "0/1")))
        pod["spec"]["nodeName"] = "n"
        pod["status"]["conditions"][0]["status"] = "True"
        self.assertEqual(objects.shape(pod), ("u", "n", None))
        self.assertEqual(objects.bound({"p": objects.shape(pod)}), 1)

    def test_extended_resources_are_limits_too(self):
        container = objects.pod("p", {"cpu": "1", "example.com/x": "2"})["spec"]["containers"][0]
        self.assertEqual(container["resources"]["limits"], {"example.com/x": "2"})

    def test_kubeconfig_in_both_forms(self):
        text = "clusters:\n- cluster:\n    server: https://h:1\nusers:\n- user:\n    token: t\n"
        for form in (text, json.dumps({"server": "https://h:1", "token": "t"}, indent=1)):
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(form)
                file.flush()
                fields = kube.read_kubeconfig(file.name)
            self.assertEqual((fields["server"], fields["token"]), ("https://h:1", "t"))


if __name__ == "__main__":
    unittest.main()
