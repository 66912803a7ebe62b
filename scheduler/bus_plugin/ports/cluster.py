"""cluster: objects of the API server, kept by name, for plugins that need more of them than berth tells.

A thread for each kind lists and watches; where a watch ends or breaks, it lists anew. Needs Debian's python3-kubernetes.
"""
import json
import re
import sys
import threading
import time
from fractions import Fraction

import kubernetes

# A pod is asked for in the thread that also says that the plugin lives, which three seconds without a word would deny.
CONNECT_SECONDS, LIST_SECONDS, WATCH_SECONDS, POD_SECONDS = 10, 60, 300, 2
SUFFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18,
            "m": Fraction(1, 10**3), "u": Fraction(1, 10**6), "n": Fraction(1, 10**9),
            "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)\Z")


def quantity(text):
    """A Kubernetes quantity as an exact number."""
    found = QUANTITY.match(str(text))
    if not found:
        raise ValueError("%r is no quantity" % text)
    number, exponent, suffix = found.groups()
    return Fraction(number) * (Fraction(10) ** int(exponent[1:]) if exponent else SUFFIXES[suffix or ""])


def milli(text):
    """In thousandths, rounded up, as Quantity.MilliValue does."""
    return -int(-quantity(text) * 1000 // 1)


class Objects:
    """All objects of one kind, as the API server has them (dictionaries), by (namespace, name)."""

    def __init__(self, kubeconfig, path, on_change=None):
        configuration = kubernetes.client.Configuration()
        configuration.retries = 0  # we try again ourselves, and say so
        kubernetes.config.load_kube_config(kubeconfig, client_configuration=configuration)
        self.api = kubernetes.client.ApiClient(configuration)
        self.path, self.on_change = path, on_change or (lambda old, new: None)
        self.objects, self.listed = {}, threading.Event()
        threading.Thread(target=self.follow, daemon=True).start()

    def get(self, name, namespace=None):
        return self.objects.get((namespace, name))

    def pod(self, asked):
        """The pod that a plugin is asked about. berth may have heard of it before us: then it is asked for."""
        known = self.get(asked.name, asked.namespace_name)
        if known and known["metadata"]["uid"] == asked.uid:
            return known
        return json.loads(self.call("/api/v1/namespaces/%s/pods/%s" % (asked.namespace_name, asked.name), POD_SECONDS).data)

    def call(self, path, wait=None, **query):
        """The answer to a GET, not read yet. Who says nothing for so many seconds is lost."""
        wait = LIST_SECONDS if wait is None else wait
        return self.api.call_api(path, "GET", query_params=list(query.items()), auth_settings=["BearerToken"],
                                 header_params={"Accept": "application/json"}, _preload_content=False, _return_http_data_only=True,
                                 _request_timeout=(min(CONNECT_SECONDS, wait), wait))

    def follow(self):
        while True:
            try:
                page = json.loads(self.call(self.path).data)
                self.replace(page["items"])
                self.watch(page["metadata"]["resourceVersion"])
            except Exception as error:  # whatever it is, it may be over soon
                print("%s: %s" % (self.path, error), file=sys.stderr)
            time.sleep(0.5)

    def replace(self, items):
        new = {self.key(item): item for item in items}
        for key in self.objects.keys() | new.keys():
            self.change(key, new.get(key))
        self.listed.set()

    def watch(self, version):
        rest = b""
        for piece in self.call(self.path, WATCH_SECONDS + 30, watch="true", resourceVersion=version, allowWatchBookmarks="true",
                               timeoutSeconds=str(WATCH_SECONDS)).stream(1 << 16):
            *lines, rest = (rest + piece).split(b"\n")
            for event in map(json.loads, lines):
                if event["type"] == "ERROR":
                    return  # too old, mostly
                if event["type"] != "BOOKMARK":
                    self.change(self.key(event["object"]), None if event["type"] == "DELETED" else event["object"])

    @staticmethod
    def key(item):
        return item["metadata"].get("namespace"), item["metadata"]["name"]

    def change(self, key, new):
        """Others look meanwhile, so what is replaced is never gone."""
        old = self.objects.get(key)
        if new is not None:
            self.objects[key] = new
        else:
            self.objects.pop(key, None)
        if old != new:
            self.on_change(old, new)
