"""Which rows of proto/kube/documents/protobuf.def were seen in JSON events."""
import json
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# No object that the server takes has these: features that are off, in the release or by default, and what
# only lists and failures have.
ABSENT = {"list_meta.resourceVersion", "list_meta.continue", "status_details.retryAfterSeconds", "status.status",
          "status.message", "status.reason", "status.details", "status.code"}


def table():
    """Shape to its rows (form, member, shape), and kind to shape."""
    with open(os.path.join(ROOT, "proto", "kube", "documents", "protobuf.def")) as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    shapes = {name: re.findall(r'FIELD\(\d+, (\w+), "(\w*)", (\w+)\)', body)
              for name, body in re.findall(r"SHAPE\((\w+)\)(.*?)END\(\1\)", text, flags=re.S)}
    return shapes, dict(re.findall(r"ROOT\((\w+), (\w+)\)", text))


def mark(shapes, shape, value, seen):
    for form, member, of in shapes[shape]:
        if form == "inlined":
            seen.add("%s.%s" % (shape, member))
            mark(shapes, of, value, seen)
        elif value.get(member) is not None:
            seen.add("%s.%s" % (shape, member))
            inner = {"objects": list, "object": lambda one: [one], "objects_by_key": lambda all: list(all.values())}
            for each in inner.get(form, lambda other: [])(value[member]):
                mark(shapes, of, each, seen)


def unseen(kinds, streams):
    """Rows, as shape.member, that no event of any stream has."""
    shapes, roots = table()
    seen = set()
    for stream in streams:
        for line in stream.splitlines():
            thing = json.loads(line)["object"]
            if thing["kind"] in kinds:
                mark(shapes, roots[thing["kind"]], thing, seen)
    rows = {"%s.%s" % (shape, member) for shape in shapes for _, member, _ in shapes[shape]}
    return sorted(rows - seen - ABSENT)
