"""The objects that the cases are made of, as short as a table needs them.

An "@" in any name or value stands for the prefix of the case that creates the object, so that no two
cases share a name: "@a" is the case's node a, "@" in a namespace's place its own namespace.
"""
import objects

# ---- selectors ----


def any_of(key, *values):
    return {"key": key, "operator": "In", "values": list(values)}


def none_of(key, *values):
    return {"key": key, "operator": "NotIn", "values": list(values)}


def exists(key):
    return {"key": key, "operator": "Exists"}


def absent(key):
    return {"key": key, "operator": "DoesNotExist"}


def selector(*expressions):
    return {"matchExpressions": list(expressions)} if expressions else {}


# ---- affinity ----


def term(topology_key, *expressions, **more):
    """A term of pod affinity: pods that match all expressions, in the same domain of the key."""
    return dict({"topologyKey": topology_key, "labelSelector": selector(*expressions)}, **more)


def near(*terms):
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def apart(*terms):
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def weighed(terms):
    """Preferred terms from (weight, term) pairs."""
    return [{"weight": weight, "podAffinityTerm": each} for weight, each in terms]


def rather_near(*pairs):
    return {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": weighed(pairs)}}


def rather_apart(*pairs):
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": weighed(pairs)}}


def on_nodes(*expressions, fields=()):
    """Required node affinity of one term: labels, and with `fields` the node's name."""
    one = {}
    if expressions:
        one["matchExpressions"] = list(expressions)
    if fields:
        one["matchFields"] = list(fields)
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                             {"nodeSelectorTerms": [one]}}}


def rather_on_nodes(weight, *expressions):
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": weight, "preference": {"matchExpressions": list(expressions)}}]}}


def spread(skew, key, *expressions, soft=False, **more):
    """A topology spread constraint over the pods that match all expressions."""
    return dict({"maxSkew": skew, "topologyKey": key, "labelSelector": selector(*expressions),
                 "whenUnsatisfiable": "ScheduleAnyway" if soft else "DoNotSchedule"}, **more)


# ---- taints ----


def taint(key, value="", effect="NoSchedule"):
    return {"key": key, "value": value, "effect": effect}


def tolerates(key, value=None, effect="NoSchedule"):
    """A toleration of one value, or of the key whatever its value."""
    if value is None:
        return {"key": key, "operator": "Exists", "effect": effect}
    return {"key": key, "operator": "Equal", "value": value, "effect": effect}


# ---- nodes and pods ----


def node(name, labels=None, taints=None, images=None, conditions=None, features=None,
         unschedulable=False, **resources):
    """A node of 32 pods; resources as cpu="500m", memory="500", gpu="4"."""
    body = objects.node(name, dict({"pods": "32"}, **named(resources)), labels, taints, unschedulable)
    if images:
        body["status"]["images"] = [{"names": [each], "sizeBytes": size}
                                    for each, size in images.items()]
    if conditions:
        body["status"]["conditions"] = [{"type": kind, "status": status}
                                        for kind, status in conditions.items()]
    if features is not None:
        body["status"]["declaredFeatures"] = list(features)
    return body


def named(resources):
    """Resources by their Kubernetes names."""
    known = {"gpu": "example.com/gpu"}
    return {known.get(name, name): amount for name, amount in resources.items()}


def pod(name, labels=None, priority=None, claims=(), grace=None, finalizers=None, requests=None,
        namespace=None, **spec):
    """A pod; `priority` names a class, `claims` its volumes, `grace` its seconds to end."""
    if priority:
        spec["priorityClassName"] = priority
    if claims:
        spec["volumes"] = [{"name": "v%d" % i, "persistentVolumeClaim": {"claimName": claim}}
                           for i, claim in enumerate(claims)]
    if grace is not None:
        spec["terminationGracePeriodSeconds"] = grace
    body = objects.pod(name, named(requests) if requests else None, **spec)
    if labels:
        body["metadata"]["labels"] = labels
    if finalizers:
        body["metadata"]["finalizers"] = finalizers
    if namespace:
        body["metadata"]["namespace"] = namespace
    return body


def container(name="main", **more):
    return dict({"name": name, "image": "registry.example/app:1"}, **more)


# ---- volumes ----


def storage_class(name, waits=True, provisioner="kubernetes.io/no-provisioner", **more):
    return dict({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
                 "provisioner": provisioner,
                 "volumeBindingMode": "WaitForFirstConsumer" if waits else "Immediate"}, **more)


def volume(name, storage_class="", node=None, claim=None, labels=None, size="5Gi",
           mode="ReadWriteOnce", affinity=None, source=None):
    """A PersistentVolume; `node` where it lies, `claim` whose it is already."""
    spec = {"capacity": {"storage": size}, "accessModes": [mode], "storageClassName": storage_class}
    spec.update(source or {"hostPath": {"path": "/mnt/volume"}})
    if node:
        affinity = any_of("kubernetes.io/hostname", *([node] if isinstance(node, str) else node))
    if affinity:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [affinity]}]}}
    if claim:
        spec["claimRef"] = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": claim,
                            "namespace": "@"}
    return {"apiVersion": "v1", "kind": "PersistentVolume",
            "metadata": {"name": name, "labels": labels or {}}, "spec": spec}


def csi(handle, driver="csi.example.com"):
    return {"csi": {"driver": driver, "volumeHandle": handle}}


def claim(name, storage_class="", volume=None, size="5Gi", mode="ReadWriteOnce", bound=False):
    """A PersistentVolumeClaim; `volume` what it asks for, `bound`: as if the controller had agreed."""
    spec = {"accessModes": [mode], "resources": {"requests": {"storage": size}},
            "storageClassName": storage_class}
    if volume:
        spec["volumeName"] = volume
    body = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
            "spec": spec}
    if bound:
        body["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    return body


# ---- the texts of a pod that fits nowhere ----


def unhelpful(count):
    return "%d Preemption is not helpful for scheduling" % count


def no_victims(count):
    return "%d No preemption victims found for incoming pod" % count


def nowhere(count, reasons, preemption=None):
    """What the condition and the event say; without `preemption`, victims were found."""
    text = "0/%d nodes are available: %s." % (count, reasons)
    if preemption:
        text += (" no new claims to deallocate, preemption: 0/%d nodes are available: %s."
                 % (count, preemption))
    return text
