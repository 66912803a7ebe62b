#!/usr/bin/python3
"""A plugin at the binder, whole: it writes down where a pod goes before it is bound (PreBind), and binds some pods itself.

A pod with the label bus.example/deny is not bound, one with bus.example/binder is bound by this plugin, all others by berth.

usage: bind_plugin.py --kubeconfig FILE SOCKET [NAME]     SOCKET is binder.sock in berth's run directory
Needs Debian's python3-kubernetes, and proto/clients/python in PYTHONPATH.
"""
import argparse
import json

import berth
import kubernetes


class Binder(berth.Plugin):
    name = "example"

    def __init__(self, kubeconfig, name):
        super().__init__(name)
        self.api = kubernetes.config.new_client_from_config(kubeconfig)

    def write(self, method, path, body, content):
        """Fails when the API server does not take it; then the plugin has failed, and the answer says in what."""
        self.api.call_api(path, method, body=body, auth_settings=["BearerToken"], _preload_content=False,
                          header_params={"Accept": "application/json", "Content-Type": content})

    def pre_bind(self, ask):
        if "bus.example/deny" in berth.as_dict(ask.pod.labels):
            return "deny", "denied by its label"
        # The UID: so that a pod is not taken for one that had its name before.
        self.write("PATCH", "/api/v1/namespaces/%s/pods/%s" % (ask.pod.namespace_name, ask.pod.name),
                   {"metadata": {"uid": ask.pod.uid, "annotations": {"bus.example/goes-to": ask.nodes[0].name}}},
                   "application/merge-patch+json")
        return "allow"

    def bind(self, ask):
        if "bus.example/binder" not in berth.as_dict(ask.pod.labels):
            return None  # no opinion: whoever is next in the profile binds it
        name, namespace = ask.pod.name, ask.pod.namespace_name
        self.write("POST", "/api/v1/namespaces/%s/pods/%s/binding" % (namespace, name),
                   {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, "namespace": namespace, "uid": ask.pod.uid},
                    "target": {"apiVersion": "v1", "kind": "Node", "name": ask.nodes[0].name}}, "application/json")
        print(json.dumps({"bound": name, "node": ask.nodes[0].name}), flush=True)
        return "bound"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("socket")
    parser.add_argument("name", nargs="?", default="example")
    options = parser.parse_args()
    Binder(options.kubeconfig, options.name).run(options.socket)
