"""Which rows of proto/kube/documents/protobuf.def were seen in JSON events."""
import json
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# No object that the server takes has these: features that are off, in the release or by default, and what
# only lists and failures have.
ABSENT = {"list_meta.resourceVersion", "list_meta.continue", "status_details.retryAfterSeconds", "status.status",
          "status.message", "status.reason", "status.details", "status.code",
          "csi_driver_spec.preventPodSchedulingIfMissing", "device_counter_consumption.compatibilityGroups",
          "exact_device_request.derivedAttributes", "device_sub_request.derivedAttributes",
          "device_derived_attribute.name", "device_derived_attribute.expression",
          "node_allocatable_resource_claim_status.mapping", "node_allocatable_resource_claim_status.overhead",
          "node_allocatable_mapped_resources.name", "node_allocatable_mapped_resources.quantity",
          "node_allocatable_overhead_resources.name", "node_allocatable_overhead_resources.perPod",
          "node_allocatable_overhead_resources.perContainer", "device.nodeAllocatableResources",
          "node_allocatable_resource.mapping", "node_allocatable_resource.overhead",
          "node_allocatable_mapping.capacityKey", "node_allocatable_mapping.capacityMultiplier",
          "node_spec.podPreemptionPolicy", "node_pod_preemption_policy.disableResizePreemption",
          "resource_slice_spec.skipNodeOperations", "device_request_allocation_result.skipNodeOperations",
          "node_allocatable_mapping.deviceMultiplier", "node_allocatable_overhead.perPod",
          "node_allocatable_overhead.perContainer"}  # these of 1.37


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
    known, ahead = set(), ["list_meta", "status", "status_details"] + [roots[kind] for kind in kinds]
    while ahead:
        shape = ahead.pop()
        if shape in shapes and shape not in known:
            known.add(shape)
            ahead += [of for _, _, of in shapes[shape]]
    rows = {"%s.%s" % (shape, member) for shape in known for _, member, _ in shapes[shape]}
    return sorted(rows - seen - ABSENT)
