# Made by `make docs` from proto/messages.def.
"""All messages and records of the bus by name, and the words that fields may hold.

A class for each; FIELDS is the tag of each field and its type. What is absent is zero or empty.
"""
from .record import Record

# Words.
SOURCE_CLAIM = "claim"  # A PersistentVolumeClaim; of a pod's volume.
SOURCE_EPHEMERAL = "ephemeral"  # A claim that is made for the pod; of a pod's volume.
SOURCE_CSI = "csi"  # A volume of a CSI driver.
SOURCE_LOCAL = "local"  # In-tree.
SOURCE_HOST_PATH = "host-path"  # In-tree.
SOURCE_NFS = "nfs"  # In-tree.
SOURCE_ISCSI = "iscsi"  # In-tree.
SOURCE_RBD = "rbd"  # In-tree.
SOURCE_CEPHFS = "cephfs"  # In-tree.
SOURCE_FC = "fc"  # In-tree.
SOURCE_GCE_PD = "gce-pd"  # In-tree, with a translation to a CSI driver.
SOURCE_AWS_EBS = "aws-ebs"  # In-tree, with a translation to a CSI driver.
SOURCE_AZURE_DISK = "azure-disk"  # In-tree, with a translation to a CSI driver.
SOURCE_AZURE_FILE = "azure-file"  # In-tree, with a translation to a CSI driver.
SOURCE_CINDER = "cinder"  # In-tree, with a translation to a CSI driver.
SOURCE_VSPHERE = "vsphere"  # In-tree, with a translation to a CSI driver.
SOURCE_PORTWORX = "portworx"  # In-tree, with a translation to a CSI driver.
ATTRIBUTE_INT = "int"  # A number.
ATTRIBUTE_BOOL = "bool"  # True or false.
ATTRIBUTE_STRING = "string"  # A text.
ATTRIBUTE_VERSION = "version"  # A semantic version.
ATTRIBUTE_INTS = "ints"  # Numbers.
ATTRIBUTE_BOOLS = "bools"  # Values that are true or false.
ATTRIBUTE_STRINGS = "strings"  # Texts.
ATTRIBUTE_VERSIONS = "versions"  # Semantic versions.
OBJECT_CLAIM = "PersistentVolumeClaim"  # Record claim.
OBJECT_VOLUME = "PersistentVolume"  # Record volume.
OBJECT_STORAGE_CLASS = "StorageClass"  # Record storage_class.
OBJECT_CSI_NODE = "CSINode"  # Record csi_node.
OBJECT_CSI_DRIVER = "CSIDriver"  # Record csi_driver.
OBJECT_CSI_CAPACITY = "CSIStorageCapacity"  # Record csi_capacity.
OBJECT_ATTACHMENT = "VolumeAttachment"  # Record attachment.
OBJECT_RESOURCE_CLAIM = "ResourceClaim"  # Record resource_claim.
OBJECT_RESOURCE_SLICE = "ResourceSlice"  # Record resource_slice.
OBJECT_DEVICE_CLASS = "DeviceClass"  # Record device_class.
OBJECT_DEVICE_TAINT_RULE = "DeviceTaintRule"  # Record device_taint_rule.
OBJECT_SERVICE = "Service"  # Its pods are spread by default.
OBJECT_REPLICATION_CONTROLLER = "ReplicationController"  # Its pods are spread by default.
OBJECT_REPLICA_SET = "ReplicaSet"  # Its pods are spread by default.
OBJECT_STATEFUL_SET = "StatefulSet"  # Its pods are spread by default.
OBJECT_BUDGET = "PodDisruptionBudget"  # Record budget.
OBJECT_POD_GROUP = "PodGroup"  # Record gang.
DOWN_GOODBYE = "goodbye"  # It said so.
DOWN_SILENT = "silent"  # Nothing came from it for too long.
DOWN_DISCONNECTED = "disconnected"  # Its connection is gone.
DOWN_RESTARTED = "restarted"  # It is another life of that process.
DOWN_GAP = "gap"  # Something that it sent has not arrived.
PENDING_ACTIVE = "active"  # Is tried as soon as it is its turn.
PENDING_BACKOFF = "backoff"  # Was rejected, and is tried when its backoff is over.
PENDING_ERROR_BACKOFF = "error-backoff"  # Failed for no fault of its own, and is tried when its backoff is over.
PENDING_UNSCHEDULABLE = "unschedulable"  # Waits for an event that can help.
PENDING_GATED = "gated"  # Is held back before it is tried at all.
PENDING_IN_FLIGHT = "in-flight"  # Is at the scheduler.
PENDING_GROUP = "group"  # Waits with its group until that is complete enough.
PENDING_EQUALS = "equals"  # Waits for what becomes of a pod that asks for the same.
PENDING_BOUND = "bound"  # Was bound; the watch has yet to show it.
PENDING_DELETING = "deleting"  # Is being deleted, and not tried any more.
UNREAD_SERVED = "served"  # They are served, but a right is missing, or the API server fails.
UNREAD_UNKNOWN = "unknown"  # They were refused, and so was the question whether they are served.
UNREAD_LOOKING = "looking"  # They were not served so far; since a pod names one they are looked for again just now.
OUTCOME_BOUND = "bound"  # The pod is on a node.
OUTCOME_UNSCHEDULABLE = "unschedulable"  # No node takes it.
OUTCOME_ERROR = "error"  # Something failed.
OUTCOME_SKIPPED = "skipped"  # The pod is gone, assigned, deleting or not ours.
FACTS_ALL = "All"  # All that plugin_node has but its pods one by one; so it is without a word, too.
FACTS_NODE = "Node"  # Nothing of the pods on it.
FACTS_NAMES = "Names"  # Its name alone.
FACTS_PODS = "Pods"  # All, and the pods on it one by one.
EVENT_SOURCE_ANY = "*"  # Whatever it is about.
EVENT_SOURCE_POD = "Pod"  # A pod, on a node or the one that waits itself.
EVENT_SOURCE_ASSIGNED_POD = "AssignedPod"  # A pod on a node.
EVENT_SOURCE_NODE = "Node"  # A node.
EVENT_SOURCE_CLAIM = "PersistentVolumeClaim"  # A PersistentVolumeClaim.
EVENT_SOURCE_VOLUME = "PersistentVolume"  # A PersistentVolume.
EVENT_SOURCE_STORAGE_CLASS = "storage.k8s.io/StorageClass"  # A StorageClass.
EVENT_SOURCE_CSI_NODE = "storage.k8s.io/CSINode"  # A CSINode.
EVENT_SOURCE_CSI_DRIVER = "storage.k8s.io/CSIDriver"  # A CSIDriver.
EVENT_SOURCE_CSI_CAPACITY = "storage.k8s.io/CSIStorageCapacity"  # A CSIStorageCapacity.
EVENT_SOURCE_ATTACHMENT = "storage.k8s.io/VolumeAttachment"  # A VolumeAttachment.
EVENT_SOURCE_RESOURCE_CLAIM = "resource.k8s.io/ResourceClaim"  # A ResourceClaim.
EVENT_SOURCE_RESOURCE_SLICE = "resource.k8s.io/ResourceSlice"  # A ResourceSlice.
EVENT_SOURCE_DEVICE_CLASS = "resource.k8s.io/DeviceClass"  # A DeviceClass.
EVENT_CHANGE_ALL = "All"  # Anything.
EVENT_CHANGE_ADD = "Add"  # It is new.
EVENT_CHANGE_DELETE = "Delete"  # It is gone.
EVENT_CHANGE_UPDATE = "Update"  # It has changed.
EVENT_CHANGE_NODE_ALLOCATABLE = "UpdateNodeAllocatable"  # A node has other room.
EVENT_CHANGE_NODE_LABEL = "UpdateNodeLabel"  # A node has other labels.
EVENT_CHANGE_NODE_TAINT = "UpdateNodeTaint"  # A node has other taints, or takes pods again.
EVENT_CHANGE_NODE_CONDITION = "UpdateNodeCondition"  # A node has other conditions.
EVENT_CHANGE_NODE_FEATURE = "UpdateNodeDeclaredFeature"  # A node declares other features.
EVENT_CHANGE_POD_LABEL = "UpdatePodLabel"  # A pod has other labels.
EVENT_CHANGE_POD_SCALE_DOWN = "UpdatePodScaleDown"  # A pod asks for less.
EVENT_CHANGE_POD_TOLERATION = "UpdatePodToleration"  # A pod tolerates more.
EVENT_CHANGE_POD_GATES = "UpdatePodSchedulingGatesEliminated"  # A pod has lost its last gate.
EVENT_CHANGE_POD_CLAIM = "UpdatePodGeneratedResourceClaim"  # A claim was made for a pod.
GANGS_OFF = "off"  # No.
GANGS_AUTO = "auto"  # Where its PodGroup is served; the default.
GANGS_ON = "on"  # It names the plugin.
GANG_VICTIMS_PODS = "Pods"  # Members as any pod; so it is without a word, too.
GANG_VICTIMS_SURPLUS = "Surplus"  # Where it can be, no more of a gang than it has beyond its minimum.
GANG_VICTIMS_WHOLE = "WholeGangs"  # As Surplus; of a gang that falls below its minimum all go.
TIE_BREAK_RANDOM = "random"  # Any; so it is without a word, too.
TIE_BREAK_ROUND_ROBIN = "round-robin"  # In turn: of n of them the one whose place among them, as nodes are walked, is how many choices were made before, modulo n.
TIE_BREAK_FIRST = "first"  # The first by name.
MAP_STEP_COUNT = "count"  # Only count.
MAP_STEP_MAP = "map"  # Filter and score.
MAP_STEP_RUN = "run"  # The same for pods that are alike, one after another, until a turn goes to another worker.
MAP_STEP_AGAIN = "again"  # Score again, with merged surveys and extremes.
MAP_STEP_VICTIMS = "victims"  # Nothing fits: say what removing lower-priority pods would do where that may help.
MAP_STEP_CLAIMS = "claims"  # Nothing fits: say which of the pod's claims some node cannot use.
VERDICT_SUCCESS = "Success"  # It is feasible.
VERDICT_ERROR = "Error"  # A filter failed.
VERDICT_UNSCHEDULABLE = "Unschedulable"  # It is rejected; removing pods may help.
VERDICT_UNRESOLVABLE = "UnschedulableAndUnresolvable"  # It is rejected; removing pods cannot help.
EXTEND_STEP_NODES = "nodes"  # Filter one after another and, if more than one node is left, prioritize all at once.
EXTEND_STEP_VICTIMS = "victims"  # The only one that is asked: which of the candidates to preempt on.
PLUGIN_STEP_FILTER = "filter"  # Which of the nodes are no good.
PLUGIN_STEP_SCORE = "score"  # How good they are.
PLUGIN_STEP_PERMIT = "permit"  # May the pod be bound to the only one.
PLUGIN_STEP_PRE_FILTER = "preFilter"  # Before any node is looked at: may the pod be placed at all, and where; no node is told of.
PLUGIN_STEP_RESERVE = "reserve"  # It has the only node, and its room there: take what it needs of the plugin's own.
PLUGIN_STEP_PRE_SCORE = "preScore"  # These nodes are scored next: get ready.
PLUGIN_STEP_POST_FILTER = "postFilter"  # No node is any good; why, each says: can anything be done about it.
PLUGIN_STEP_PRE_ENQUEUE = "preEnqueue"  # May the pod be queued.
PLUGIN_STEP_QUEUE_SORT = "queueSort"  # Where in the queue does it belong.
PLUGIN_STEP_PRE_BIND = "preBind"  # It is bound to the only node next, which is told of by name alone: do what has to be done before.
PLUGIN_STEP_BIND = "bind"  # Bind it to the only node, or leave that to the next one.
PLUGIN_NEWS_BOUND = "bound"  # It is on the node (PostBind).
PLUGIN_NEWS_UNRESERVED = "unreserved"  # It is not, though this plugin was asked for permission.
BIND_PLUGIN_VOLUME_BINDING = "VolumeBinding"  # The binding of claims.
BIND_PLUGIN_DYNAMIC_RESOURCES = "DynamicResources"  # The reserving of ResourceClaims.
BIND_PLUGIN_EXTENDER = "Extender"  # The extender that binds the pod.
BIND_PLUGIN_HOOK = "Hook"  # A plugin's hook at PreBind or Bind, which the message names.
REASON_SCHEDULED = "Scheduled"  # It is; of a group.
REASON_UNSCHEDULABLE = "Unschedulable"  # No node takes it, or it waits for others.
REASON_SCHEDULER_ERROR = "SchedulerError"  # Something failed.
REASON_FAILED_SCHEDULING = "FailedScheduling"  # Of a pod that is told by event alone.
CLAIM_DEALLOCATE = "deallocate"  # It loses its devices and all reservations, unless it has changed since resource_version.
CLAIM_DELETE = "delete"  # It goes, as it was made for the pod's extended resources.
CLAIM_UNRESERVE = "unreserve"  # The pod's reservation goes, or its PodGroup's.
CLAIM_FORGET = "forget"  # Of the binder alone: the pod's status says no more what its claims take of a node.


class Label(Record):
    """A key and a value: a label, a node selector entry, a counter."""
    key: str  # The key.
    value: str  # The value.
    FIELDS = {"key": (1, str), "value": (2, str)}


class Quantity(Record):
    """An amount of one resource."""
    name: str  # The resource: cpu, memory, nvidia.com/gpu, …
    amount: int  # cpu in millicores, everything else in whole units; rounded up.
    FIELDS = {"name": (1, str), "amount": (2, int)}


class Tally(Record):
    """A text and how often it occurred."""
    text: str  # The text, such as a reason for rejecting a node.
    count: int  # How often.
    FIELDS = {"text": (1, str), "count": (2, int)}


class Taint(Record):
    """A node's taint."""
    key: str  # Key.
    value: str  # Value, may be empty.
    effect: str  # NoSchedule, PreferNoSchedule or NoExecute, as written.
    FIELDS = {"key": (1, str), "value": (2, str), "effect": (3, str)}


class Toleration(Record):
    """A pod's toleration."""
    key: str  # Key; empty matches every key.
    operator_name: str  # Equal (also when empty), Exists, or Lt or Gt (toleration_comparison), as written.
    value: str  # Value for Equal, Lt and Gt.
    effect: str  # Effect; empty matches every effect.
    FIELDS = {"key": (1, str), "operator_name": (2, str), "value": (3, str), "effect": (4, str)}


class Requirement(Record):
    """One requirement of a selector term."""
    key: str  # Label key, or field name in match_fields.
    operator_name: str  # In, NotIn, Exists, DoesNotExist, Gt or Lt, as written.
    values: list[str]  # The values.
    FIELDS = {"key": (1, str), "operator_name": (2, str), "values": (3, [str])}


class NodeTerm(Record):
    """A node selector term: all requirements must hold; with none it matches nothing."""
    expressions: list[Requirement]  # matchExpressions, on labels.
    fields: list[Requirement]  # matchFields, on metadata.name.
    FIELDS = {"expressions": (1, [Requirement]), "fields": (2, [Requirement])}


class PreferredNodeTerm(Record):
    """A preferred node selector term with its weight."""
    weight: int  # 1 to 100; 0 is ignored.
    term: NodeTerm  # What the node should match.
    FIELDS = {"weight": (1, int), "term": (2, NodeTerm)}


class HostPort(Record):
    """A port that a pod wants on its host."""
    ip: str  # Host IP, 0.0.0.0 when unset.
    protocol: str  # TCP, UDP or SCTP, as written.
    port: int  # 1 to 65535.
    FIELDS = {"ip": (1, str), "protocol": (2, str), "port": (3, int)}


class Image(Record):
    """An image that a node holds."""
    names: list[str]  # All its names.
    size: int  # Bytes.
    FIELDS = {"names": (1, [str]), "size": (2, int)}


class Condition(Record):
    """A pod's PodScheduled condition, as far as a later write needs it."""
    status: str  # True or False, as written; empty when the pod has no such condition.
    reason: str  # Unschedulable, SchedulerError, SchedulingGated, …, as written.
    message: str  # The message.
    since: str  # lastTransitionTime as the API server wrote it.
    probed: bool  # True when lastProbeTime is set.
    observed_generation: int  # observedGeneration; 0 = absent.
    FIELDS = {"status": (1, str), "reason": (2, str), "message": (3, str), "since": (4, str), "probed": (5, bool), "observed_generation": (6, int)}


class Selector(Record):
    """A label selector: all labels and all expressions must hold."""
    present: bool  # False: no selector at all, which matches nothing; a present one with nothing in it matches everything.
    labels: list[Label]  # matchLabels, sorted by key.
    expressions: list[Requirement]  # matchExpressions: In, NotIn, Exists, DoesNotExist.
    FIELDS = {"present": (1, bool), "labels": (2, [Label]), "expressions": (3, [Requirement])}


class AffinityTerm(Record):
    """A term of pod affinity or anti-affinity."""
    selector: Selector  # Which pods.
    namespaces: list[str]  # In which namespaces; the pod's own when the term names none and has no namespace selector.
    namespace_selector: Selector  # And in namespaces with such labels.
    topology_key: str  # Label of nodes that tells domains apart.
    weight: int  # 1 to 100 for a preferred term, 0 for a required one.
    FIELDS = {"selector": (1, Selector), "namespaces": (2, [str]), "namespace_selector": (3, Selector), "topology_key": (4, str), "weight": (5, int)}


class SpreadConstraint(Record):
    """A topology spread constraint."""
    max_skew: int  # At least 1.
    topology_key: str  # Label of nodes that tells domains apart.
    when_unsatisfiable: str  # DoNotSchedule or ScheduleAnyway, as written.
    selector: Selector  # Which pods are counted.
    min_domains: int  # 0 = not set, counts as 1.
    match_label_keys: list[str]  # Labels of the pod that counted pods must share.
    node_affinity_policy: str  # Honor (also when empty) or Ignore, as written.
    node_taints_policy: str  # Ignore (also when empty) or Honor, as written.
    FIELDS = {"max_skew": (1, int), "topology_key": (2, str), "when_unsatisfiable": (3, str), "selector": (4, Selector), "min_domains": (5, int), "match_label_keys": (6, [str]), "node_affinity_policy": (7, str), "node_taints_policy": (8, str)}


class PodVolume(Record):
    """A volume of a pod that scheduling looks at."""
    kind: str  # What is behind it.
    name: str  # Claim name (an ephemeral volume's as generated), disk name, volume ID, IQN, or the driver for csi.
    read_only: bool  # The source's readOnly.
    monitors: list[str]  # rbd: its monitors.
    pool: str  # rbd: pool.
    image: str  # rbd: image.
    volume: str  # The volume's name in the pod.
    driver: str  # For an in-tree disk that is migrated to CSI: the driver.
    handle: str  # For such a disk: what the driver calls it.
    problem: str  # For such a disk: why it has no handle; empty = it has one.
    FIELDS = {"kind": (1, str), "name": (2, str), "read_only": (3, bool), "monitors": (4, [str]), "pool": (5, str), "image": (6, str), "volume": (7, str), "driver": (8, str), "handle": (9, str), "problem": (10, str)}


class AttachedVolume(Record):
    """A volume that counts against a node's attach limit."""
    driver: str  # CSI driver.
    handle: str  # What identifies the volume for that driver.
    FIELDS = {"driver": (1, str), "handle": (2, str)}


class DeviceClaim(Record):
    """A ResourceClaim as a pod or a PodGroup names it."""
    name: str  # Name in spec.resourceClaims.
    claim: str  # The ResourceClaim's name; empty: not created yet.
    generated: bool  # It is made from a template for this pod, or for its PodGroup.
    unneeded: bool  # The status says that it needs none.
    malformed: bool  # Neither a claim nor a template is named.
    template: str  # The ResourceClaimTemplate's name; empty: none is named.
    for_group: bool  # Of a bind: it is to be reserved for the pod's PodGroup, not for the pod.
    FIELDS = {"name": (1, str), "claim": (2, str), "generated": (3, bool), "unneeded": (4, bool), "malformed": (5, bool), "template": (6, str), "for_group": (7, bool)}


class ExtendedAsk(Record):
    """What a container asks for of an extended resource."""
    resource: str  # The resource, by a name that a DeviceClass may stand for.
    container: str  # The container.
    place: int  # Its place among init containers and, behind them, containers; from 0.
    rank: int  # The resource's place among all that the container requests, by name; from 0.
    amount: int  # How many; not 0.
    passing: bool  # An init container that ends before the next one begins.
    FIELDS = {"resource": (1, str), "container": (2, str), "place": (3, int), "rank": (4, int), "amount": (5, int), "passing": (6, bool)}


class PodContainer(Record):
    """A container as claims that take of a node's own resources look at it."""
    name: str  # Name.
    claims: list[str]  # resources.claims: names in spec.resourceClaims.
    init: bool  # It is an init container.
    limits: list[Label]  # resources.limits.
    FIELDS = {"name": (1, str), "claims": (2, [str]), "init": (3, bool), "limits": (4, [Label])}


class PodAmounts(Record):
    """What a pod asks for, as exact quantities, for what its claims add to it. All is of the spec alone."""
    requests: list[Label]  # Of its containers together.
    score_cpu: str  # Of those, where each that asks for no cpu counts as 100m.
    score_memory: str  # Of those, where each that asks for no memory counts as 200Mi.
    whole: list[Label]  # Requests of the pod as a whole.
    whole_limits: list[Label]  # Limits of the pod as a whole.
    huge_limits: list[Label]  # Limits on huge pages of its containers together.
    overhead: list[Label]  # spec.overhead.
    containers: list[PodContainer]  # Init containers, then containers.
    FIELDS = {"requests": (1, [Label]), "score_cpu": (2, str), "score_memory": (3, str), "whole": (4, [Label]), "whole_limits": (5, [Label]), "huge_limits": (6, [Label]), "overhead": (7, [Label]), "containers": (8, [PodContainer])}


class CountedUsage(Record):
    """What a pod takes from its node, and counts for there."""
    usage: list[Quantity]  # What it takes.
    score_cpu: int  # Millicores it counts for in scoring.
    score_memory: int  # Bytes it counts for in scoring.
    FIELDS = {"usage": (1, [Quantity]), "score_cpu": (2, int), "score_memory": (3, int)}


class OtherCount(Record):
    """What a pod comes to with feature gates that are not as by default."""
    release: int  # The minor version that counts so.
    pod_level_resources: bool  # With that gate (features).
    pod_level_resizes: bool  # And with that one.
    request: list[Quantity]  # Its request.
    node_resources: bool  # And with device_node_resources, where its status says what claims take of the node.
    usage: CountedUsage  # Its usage, usage_score_cpu and usage_score_memory.
    FIELDS = {"release": (1, int), "pod_level_resources": (2, bool), "pod_level_resizes": (3, bool), "request": (4, [Quantity]), "node_resources": (6, bool), "usage": (5, CountedUsage)}


class Pod(Record):
    """A pod, with only the fields that scheduling uses. Amounts are derived from the spec once, where it is read."""
    uid: str  # UID.
    namespace_name: str  # Namespace.
    name: str  # Name.
    resource_version: int  # metadata.resourceVersion as a number; newer is greater.
    generation: int  # metadata.generation.
    node_name: str  # spec.nodeName; empty = not assigned.
    scheduler_name: str  # spec.schedulerName.
    priority: int  # spec.priority, none = 0.
    preemption_policy: str  # Never, or PreemptLowerPriority (also when empty), as written.
    nominated_node: str  # status.nominatedNodeName.
    created: int  # metadata.creationTimestamp.
    started: int  # status.startTime; 0 = none.
    deleting: bool  # True when metadata.deletionTimestamp is set.
    gates: list[str]  # Names of spec.schedulingGates, in order.
    labels: list[Label]  # metadata.labels, sorted by key.
    request: list[Quantity]  # What Filter asks for: pod-level resources on, status off, no defaults.
    score_request: list[Quantity]  # What NodeResourcesFit scores with: pod-level off, 100m and 200Mi defaults per container.
    usage: list[Quantity]  # What it takes from its node: pod-level on, status on, no defaults.
    usage_score_cpu: int  # Millicores it counts for in scoring on its node: status on, with defaults.
    usage_score_memory: int  # Bytes it counts for in scoring on its node: status on, with defaults.
    ports: list[HostPort]  # Host ports of containers and restartable init containers.
    node_selector: list[Label]  # spec.nodeSelector, sorted by key.
    has_node_selector: bool  # True when spec.nodeSelector is set (also when empty).
    required_terms: list[NodeTerm]  # requiredDuringScheduling node affinity; ORed.
    has_required_terms: bool  # True when a required node affinity is set (also with no terms).
    preferred_terms: list[PreferredNodeTerm]  # preferredDuringScheduling node affinity.
    tolerations: list[Toleration]  # spec.tolerations.
    images: list[str]  # Images of init containers, then containers, then image volumes; normalised with :latest.
    extended_asks: list[ExtendedAsk]  # Of a pod without a node: what its containers ask for that devices may stand for; by resource, then place.
    container_count: int  # Init containers plus containers.
    scheduled: Condition  # Its PodScheduled condition; absent once it is assigned.
    condition_types: list[str]  # Types of all status.conditions, in order.
    has_spread: bool  # True when spec.topologySpreadConstraints is not empty.
    claims: list[str]  # PersistentVolumeClaims of its volumes.
    resource_claims: list[str]  # Names of spec.resourceClaims.
    affinity_required: list[AffinityTerm]  # Required pod affinity.
    affinity_preferred: list[AffinityTerm]  # Preferred pod affinity.
    anti_affinity_required: list[AffinityTerm]  # Required pod anti-affinity.
    anti_affinity_preferred: list[AffinityTerm]  # Preferred pod anti-affinity.
    spread: list[SpreadConstraint]  # spec.topologySpreadConstraints.
    volumes: list[PodVolume]  # Volumes that scheduling looks at, in the pod's order.
    owner_kind: str  # Kind of its controller; empty = none.
    owner_name: str  # Name of its controller.
    preempted: bool  # Its first DisruptionTarget condition is True with reason PreemptionByScheduler.
    features: list[str]  # Node features that it needs.
    attached: list[AttachedVolume]  # For a pod on a node, towards workers: its volumes that count against attach limits there.
    owner_api: str  # apiVersion of its controller.
    disruption_target: str  # message of its DisruptionTarget condition; empty = has none.
    owner_uid: str  # UID of its controller.
    attach_problem: str  # For a pod on a node, towards workers: why attached cannot be known; then limits there cannot be checked.
    device_claims: list[DeviceClaim]  # spec.resourceClaims, with what the status says of generated ones.
    gang: str  # Its PodGroup's name, in its own namespace; empty = none.
    gang_api: str  # API group of that PodGroup, by what names it: scheduling.k8s.io (spec.schedulingGroup), else scheduling.x-k8s.io (label scheduling.x-k8s.io/pod-group), else scheduling.sigs.k8s.io (label pod-group.scheduling.sigs.k8s.io).
    phase: str  # status.phase, of pods with a PodGroup alone.
    has_priority: bool  # True when spec.priority is set (also when 0).
    limits: list[Quantity]  # What it may take at most: spec alone, pod-level on. Decides nothing; /metrics/resources shows it.
    usage_varies: bool  # True when 1.37 counts usage, usage_score_cpu and usage_score_memory otherwise, by another reading of the status.
    annotations: list[Label]  # metadata.annotations that some plugin on the bus wants to be told of, sorted by key.
    usage_1_37: CountedUsage  # Then those three as 1.37 counts them; who decides puts them in their place.
    other_counts: list[OtherCount]  # Of a pod with requests as a whole: what it comes to with other gates than by default; who decides puts it in its place.
    resize_deferred: bool  # Its first PodResizePending condition has the reason Deferred: its node has no room for what it asks for now (resize_preemption).
    amounts: list[PodAmounts]  # Of a pod with device_claims or extended_asks and without a node: one.
    room_claims: list[str]  # Claims in status.nodeAllocatableResourceClaimStatuses.
    unreadable: str  # Why it cannot be understood, with the field; the rest is then what could be. It is not placed, and its node takes no other.
    FIELDS = {"uid": (1, str), "namespace_name": (2, str), "name": (3, str), "resource_version": (4, int), "generation": (5, int), "node_name": (6, str), "scheduler_name": (7, str), "priority": (8, int), "preemption_policy": (9, str), "nominated_node": (10, str), "created": (11, int), "started": (12, int), "deleting": (13, bool), "gates": (14, [str]), "labels": (15, [Label]), "request": (16, [Quantity]), "score_request": (17, [Quantity]), "usage": (18, [Quantity]), "usage_score_cpu": (19, int), "usage_score_memory": (20, int), "ports": (21, [HostPort]), "node_selector": (22, [Label]), "has_node_selector": (23, bool), "required_terms": (24, [NodeTerm]), "has_required_terms": (25, bool), "preferred_terms": (26, [PreferredNodeTerm]), "tolerations": (27, [Toleration]), "images": (28, [str]), "extended_asks": (57, [ExtendedAsk]), "container_count": (29, int), "scheduled": (30, Condition), "condition_types": (31, [str]), "has_spread": (33, bool), "claims": (34, [str]), "resource_claims": (35, [str]), "affinity_required": (36, [AffinityTerm]), "affinity_preferred": (37, [AffinityTerm]), "anti_affinity_required": (38, [AffinityTerm]), "anti_affinity_preferred": (39, [AffinityTerm]), "spread": (40, [SpreadConstraint]), "volumes": (41, [PodVolume]), "owner_kind": (42, str), "owner_name": (43, str), "preempted": (44, bool), "features": (45, [str]), "attached": (46, [AttachedVolume]), "owner_api": (47, str), "disruption_target": (48, str), "owner_uid": (49, str), "attach_problem": (50, str), "device_claims": (51, [DeviceClaim]), "gang": (52, str), "gang_api": (53, str), "phase": (54, str), "has_priority": (56, bool), "limits": (55, [Quantity]), "usage_varies": (59, bool), "annotations": (92, [Label]), "usage_1_37": (60, CountedUsage), "other_counts": (80, [OtherCount]), "resize_deferred": (61, bool), "amounts": (90, [PodAmounts]), "room_claims": (91, [str]), "unreadable": (58, str)}


class Node(Record):
    """A node, with only the fields that scheduling uses."""
    name: str  # Name.
    uid: str  # UID.
    resource_version: int  # metadata.resourceVersion as a number.
    labels: list[Label]  # metadata.labels, sorted by key.
    taints: list[Taint]  # spec.taints, in order.
    unschedulable: bool  # spec.unschedulable.
    allocatable: list[Quantity]  # status.allocatable.
    images: list[Image]  # status.images.
    features: list[str]  # status.declaredFeatures.
    conditions: list[Label]  # status.conditions as type and status.
    annotations: list[Label]  # metadata.annotations that some plugin on the bus wants to be told of, sorted by key.
    spares_from_resizes: list[str]  # spec.podPreemptionPolicy.disableResizePreemption: who wants that no pod is evicted here for another one's resize.
    avoided: list[Label]  # Annotation scheduler.alpha.kubernetes.io/preferAvoidPods: controllers by kind and UID.
    FIELDS = {"name": (1, str), "uid": (2, str), "resource_version": (3, int), "labels": (4, [Label]), "taints": (5, [Taint]), "unschedulable": (6, bool), "allocatable": (7, [Quantity]), "images": (8, [Image]), "features": (9, [str]), "conditions": (10, [Label]), "annotations": (13, [Label]), "spares_from_resizes": (12, [str]), "avoided": (11, [Label])}


class Claim(Record):
    """A PersistentVolumeClaim."""
    namespace_name: str  # Namespace.
    name: str  # Name.
    uid: str  # UID.
    resource_version: int  # metadata.resourceVersion as a number.
    deleting: bool  # True when metadata.deletionTimestamp is set.
    owner_uid: str  # UID of its controller; empty = none.
    volume_name: str  # spec.volumeName.
    has_class: bool  # True when a storage class is named, in the annotation or in the spec (also the empty one).
    class_name: str  # volume.beta.kubernetes.io/storage-class, else spec.storageClassName.
    phase: str  # status.phase.
    access_modes: list[str]  # spec.accessModes.
    requested: int  # Bytes of storage requested.
    volume_mode: str  # Filesystem (also when unset) or Block, as written.
    attributes_class: str  # spec.volumeAttributesClassName.
    selector: Selector  # spec.selector.
    bind_completed: bool  # Has the annotation pv.kubernetes.io/bind-completed.
    selected_node: str  # Annotation volume.kubernetes.io/selected-node.
    class_annotated: bool  # True when class_name is the annotation's.
    spec_class: str  # spec.storageClassName then: scores go by it all the same.
    FIELDS = {"namespace_name": (1, str), "name": (2, str), "uid": (3, str), "resource_version": (4, int), "deleting": (5, bool), "owner_uid": (6, str), "volume_name": (7, str), "has_class": (8, bool), "class_name": (9, str), "phase": (10, str), "access_modes": (11, [str]), "requested": (12, int), "volume_mode": (13, str), "attributes_class": (14, str), "selector": (15, Selector), "bind_completed": (16, bool), "selected_node": (17, str), "class_annotated": (18, bool), "spec_class": (19, str)}


class Volume(Record):
    """A PersistentVolume."""
    name: str  # Name.
    uid: str  # UID.
    resource_version: int  # metadata.resourceVersion as a number.
    deleting: bool  # True when metadata.deletionTimestamp is set.
    labels: list[Label]  # metadata.labels, sorted by key.
    class_name: str  # Annotation volume.beta.kubernetes.io/storage-class, else spec.storageClassName.
    capacity: int  # Bytes.
    phase: str  # status.phase.
    access_modes: list[str]  # spec.accessModes.
    volume_mode: str  # Filesystem (also when unset) or Block, as written.
    attributes_class: str  # spec.volumeAttributesClassName.
    has_terms: bool  # True when spec.nodeAffinity.required is set.
    terms: list[NodeTerm]  # spec.nodeAffinity.required; ORed.
    has_claim_ref: bool  # True when spec.claimRef is set.
    claim_namespace: str  # spec.claimRef.
    claim_name: str  # spec.claimRef.
    claim_uid: str  # spec.claimRef.uid; may be empty.
    source: str  # What is behind it; none: nothing of these.
    driver: str  # CSI driver; for an in-tree disk that of its translation.
    handle: str  # CSI volume handle; for an in-tree disk that of its translation.
    bound_by_controller: bool  # Has the annotation pv.kubernetes.io/bound-by-controller.
    migrated_plugin: str  # The in-tree plugin, such as kubernetes.io/aws-ebs, whose disk it is; empty for others.
    has_migrated_terms: bool  # has_terms where the in-tree plugin is migrated.
    migrated_terms: list[NodeTerm]  # terms where the in-tree plugin is migrated: with the driver's zone label.
    migration_problem: str  # Why the in-tree disk has no translation; empty = it has one.
    class_annotated: bool  # True when class_name is the annotation's.
    spec_class: str  # spec.storageClassName then: scores go by it all the same.
    FIELDS = {"name": (1, str), "uid": (2, str), "resource_version": (3, int), "deleting": (4, bool), "labels": (5, [Label]), "class_name": (6, str), "capacity": (7, int), "phase": (8, str), "access_modes": (9, [str]), "volume_mode": (10, str), "attributes_class": (11, str), "has_terms": (12, bool), "terms": (13, [NodeTerm]), "has_claim_ref": (14, bool), "claim_namespace": (15, str), "claim_name": (16, str), "claim_uid": (17, str), "source": (18, str), "driver": (19, str), "handle": (20, str), "bound_by_controller": (21, bool), "migrated_plugin": (22, str), "has_migrated_terms": (23, bool), "migrated_terms": (24, [NodeTerm]), "migration_problem": (25, str), "class_annotated": (26, bool), "spec_class": (27, str)}


class StorageClass(Record):
    """A StorageClass."""
    name: str  # Name.
    resource_version: int  # metadata.resourceVersion as a number.
    provisioner: str  # provisioner.
    binding_mode: str  # Immediate or WaitForFirstConsumer, as written; empty = not set.
    topologies: list[NodeTerm]  # allowedTopologies, each term's keys as In requirements; ORed; none = anywhere.
    FIELDS = {"name": (1, str), "resource_version": (2, int), "provisioner": (3, str), "binding_mode": (4, str), "topologies": (5, [NodeTerm])}


class DriverLimit(Record):
    """A CSI driver on a node."""
    driver: str  # Driver.
    limited: bool  # True when allocatable.count is set.
    count: int  # How many volumes may be attached.
    FIELDS = {"driver": (1, str), "limited": (2, bool), "count": (3, int)}


class CsiNode(Record):
    """A CSINode."""
    name: str  # Name, which is the node's.
    resource_version: int  # metadata.resourceVersion as a number.
    drivers: list[DriverLimit]  # spec.drivers.
    migrated: list[str]  # Annotation storage.alpha.kubernetes.io/migrated-plugins, split at commas.
    FIELDS = {"name": (1, str), "resource_version": (2, int), "drivers": (3, [DriverLimit]), "migrated": (4, [str])}


class CsiDriver(Record):
    """A CSIDriver."""
    name: str  # Name.
    resource_version: int  # metadata.resourceVersion as a number.
    storage_capacity: bool  # spec.storageCapacity.
    must_be_there: bool  # spec.preventPodSchedulingIfMissing: pods with its volumes go to no node without it.
    FIELDS = {"name": (1, str), "resource_version": (2, int), "storage_capacity": (3, bool), "must_be_there": (4, bool)}


class CsiCapacity(Record):
    """A CSIStorageCapacity."""
    namespace_name: str  # Namespace.
    name: str  # Name.
    resource_version: int  # metadata.resourceVersion as a number.
    class_name: str  # storageClassName.
    has_capacity: bool  # True when capacity is set.
    capacity: int  # Bytes.
    has_maximum: bool  # True when maximumVolumeSize is set.
    maximum: int  # Bytes.
    topology: Selector  # nodeTopology.
    FIELDS = {"namespace_name": (1, str), "name": (2, str), "resource_version": (3, int), "class_name": (4, str), "has_capacity": (5, bool), "capacity": (6, int), "has_maximum": (7, bool), "maximum": (8, int), "topology": (9, Selector)}


class Attachment(Record):
    """A VolumeAttachment."""
    name: str  # Name.
    resource_version: int  # metadata.resourceVersion as a number.
    attacher: str  # spec.attacher.
    node_name: str  # spec.nodeName.
    volume_name: str  # spec.source.persistentVolumeName; empty = inline.
    FIELDS = {"name": (1, str), "resource_version": (2, int), "attacher": (3, str), "node_name": (4, str), "volume_name": (5, str)}


class OpaqueConfig(Record):
    """Configuration of devices for their driver."""
    requests: list[str]  # The requests it is for; none = all of the claim's.
    source: str  # In an allocation: FromClass or FromClaim, as written; else empty.
    driver: str  # opaque.driver; empty = it is not opaque, which is for nobody.
    parameters: str  # opaque.parameters, as JSON.
    FIELDS = {"requests": (1, [str]), "source": (2, str), "driver": (3, str), "parameters": (4, str)}


class DeviceToleration(Record):
    """A request's toleration of devices' taints."""
    key: str  # Key; empty matches every key.
    operator_name: str  # Equal (also when empty) or Exists, as written.
    value: str  # Value for Equal.
    effect: str  # Effect; empty matches every effect.
    has_seconds: bool  # True when tolerationSeconds is set.
    seconds: int  # tolerationSeconds.
    FIELDS = {"key": (1, str), "operator_name": (2, str), "value": (3, str), "effect": (4, str), "has_seconds": (5, bool), "seconds": (6, int)}


class DeviceAsk(Record):
    """Devices of one class: a request, or one of its alternatives."""
    name: str  # Name; of a request that is one of a kind its own.
    class_name: str  # deviceClassName.
    selectors: list[str]  # CEL expressions; empty for a selector that is of no known kind.
    mode: str  # ExactCount (also when empty) or All, as written; another is an error that names it.
    count: int  # How many, for ExactCount.
    admin_access: bool  # adminAccess.
    tolerations: list[DeviceToleration]  # tolerations.
    capacity: list[Label]  # capacity.requests by name, sorted.
    derived: list[Label]  # derivedAttributes: CEL expressions by name.
    FIELDS = {"name": (1, str), "class_name": (2, str), "selectors": (3, [str]), "mode": (4, str), "count": (5, int), "admin_access": (6, bool), "tolerations": (7, [DeviceToleration]), "capacity": (8, [Label]), "derived": (9, [Label])}


class DeviceRequest(Record):
    """A request of a ResourceClaim."""
    name: str  # Name.
    exactly: bool  # True: it is one of a kind, the only one of asks; false: asks are its alternatives (firstAvailable), best first.
    asks: list[DeviceAsk]  # None: it is of no known kind.
    FIELDS = {"name": (1, str), "exactly": (2, bool), "asks": (3, [DeviceAsk])}


class DeviceConstraint(Record):
    """What devices of a claim are to have in common, or not."""
    requests: list[str]  # The requests it is for; none = all.
    match_attribute: str  # All have the same of this; empty = not set.
    distinct_attribute: str  # No two have the same of this; empty = not set.
    FIELDS = {"requests": (1, [str]), "match_attribute": (2, str), "distinct_attribute": (3, str)}


class AllocatedDevice(Record):
    """A device that a claim has been given."""
    request: str  # For which request, or request/alternative.
    driver: str  # Driver.
    pool: str  # Pool.
    device: str  # Device.
    has_admin_access: bool  # True when adminAccess is set.
    admin_access: bool  # adminAccess: it counts as free all the same.
    tolerations: list[DeviceToleration]  # tolerations.
    binding_conditions: list[str]  # Conditions to wait for before the pod is bound.
    binding_failure_conditions: list[str]  # Conditions that end that wait.
    share_id: str  # Which share of it; empty = it is not shared.
    consumed: list[Label]  # consumedCapacity by name, sorted.
    skips: list[str]  # skipNodeOperations: it is for nodes that declare that they can do without these operations of its driver.
    FIELDS = {"request": (1, str), "driver": (2, str), "pool": (3, str), "device": (4, str), "has_admin_access": (5, bool), "admin_access": (6, bool), "tolerations": (7, [DeviceToleration]), "binding_conditions": (8, [str]), "binding_failure_conditions": (9, [str]), "share_id": (10, str), "consumed": (11, [Label]), "skips": (12, [str])}


class DeviceCondition(Record):
    """A condition of an allocated device."""
    type: str  # Type.
    status: str  # True, False or Unknown, as written.
    reason: str  # Reason.
    message: str  # Message.
    FIELDS = {"type": (1, str), "status": (2, str), "reason": (3, str), "message": (4, str)}


class DeviceStatus(Record):
    """What its driver says of an allocated device."""
    driver: str  # Driver.
    pool: str  # Pool.
    device: str  # Device.
    share_id: str  # Which share of it.
    conditions: list[DeviceCondition]  # Conditions.
    FIELDS = {"driver": (1, str), "pool": (2, str), "device": (3, str), "share_id": (4, str), "conditions": (5, [DeviceCondition])}


class ResourceClaim(Record):
    """A ResourceClaim."""
    namespace_name: str  # Namespace.
    name: str  # Name.
    uid: str  # UID.
    resource_version: int  # metadata.resourceVersion as a number.
    deleting: bool  # True when metadata.deletionTimestamp is set.
    owner_uid: str  # UID of its controller; empty = none.
    allocated: bool  # True when status.allocation is set.
    has_terms: bool  # True when the allocation is for some nodes only.
    terms: list[NodeTerm]  # Those nodes; ORed.
    reserved_for: list[str]  # UIDs in status.reservedFor.
    extended: bool  # Has the annotation resource.kubernetes.io/extended-resource-claim: it was made by a scheduler for a pod's extended resources.
    requests: list[DeviceRequest]  # spec.devices.requests.
    constraints: list[DeviceConstraint]  # spec.devices.constraints.
    config: list[OpaqueConfig]  # spec.devices.config.
    devices: list[AllocatedDevice]  # status.allocation.devices.results.
    owner_group: str  # Name of its controller where that is a PodGroup of scheduling.k8s.io; else empty.
    reserved_groups: list[str]  # Names of the PodGroups of scheduling.k8s.io in status.reservedFor; their UIDs are in reserved_for.
    allocated_us: int  # status.allocation.allocationTimestamp; 0 = not set.
    device_statuses: list[DeviceStatus]  # status.devices.
    document: str  # The claim as the API server sent it, so that it can be put back with devices: JSON, or its protobuf body in base64. Empty when it has devices, when it is being deleted, and when it is long, or cannot be put back as it came.
    FIELDS = {"namespace_name": (1, str), "name": (2, str), "uid": (3, str), "resource_version": (4, int), "deleting": (5, bool), "owner_uid": (6, str), "allocated": (7, bool), "has_terms": (8, bool), "terms": (9, [NodeTerm]), "reserved_for": (10, [str]), "extended": (11, bool), "requests": (12, [DeviceRequest]), "constraints": (13, [DeviceConstraint]), "config": (14, [OpaqueConfig]), "devices": (15, [AllocatedDevice]), "owner_group": (18, str), "reserved_groups": (19, [str]), "allocated_us": (16, int), "device_statuses": (17, [DeviceStatus]), "document": (20, str)}


class DeviceClass(Record):
    """A DeviceClass."""
    name: str  # Name.
    resource_version: int  # metadata.resourceVersion as a number.
    created: int  # metadata.creationTimestamp.
    selectors: list[str]  # CEL expressions; empty for a selector that is of no known kind.
    config: list[OpaqueConfig]  # spec.config.
    extended_resource: str  # spec.extendedResourceName; empty = none.
    FIELDS = {"name": (1, str), "resource_version": (2, int), "created": (3, int), "selectors": (4, [str]), "config": (5, [OpaqueConfig]), "extended_resource": (6, str)}


class DeviceAttribute(Record):
    """An attribute of a device."""
    name: str  # Name, with or without a domain.
    kind: str  # Its kind; none: none that is known.
    number: int  # Of an int; of a bool 1 for true.
    text: str  # Of a string or version.
    values: list[str]  # Of a list; numbers in decimal, true and false as words.
    FIELDS = {"name": (1, str), "kind": (2, str), "number": (3, int), "text": (4, str), "values": (5, [str])}


class DeviceCapacity(Record):
    """How much a device has of something."""
    name: str  # Name, with or without a domain.
    value: str  # How much.
    has_policy: bool  # True when requestPolicy is set.
    default_request: str  # requestPolicy.default; empty = not set.
    valid_values: list[str]  # requestPolicy.validValues.
    has_range: bool  # True when requestPolicy.validRange is set.
    range_min: str  # Its min; empty = not set.
    range_max: str  # Its max; empty = not set.
    range_step: str  # Its step; empty = not set.
    FIELDS = {"name": (1, str), "value": (2, str), "has_policy": (3, bool), "default_request": (4, str), "valid_values": (5, [str]), "has_range": (6, bool), "range_min": (7, str), "range_max": (8, str), "range_step": (9, str)}


class DeviceCounters(Record):
    """Counters of a set: those that there are, or those that a device takes."""
    name: str  # The set.
    counters: list[Label]  # How much by name, sorted.
    groups: list[str]  # compatibilityGroups.
    FIELDS = {"name": (1, str), "counters": (2, [Label]), "groups": (3, [str])}


class DeviceNodeResource(Record):
    """What a device takes of a resource of its node (nodeAllocatableResources, in 1.36 nodeAllocatableResourceMappings)."""
    name: str  # The resource.
    maps: bool  # True when the device stands for some of it (mapping); in 1.36 always.
    capacity_key: str  # For what is consumed of this capacity; empty = for the device.
    multiplier: str  # How much for each unit of that capacity, or for the device; empty = not set.
    has_overhead: bool  # True when it costs some on top (overhead).
    per_pod: str  # overhead.perPod; empty = not set.
    per_container: str  # overhead.perContainer; empty = not set.
    old: bool  # It is one of 1.36, which knows no other; others know none of these.
    FIELDS = {"name": (1, str), "maps": (2, bool), "capacity_key": (3, str), "multiplier": (4, str), "has_overhead": (5, bool), "per_pod": (6, str), "per_container": (7, str), "old": (8, bool)}


class SliceDevice(Record):
    """A device of a ResourceSlice."""
    name: str  # Name.
    attributes: list[DeviceAttribute]  # Sorted by name.
    capacity: list[DeviceCapacity]  # Sorted by name.
    consumes: list[DeviceCounters]  # consumesCounters.
    node_name: str  # nodeName; empty = not set.
    has_terms: bool  # True when nodeSelector is set.
    terms: list[NodeTerm]  # nodeSelector; ORed.
    all_nodes: bool  # allNodes.
    taints: list[Taint]  # taints.
    binds_to_node: bool  # bindsToNode.
    binding_conditions: list[str]  # bindingConditions.
    binding_failure_conditions: list[str]  # bindingFailureConditions.
    shareable: bool  # allowMultipleAllocations.
    node_resources: list[DeviceNodeResource]  # Sorted by name; those of 1.36 last.
    FIELDS = {"name": (1, str), "attributes": (2, [DeviceAttribute]), "capacity": (3, [DeviceCapacity]), "consumes": (4, [DeviceCounters]), "node_name": (5, str), "has_terms": (6, bool), "terms": (7, [NodeTerm]), "all_nodes": (8, bool), "taints": (9, [Taint]), "binds_to_node": (10, bool), "binding_conditions": (11, [str]), "binding_failure_conditions": (12, [str]), "shareable": (13, bool), "node_resources": (14, [DeviceNodeResource])}


class ResourceSlice(Record):
    """A ResourceSlice: some devices of a pool."""
    name: str  # Name.
    resource_version: int  # metadata.resourceVersion as a number.
    driver: str  # Driver.
    pool: str  # Its pool's name.
    pool_generation: int  # The pool's generation; slices of older ones do not count.
    pool_slices: int  # Of how many slices the pool consists.
    node_name: str  # nodeName; empty = not set.
    has_terms: bool  # True when nodeSelector is set.
    terms: list[NodeTerm]  # nodeSelector; ORed.
    all_nodes: bool  # allNodes.
    by_device: bool  # perDeviceNodeSelection: the devices say which nodes.
    devices: list[SliceDevice]  # devices.
    shared: list[DeviceCounters]  # sharedCounters.
    skips: list[str]  # skipNodeOperations.
    FIELDS = {"name": (1, str), "resource_version": (2, int), "driver": (3, str), "pool": (4, str), "pool_generation": (5, int), "pool_slices": (6, int), "node_name": (7, str), "has_terms": (8, bool), "terms": (9, [NodeTerm]), "all_nodes": (10, bool), "by_device": (11, bool), "devices": (12, [SliceDevice]), "shared": (13, [DeviceCounters]), "skips": (14, [str])}


class DeviceTaintRule(Record):
    """A DeviceTaintRule: a taint of the devices that it selects."""
    name: str  # Name.
    resource_version: int  # metadata.resourceVersion as a number.
    has_selector: bool  # True when deviceSelector is set.
    driver: str  # deviceSelector.driver; empty = any.
    pool: str  # deviceSelector.pool; empty = any.
    device: str  # deviceSelector.device; empty = any.
    taint: Taint  # taint.
    FIELDS = {"name": (1, str), "resource_version": (2, int), "has_selector": (3, bool), "driver": (4, str), "pool": (5, str), "device": (6, str), "taint": (7, Taint)}


class Owner(Record):
    """A Service, ReplicationController, ReplicaSet or StatefulSet: something whose pods are spread by default."""
    kind: str  # Its kind.
    namespace_name: str  # Namespace.
    name: str  # Name.
    resource_version: int  # metadata.resourceVersion as a number.
    selector: Selector  # spec.selector; a Service's map as labels.
    uid: str  # UID.
    FIELDS = {"kind": (1, str), "namespace_name": (2, str), "name": (3, str), "resource_version": (4, int), "selector": (5, Selector), "uid": (6, str)}


class Budget(Record):
    """A PodDisruptionBudget."""
    namespace_name: str  # Namespace.
    name: str  # Name.
    resource_version: int  # metadata.resourceVersion as a number.
    selector: Selector  # spec.selector.
    allowed: int  # status.disruptionsAllowed.
    disrupted: list[str]  # Names of pods in status.disruptedPods.
    gang: str  # Not of the API, but for a PodGroup of this name: members that terminate do not count; without a selector they are those of scheduling.k8s.io. Empty = a PodDisruptionBudget.
    FIELDS = {"namespace_name": (1, str), "name": (2, str), "resource_version": (3, int), "selector": (4, Selector), "allowed": (5, int), "disrupted": (6, [str]), "gang": (7, str)}


class Gang(Record):
    """A PodGroup: pods that start together or not at all. Or a CompositePodGroup: groups that do."""
    api: str  # Its API group: scheduling.x-k8s.io, scheduling.sigs.k8s.io or scheduling.k8s.io; of a CompositePodGroup scheduling.k8s.io/CompositePodGroup, as its name may be a PodGroup's, too.
    namespace_name: str  # Namespace.
    name: str  # Name.
    uid: str  # UID.
    resource_version: int  # metadata.resourceVersion as a number.
    created: int  # metadata.creationTimestamp.
    deleting: bool  # True when metadata.deletionTimestamp is set.
    min_member: int  # spec.minMember, or schedulingPolicy.gang.minCount, or its minGroupCount; 0 = basic policy: no gang.
    timeout_s: int  # spec.scheduleTimeoutSeconds; 0 = not set.
    has_min_resources: bool  # True when spec.minResources is set.
    min_resources: list[Quantity]  # spec.minResources.
    phase: str  # status.phase; empty = not set.
    scheduled: int  # status.scheduled, in the API group that has it.
    running: int  # status.running.
    succeeded: int  # status.succeeded.
    failed: int  # status.failed.
    schedule_start: int  # status.scheduleStartTime; 0 = not set.
    occupied_by: str  # status.occupiedBy.
    status_foreign: bool  # True: by metadata.managedFields somebody else wrote its phase or counts, who is neither we nor kubectl: a controller, so we do not.
    status_foreign_at: int  # When that one wrote last, by its clock and managedFields; 0 = not said.
    scheduled_condition: Condition  # Its PodGroupScheduled condition, or PodGroupInitiallyScheduled.
    generation: int  # metadata.generation.
    version: str  # The version that scheduling.k8s.io was read in, such as v1beta1; empty for the others.
    has_priority: bool  # True when spec.priority is set; scheduling.k8s.io alone has this and what follows.
    priority: int  # spec.priority.
    disrupted_whole: bool  # spec.disruptionMode is All (PodGroup, in v1alpha2): its pods can only be evicted together.
    preemption_policy: str  # spec.preemptionPolicy; empty = not set.
    topology_key: str  # spec.schedulingConstraints.topology: the label whose value all its pods' nodes have in common; empty = none.
    device_claims: list[DeviceClaim]  # spec.resourceClaims, with what the status says of generated ones: its pods' claims that are named alike are reserved for it.
    parent: str  # spec.parentCompositePodGroupName; empty = none.
    FIELDS = {"api": (1, str), "namespace_name": (2, str), "name": (3, str), "uid": (4, str), "resource_version": (5, int), "created": (6, int), "deleting": (7, bool), "min_member": (8, int), "timeout_s": (9, int), "has_min_resources": (10, bool), "min_resources": (11, [Quantity]), "phase": (12, str), "scheduled": (13, int), "running": (14, int), "succeeded": (15, int), "failed": (16, int), "schedule_start": (17, int), "occupied_by": (18, str), "status_foreign": (19, bool), "status_foreign_at": (21, int), "scheduled_condition": (20, Condition), "generation": (22, int), "version": (23, str), "has_priority": (24, bool), "priority": (25, int), "disrupted_whole": (26, bool), "preemption_policy": (27, str), "topology_key": (28, str), "device_claims": (30, [DeviceClaim]), "parent": (31, str)}


class GangBranch(Record):
    """A group in a tree of groups that is tried as one."""
    group: Gang  # The PodGroup, or CompositePodGroup, as the queue knows it.
    parent: int  # Number of the group that it is a child of, from 0; of the root -1.
    FIELDS = {"group": (1, Gang), "parent": (2, int)}


class Envelope(Record):
    """What stands before the body in every frame, behind the version byte."""
    type: int  # Number of the message.
    link: int  # Number of this frame on its link and in its direction; a hello is 1, a hello that asks for one is 0.
    term: int  # Leadership term that the sender knows.
    generation: int  # Config generation that the sender runs.
    epoch: int  # Stream position: epoch; 0 = not a stream message.
    sequence: int  # Stream position: sequence.
    sent_us: int  # The sender's wall clock.
    incarnation: int  # Which life of the sender this is.
    part: int  # Place in a snapshot, counted from snapshot_begin, which is 1; 0 = not in a snapshot.
    FIELDS = {"type": (1, int), "link": (2, int), "term": (3, int), "generation": (4, int), "epoch": (5, int), "sequence": (6, int), "sent_us": (7, int), "incarnation": (8, int), "part": (9, int)}


class Tapped(Record):
    """A frame as a tap mirrors it, and as a recording keeps it."""
    at_us: int  # When it was sent or received.
    process: str  # Kind of the process that mirrors it.
    instance: str  # Its name.
    sent: bool  # True: it sent the frame; false: it received it.
    peer_process: str  # Kind of the other side; empty while unknown.
    peer_instance: str  # Its name; empty while unknown.
    tap_sequence: int  # Numbers the frames of this process, mirrored or not; a jump is what the reader missed.
    frame: str  # The frame: version byte, envelope, body.
    FIELDS = {"at_us": (1, int), "process": (2, str), "instance": (3, str), "sent": (4, bool), "peer_process": (5, str), "peer_instance": (6, str), "tap_sequence": (7, int), "frame": (8, str)}


class JournalHead(Record):
    """Whose life a journal is of, and what it was started with."""
    program: str  # Version of the program.
    process: str  # Its kind: watcher, queue, scheduler, worker or binder.
    instance: str  # Its name; empty: none was given.
    started_us: int  # When it was started.
    arguments: list[str]  # Its command line, without those that are about the process and not its core.
    FIELDS = {"program": (1, str), "process": (2, str), "instance": (3, str), "started_us": (4, int), "arguments": (5, [str])}


class JournalEntry(Record):
    """One thing that a core was told, read of its surroundings, or said."""
    kind: int  # What it is: JOURNAL_KINDS in proto/journal/entry.h.
    now_ns: int  # How far the monotonic clock is beyond what it showed in the entry before; in the first, what it shows.
    wall_us: int  # The same of the wall clock, microseconds.
    number: int  # number: it; request, data, answer, cancel: the request's; send: how many messages follow; text: errno where it could not be read.
    type: int  # Message type; request: its channel.
    process: int  # Kind of process that a message is from or for.
    peer: int  # Number of that peer; request: its route.
    term: int  # delivery: the term its sender knew; send: ours.
    generation: int  # The sender's config generation.
    epoch: int  # Stream position.
    sequence: int  # Stream position.
    part: int  # Place in a snapshot, from 1.
    sent_us: int  # The sender's wall clock when it was sent.
    received_us: int  # Ours when it was handed over.
    status: int  # answer: HTTP status; 0: there was none.
    maybe_done: bool  # answer: it may have been carried out nevertheless.
    retry_after_s: int  # answer: seconds, -1: not said.
    took_ns: int  # answer: how long it took; request: how long it may take.
    name: str  # delivery: the sender's instance; text, change: of what; request: method, path and media types.
    error: str  # answer: why there was none; gap: why nothing follows.
    hash: int  # message, request: of its body and what stands beside it.
    body: str  # delivery, message: encoded as in a frame; text: what was read; data, answer, request: the bytes. Of what was said it is left out where journals are to be small, and where it is that of the message before.
    silent: bool  # answer: nothing came on its connections, which are given up.
    FIELDS = {"kind": (1, int), "now_ns": (2, int), "wall_us": (3, int), "number": (4, int), "type": (5, int), "process": (6, int), "peer": (7, int), "term": (8, int), "generation": (9, int), "epoch": (10, int), "sequence": (11, int), "part": (12, int), "sent_us": (13, int), "received_us": (14, int), "status": (15, int), "maybe_done": (16, bool), "retry_after_s": (17, int), "took_ns": (18, int), "name": (19, str), "error": (20, str), "hash": (21, int), "body": (22, str), "silent": (23, bool)}


class Hello(Record):
    """First message on a link, and again after every reconnect: who speaks."""
    NUMBER, NAME = 1, "hello"
    process: str  # watcher, queue, scheduler, worker, binder, extender, plugin or tool. A text, as who is refused for another one is named.
    instance: str  # Name of the process among its kind, such as worker-1.
    incarnation: int  # Random number drawn at start; another one means another life.
    pid: int  # Process id on its host.
    version: str  # Version of the program.
    session: int  # Which start of this link it is, counted by the connecting side; the door answers with the same; 0 = the door asks for a hello.
    packs: bool  # It reads packs: several frames that travel as one.
    refused: str  # With session 0: why the door does not let the caller in; empty = it asks for a hello.
    FIELDS = {"process": (1, str), "instance": (2, str), "incarnation": (3, int), "pid": (4, int), "version": (5, str), "session": (6, int), "packs": (7, bool), "refused": (8, str)}


class Heartbeat(Record):
    """Nothing else was sent for a while."""
    NUMBER, NAME = 2, "heartbeat"
    FIELDS = {}


class Goodbye(Record):
    """The sender is about to end; its links are gone after this."""
    NUMBER, NAME = 3, "goodbye"
    FIELDS = {}


class StatusRequest(Record):
    """Asks for a status report."""
    NUMBER, NAME = 4, "status_request"
    FIELDS = {}


class Status(Record):
    """A process about itself."""
    NUMBER, NAME = 5, "status"
    process: str  # Its kind.
    instance: str  # Its name.
    pid: int  # Process id.
    uptime_ms: int  # Milliseconds since it started.
    term: int  # The leadership term it knows.
    generation: int  # The config generation it runs.
    lines: list[Label]  # What it says about its own work, in reading order.
    counters: list[Label]  # Bus counters: messages by type, refused frames by reason, peers.
    FIELDS = {"process": (1, str), "instance": (2, str), "pid": (3, int), "uptime_ms": (4, int), "term": (5, int), "generation": (6, int), "lines": (7, [Label]), "counters": (8, [Label])}


class PeerUp(Record):
    """A peer said hello. Local: never travels."""
    NUMBER, NAME = 6, "peer_up"
    process: str  # Its kind.
    instance: str  # Its name.
    incarnation: int  # Which life of it this is.
    term: int  # The term that its hello reported.
    FIELDS = {"process": (1, str), "instance": (2, str), "incarnation": (3, int), "term": (4, int)}


class PeerDown(Record):
    """A peer left, fell silent, restarted, or a gap was found in what it sent. Local: never travels."""
    NUMBER, NAME = 7, "peer_down"
    process: str  # Its kind.
    instance: str  # Its name.
    reason: str  # Why.
    FIELDS = {"process": (1, str), "instance": (2, str), "reason": (3, str)}


class MetricBucket(Record):
    """How often a histogram saw a value between two of its bounds."""
    place: int  # Which bucket, from 0; the one behind the last bound has no upper end.
    count: int  # How often; not cumulative.
    FIELDS = {"place": (1, int), "count": (2, int)}


class MetricSample(Record):
    """One series of a metric."""
    metric: str  # Its name, as in metrics.def.
    labels: list[str]  # Values of its labels, in the order of the declaration.
    value: int  # A counter's or gauge's value, or a histogram's sum; nanoseconds where the metric is in seconds.
    buckets: list[MetricBucket]  # A histogram's buckets that are not empty.
    FIELDS = {"metric": (1, str), "labels": (2, [str]), "value": (3, int), "buckets": (4, [MetricBucket])}


class HealthCheck(Record):
    """Something that may be wrong with a process."""
    name: str  # Such as sched-handler-sync.
    reason: str  # Why it fails; empty: it is well.
    note: str  # What is worth telling although it is well.
    FIELDS = {"name": (1, str), "reason": (2, str), "note": (3, str)}


class MetricsRequest(Record):
    """Asks for what a process has counted."""
    NUMBER, NAME = 8, "metrics_request"
    checks_only: bool  # True: leave the samples out.
    id: int  # Chosen by the asker; answered with the same.
    FIELDS = {"checks_only": (1, bool), "id": (2, int)}


class Metrics(Record):
    """What a process has counted since it started, and how well it says it is."""
    NUMBER, NAME = 9, "metrics"
    process: str  # Its kind.
    instance: str  # Its name.
    incarnation: int  # Which life of it this is; another one counts from 0.
    id: int  # The request's.
    checks: list[HealthCheck]  # What may be wrong with it.
    samples: list[MetricSample]  # Every series.
    release: int  # The minor version that it decides as; 0: it does not decide, or not yet.
    FIELDS = {"process": (1, str), "instance": (2, str), "incarnation": (3, int), "id": (4, int), "checks": (5, [HealthCheck]), "samples": (6, [MetricSample]), "release": (7, int)}


class Verbosity(Record):
    """Log as much from now on."""
    NUMBER, NAME = 28, "verbosity"
    level: int  # As klog's -v: 2 and more is debug.
    FIELDS = {"level": (1, int)}


class DebugPod(Record):
    """From a tool: log everything about this pod for a while. Owed: exactly one of the same, which says what is in force. Nobody else says it."""
    NUMBER, NAME = 121, "debug_pod"
    namespace_name: str  # The pod's namespace.
    name: str  # Its name; it need not exist.
    for_ms: int  # How long, at most an hour; 0: no more.
    refused: str  # In the answer: not empty: it is not, and why.
    FIELDS = {"namespace_name": (1, str), "name": (2, str), "for_ms": (3, int), "refused": (4, str)}


class PendingPod(Record):
    """A pod that waits, as the queue has it."""
    namespace_name: str  # Its namespace.
    name: str  # Its name.
    uid: str  # Its UID.
    place: str  # Where it is.
    priority: int  # Its priority.
    attempts: int  # How often it was handed out.
    waiting_ms: int  # Milliseconds since the queue first saw it.
    backoff_ms: int  # Milliseconds until its backoff is over.
    nominated_node: str  # The node that it has a claim on, empty = none.
    rejected_by: list[str]  # Plugins that rejected it in its last attempt, or hold it back; others: those that are not known by name.
    reason: str  # Gated by a plugin on the bus: why, as it says, or what it failed in; empty: it was not said, or it is asked just now.
    FIELDS = {"namespace_name": (1, str), "name": (2, str), "uid": (3, str), "place": (4, str), "priority": (5, int), "attempts": (6, int), "waiting_ms": (7, int), "backoff_ms": (8, int), "nominated_node": (9, str), "rejected_by": (10, [str]), "reason": (20, str)}


class PendingRequest(Record):
    """Asks which pods wait. Owed: exactly one pending_pods."""
    NUMBER, NAME = 111, "pending_request"
    node: str  # Those alone that have a claim on this node; empty = all.
    namespace_name: str  # Those alone of this namespace; empty = all.
    limit: int  # How many to name at most; 0, and above 1000: 1000.
    name: str  # Those alone of this name; empty = all.
    FIELDS = {"node": (1, str), "namespace_name": (2, str), "limit": (3, int), "name": (4, str)}


class PendingPods(Record):
    """Pods that wait."""
    NUMBER, NAME = 112, "pending_pods"
    pods: list[PendingPod]  # Those that have waited longest, longest first.
    total: int  # How many there are that were asked for.
    FIELDS = {"pods": (1, [PendingPod]), "total": (2, int)}


class Subscribe(Record):
    """Asks for the stream of cluster state: from a position on if it is still known, else as a snapshot."""
    NUMBER, NAME = 10, "subscribe"
    epoch: int  # Epoch of the position the subscriber has; 0 = none.
    sequence: int  # Sequence of the last message it has.
    credit: int  # How many stream messages it can take now.
    pods_once: bool  # A snapshot of pods alone, and nothing behind it, whatever the position.
    once: bool  # A snapshot of everything, and nothing behind it, whatever the position.
    changes_once: bool  # What has changed behind the position, or, if that is not known any more, a snapshot of everything; and nothing later.
    FIELDS = {"epoch": (1, int), "sequence": (2, int), "credit": (3, int), "pods_once": (4, bool), "once": (5, bool), "changes_once": (6, bool)}


class Credit(Record):
    """Grants more stream messages."""
    NUMBER, NAME = 11, "credit"
    count: int  # How many more.
    FIELDS = {"count": (1, int)}


class SnapshotBegin(Record):
    """What follows until snapshot_end is the whole state; what is not in it does not exist."""
    NUMBER, NAME = 12, "snapshot_begin"
    FIELDS = {}


class SnapshotEnd(Record):
    """The snapshot is complete; numbered changes follow."""
    NUMBER, NAME = 13, "snapshot_end"
    FIELDS = {}


class NodeSet(Record):
    """A node is new or has changed."""
    NUMBER, NAME = 14, "node_set"
    node: Node  # The whole node as it is now.
    FIELDS = {"node": (1, Node)}


class NodeGone(Record):
    """A node was deleted."""
    NUMBER, NAME = 15, "node_gone"
    name: str  # Its name.
    FIELDS = {"name": (1, str)}


class PodSet(Record):
    """A pod that is not Succeeded or Failed is new or has changed."""
    NUMBER, NAME = 16, "pod_set"
    pod: Pod  # The whole pod as it is now.
    FIELDS = {"pod": (1, Pod)}


class PodGone(Record):
    """A pod was deleted or has finished."""
    NUMBER, NAME = 17, "pod_gone"
    uid: str  # UID.
    namespace_name: str  # Namespace.
    name: str  # Name.
    FIELDS = {"uid": (1, str), "namespace_name": (2, str), "name": (3, str)}


class NamespaceSet(Record):
    """A namespace is new or its labels have changed."""
    NUMBER, NAME = 18, "namespace_set"
    name: str  # Its name.
    labels: list[Label]  # Its labels, sorted by key.
    FIELDS = {"name": (1, str), "labels": (2, [Label])}


class NamespaceGone(Record):
    """A namespace was deleted."""
    NUMBER, NAME = 19, "namespace_gone"
    name: str  # Its name.
    FIELDS = {"name": (1, str)}


class Barrier(Record):
    """Asks the watcher to read pods, nodes and, where they can be listed, ResourceClaims consistently, once, and to say so in the stream behind what it found."""
    NUMBER, NAME = 20, "barrier"
    id: int  # Chosen by the asker; answered with the same.
    FIELDS = {"id": (1, int)}


class NamesRequest(Record):
    """Asks for the names of all nodes and pods, to compare with what receivers hold (SIGUSR2)."""
    NUMBER, NAME = 90, "names_request"
    id: int  # Chosen by the asker.
    FIELDS = {"id": (1, int)}


class NamedPod(Record):
    """A pod that there is."""
    uid: str  # Its UID.
    assigned: bool  # True: it has a node.
    scheduler_name: str  # Who is to place it; empty when it has a node.
    FIELDS = {"uid": (1, str), "assigned": (2, bool), "scheduler_name": (3, str)}


class Names(Record):
    """What the API server holds, as of this place in the stream: several of these, one behind the other, the last one says so."""
    NUMBER, NAME = 91, "names"
    id: int  # The names_request's id.
    part: int  # From 1 on.
    last: bool  # True: there are no more.
    nodes: list[str]  # Names of nodes.
    pods: list[NamedPod]  # Pods.
    FIELDS = {"id": (1, int), "part": (2, int), "last": (3, bool), "nodes": (4, [str]), "pods": (5, [NamedPod])}


class BarrierReached(Record):
    """All that a consistent read begun after barrier has shown stands before this message in the stream."""
    NUMBER, NAME = 21, "barrier_reached"
    id: int  # The barrier's id.
    FIELDS = {"id": (1, int)}


class View(Record):
    """How fresh the watcher's mirror is; once a second and when it changes between stale and fresh."""
    NUMBER, NAME = 22, "view"
    synced: bool  # Every required kind has been listed.
    age_ms: int  # Milliseconds since the least recently heard required kind was known to be alive.
    stalest: str  # That kind.
    FIELDS = {"synced": (1, bool), "age_ms": (2, int), "stalest": (3, str)}


class ResourceClaimSet(Record):
    """A ResourceClaim is new or has changed."""
    NUMBER, NAME = 23, "resource_claim_set"
    resource_claim: ResourceClaim  # The whole claim as it is now.
    FIELDS = {"resource_claim": (1, ResourceClaim)}


class ResourceSliceSet(Record):
    """A ResourceSlice is new or has changed."""
    NUMBER, NAME = 83, "resource_slice_set"
    slice: ResourceSlice  # The whole slice as it is now.
    FIELDS = {"slice": (1, ResourceSlice)}


class DeviceClassSet(Record):
    """A DeviceClass is new or has changed."""
    NUMBER, NAME = 84, "device_class_set"
    device_class: DeviceClass  # The whole class as it is now.
    FIELDS = {"device_class": (1, DeviceClass)}


class DeviceTaintRuleSet(Record):
    """A DeviceTaintRule is new or has changed."""
    NUMBER, NAME = 85, "device_taint_rule_set"
    rule: DeviceTaintRule  # The whole rule as it is now.
    FIELDS = {"rule": (1, DeviceTaintRule)}


class ClaimSet(Record):
    """A PersistentVolumeClaim is new or has changed."""
    NUMBER, NAME = 70, "claim_set"
    claim: Claim  # The whole claim as it is now.
    FIELDS = {"claim": (1, Claim)}


class VolumeSet(Record):
    """A PersistentVolume is new or has changed."""
    NUMBER, NAME = 71, "volume_set"
    volume: Volume  # The whole volume as it is now.
    FIELDS = {"volume": (1, Volume)}


class StorageClassSet(Record):
    """A StorageClass is new or has changed."""
    NUMBER, NAME = 72, "storage_class_set"
    storage_class: StorageClass  # The whole class as it is now.
    FIELDS = {"storage_class": (1, StorageClass)}


class CsiNodeSet(Record):
    """A CSINode is new or has changed."""
    NUMBER, NAME = 73, "csi_node_set"
    csi_node: CsiNode  # The whole object as it is now.
    FIELDS = {"csi_node": (1, CsiNode)}


class CsiDriverSet(Record):
    """A CSIDriver is new or has changed."""
    NUMBER, NAME = 74, "csi_driver_set"
    csi_driver: CsiDriver  # The whole object as it is now.
    FIELDS = {"csi_driver": (1, CsiDriver)}


class CsiCapacitySet(Record):
    """A CSIStorageCapacity is new or has changed."""
    NUMBER, NAME = 75, "csi_capacity_set"
    csi_capacity: CsiCapacity  # The whole object as it is now.
    FIELDS = {"csi_capacity": (1, CsiCapacity)}


class AttachmentSet(Record):
    """A VolumeAttachment is new or has changed."""
    NUMBER, NAME = 76, "attachment_set"
    attachment: Attachment  # The whole object as it is now.
    FIELDS = {"attachment": (1, Attachment)}


class OwnerSet(Record):
    """A Service, ReplicationController, ReplicaSet or StatefulSet is new or has changed."""
    NUMBER, NAME = 77, "owner_set"
    owner: Owner  # The whole object as it is now.
    FIELDS = {"owner": (1, Owner)}


class BudgetSet(Record):
    """A PodDisruptionBudget is new or has changed."""
    NUMBER, NAME = 78, "budget_set"
    budget: Budget  # The whole budget as it is now.
    FIELDS = {"budget": (1, Budget)}


class PodGroupSet(Record):
    """A PodGroup is new or has changed."""
    NUMBER, NAME = 80, "pod_group_set"
    group: Gang  # The whole group as it is now.
    FIELDS = {"group": (1, Gang)}


class GroupMembers(Record):
    """How many pods name a PodGroup of a group that is served, finished ones included; a second after it has changed. Without pods: none is left."""
    NUMBER, NAME = 81, "group_members"
    api: str  # API group that the pods name.
    namespace_name: str  # Namespace.
    name: str  # The group's name.
    pods: int  # Pods, whatever their phase.
    assigned: int  # Of these on a node, whatever their phase.
    running: int  # In phase Running.
    succeeded: int  # In phase Succeeded.
    failed: int  # In phase Failed.
    owners: str  # Owners of the first pod as namespace/name, sorted and joined by commas.
    FIELDS = {"api": (1, str), "namespace_name": (2, str), "name": (3, str), "pods": (4, int), "assigned": (5, int), "running": (6, int), "succeeded": (7, int), "failed": (8, int), "owners": (9, str)}


class UnreadKind(Record):
    """PodGroups of an API group that are not read, though they may be served: who names one waits."""
    api: str  # The API group.
    state: str  # How it stands with them.
    message: str  # Why, for the pods' condition; names the right that is missing.
    FIELDS = {"api": (1, str), "state": (2, str), "message": (3, str)}


class GroupKinds(Record):
    """Of which API groups PodGroups are served. Until it comes: of none, and then a pod that names a PodGroup is a pod like any other."""
    NUMBER, NAME = 82, "group_kinds"
    apis: list[str]  # scheduling.x-k8s.io, scheduling.sigs.k8s.io, scheduling.k8s.io: those that are served; a PodGroup of another group does not matter.
    unread: list[UnreadKind]  # Those whose PodGroups are not read, or not any more.
    FIELDS = {"apis": (1, [str]), "unread": (2, [UnreadKind])}


class ServerVersion(Record):
    """Which version the API server says it is. Until it comes: not known."""
    NUMBER, NAME = 110, "server_version"
    major: int  # Major version.
    minor: int  # Minor version: 37, also of one that says 37+; 0 = not known.
    git_version: str  # As it calls itself, such as v1.37.2; empty when that is no version's name.
    problem: str  # Why it is not known: what is wrong with the answer; empty when it is known.
    FIELDS = {"major": (1, int), "minor": (2, int), "git_version": (3, str), "problem": (4, str)}


class ObjectGone(Record):
    """An object of messages 23, 70 to 78, 80, 83 or 84 was deleted."""
    NUMBER, NAME = 79, "object_gone"
    kind: str  # Its kind.
    namespace_name: str  # Namespace; empty for what has none.
    name: str  # Name.
    api: str  # API group, for a PodGroup alone.
    FIELDS = {"kind": (1, str), "namespace_name": (2, str), "name": (3, str), "api": (4, str)}


class Pull(Record):
    """Grants credit for pods to try; sets it, does not add."""
    NUMBER, NAME = 30, "pull"
    credit: int  # How many attempts may be outstanding at this scheduler, those already sent included.
    FIELDS = {"credit": (1, int)}


class SpanAttribute(Record):
    """What a span says of itself: a text, or else a number."""
    key: str  # Its name, as OpenTelemetry's conventions have it where they have one.
    text: str  # The text; empty: it is a number.
    number: int  # The number.
    FIELDS = {"key": (1, str), "text": (2, str), "number": (3, int)}


class TraceSpan(Record):
    """A finished span of a trace (proto/kube/tracing)."""
    trace_id: str  # 32 hex digits.
    span_id: str  # 16 hex digits.
    parent: str  # The parent's span_id; empty: it is the root.
    name: str  # What was done.
    service: str  # Who did it, such as berth-queue: service.name.
    begin_us: int  # Wall clock.
    end_us: int  # Wall clock; not before begin_us.
    error: str  # Not empty: it failed, as this says.
    attributes: list[SpanAttribute]  # What else there is to say; keys differ.
    FIELDS = {"trace_id": (1, str), "span_id": (2, str), "parent": (3, str), "name": (4, str), "service": (5, str), "begin_us": (6, int), "end_us": (7, int), "error": (8, str), "attributes": (9, [SpanAttribute])}


class Spans(Record):
    """Finished spans of attempts that are traced, to be exported. Nothing is owed: what is lost is lost, and what comes twice is exported twice."""
    NUMBER, NAME = 120, "spans"
    spans: list[TraceSpan]  # In no order, of any traces.
    FIELDS = {"spans": (1, [TraceSpan])}


class Attempt(Record):
    """Try this pod now. Owed: exactly one outcome."""
    NUMBER, NAME = 31, "attempt"
    pod: Pod  # The pod as the queue knows it.
    attempts: int  # Which attempt this is, from 1.
    first_us: int  # When the pod first entered the active queue.
    cycle: int  # Number of this pop; comes back in the outcome.
    epoch: int  # Epoch of the watcher's stream that the queue follows.
    sequence: int  # Its position there: an attempt on a view of the same epoch that is older would miss what the queue no longer wakes the pod for.
    traceparent: str  # Of an attempt that is traced: trace and root span, as W3C Trace Context writes them; empty: it is not.
    spans: list[TraceSpan]  # With it: the queue's own, children of the root, in order of time; the last ends when the attempt was sent.
    FIELDS = {"pod": (1, Pod), "attempts": (2, int), "first_us": (3, int), "cycle": (4, int), "epoch": (5, int), "sequence": (6, int), "traceparent": (7, str), "spans": (8, [TraceSpan])}


class Outcome(Record):
    """How an attempt ended."""
    NUMBER, NAME = 32, "outcome"
    uid: str  # The pod's UID.
    namespace_name: str  # Namespace.
    name: str  # Name.
    cycle: int  # The attempt's cycle.
    result: str  # How.
    plugins: list[str]  # Plugins that rejected it, for unschedulable; empty means an error.
    pending_plugins: list[str]  # Plugins that asked to wait for an event of their own.
    nominated_node: str  # Node that preemption is making room on, or made it before; empty = what the pod's status says.
    activate: bool  # True: try it again at once, without backoff (its preemption failed).
    gated_epoch: int  # It waited for its victims to be seen going: what came up to this position of the watcher's stream wakes it no more; 0 = it did not wait, or they are gone.
    gated_sequence: int  # That position within the epoch.
    behind: bool  # unschedulable: it was decided on a view that is older than the attempt's position; what happened in between wakes it no more, so that it is to be tried again.
    released: bool  # It had room during the attempt, and gave it back (it was not permitted to be bound, the term of its bind ended, …): others may fit there. An error says that by itself.
    FIELDS = {"uid": (1, str), "namespace_name": (2, str), "name": (3, str), "cycle": (4, int), "result": (5, str), "plugins": (6, [str]), "pending_plugins": (7, [str]), "nominated_node": (8, str), "activate": (9, bool), "gated_epoch": (10, int), "gated_sequence": (11, int), "behind": (12, bool), "released": (20, bool)}


class GangMember(Record):
    """A pod of a group that is tried; the fields of attempt."""
    pod: Pod  # The pod as the queue knows it.
    attempts: int  # Which attempt this is, from 1.
    first_us: int  # When the pod first entered the active queue.
    cycle: int  # Number of this pop; comes back in the outcome.
    traceparent: str  # As in attempt.
    spans: list[TraceSpan]  # As in attempt.
    FIELDS = {"pod": (1, Pod), "attempts": (2, int), "first_us": (3, int), "cycle": (4, int), "traceparent": (7, str), "spans": (8, [TraceSpan])}


class GangAttempt(Record):
    """Try these pods of one group as one: at least needed of them are placed, or none. Owed: exactly one outcome for each member."""
    NUMBER, NAME = 34, "gang_attempt"
    group: Gang  # The group as the queue knows it.
    needed: int  # minMember less the members that are on nodes (or on their way there) already; at least 0.
    members: list[GangMember]  # In the order in which they are placed: priority, then the time of the first attempt, then name.
    epoch: int  # As in attempt.
    sequence: int  # As in attempt.
    placed: int  # Members that are on nodes (or on their way there) already.
    tree: list[GangBranch]  # Where the group is the root of a tree (a CompositePodGroup): all of the tree, each behind its parent, children by age and name. Members name the leaves; needed is 1, and placed does not count.
    FIELDS = {"group": (1, Gang), "needed": (2, int), "members": (3, [GangMember]), "epoch": (4, int), "sequence": (5, int), "placed": (6, int), "tree": (7, [GangBranch])}


class GangWaits(Record):
    """A group is not complete enough to be tried: its owner and its pods' are to be told. Nothing is owed."""
    NUMBER, NAME = 35, "gang_waits"
    group: Gang  # The group; with a name alone when there is no such object.
    message: str  # Why, for the group; empty: it was told before.
    members: list[GangMember]  # Pods whose condition is to say so, a message each; none = only the group's.
    messages: list[str]  # For each member why.
    FIELDS = {"group": (1, Gang), "message": (2, str), "members": (3, [GangMember]), "messages": (4, [str])}


class ShapePoint(Record):
    """A point of the RequestedToCapacityRatio function."""
    utilization: int  # Percent, 0 to 100.
    score: int  # 0 to 10.
    FIELDS = {"utilization": (1, int), "score": (2, int)}


class ScorePlugin(Record):
    """A scoring plugin in a profile."""
    name: str  # Its name, as in upstream.
    weight: int  # Its weight, at least 1.
    FIELDS = {"name": (1, str), "weight": (2, int)}


class LabelRule(Record):
    """What a rule of the old Policy says about labels of nodes."""
    labels: list[str]  # Keys.
    presence: bool  # True: they should be there; false: they should not.
    FIELDS = {"labels": (1, [str]), "presence": (2, bool)}


class PluginEvent(Record):
    """Events that may help a pod that a plugin has turned away."""
    resource: str  # What they are about.
    actions: list[str]  # Words of event_change; any of them.
    FIELDS = {"resource": (1, str), "actions": (2, [str])}


class BusPlugin(Record):
    """A plugin of a profile that is a process on the bus."""
    name: str  # Its name, and that of the process.
    deadline_ms: int  # How long an answer may take, at least 1.
    ignore: bool  # Its failures are ignored: it is as if it had not been asked.
    permit_timeout_ms: int  # How long a pod may wait for its permission at most.
    facts: str  # What it is told of nodes.
    annotations: list[str]  # How the keys of those annotations begin that it is told of.
    events: list[PluginEvent]  # What may help the pods that it has turned away; empty: anything.
    hints: bool  # It is asked which of its pods such an event may help.
    FIELDS = {"name": (1, str), "deadline_ms": (2, int), "ignore": (3, bool), "permit_timeout_ms": (4, int), "facts": (5, str), "annotations": (10, [str]), "events": (20, [PluginEvent]), "hints": (21, bool)}


class Features(Record):
    """What of Kubernetes' release and its feature gates changes a decision (proto/kube/release)."""
    release: int  # The minor version whose behaviour this is: 36 or 37.
    gangs: bool  # PodGroups of scheduling.k8s.io are tried as one: GenericWorkload, in 1.36 with a gate that makes a difference to their pods.
    gang_counts: bool  # Those of policy gang have a minimum: GenericWorkload, in 1.36 GangScheduling. Else all are as of policy basic.
    volume_limit_scaling: bool  # VolumeLimitScaling: a node whose CSINode lacks a volume's driver is refused.
    storage_capacity_scoring: bool  # StorageCapacityScoring: volumes that are still to be made are scored by the free capacity.
    device_taint_rules: bool  # DRADeviceTaintRules: taints of devices come from DeviceTaintRules, too.
    fractional_capacity: bool  # DRAFractionalCapacityRange: ranges of a device's capacity are dealt with in thousandths.
    device_taints: bool  # DRADeviceTaints: tainted devices are for claims that tolerate it.
    device_partitions: bool  # DRAPartitionableDevices: devices consume shared counters, and may each name their nodes.
    device_shares: bool  # DRAConsumableCapacity: devices may be shared, by capacity.
    device_alternatives: bool  # DRAPrioritizedList: requests may have alternatives.
    device_binding: bool  # DRADeviceBindingConditions: devices may be waited for before a pod is bound.
    device_status: bool  # DRAResourceClaimDeviceStatus: drivers say how devices are.
    device_filter_timeout: bool  # DRASchedulerFilterTimeout: a search for devices ends in time.
    device_extended: bool  # DRAExtendedResource: DeviceClasses stand for extended resources.
    device_lists: bool  # DRAListTypeAttributes: attributes of devices may be lists, and constraints compare sets.
    device_derived: bool  # DRADerivedAttributes: requests say by expressions what attributes constraints see.
    device_groups: bool  # DRADeviceCompatibilityGroups: devices share counters with those alone that have a group of theirs.
    workload_claims: bool  # DRAWorkloadResourceClaims: claims of a PodGroup of scheduling.k8s.io are reserved for it, not for its pods.
    device_node_resources: bool  # DRANodeAllocatableResources: devices take of their node's own resources.
    device_skips: bool  # DRAOptionalNodeOperations: devices may be for nodes alone that can do without operations of their driver.
    group_preemption_policy: bool  # PodGroupPreemptionPolicy: whether a group of scheduling.k8s.io may evict is said by it, and its pods have to say the same.
    spread_label_keys: bool  # MatchLabelKeysInPodTopologySpread: matchLabelKeys of spread constraints count.
    toleration_comparison: bool  # TaintTolerationComparisonOperators: tolerations may have the operators Lt and Gt.
    pod_level_resources: bool  # PodLevelResources: requests of a pod as a whole count.
    pod_level_resizes: bool  # InPlacePodLevelResourcesVerticalScaling: what a pod's status says of them counts, too.
    pop_from_backoff: bool  # SchedulerPopFromBackoffQ: a pod that waits out its backoff is tried when no other waits.
    expected_nomination: bool  # NominatedNodeNameForExpectation: a pod whose bind may take a while is nominated before.
    declared_features: bool  # NodeDeclaredFeatures: a pod goes where the features that it needs are declared.
    resize_preemption: bool  # InPlacePodVerticalScalingSchedulerPreemption: for a pod on a node whose resize is deferred room is made there.
    group_preemption: bool  # WorkloadAwarePreemption, of 1.36: a group of scheduling.k8s.io makes room as one, as all do since 1.37.
    group_topology: bool  # TopologyAwareWorkloadScheduling: a group of scheduling.k8s.io may have to be within one domain of a node label.
    group_trees: bool  # CompositePodGroup: groups of scheduling.k8s.io may be leaves of a tree of groups, which is tried as one.
    FIELDS = {"release": (1, int), "gangs": (2, bool), "gang_counts": (72, bool), "volume_limit_scaling": (3, bool), "storage_capacity_scoring": (4, bool), "device_taint_rules": (5, bool), "fractional_capacity": (20, bool), "device_taints": (21, bool), "device_partitions": (22, bool), "device_shares": (23, bool), "device_alternatives": (24, bool), "device_binding": (25, bool), "device_status": (26, bool), "device_filter_timeout": (28, bool), "device_extended": (70, bool), "device_lists": (60, bool), "device_derived": (62, bool), "device_groups": (61, bool), "workload_claims": (63, bool), "device_node_resources": (65, bool), "device_skips": (66, bool), "group_preemption_policy": (40, bool), "spread_label_keys": (50, bool), "toleration_comparison": (51, bool), "pod_level_resources": (52, bool), "pod_level_resizes": (53, bool), "pop_from_backoff": (54, bool), "expected_nomination": (55, bool), "declared_features": (56, bool), "resize_preemption": (67, bool), "group_preemption": (57, bool), "group_topology": (58, bool), "group_trees": (71, bool)}


class Profile(Record):
    """One profile of a KubeSchedulerConfiguration after defaulting and expansion."""
    scheduler_name: str  # spec.schedulerName it serves.
    pre_enqueue: list[str]  # PreEnqueue plugins, in order.
    pre_filter: list[str]  # PreFilter plugins, in order.
    filter: list[str]  # Filter plugins, in order.
    post_filter: list[str]  # PostFilter plugins, in order.
    pre_score: list[str]  # PreScore plugins, in order.
    score: list[ScorePlugin]  # Score plugins, in order, with weights.
    percentage_of_nodes_to_score: int  # Above 0 a pod is decided over the feasible nodes that kube-scheduler would have looked for; 0 = all nodes.
    fit_strategy: str  # LeastAllocated, MostAllocated or RequestedToCapacityRatio; a text, as what a disabled plugin's arguments say is shown as written.
    fit_resources: list[Quantity]  # Scored resources with their weights.
    fit_shape: list[ShapePoint]  # The shape, for RequestedToCapacityRatio.
    fit_ignored_resources: list[str]  # Resources that Filter does not look at.
    fit_ignored_groups: list[str]  # The same by prefix before the slash.
    balanced_resources: list[Quantity]  # Resources of NodeResourcesBalancedAllocation, weight 1 each.
    added_required: list[NodeTerm]  # NodeAffinityArgs.addedAffinity, required.
    has_added_required: bool  # True when it is set.
    added_preferred: list[PreferredNodeTerm]  # NodeAffinityArgs.addedAffinity, preferred.
    spread_system_defaults: bool  # PodTopologySpreadArgs.defaultingType is System (or unset).
    spread_defaults: list[SpreadConstraint]  # PodTopologySpreadArgs.defaultConstraints, for List.
    hard_affinity_weight: int  # InterPodAffinityArgs.hardPodAffinityWeight.
    ignore_preferred_of_existing: bool  # InterPodAffinityArgs.ignorePreferredTermsOfExistingPods.
    bind_timeout_s: int  # VolumeBindingArgs.bindTimeoutSeconds.
    device_filter_timeout_ms: int  # DynamicResourcesArgs.filterTimeout: how long a node's devices may be searched; 0 = any time.
    device_binding_timeout_ms: int  # DynamicResourcesArgs.bindingTimeout: how long allocated devices may take to become ready.
    reserve: list[str]  # Reserve plugins, in order.
    permit: list[str]  # Permit plugins, in order.
    pre_bind: list[str]  # PreBind plugins, in order.
    label_presence: list[LabelRule]  # CheckNodeLabelPresence: all must hold.
    label_preferences: list[LabelRule]  # NodeLabelPriority: each is worth the same.
    service_affinity: list[str]  # CheckServiceAffinity: labels of nodes that a service's pods share.
    service_anti_affinity: list[str]  # ServiceAntiAffinity: labels of nodes over whose values a service's pods are spread.
    check_all: bool  # A node is asked of every filter, also after one has said no.
    disks_max: int  # Disks per node for MaxEBSVolumeCount and its like; 0 = what the node says, else their own.
    gangs: str  # Whether it has Coscheduling.
    gang_wait_s: int  # CoschedulingArgs.permitWaitingTimeSeconds.
    gang_backoff_s: int  # CoschedulingArgs.podGroupBackoffSeconds; 0 = off.
    gang_reject_percentage: int  # CoschedulingArgs.podGroupRejectPercentage.
    gang_sort: bool  # QueueSort is Coscheduling's.
    gang_built_in: bool  # PodGroups of scheduling.k8s.io count, too (features.gangs).
    preempt_percentage: int  # DefaultPreemptionArgs.minCandidateNodesPercentage: how many candidates extenders are shown.
    preempt_absolute: int  # DefaultPreemptionArgs.minCandidateNodesAbsolute; both 0 = all of them.
    bus_plugins: list[BusPlugin]  # Plugins that are processes on the bus; the lists above say at which points.
    post_bind: list[str]  # PostBind plugins, in order.
    bind: list[str]  # Bind plugins, in order; empty = DefaultBinder alone.
    features: Features  # The release that it decides as, and its gates.
    placement_generate: list[str]  # PlacementGenerate plugins, the first of which counts; with TopologyAwareWorkloadScheduling.
    placement_score: list[ScorePlugin]  # PlacementScore plugins, in order, with weights; likewise.
    volume_shape: list[ShapePoint]  # VolumeBindingArgs.shape: what the used share of a node's storage is worth; only with StorageCapacityScoring.
    gang_victims: str  # CoschedulingArgs.gangVictims.
    FIELDS = {"scheduler_name": (1, str), "pre_enqueue": (2, [str]), "pre_filter": (3, [str]), "filter": (4, [str]), "post_filter": (5, [str]), "pre_score": (6, [str]), "score": (7, [ScorePlugin]), "percentage_of_nodes_to_score": (8, int), "fit_strategy": (9, str), "fit_resources": (10, [Quantity]), "fit_shape": (11, [ShapePoint]), "fit_ignored_resources": (12, [str]), "fit_ignored_groups": (13, [str]), "balanced_resources": (14, [Quantity]), "added_required": (15, [NodeTerm]), "has_added_required": (16, bool), "added_preferred": (17, [PreferredNodeTerm]), "spread_system_defaults": (18, bool), "spread_defaults": (19, [SpreadConstraint]), "hard_affinity_weight": (20, int), "ignore_preferred_of_existing": (21, bool), "bind_timeout_s": (22, int), "device_filter_timeout_ms": (64, int), "device_binding_timeout_ms": (65, int), "reserve": (23, [str]), "permit": (24, [str]), "pre_bind": (25, [str]), "label_presence": (40, [LabelRule]), "label_preferences": (41, [LabelRule]), "service_affinity": (42, [str]), "service_anti_affinity": (43, [str]), "check_all": (44, bool), "disks_max": (45, int), "gangs": (46, str), "gang_wait_s": (47, int), "gang_backoff_s": (48, int), "gang_reject_percentage": (49, int), "gang_sort": (50, bool), "gang_built_in": (51, bool), "preempt_percentage": (52, int), "preempt_absolute": (53, int), "bus_plugins": (60, [BusPlugin]), "post_bind": (61, [str]), "bind": (80, [str]), "features": (67, Features), "placement_generate": (69, [str]), "placement_score": (70, [ScorePlugin]), "volume_shape": (68, [ShapePoint]), "gang_victims": (66, str)}


class QueueConfig(Record):
    """The configuration that is decided with: to every new peer, and when it changes."""
    NUMBER, NAME = 33, "queue_config"
    generation: int  # Its number at the scheduler, from 1.
    hash: int  # Of the whole configuration: equal ones have equal hashes.
    profiles: list[Profile]  # Whose pods are ours, and what of them is asked before they are queued.
    backoff_initial_s: int  # podInitialBackoffSeconds; 0 = as the queue has it.
    backoff_max_s: int  # podMaxBackoffSeconds; 0 = as the queue has it.
    FIELDS = {"generation": (1, int), "hash": (2, int), "profiles": (3, [Profile]), "backoff_initial_s": (4, int), "backoff_max_s": (5, int)}


class WorkerJoin(Record):
    """A worker offers itself for a share of the nodes; sent on start and whenever it found a gap."""
    NUMBER, NAME = 40, "worker_join"
    instance: str  # Its name.
    capacity: int  # Relative size of the share it wants; 1 = a share like any other.
    counts: bool  # It sends shard_taken.
    picks: bool  # It answers map_picks.
    FIELDS = {"instance": (1, str), "capacity": (2, int), "counts": (3, bool), "picks": (4, bool)}


class ShardReset(Record):
    """Forget everything; configuration, nodes and pods follow."""
    NUMBER, NAME = 41, "shard_reset"
    profiles: list[Profile]  # The profiles to evaluate pods with.
    generation: int  # Number of this configuration at the scheduler, from 1.
    hash: int  # Of the whole configuration: equal ones have equal hashes.
    FIELDS = {"profiles": (1, [Profile]), "generation": (2, int), "hash": (3, int)}


class ShardNode(Record):
    """A node of your share is new or has changed."""
    NUMBER, NAME = 42, "shard_node"
    node: Node  # The whole node.
    FIELDS = {"node": (1, Node)}


class ShardNodeGone(Record):
    """This node is no longer in your share."""
    NUMBER, NAME = 43, "shard_node_gone"
    name: str  # Its name.
    FIELDS = {"name": (1, str)}


class ShardPod(Record):
    """A pod is on a node of your share, assumed or assigned; replaces what you had of it."""
    NUMBER, NAME = 44, "shard_pod"
    pod: Pod  # The pod; node_name says where.
    in_place: bool  # What changed is what its volumes stand for, not the pod: it keeps its place among its node's pods.
    freed: list[HostPort]  # Of its ports, those that are free all the same, since another pod with them went and it was not updated since.
    FIELDS = {"pod": (1, Pod), "in_place": (2, bool), "freed": (3, [HostPort])}


class ShardPodGone(Record):
    """A pod no longer is on its node: deleted or forgotten."""
    NUMBER, NAME = 45, "shard_pod_gone"
    uid: str  # Its UID.
    node_name: str  # The node it was on.
    FIELDS = {"uid": (1, str), "node_name": (2, str)}


class ShardImages(Record):
    """On how many nodes of the whole cluster an image is, and how many nodes there are."""
    NUMBER, NAME = 46, "shard_images"
    nodes: int  # Nodes in the cluster.
    counts: list[Tally]  # Nodes by image name, for the names whose count changed; 0 = gone.
    sizes: list[Tally]  # Bytes by image name, for the names whose size changed: that of the node first seen with it.
    FIELDS = {"nodes": (1, int), "counts": (2, [Tally]), "sizes": (3, [Tally])}


class ShardStorage(Record):
    """What limits the volumes on a node of your share; replaces what you had of it."""
    NUMBER, NAME = 49, "shard_storage"
    node_name: str  # The node.
    has_csi_node: bool  # False: there is no CSINode, so nothing is limited.
    drivers: list[DriverLimit]  # All drivers of its CSINode.
    migrated: list[str]  # In-tree plugins that are migrated there.
    attached: list[AttachedVolume]  # By its VolumeAttachments, for those drivers.
    FIELDS = {"node_name": (1, str), "has_csi_node": (2, bool), "drivers": (3, [DriverLimit]), "migrated": (4, [str]), "attached": (5, [AttachedVolume])}


class ShardTaken(Record):
    """Taken in of the messages about your share; more may be sent."""
    NUMBER, NAME = 52, "shard_taken"
    count: int  # How many since the last time.
    FIELDS = {"count": (1, int)}


class ShardNominated(Record):
    """A pod is nominated to a node of your share; replaces what you had of it. It counts in a first pass for pods of no higher priority."""
    NUMBER, NAME = 108, "shard_nominated"
    pod: Pod  # The pod; nominated_node says where.
    FIELDS = {"pod": (1, Pod)}


class ShardNominatedGone(Record):
    """A pod is no longer nominated to this node."""
    NUMBER, NAME = 109, "shard_nominated_gone"
    uid: str  # Its UID.
    node_name: str  # The node.
    FIELDS = {"uid": (1, str), "node_name": (2, str)}


class Count(Record):
    """How many pods, or how much weight, one place has in the eyes of one plugin."""
    slot: int  # Which of the plugin's counts; the plugin's own numbering.
    key: str  # Topology key, where the slot does not say it.
    value: str  # The domain: the key's value.
    count: int  # The sum; an entry of zero is an entry.
    whole: bool  # True: of no domain; value says nothing.
    FIELDS = {"slot": (1, int), "key": (2, str), "value": (3, str), "count": (4, int), "whole": (5, bool)}


class PluginCounts(Record):
    """What one plugin counted."""
    plugin: str  # The plugin.
    counts: list[Count]  # Each (slot, key, value) at most once.
    FIELDS = {"plugin": (1, str), "counts": (2, [Count])}


class Extreme(Record):
    """The range of one plugin's raw scores over feasible nodes."""
    plugin: str  # The plugin.
    least: int  # Least raw score.
    greatest: int  # Greatest raw score, at least 0 for plugins that only need it.
    FIELDS = {"plugin": (1, str), "least": (2, int), "greatest": (3, int)}


class ZoneChoice(Record):
    """A zone or region label of a bound volume, with the values that it allows."""
    key: str  # The label.
    values: list[str]  # Any of these.
    FIELDS = {"key": (1, str), "values": (2, [str])}


class PlacedVolume(Record):
    """A PersistentVolume, as far as nodes matter to it."""
    name: str  # Name.
    resource_version: int  # The version that was looked at.
    missing: bool  # A claim is bound to it, but it does not exist.
    has_terms: bool  # False: every node can use it.
    terms: list[NodeTerm]  # Which nodes can; ORed.
    migrated_plugin: str  # The in-tree plugin whose disk it is; on nodes where that is migrated, the next three hold instead.
    has_migrated_terms: bool  # As has_terms.
    migrated_terms: list[NodeTerm]  # As terms.
    migration_problem: str  # Not empty: there the filter fails with this.
    capacity: int  # Bytes; of a candidate.
    class_name: str  # Its storage class by its spec, for the score; of a candidate.
    FIELDS = {"name": (1, str), "resource_version": (2, int), "missing": (3, bool), "has_terms": (4, bool), "terms": (5, [NodeTerm]), "migrated_plugin": (6, str), "has_migrated_terms": (7, bool), "migrated_terms": (8, [NodeTerm]), "migration_problem": (9, str), "capacity": (10, int), "class_name": (11, str)}


class VolumeChoice(Record):
    """A volume that a claim could be bound to, were it not for the node."""
    volume: int  # Index in the findings' candidates.
    prebound: bool  # It is reserved for the claim: this one, or none at all.
    FIELDS = {"volume": (1, int), "prebound": (2, bool)}


class StorageAmount(Record):
    """How much storage there is."""
    bytes: int  # Bytes.
    FIELDS = {"bytes": (1, int)}


class DelayedClaim(Record):
    """A claim of the pod that is bound once the pod has a node."""
    name: str  # Name.
    uid: str  # UID.
    resource_version: int  # The version that was looked at.
    selected: bool  # It is being provisioned for selected_node, and for no other.
    selected_node: str  # That node.
    choices: list[VolumeChoice]  # Best first: the first that the node can use and that no earlier claim has taken.
    problem: str  # Not empty: looking for a volume fails with this.
    provisionable: bool  # Its class can make a volume.
    topologies: list[NodeTerm]  # Where; ORed; none = anywhere.
    room_counts: bool  # Its driver publishes where there is room.
    rooms: list[Selector]  # Nodes from which enough room can be reached.
    room_sizes: list[StorageAmount]  # What is free in each of the rooms.
    requested: int  # Bytes.
    class_name: str  # Its storage class by its spec, for the score.
    FIELDS = {"name": (1, str), "uid": (2, str), "resource_version": (3, int), "selected": (4, bool), "selected_node": (5, str), "choices": (6, [VolumeChoice]), "problem": (7, str), "provisionable": (8, bool), "topologies": (9, [NodeTerm]), "room_counts": (10, bool), "rooms": (11, [Selector]), "room_sizes": (12, [StorageAmount]), "requested": (13, int), "class_name": (14, str)}


class VolumeFindings(Record):
    """What the coordinator found out about a pod's volumes."""
    zones: list[ZoneChoice]  # Of bound volumes; all must hold on nodes that have any such label.
    bound: list[PlacedVolume]  # Volumes of the bound claims, in the pod's order.
    delayed: list[DelayedClaim]  # Claims to be bound: those with a selected node in the pod's order, then the others by size.
    candidates: list[PlacedVolume]  # What their choices point to.
    wanted: list[AttachedVolume]  # Volumes that count against attach limits; each once.
    wanted_problem: str  # Not empty: why wanted cannot be known.
    wanted_missing: bool  # Such a problem rejects the pod on every node; otherwise the filter fails.
    exclusive: list[str]  # Names of the pod's ReadWriteOncePod claims, each once.
    needed: list[str]  # Drivers that must be on a node, by their CSIDrivers.
    needed_by_disks: list[str]  # The same for disks of in-tree plugins, which count on nodes with a CSINode alone.
    wanted_needs_csi_node: bool  # The problem is a disk of the pod's own, which matters only on nodes with a CSINode.
    FIELDS = {"zones": (1, [ZoneChoice]), "bound": (2, [PlacedVolume]), "delayed": (3, [DelayedClaim]), "candidates": (4, [PlacedVolume]), "wanted": (5, [AttachedVolume]), "wanted_problem": (6, str), "wanted_missing": (7, bool), "exclusive": (8, [str]), "needed": (10, [str]), "needed_by_disks": (11, [str]), "wanted_needs_csi_node": (9, bool)}


class DevicePlace(Record):
    """Where the devices are that a claim has been given."""
    claim: str  # The ResourceClaim.
    terms: list[NodeTerm]  # Nodes that can use them; ORed.
    anywhere: bool  # Every node can use them.
    skips: bool  # But only where the feature DRAOptionalNodeOperations is declared.
    FIELDS = {"claim": (1, str), "terms": (2, [NodeTerm]), "anywhere": (3, bool), "skips": (4, bool)}


class DeviceVerdict(Record):
    """What it comes to on a node to allocate devices for a pod's claims."""
    fits: bool  # All claims get devices.
    fails: bool  # The search failed, and so does the filter, with the reason.
    reason: str  # Why not.
    score: int  # Where all get devices: the better the alternatives of their requests, the more.
    demand: list[Quantity]  # What the pod takes of the node with what its devices take of it; none: they take nothing.
    early: bool  # Why not was found before claims were looked at.
    FIELDS = {"fits": (1, bool), "fails": (2, bool), "reason": (3, str), "score": (4, int), "demand": (5, [Quantity]), "early": (6, bool)}


class DeviceNode(Record):
    """A node and its verdict."""
    node: str  # The node.
    verdict: int  # Index in the findings' device_verdicts.
    FIELDS = {"node": (1, str), "verdict": (2, int)}


class DeviceUser(Record):
    """A pod whose status says that a claim takes of its node's own resources, as 1.36 counts them."""
    claim: str  # The ResourceClaim, in the namespace of the pod that is decided.
    node: str  # The node.
    uid: str  # The pod.
    FIELDS = {"claim": (1, str), "node": (2, str), "uid": (3, str)}


class DeviceCount(Record):
    """How many devices of a class a node reaches."""
    node: str  # The node.
    there: int  # How many there are.
    used: int  # How many of them are allocated.
    FIELDS = {"node": (1, str), "there": (2, int), "used": (3, int)}


class DeviceStock(Record):
    """The devices that stand for an extended resource, for scores by it."""
    resource: str  # The resource.
    there: int  # How many there are on each node that is not listed.
    used: int  # How many of them are allocated.
    nodes: list[DeviceCount]  # The other nodes.
    FIELDS = {"resource": (1, str), "there": (2, int), "used": (3, int), "nodes": (4, [DeviceCount])}


class Findings(Record):
    """What the coordinator found out about a pod, before any node is looked at, that its workers need and cannot know."""
    skip: int  # Bit i: Filter plugin i of the profile has nothing to do.
    namespace_labels: list[Label]  # Labels of the pod's namespace, sorted by key.
    spread_needs_all_keys: bool  # Soft spread constraints ignore nodes that lack a topology key: they are the pod's own, or a list in the profile.
    claims_in_use: int  # ReadWriteOncePod claims of the pod that other pods use.
    volumes: VolumeFindings  # About its volumes.
    owners: list[Selector]  # For rules of the old Policy: selectors of the services that select the pod, and behind them that of its controller.
    services: int  # How many of these are services'.
    no_terms: bool  # No pod on any node has terms of pod affinity or anti-affinity.
    device_places: list[DevicePlace]  # Claims of the pod whose devices are for some nodes only.
    device_verdicts: list[DeviceVerdict]  # Of a pod with claims to allocate; the first is that of all nodes that are not listed. None: there is nothing to allocate.
    device_nodes: list[DeviceNode]  # Nodes with another verdict than the first, sorted by name.
    device_resources: list[str]  # Extended resources that it asks for and a DeviceClass stands for: where a node has none of one, devices are given for it.
    device_stocks: list[DeviceStock]  # Of extended resources that it asks for, that the profile scores by and a DeviceClass stands for.
    device_users: list[DeviceUser]  # With device_node_resources in 1.36: who is seen to use allocated claims of the pod, by its claims.
    disks: list[AttachedVolume]  # For rules of the old Policy: volumes that count against attach limits.
    FIELDS = {"skip": (1, int), "namespace_labels": (2, [Label]), "spread_needs_all_keys": (3, bool), "claims_in_use": (4, int), "volumes": (5, VolumeFindings), "owners": (6, [Selector]), "services": (7, int), "no_terms": (8, bool), "device_places": (12, [DevicePlace]), "device_verdicts": (14, [DeviceVerdict]), "device_nodes": (15, [DeviceNode]), "device_resources": (16, [str]), "device_stocks": (17, [DeviceStock]), "device_users": (18, [DeviceUser]), "disks": (13, [AttachedVolume])}


class Victim(Record):
    """A pod that is to make room."""
    uid: str  # UID.
    namespace_name: str  # Namespace.
    name: str  # Name.
    priority: int  # Its priority.
    started: int  # status.startTime; 0 = none.
    deleting: bool  # It is terminating already.
    unmarked: bool  # Towards the binder: it has no condition DisruptionTarget, and the fields below are known; false: look at it first.
    resource_version: int  # metadata.resourceVersion.
    generation: int  # metadata.generation.
    condition_types: list[str]  # Types of all status.conditions, in order.
    FIELDS = {"uid": (1, str), "namespace_name": (2, str), "name": (3, str), "priority": (4, int), "started": (5, int), "deleting": (6, bool), "unmarked": (7, bool), "resource_version": (8, int), "generation": (9, int), "condition_types": (10, [str])}


class Candidate(Record):
    """A node on which removing pods would make room."""
    node: str  # The node.
    victims: list[Victim]  # In upstream's order: the most important first.
    violations: int  # How many of them a PodDisruptionBudget would protect.
    ties: int  # How many nodes of the share are as good as this one; not with detail.
    others: list[Victim]  # All other pods on the node, when they were asked for: extenders may choose among them.
    FIELDS = {"node": (1, str), "victims": (2, [Victim]), "violations": (3, int), "ties": (4, int), "others": (5, [Victim])}


class GuardedPod(Record):
    """That a PodDisruptionBudget protects a pod of a group that goes as a whole."""
    pod: int  # Which pod, from 1; of one that has several budgets they stand together.
    node_name: str  # Where it is.
    budget: int  # Place in dry_run_question.budgets, growing for a pod.
    FIELDS = {"pod": (1, int), "node_name": (2, str), "budget": (3, int)}


class WholeGroup(Record):
    """A PodGroup of scheduling.k8s.io whose pods can only be evicted together."""
    namespace_name: str  # Namespace.
    name: str  # Name.
    priority: int  # Its priority, which is that of its pods.
    pods: int  # How many of its pods are on nodes, of all workers.
    started: int  # When the first of these started; the present for one that has not.
    leaves: list[str]  # Of a CompositePodGroup: names of the PodGroups whose pods these are; empty: the group is one itself.
    guarded: list[GuardedPod]  # Its pods that some PodDisruptionBudget protects, wherever they are.
    FIELDS = {"namespace_name": (1, str), "name": (2, str), "priority": (3, int), "pods": (4, int), "started": (5, int), "leaves": (6, [str]), "guarded": (7, [GuardedPod])}


class DryRunQuestion(Record):
    """What is asked beside the pod when room is to be made for it."""
    budgets: list[Budget]  # All PodDisruptionBudgets; by gangVictims also one for each gang on nodes, which allows what it has beyond its minimum.
    now_us: int  # The time that stands for the start of pods that have none.
    turned_away: list[str]  # Nodes that pass the filters, but which an extender has turned away; sorted. They are looked at as well.
    others: bool  # Tell all candidates, and with them all other pods on their nodes.
    wholes: list[WholeGroup]  # Groups that go as a whole, by 1.37's rules for groups; a node's candidates name only those of their pods that are there.
    FIELDS = {"budgets": (1, [Budget]), "now_us": (2, int), "turned_away": (3, [str]), "others": (4, bool), "wholes": (5, [WholeGroup])}


class MapRequest(Record):
    """Filter and score this pod on your nodes, as they are at this place of the stream."""
    NUMBER, NAME = 47, "map_request"
    cycle: int  # Number of the scheduling cycle.
    round: int  # 1; then counted on with every further question of the cycle.
    pod: Pod  # The pod.
    detail: bool  # True: report every node's verdict and scores.
    tie_break: str  # Which of the best.
    seed: int  # Seed of the random tie-break.
    only: list[str]  # When not empty: look at these nodes only.
    step: str  # The question.
    findings: Findings  # What the coordinator found out about the pod.
    alone: bool  # You have all nodes: your own counts and surveys are the cluster's.
    counts: list[PluginCounts]  # Merged counts of all workers; not when alone.
    surveys: list[PluginCounts]  # again: merged surveys of all workers.
    extremes: list[Extreme]  # again, map_run: ranges of raw scores over all workers.
    nominated_too: bool  # The last of `only` is the pod's nominated node, which PreFilter ruled out: a filter that fails on it counts as not asked.
    own_hostnames: bool  # Every node's label kubernetes.io/hostname is its name: what is counted by hostname matters to nobody else, and only how many such entries there are is told.
    list: bool  # Tell every feasible node and its total.
    bare: bool  # Score as if no pod were on any node and no image there.
    like_former: bool  # map_batch: as the request before it but for cycle, seed and the pod's UID and name; the rest is left out.
    siblings: list[str]  # UIDs of nominated pods that do not count for this one: they belong to its group.
    dry_run: DryRunQuestion  # victims: what else is asked.
    FIELDS = {"cycle": (1, int), "round": (2, int), "pod": (3, Pod), "detail": (5, bool), "tie_break": (6, str), "seed": (7, int), "only": (10, [str]), "step": (12, str), "findings": (13, Findings), "alone": (14, bool), "counts": (15, [PluginCounts]), "surveys": (16, [PluginCounts]), "extremes": (17, [Extreme]), "nominated_too": (20, bool), "own_hostnames": (21, bool), "list": (22, bool), "bare": (24, bool), "like_former": (26, bool), "siblings": (27, [str]), "dry_run": (28, DryRunQuestion)}


class PluginScore(Record):
    """What one plugin says of one node."""
    plugin: str  # The plugin.
    raw: int  # Before normalising.
    weighted: int  # Normalised, times weight.
    FIELDS = {"plugin": (1, str), "raw": (2, int), "weighted": (3, int)}


class Rejection(Record):
    """What one filter says of a node that it rejects."""
    plugin: str  # The filter.
    code: str  # As in the verdict.
    reasons: list[str]  # Its reasons.
    FIELDS = {"plugin": (1, str), "code": (2, str), "reasons": (3, [str])}


class Verdict(Record):
    """What filters and scores say of one node."""
    node: str  # The node.
    code: str  # What it comes to.
    plugin: str  # The plugin that rejected it.
    reasons: list[str]  # Its reasons.
    scores: list[PluginScore]  # For feasible nodes, in the profile's order.
    total: int  # The sum of weighted scores.
    others: list[Rejection]  # For rejected nodes: every filter that rejects it when asked alone, without nominated pods.
    FIELDS = {"node": (1, str), "code": (2, str), "plugin": (3, str), "reasons": (4, [str]), "scores": (5, [PluginScore]), "total": (6, int), "others": (7, [Rejection])}


class ListedNode(Record):
    """A feasible node."""
    node: str  # The node.
    total: int  # The sum of its weighted scores.
    FIELDS = {"node": (1, str), "total": (2, int)}


class TimedParts(Record):
    """How long the parts of a decision took."""
    pre_filter_ns: int  # What comes before the filters: what rules count, and what they prepare.
    filter_ns: int  # The filters.
    pre_score_ns: int  # What comes before the scores.
    score_ns: int  # The scores, their ranges and sums.
    FIELDS = {"pre_filter_ns": (1, int), "filter_ns": (2, int), "pre_score_ns": (3, int), "score_ns": (4, int)}


class DryRunAnswer(Record):
    """What removing pods of lower priority would do on a worker's nodes."""
    reasons: list[Tally]  # Why nodes would not fit even then.
    nodes: int  # How many nodes were looked at.
    fits: int  # Nodes among them that are candidates.
    candidates: list[Candidate]  # The best candidate of your share; all of them when detail was asked for.
    verdicts: list[Verdict]  # The nodes that cannot be a candidate because a filter failed, with code Error; with detail all that cannot, and why.
    FIELDS = {"reasons": (1, [Tally]), "nodes": (2, int), "fits": (3, int), "candidates": (4, [Candidate]), "verdicts": (5, [Verdict])}


class MapResult(Record):
    """One worker's part of a cycle."""
    NUMBER, NAME = 48, "map_result"
    cycle: int  # The cycle.
    round: int  # The round.
    nodes: int  # Nodes in this worker's share.
    feasible: int  # How many of them passed the filters.
    best_total: int  # Greatest total.
    best_count: int  # How many nodes have it.
    best_node: str  # One of them, by the tie-break asked for.
    reasons: list[Tally]  # Why nodes were rejected.
    unresolvable: int  # Rejected nodes that removing pods cannot help.
    plugins: list[str]  # Plugins that rejected at least one node.
    error: str  # Not empty: the request makes no sense, or a filter failed; the cycle fails with this text.
    verdicts: list[Verdict]  # Every node, when detail was asked for.
    evaluated: int  # How many nodes were filtered: all, or those of `only` that are in this share.
    nominated_fits: bool  # The pod's nominated node is in this share and passed the filters.
    dry_run: DryRunAnswer  # victims: the answer.
    counts: list[PluginCounts]  # count: what the plugins counted over your nodes.
    surveys: list[PluginCounts]  # What the plugins need to know of all feasible nodes before they score.
    extremes: list[Extreme]  # Range of the raw scores of each plugin that normalises.
    skipped: int  # Bit i: PreFilter plugin i of the profile turned out to have nothing to do once the counts were known.
    nominated_code: str  # The verdict's code of the pod's nominated node, when it is in this share.
    nominated_waits: bool  # On the pod's nominated node, in this share, a pod of lower priority that was preempted still terminates.
    score_error: str  # Not empty: scoring failed; so does the cycle, unless a single node is feasible.
    score_skipped: int  # Bit i: Score plugin i of the profile has nothing to say about this pod.
    nominated_plugin: str  # Who rejected the pod's nominated node, when it is in this share.
    listed: list[ListedNode]  # When a list was asked for: all feasible nodes.
    unavailable: list[str]  # claims: the pod's claims that have devices which some node cannot use, and that were looked at there.
    filter_ns: int  # Time that filtering took; for a class of pods, whose verdicts and scores are kept together, with scoring; for victims the whole dry run.
    score_ns: int  # Time that scoring took, where it was a pass of its own.
    timed: list[TimedParts]  # Of a decision whose calls of plugins were timed one by one, and whose filters and scores were one pass: what that consisted of. One, or none.
    FIELDS = {"cycle": (1, int), "round": (2, int), "nodes": (3, int), "feasible": (4, int), "best_total": (6, int), "best_count": (7, int), "best_node": (8, str), "reasons": (10, [Tally]), "unresolvable": (11, int), "plugins": (12, [str]), "error": (13, str), "verdicts": (14, [Verdict]), "evaluated": (17, int), "nominated_fits": (18, bool), "dry_run": (35, DryRunAnswer), "counts": (22, [PluginCounts]), "surveys": (23, [PluginCounts]), "extremes": (24, [Extreme]), "skipped": (26, int), "nominated_code": (27, str), "nominated_waits": (28, bool), "score_error": (30, str), "score_skipped": (31, int), "nominated_plugin": (32, str), "listed": (33, [ListedNode]), "unavailable": (34, [str]), "filter_ns": (40, int), "score_ns": (41, int), "timed": (42, [TimedParts])}


class MapBatch(Record):
    """You have all nodes: answer these requests in order, putting each pod on the node that its answer chooses before you look at the next; stop at the first that is not placed."""
    NUMBER, NAME = 50, "map_batch"
    cycle: int  # The first request's cycle; names the batch.
    limit_us: int  # Begin no further request once this long has passed; 0 = no limit.
    requests: list[MapRequest]  # One a pod, all of the step map.
    follows: int  # Not 0: this comes right behind the batch of that cycle, before its answer. Unless you have placed all of that one, leave this one alone and do not answer.
    FIELDS = {"cycle": (1, int), "limit_us": (2, int), "requests": (3, [MapRequest]), "follows": (4, int)}


class MapBatchResult(Record):
    """How far a worker came with a batch."""
    NUMBER, NAME = 51, "map_batch_result"
    cycle: int  # The batch.
    placed: int  # How many of the answers chose a node: their pods are on it as if by shard_pod.
    results: list[MapResult]  # Answers in order. Those that chose a node go without reasons, plugins and extremes; one that did not is the last, and whole.
    FIELDS = {"cycle": (1, int), "placed": (2, int), "results": (3, [MapResult])}


class MapRun(Record):
    """Pods like this one are to be placed, by all workers together: where would you put one after the other, if all came to your nodes? Each is on its node when you look at the next; map_run_end says which stay."""
    NUMBER, NAME = 53, "map_run"
    request: MapRequest  # The request of the first of them. Normalise with its extremes, widened by your own; when grouped with these alone.
    count: int  # How many at most.
    limit_us: int  # Begin no further once this long has passed; 0 = no limit.
    grouped: bool  # Rules count other pods: answer for each group of nodes that those rules cannot tell apart. The request's counts are those of the other workers alone, of rules that do not group.
    likely: int  # How many of them your nodes would get if all nodes were alike, and some more.
    rising: bool  # Grouped: go on in a group behind a pod that raises the top of a range, where that can raise no other node's score.
    FIELDS = {"request": (1, MapRequest), "count": (2, int), "limit_us": (3, int), "grouped": (4, bool), "likely": (5, int), "rising": (6, bool)}


class RunPlace(Record):
    """Where a worker would put one more pod."""
    node: str  # The node.
    total: int  # Its total score; of a group, without what the rules that group say.
    ties: int  # How many of your nodes, or of the group's, had it.
    next_total: int  # Grouped: the node's total with the pod on it.
    fits: bool  # Grouped: one more pod would fit there then, as far as rules by node say.
    not_put: bool  # Grouped, of the last: you have not put a pod there; what comes behind it is not known.
    raised: list[Extreme]  # Grouped, when rising: the group's ranges that a pod here raises. What comes behind in the group is told with no range that ends below these.
    FIELDS = {"node": (1, str), "total": (2, int), "ties": (3, int), "next_total": (4, int), "fits": (5, bool), "not_put": (6, bool), "raised": (7, [Extreme])}


class RunKey(Record):
    """A label that a rule reads of nodes."""
    key: str  # Its key.
    presence: bool  # It only matters whether a node has it.
    FIELDS = {"key": (1, str), "presence": (2, bool)}


class RunRule(Record):
    """A rule that counts pods, to one worker."""
    plugin: str  # The plugin.
    groups: bool  # It speaks for groups of your nodes; else for each node by itself.
    keys: list[RunKey]  # The labels that tell its groups apart.
    FIELDS = {"plugin": (1, str), "groups": (2, bool), "keys": (3, [RunKey])}


class RunValue(Record):
    """What the nodes of a group have for one label."""
    present: bool  # They have it.
    value: str  # With this value.
    FIELDS = {"present": (1, bool), "value": (2, str)}


class RunOwn(Record):
    """What each node of a group counts for itself alone, to one rule."""
    slot: int  # The slot of the rule's counts.
    count: int  # The count; 0 = there is none.
    FIELDS = {"slot": (1, int), "count": (2, int)}


class RunGroup(Record):
    """Nodes of one worker that counting rules cannot tell apart."""
    values: list[RunValue]  # For all keys of all rules, in their order.
    own: list[RunOwn]  # One a rule.
    next_own: list[RunOwn]  # The same of a node that one more pod is on.
    passing: int  # How many of the nodes pass the rules by node.
    extremes: list[Extreme]  # Range of the raw scores of each plugin that normalises and scores by node; the same behind each place that a pod was put on, but for what it says it raises.
    adds: list[PluginCounts]  # What one more pod on a node adds to the counts.
    places: list[RunPlace]  # In order.
    FIELDS = {"values": (1, [RunValue]), "own": (2, [RunOwn]), "next_own": (3, [RunOwn]), "passing": (4, int), "extremes": (5, [Extreme]), "adds": (6, [PluginCounts]), "places": (7, [RunPlace])}


class MapRunResult(Record):
    """Where one worker would put pods of a run."""
    NUMBER, NAME = 54, "map_run_result"
    cycle: int  # As in the request.
    round: int  # As in the request.
    feasible: int  # Your nodes that passed the filters, for the first; grouped: those by node.
    fails: bool  # Something failed, or cannot be told: the pods are to be asked about one by one.
    extremes: list[Extreme]  # Range of the raw scores of each plugin that normalises: the same for each place; grouped: the range that was normalised with.
    filter_ns: int  # Time that filtering and scoring took, for all places.
    skipped: int  # As in map_result, for the first.
    score_skipped: int  # As in map_result, for the first.
    timed: list[TimedParts]  # As in map_result: all places that were timed so, in one.
    places: list[RunPlace]  # In order; fewer than asked for when time, nodes or the same extremes ran out.
    rules: list[RunRule]  # Grouped: the rules that count, in the profile's order.
    counts: list[PluginCounts]  # Grouped: what they count over your nodes.
    groups: list[RunGroup]  # Grouped: those with nodes that pass; places is empty.
    FIELDS = {"cycle": (1, int), "round": (2, int), "feasible": (3, int), "fails": (4, bool), "extremes": (5, [Extreme]), "filter_ns": (7, int), "skipped": (8, int), "score_skipped": (9, int), "timed": (13, [TimedParts]), "places": (6, [RunPlace]), "rules": (10, [RunRule]), "counts": (11, [PluginCounts]), "groups": (12, [RunGroup])}


class RunPod(Record):
    """Who a pod of a run is."""
    uid: str  # UID.
    name: str  # Name.
    place: int  # Which of the places told, counted from 0, group after group.
    FIELDS = {"uid": (1, str), "name": (2, str), "place": (3, int)}


class MapRunEnd(Record):
    """These places of a run are taken, by these pods; the others are free again. Who takes a place on which no pod was put comes by shard_pod."""
    NUMBER, NAME = 55, "map_run_end"
    cycle: int  # The run's.
    pods: list[RunPod]  # Fewer than you told of, or none.
    placed: int  # How many pods of the run have a place, on whosever nodes.
    FIELDS = {"cycle": (1, int), "pods": (2, [RunPod]), "placed": (3, int)}


class MapPicks(Record):
    """Pods unlike each other are to be placed, by all workers together: which of your nodes, as they are, would be best for each? No pod is put anywhere."""
    NUMBER, NAME = 118, "map_picks"
    cycle: int  # The first request's cycle; names the question.
    round: int  # 1; then counted on with every further question of the cycle.
    limit_us: int  # Begin no further request once this long has passed; 0 = no limit.
    requests: list[MapRequest]  # One a pod, 64 at most, all of the step map. Normalise with its extremes, widened by your own.
    FIELDS = {"cycle": (1, int), "round": (2, int), "limit_us": (3, int), "requests": (4, [MapRequest])}


class PickRival(Record):
    """The node that was picked for a pod before this one, and might be better for this one, too."""
    pick: int  # Number of that pick, from 0 on.
    total: int  # What the node comes to for this pod, while the other one is not there.
    FIELDS = {"pick": (1, int), "total": (2, int)}


class NodePick(Record):
    """Which of a worker's nodes is best for a pod."""
    node: str  # The best but for those that were picked before it; empty: there is none.
    total: int  # Its total score.
    ties: int  # How many nodes have it, but for those that were picked before.
    feasible: int  # How many passed the filters, those that were picked before included.
    fails: bool  # Something failed, or cannot be told: the pod is to be asked about alone.
    extremes: list[Extreme]  # Range of the raw scores of each plugin that normalises, where it is another one than the request's.
    rivals: list[PickRival]  # Nodes that were picked before and come to more than this one; all that pass where there is none.
    tied: int  # Bit i: the node of pick i comes to as much as this one.
    skipped: int  # As in map_result; told are the bits that are others than the pick's before it.
    score_skipped: int  # The same.
    FIELDS = {"node": (1, str), "total": (2, int), "ties": (3, int), "feasible": (4, int), "fails": (5, bool), "extremes": (6, [Extreme]), "rivals": (7, [PickRival]), "tied": (10, int), "skipped": (8, int), "score_skipped": (9, int)}


class MapPicksResult(Record):
    """Which of a worker's nodes are best for pods unlike each other."""
    NUMBER, NAME = 119, "map_picks_result"
    cycle: int  # As in the request.
    round: int  # As in the request.
    filter_ns: int  # Time that filtering and scoring took, for all picks.
    picks: list[NodePick]  # In order; fewer than asked for when time ran out.
    timed: list[TimedParts]  # As in map_result: all picks that were timed so, in one.
    FIELDS = {"cycle": (1, int), "round": (2, int), "filter_ns": (3, int), "picks": (4, [NodePick]), "timed": (5, [TimedParts])}


class CheckPod(Record):
    """Where a pod goes, if it goes there."""
    node: str  # The node, if it is one of yours.
    total: int  # What its node comes to, with none of these pods there.
    FIELDS = {"node": (1, str), "total": (2, int)}


class MapCheck(Record):
    """Some of the pods that you were asked about last would go to these nodes, one after the other: are those of yours that get one still good for the pods behind it, or better?"""
    NUMBER, NAME = 122, "map_check"
    cycle: int  # Names the question, which map_picks asked.
    round: int  # Its round.
    pods: list[CheckPod]  # The first of its pods, in order.
    FIELDS = {"cycle": (1, int), "round": (2, int), "pods": (3, [CheckPod])}


class CheckedNode(Record):
    """What a node with pods of a check on it is to a pod behind those."""
    pod: int  # Number of the pod, from 0 on.
    node: str  # The node.
    total: int  # Its total score.
    rejected: bool  # It does not pass any more.
    fails: bool  # It cannot be told.
    FIELDS = {"pod": (1, int), "node": (2, str), "total": (3, int), "rejected": (4, bool), "fails": (5, bool)}


class MapChecked(Record):
    """What became of a worker's nodes, with pods on them."""
    NUMBER, NAME = 123, "map_checked"
    cycle: int  # As in the request.
    round: int  # As in the request.
    changed: list[CheckedNode]  # By pod, in order: where a node comes to as much as the pod's own, or more, and where it does not pass any more.
    FIELDS = {"cycle": (1, int), "round": (2, int), "changed": (3, [CheckedNode])}


class PickedPlace(Record):
    """Where a pod of a question goes."""
    pod: int  # Number of the pod, from 0 on.
    node: str  # A node of yours.
    FIELDS = {"pod": (1, int), "node": (2, str)}


class MapPicksEnd(Record):
    """These pods that you were asked about are on these nodes of yours, as if by shard_pod."""
    NUMBER, NAME = 124, "map_picks_end"
    cycle: int  # Names the question, which map_picks asked.
    round: int  # Its round.
    pods: list[PickedPlace]  # In order.
    FIELDS = {"cycle": (1, int), "round": (2, int), "pods": (3, [PickedPlace])}


class ExtenderRef(Record):
    """An extender of the configuration."""
    index: int  # Its place there, from 0.
    url: str  # Its urlPrefix: two processes whose files differ find out.
    FIELDS = {"index": (1, int), "url": (2, str)}


class ExtenderRefusal(Record):
    """A node that an extender turns away."""
    node: str  # The node.
    reason: str  # Why; goes into the pod's message as it is.
    unresolvable: bool  # Removing pods would not help.
    plugin: str  # The plugin on the bus that does; empty = an extender.
    FIELDS = {"node": (1, str), "reason": (2, str), "unresolvable": (3, bool), "plugin": (4, str)}


class ExtenderScore(Record):
    """What extenders add to a node's total."""
    node: str  # The node.
    score: int  # Score times weight times 10, summed over the extenders.
    FIELDS = {"node": (1, str), "score": (2, int)}


class Extend(Record):
    """Ask these extenders about a pod. Owed: exactly one extended."""
    NUMBER, NAME = 57, "extend"
    id: int  # Comes back in the answer.
    uid: str  # The pod's UID.
    namespace_name: str  # Its namespace.
    name: str  # Its name.
    step: str  # The question.
    extenders: list[ExtenderRef]  # Those that are interested, in the order in which they filter.
    nodes: list[str]  # nodes: the feasible ones, sorted.
    candidates: list[Candidate]  # victims: where pods could make room, and which.
    extenders_hash: int  # Of all extenders of the configuration that is decided with; 0 = not said.
    FIELDS = {"id": (1, int), "uid": (2, str), "namespace_name": (3, str), "name": (4, str), "step": (5, str), "extenders": (6, [ExtenderRef]), "nodes": (7, [str]), "candidates": (8, [Candidate]), "extenders_hash": (9, int)}


class Extended(Record):
    """What the extenders say."""
    NUMBER, NAME = 58, "extended"
    id: int  # As asked.
    error: str  # Not empty: an extender that may not be ignored failed, and with it the attempt.
    gone: bool  # The pod does not exist any more, or it is another one of its name.
    all: bool  # nodes: every node passed.
    nodes: list[str]  # nodes: otherwise those that passed, sorted.
    refused: list[ExtenderRefusal]  # nodes: others, as far as reasons were given; each node once.
    scores: list[ExtenderScore]  # nodes: those that are not 0.
    bare: bool  # nodes: they came back as objects, which upstream then scores as if no pod were on them.
    candidates: list[Candidate]  # victims: the nodes that remain, and the victims there by UID.
    ignored: bool  # victims: it failed and is ignorable: the candidates stay as they were.
    uid: str  # The pod's UID.
    FIELDS = {"id": (1, int), "error": (2, str), "gone": (3, bool), "all": (4, bool), "nodes": (5, [str]), "refused": (6, [ExtenderRefusal]), "scores": (7, [ExtenderScore]), "bare": (8, bool), "candidates": (9, [Candidate]), "ignored": (10, bool), "uid": (11, str)}


class PluginPod(Record):
    """A pod on a node, as a plugin is told of it."""
    namespace_name: str  # Namespace.
    name: str  # Name.
    uid: str  # UID.
    labels: list[Label]  # metadata.labels, sorted by key.
    requested: list[Quantity]  # What it takes.
    priority: int  # spec.priority, none = 0.
    assumed: bool  # It is only about to be bound.
    FIELDS = {"namespace_name": (1, str), "name": (2, str), "uid": (3, str), "labels": (4, [Label]), "requested": (5, [Quantity]), "priority": (6, int), "assumed": (7, bool)}


class PluginNode(Record):
    """A node, as a plugin is told of it."""
    name: str  # Name.
    labels: list[Label]  # metadata.labels, sorted by key.
    taints: list[Taint]  # spec.taints, in order.
    unschedulable: bool  # spec.unschedulable.
    allocatable: list[Quantity]  # status.allocatable.
    requested: list[Quantity]  # What the pods on it take, those included that are only about to be bound.
    pods: int  # How many pods that are.
    reasons: list[str]  # postFilter: why it is no good.
    rejected_by: str  # postFilter: the plugin that says so.
    unresolvable: bool  # postFilter: removing pods would not help.
    conditions: list[Label]  # status.conditions as type and status.
    annotations: list[Label]  # metadata.annotations that some plugin wants to be told of, sorted by key.
    pods_there: list[PluginPod]  # nodeFacts Pods: those pods.
    FIELDS = {"name": (1, str), "labels": (2, [Label]), "taints": (3, [Taint]), "unschedulable": (4, bool), "allocatable": (5, [Quantity]), "requested": (6, [Quantity]), "pods": (7, int), "reasons": (10, [str]), "rejected_by": (11, str), "unresolvable": (12, bool), "conditions": (13, [Label]), "annotations": (14, [Label]), "pods_there": (15, [PluginPod])}


class PluginRefusal(Record):
    """A node that a plugin turns away."""
    node: str  # The node.
    reason: str  # Why; goes into the pod's message as it is. Empty: in our words.
    unresolvable: bool  # Removing pods would not help.
    FIELDS = {"node": (1, str), "reason": (2, str), "unresolvable": (3, bool)}


class PluginOpinion(Record):
    """What a plugin thinks of a node."""
    node: str  # The node.
    score: int  # 0 to 100; multiplied with the plugin's weight and added to the node's total.
    FIELDS = {"node": (1, str), "score": (2, int)}


class PluginAsk(Record):
    """Say what you think of this pod. Owed: exactly one plugin_answer, within the deadline."""
    NUMBER, NAME = 100, "plugin_ask"
    id: int  # Comes back in the answer.
    step: str  # The question.
    pod: Pod  # The pod.
    nodes: list[PluginNode]  # All nodes in question, sorted by name.
    deadline_ms: int  # So much time there is for the answer.
    reason: str  # postFilter: why no node was looked at; empty = they were.
    FIELDS = {"id": (1, int), "step": (2, str), "pod": (3, Pod), "nodes": (4, [PluginNode]), "deadline_ms": (5, int), "reason": (10, str)}


class PluginAnswer(Record):
    """What a plugin thinks of a pod."""
    NUMBER, NAME = 101, "plugin_answer"
    id: int  # As asked.
    error: str  # Not empty: the plugin could not find out.
    refused: list[PluginRefusal]  # filter: the nodes that are no good; all others pass.
    scores: list[PluginOpinion]  # score: of nodes that are not mentioned it is 0.
    verdict: str  # preEnqueue, preFilter, reserve, preBind: allow (also when empty) or deny; permit: also wait for a plugin_permit; bind: bound, deny, or empty: it is left to the next one. A text, as another one is an error of the plugin.
    reason: str  # deny: why; postFilter without a node: why there is none.
    timeout_ms: int  # wait: how long at most; 0 = as long as is configured.
    skip: bool  # preFilter, preScore: the plugin's filter, or its score, has nothing to do for this pod, and is not asked.
    narrowed: bool  # preFilter: only those in nodes are to be looked at, if there are any.
    nodes: list[str]  # preFilter: the only nodes in question; without any, and not narrowed, all are.
    normalize: str  # score: what makes 0 to 100 of any scores: highest (the greatest becomes 100), lowest (likewise, and then 100 less that), range (the least becomes 0, the greatest 100). Empty: they are 0 to 100. A text, as another one is an error of the plugin.
    node: str  # postFilter: the pod is nominated to it, and tried again.
    unresolvable: bool  # postFilter without a node: no other plugin is asked.
    key: int  # queueSort: pods with a larger one go first; among equals who has waited longest.
    FIELDS = {"id": (1, int), "error": (2, str), "refused": (3, [PluginRefusal]), "scores": (4, [PluginOpinion]), "verdict": (5, str), "reason": (6, str), "timeout_ms": (7, int), "skip": (10, bool), "narrowed": (11, bool), "nodes": (12, [str]), "normalize": (13, str), "node": (14, str), "unresolvable": (15, bool), "key": (20, int)}


class PluginPermit(Record):
    """A pod that waits for this plugin's permission has it, or never gets it."""
    NUMBER, NAME = 102, "plugin_permit"
    uid: str  # The pod's UID.
    allow: bool  # True: it may be bound; false: its attempt fails.
    reason: str  # Why not.
    FIELDS = {"uid": (1, str), "allow": (2, bool), "reason": (3, str)}


class PluginHint(Record):
    """Something has happened: which of these pods, that you have turned away, is it worth to try again? Owed: exactly one plugin_hinted, within the deadline; without it, of all."""
    NUMBER, NAME = 130, "plugin_hint"
    id: int  # Comes back in the answer.
    deadline_ms: int  # So much time there is for the answer.
    event: str  # What has happened, as upstream labels it: NodeAdd, AssignedPodDelete, …
    namespace_name: str  # Of the object that it has happened to; empty: it has none.
    name: str  # Its name.
    pods: list[Pod]  # The pods.
    nodes: list[PluginNode]  # The node as it is now, where the event is about one that is there; without what its pods take.
    FIELDS = {"id": (1, int), "deadline_ms": (2, int), "event": (3, str), "namespace_name": (4, str), "name": (5, str), "pods": (6, [Pod]), "nodes": (7, [PluginNode])}


class PluginHinted(Record):
    """Which pods are worth another attempt."""
    NUMBER, NAME = 131, "plugin_hinted"
    id: int  # As asked.
    error: str  # Not empty: the plugin could not find out; then all are.
    queue: list[str]  # UIDs of the pods to be tried again; the others sleep on.
    FIELDS = {"id": (1, int), "error": (2, str), "queue": (3, [str])}


class PluginActivate(Record):
    """Try these pods now, whatever they wait for (upstream's Activate). Nothing is owed."""
    NUMBER, NAME = 132, "plugin_activate"
    pods: list[str]  # Each as NAMESPACE/NAME; who does not wait is left alone.
    FIELDS = {"pods": (1, [str])}


class PluginTold(Record):
    """What became of a pod. No answer is owed."""
    NUMBER, NAME = 103, "plugin_told"
    what: str  # The news.
    uid: str  # The pod's UID.
    namespace_name: str  # Its namespace.
    name: str  # Its name.
    node: str  # The node.
    FIELDS = {"what": (1, str), "uid": (2, str), "namespace_name": (3, str), "name": (4, str), "node": (5, str)}


class PluginBack(Record):
    """What a plugin says may be another thing now, and no object has changed (it did not answer and does again; devices or volumes that were reserved, or in doubt, are free): pods that it may have turned away are worth another attempt."""
    NUMBER, NAME = 104, "plugin_back"
    name: str  # The plugin; empty: room is free that nominations kept, which may help anybody.
    FIELDS = {"name": (1, str)}


class PastDecision(Record):
    """A decision about a pod, as it was made."""
    uid: str  # The pod's UID.
    wall_us: int  # When: microseconds since 1970.
    attempt: int  # Which attempt it was, from 1 on; 0 = not known.
    node: str  # Where it was placed, or room was to be made for it; empty = nowhere.
    placed: bool  # It was placed there.
    score: int  # The node's total.
    nodes: int  # How many nodes there were.
    feasible: int  # On how many of them it could have been.
    victims: int  # How many pods were to go for it.
    message: str  # Why it was not placed, as in its condition.
    namespace_name: str  # The pod's namespace, where decisions are told of whichever pods; else empty.
    name: str  # Likewise its name.
    FIELDS = {"uid": (1, str), "wall_us": (2, int), "attempt": (3, int), "node": (4, str), "placed": (5, bool), "score": (6, int), "nodes": (7, int), "feasible": (8, int), "victims": (9, int), "message": (10, str), "namespace_name": (11, str), "name": (12, str)}


class ExplainRequest(Record):
    """Asks how it decides, and what it has decided about a pod. Owed: exactly one explained."""
    NUMBER, NAME = 113, "explain_request"
    namespace_name: str  # The pod's namespace.
    name: str  # Its name; empty = of no pod.
    latest: int  # Not 0: so many of the last decisions are told, of whichever pods, 1000 at most, and nothing of how it decides.
    FIELDS = {"namespace_name": (1, str), "name": (2, str), "latest": (3, int)}


class Explained(Record):
    """How it decides, and what is kept of its decisions about a pod."""
    NUMBER, NAME = 114, "explained"
    decisions: list[PastDecision]  # The last ones about pods of that name, newest first.
    kept: int  # Of how many decisions something is kept.
    oldest_us: int  # When the oldest of them was made; 0 = there is none.
    waits_for: str  # Why it decides nothing now; empty = it does.
    state: str  # What it does with the pod now; empty = nothing.
    release: int  # Minor version of the Kubernetes that it decides as.
    tie_break: str  # Which of the best nodes it takes.
    profiles: list[Profile]  # What it decides with.
    asks: list[str]  # Extenders and plugins on the bus, whom nobody asks to explain.
    FIELDS = {"decisions": (1, [PastDecision]), "kept": (2, int), "oldest_us": (3, int), "waits_for": (4, str), "state": (5, str), "release": (6, int), "tie_break": (7, str), "profiles": (8, [Profile]), "asks": (9, [str])}


class ClaimBinding(Record):
    """What is to become of a claim before its pod is bound."""
    namespace_name: str  # The claim's namespace, which is the pod's.
    name: str  # The claim.
    uid: str  # Its UID.
    volume_name: str  # The PersistentVolume whose claimRef is to name it; empty = a volume is to be provisioned.
    prebound: bool  # The volume's claimRef names the claim already.
    resource_version: int  # The claim's, as decided on; when it is to be provisioned a precondition of the write, 0 = none.
    volume_version: int  # The volume's, as decided on: a precondition of the write, 0 = none.
    FIELDS = {"namespace_name": (1, str), "name": (2, str), "uid": (3, str), "volume_name": (4, str), "prebound": (5, bool), "resource_version": (6, int), "volume_version": (7, int)}


class DeviceAllocation(Record):
    """The devices that a ResourceClaim is given with a bind."""
    claim: str  # The claim, in the pod's namespace.
    uid: str  # Its UID, a precondition of the write.
    devices: list[AllocatedDevice]  # The devices.
    config: list[OpaqueConfig]  # Their configuration, with its source.
    has_terms: bool  # True when they are for some nodes only.
    terms: list[NodeTerm]  # Those nodes; ORed.
    shared: bool  # Of a bind: other pods of its group are given it, too. Whoever is first writes it, and the others find it.
    document: str  # Of a bind: the claim as the scheduler knows it, as resource_claim.document. It is written without being read before; where that fails, and where this is empty, it is read.
    FIELDS = {"claim": (1, str), "uid": (2, str), "devices": (3, [AllocatedDevice]), "config": (4, [OpaqueConfig]), "has_terms": (5, bool), "terms": (6, [NodeTerm]), "shared": (7, bool), "document": (9, str)}


class ClaimOverhead(Record):
    """What a claim's devices cost of a resource of the node on top."""
    name: str  # The resource.
    per_pod: str  # perPod; empty = not set.
    per_container: str  # perContainer; empty = not set.
    FIELDS = {"name": (1, str), "per_pod": (2, str), "per_container": (3, str)}


class ClaimRoom(Record):
    """What a claim's devices take of the node's own resources, as status.nodeAllocatableResourceClaimStatuses says it."""
    claim: str  # The claim.
    containers: list[str]  # Containers that name it.
    amounts: list[Label]  # mapping, in 1.36 resources; by name.
    overheads: list[ClaimOverhead]  # overhead; by name.
    FIELDS = {"claim": (1, str), "containers": (2, [str]), "amounts": (3, [Label]), "overheads": (4, [ClaimOverhead])}


class ExtendedUse(Record):
    """Which request of the special claim covers an extended resource of a container."""
    container: str  # The container's name.
    resource: str  # The extended resource.
    request: str  # The request's name.
    FIELDS = {"container": (1, str), "resource": (2, str), "request": (3, str)}


class ExtendedClaim(Record):
    """The ResourceClaim that is made for the extended resources of a pod that devices stand for."""
    requests: list[DeviceRequest]  # spec.devices.requests, each one of a kind.
    allocation: DeviceAllocation  # What it is given; claim and uid are empty, as both are not known before it is made.
    uses: list[ExtendedUse]  # For the pod's status.extendedResourceClaimStatus.requestMappings, in order. None, as no requests: the claim is made for nothing, and the bind fails, as upstream's does.
    FIELDS = {"requests": (1, [DeviceRequest]), "allocation": (2, DeviceAllocation), "uses": (3, [ExtendedUse])}


class DecisionHops(Record):
    """How long the parts of a decision took that the scheduler knows of, in microseconds. Behind them comes what is left until the bind was sent."""
    to_scheduler: int  # From the queue's sending of the attempt until the scheduler took it, by their wall clocks.
    line: int  # Until workers were asked: behind the decisions before it.
    worker: int  # Until the last of them had sent the answer.
    evaluating: int  # Of this: filtering and scoring for this pod, by the slowest worker.
    back: int  # Until the scheduler took that answer, by their wall clocks.
    FIELDS = {"to_scheduler": (1, int), "line": (2, int), "worker": (3, int), "evaluating": (4, int), "back": (5, int)}


class Bind(Record):
    """Bind this pod. Owed: exactly one bind_result."""
    NUMBER, NAME = 60, "bind"
    uid: str  # UID, a precondition of the write.
    namespace_name: str  # Namespace.
    name: str  # Name.
    node_name: str  # The chosen node.
    scheduler_name: str  # Profile, for the event.
    resource_version: int  # The pod's, for the event.
    claims: list[ClaimBinding]  # Claims to bind first, in order; empty = none.
    bind_timeout_s: int  # How long binding the claims may take.
    set_nominated: bool  # True: say in status.nominatedNodeName where it will be, as binding its claims takes a while.
    device_claims: list[DeviceClaim]  # ResourceClaims to be reserved for the pod first.
    extenders: list[ExtenderRef]  # The extender that binds the pod instead of us; empty = none.
    allocations: list[DeviceAllocation]  # Of device_claims those that have no devices yet, with what they are to be given; the others are allocated already.
    relied_on: list[DeviceAllocation]  # Of device_claims those that had devices when the pod was decided: which, by claim, UID and devices. With other devices the pod is not bound.
    extenders_hash: int  # With it: of all extenders of the configuration that was decided with; 0 = not said.
    extended: list[ExtendedClaim]  # A claim to be made for the pod, after device_claims; empty = none, more than one is malformed.
    claim_rooms: list[ClaimRoom]  # For the pod's status, before it is bound: what its claims take of the node; empty = nothing is said.
    rooms_by_kind: bool  # How that is written: mapping and overhead, as since 1.37; false: resources.
    device_timeout_ms: int  # How long allocated devices may take to become ready (bindingTimeout of DynamicResourcesArgs); 0 = 600 s, below 0 = they are not waited for.
    group: str  # With DRAWorkloadResourceClaims: its PodGroup of scheduling.k8s.io, whose reservations are the pod's as well; empty = none.
    group_uid: str  # That one's UID.
    popped_us: int  # When the queue sent the attempt, by its wall clock; 0 = not known (a group's), or this bind was sent before.
    hops: DecisionHops  # With it: where the time since then went.
    traceparent: str  # Of an attempt that is traced: the span that the binder's own are children of, as W3C Trace Context writes it; empty: it is not traced.
    pre_bind: list[str]  # Plugins whose hooks at PreBind are asked behind the claims, in order; empty = none.
    binders: list[str]  # Bind plugins, in order, up to DefaultBinder; empty = that one alone.
    post_bind: list[str]  # Plugins whose hooks at PostBind are told; empty = none.
    bus_plugins: list[BusPlugin]  # Of pre_bind and binders those that are processes on the bus.
    told: list[Pod]  # With them: the pod as they are told of it.
    FIELDS = {"uid": (1, str), "namespace_name": (2, str), "name": (3, str), "node_name": (4, str), "scheduler_name": (5, str), "resource_version": (6, int), "claims": (7, [ClaimBinding]), "bind_timeout_s": (8, int), "set_nominated": (9, bool), "device_claims": (12, [DeviceClaim]), "extenders": (13, [ExtenderRef]), "allocations": (15, [DeviceAllocation]), "relied_on": (20, [DeviceAllocation]), "extenders_hash": (14, int), "extended": (17, [ExtendedClaim]), "claim_rooms": (21, [ClaimRoom]), "rooms_by_kind": (22, bool), "device_timeout_ms": (18, int), "group": (23, str), "group_uid": (24, str), "popped_us": (16, int), "hops": (19, DecisionHops), "traceparent": (25, str), "pre_bind": (40, [str]), "binders": (41, [str]), "post_bind": (42, [str]), "bus_plugins": (43, [BusPlugin]), "told": (44, [Pod])}


class BindResult(Record):
    """How a bind ended, after any doubt was resolved."""
    NUMBER, NAME = 61, "bind_result"
    uid: str  # UID.
    namespace_name: str  # Namespace.
    name: str  # Name.
    node_name: str  # The node that was asked for.
    bound: bool  # True: the pod is on that node.
    code: int  # HTTP status; 0 = no answer.
    message: str  # The API server's message, or why nothing was written.
    gone: bool  # True: the pod does not exist any more, or has another UID.
    elapsed_us: int  # From taking the request to knowing the answer.
    plugin: str  # Who failed, when not bound; none: the bind itself.
    allocated: list[str]  # UIDs of the bind's ResourceClaims whose allocation was written or may have been, bound or not, the one that was made included unless it was deleted again: the devices stay in use until the watch has shown it.
    extended: str  # Of the claim that was made for extended resources and was not deleted again: its UID.
    extended_name: str  # Its name.
    FIELDS = {"uid": (1, str), "namespace_name": (2, str), "name": (3, str), "node_name": (4, str), "bound": (5, bool), "code": (6, int), "message": (7, str), "gone": (8, bool), "elapsed_us": (9, int), "plugin": (10, str), "allocated": (11, [str]), "extended": (12, str), "extended_name": (13, str)}


class PodFailed(Record):
    """An attempt failed: tell the pod's owner by event and condition."""
    NUMBER, NAME = 62, "pod_failed"
    pod: Pod  # The pod as last seen, its condition included.
    reason: str  # Why, in a word.
    message: str  # The whole message.
    set_nominated: bool  # True: status.nominatedNodeName is to become nominated_node.
    nominated_node: str  # The new nomination; empty clears it.
    event_only: bool  # True: no condition (a pod that is being deleted).
    FIELDS = {"pod": (1, Pod), "reason": (2, str), "message": (3, str), "set_nominated": (4, bool), "nominated_node": (5, str), "event_only": (6, bool)}


class Binding(Record):
    """A bind or a preemption that is under way."""
    uid: str  # UID of the pod or the preemptor.
    node_name: str  # The node.
    FIELDS = {"uid": (1, str), "node_name": (2, str)}


class Leadership(Record):
    """Whether this instance may decide and write; on every change, every second, and to every new peer."""
    NUMBER, NAME = 63, "leadership"
    leading: bool  # True: we hold the lease.
    lead_term: int  # The term; grows with every change of leadership.
    holder: str  # Identity of the holder as last observed.
    identity: str  # Our own identity.
    in_flight: list[Binding]  # Binds not answered yet; complete in each message.
    preempting: list[Binding]  # Preemptions not answered yet, by preemptor; complete in each message.
    releasing: list[str]  # UIDs of the claims of which something is being taken back (claim_release) and that is not answered yet; complete in each message.
    unanswered: bool  # It stops, and binds, preemptions or releases that were sent are not answered, whether it still waits for them or not: they may come after its end.
    FIELDS = {"leading": (1, bool), "lead_term": (2, int), "holder": (3, str), "identity": (4, str), "in_flight": (5, [Binding]), "preempting": (6, [Binding]), "releasing": (7, [str]), "unanswered": (8, bool)}


class Readiness(Record):
    """Whether this instance could decide if it led; once a second, and to every new peer."""
    NUMBER, NAME = 69, "readiness"
    ready: bool  # True: it could.
    lacks: str  # What is missing otherwise: the queue, the watcher, snapshot, a fresh view, a worker, workers to catch up.
    FIELDS = {"ready": (1, bool), "lacks": (2, str)}


class Preempt(Record):
    """Evict these pods for this one. Owed: exactly one preempt_result; a preempt for a preemptor that has one under way for the same node is answered by that one's."""
    NUMBER, NAME = 64, "preempt"
    pod: Pod  # The preemptor.
    node_name: str  # Where room is made; empty: only its group is said to have room then.
    victims: list[Victim]  # All victims in order; those that terminate already are left alone, and of one whose bind waits for its claims only the bind is ended.
    lower: list[Pod]  # Pods of lower priority that were nominated to this node: their nomination is cleared first.
    group_uid: str  # UID of the PodGroup that room is made for, anywhere; empty: it is for the pod.
    for_tree: bool  # That is a CompositePodGroup.
    FIELDS = {"pod": (1, Pod), "node_name": (2, str), "victims": (3, [Victim]), "lower": (4, [Pod]), "group_uid": (5, str), "for_tree": (6, bool)}


class PreemptResult(Record):
    """How a preemption's writes ended."""
    NUMBER, NAME = 65, "preempt_result"
    uid: str  # The preemptor's UID.
    namespace_name: str  # Its namespace.
    name: str  # Its name.
    node_name: str  # The node.
    done: bool  # True: every victim is deleted, is terminating, was gone, or was kept from being bound, and no nomination remains. False: make the preemptor try again.
    message: str  # Why not.
    FIELDS = {"uid": (1, str), "namespace_name": (2, str), "name": (3, str), "node_name": (4, str), "done": (5, bool), "message": (6, str)}


class BindCancel(Record):
    """Stop this bind, unless its Binding was sent already; its bind_result is owed as ever."""
    NUMBER, NAME = 66, "bind_cancel"
    uid: str  # The pod's UID.
    node_name: str  # The node.
    reason: str  # For the bind_result's message.
    FIELDS = {"uid": (1, str), "node_name": (2, str), "reason": (3, str)}


class GroupFailed(Record):
    """A group could not be placed, waits or was placed: tell its owner by one event and one condition."""
    NUMBER, NAME = 67, "group_failed"
    group: Gang  # The group as last seen, its condition included.
    scheduled: bool  # True: it is placed, the condition becomes True.
    reason: str  # Why, in a word.
    message: str  # The whole message: member, rule and number of nodes.
    scheduler_name: str  # Profile, for the event.
    FIELDS = {"group": (1, Gang), "scheduled": (2, bool), "reason": (3, str), "message": (4, str), "scheduler_name": (5, str)}


class GroupStatus(Record):
    """Patch a PodGroup's status; what is as it was is left out of the patch. Nothing is owed: what got lost is sent again when the group is next looked at."""
    NUMBER, NAME = 68, "group_status"
    group: Gang  # The group as last seen: what the patch is the difference to.
    phase: str  # status.phase.
    scheduled: int  # status.scheduled, where the API group has it.
    running: int  # status.running.
    succeeded: int  # status.succeeded.
    failed: int  # status.failed.
    schedule_start: int  # status.scheduleStartTime; 0 = leave as it is, negative = now.
    occupied_by: str  # status.occupiedBy; empty = leave as it is.
    event_reason: str  # A warning to tell with it (Timeout); empty = none.
    event_message: str  # Its text.
    FIELDS = {"group": (1, Gang), "phase": (2, str), "scheduled": (3, int), "running": (4, int), "succeeded": (5, int), "failed": (6, int), "schedule_start": (7, int), "occupied_by": (8, str), "event_reason": (9, str), "event_message": (10, str)}


class ClaimRelease(Record):
    """Take something back of a ResourceClaim of a pod that is not bound. Owed: exactly one claim_released; another one for a claim that has one under way is answered by that one's."""
    NUMBER, NAME = 106, "claim_release"
    what: str  # The order.
    uid: str  # The pod's UID.
    namespace_name: str  # Its namespace, which is the claim's.
    name: str  # Its name.
    claim: str  # The claim.
    claim_uid: str  # Its UID, a precondition of the write.
    resource_version: int  # deallocate: the claim's, as decided on.
    group_uid: str  # UID of the pod's PodGroup. unreserve: its reservation goes, not the pod's; deallocate: that it is reserved for it is in nobody's way. Empty = none.
    id: int  # Names the request; the same when it is sent again.
    FIELDS = {"what": (1, str), "uid": (2, str), "namespace_name": (3, str), "name": (4, str), "claim": (5, str), "claim_uid": (6, str), "resource_version": (7, int), "group_uid": (9, str), "id": (8, int)}


class ClaimReleased(Record):
    """How a claim_release ended."""
    NUMBER, NAME = 107, "claim_released"
    what: str  # As asked.
    uid: str  # The pod's UID.
    namespace_name: str  # Its namespace.
    claim: str  # The claim.
    claim_uid: str  # Its UID.
    done: bool  # True: it is as was asked for, or the claim is gone.
    code: int  # HTTP status of what failed; 0 = no answer.
    message: str  # Why not, in upstream's words.
    id: int  # The request's; of several that it answers, the last one's.
    FIELDS = {"what": (1, str), "uid": (2, str), "namespace_name": (3, str), "claim": (4, str), "claim_uid": (5, str), "done": (6, bool), "code": (7, int), "message": (8, str), "id": (9, int)}


class Nominate(Record):
    """The pod has a node, but waits before it is bound: say in status.nominatedNodeName where it will be."""
    NUMBER, NAME = 105, "nominate"
    pod: Pod  # The pod as last seen.
    node_name: str  # The node.
    FIELDS = {"pod": (1, Pod), "node_name": (2, str)}


class HoldingsRequest(Record):
    """Asks what it holds, to compare (berth compare). Owed: holdings, one behind the other, the last one says so."""
    NUMBER, NAME = 115, "holdings_request"
    id: int  # Chosen by the asker.
    schedulers: list[str]  # Of pods without a node those alone that name one of these; none: of nobody.
    list: str  # The set whose things are to be named; empty = none.
    FIELDS = {"id": (1, int), "schedulers": (2, [str]), "list": (3, str)}


class HeldSet(Record):
    """A set of things of which a process holds some."""
    name: str  # nodes, assigned (pods on a node, as the watcher said), pending (pods without one), share-nodes and share-pods (what workers have, assumed pods included); of the watcher also where it lists a kind, such as /api/v1/pods.
    count: int  # How many things.
    digest: int  # Sum of their hashes, without versions: those of disjoint sets can be added.
    versions: int  # The same with versions; 0 where none are kept.
    FIELDS = {"name": (1, str), "count": (2, int), "digest": (3, int), "versions": (4, int)}


class HeldThing(Record):
    """An object that a process holds."""
    name: str  # Its name, behind its namespace and / if it has one that is known here.
    uid: str  # Its UID; empty where things are told apart by name.
    version: int  # metadata.resourceVersion as a number; 0: not kept.
    node: str  # Of a pod: the node that it is on.
    FIELDS = {"name": (1, str), "uid": (2, str), "version": (3, int), "node": (4, str)}


class Holdings(Record):
    """What it holds."""
    NUMBER, NAME = 116, "holdings"
    id: int  # The holdings_request's.
    part: int  # From 1 on.
    last: bool  # True: there are no more. The sets, and what follows here, are in that one.
    things: list[HeldThing]  # Things of the set that was asked for.
    sets: list[HeldSet]  # What it holds of each set.
    whole: bool  # True: it has had everything once, and is not about to be told all of it anew.
    epoch: int  # The state stream's, where it is; 0: it has no place in it.
    sequence: int  # Its place there.
    serves: list[str]  # Of a queue: whose pods it serves.
    own_worker: bool  # It is what the worker inside a scheduler holds; its answers come before the scheduler's.
    FIELDS = {"id": (1, int), "part": (2, int), "last": (3, bool), "things": (4, [HeldThing]), "sets": (5, [HeldSet]), "whole": (6, bool), "epoch": (7, int), "sequence": (8, int), "serves": (9, [str]), "own_worker": (10, bool)}


class Reread(Record):
    """Read anew what you hold: the watcher lists kinds, queue and scheduler ask it for a snapshot, a worker joins anew. Nothing is forgotten before what is read is there."""
    NUMBER, NAME = 117, "reread"
    paths: list[str]  # Of the watcher: the kinds that it lists there (/api/v1/pods); none: all.
    own_worker: bool  # Of a scheduler: for the worker inside it alone.
    FIELDS = {"paths": (1, [str]), "own_worker": (2, bool)}


# Messages by their number.
MESSAGES = {
    1: Hello,
    2: Heartbeat,
    3: Goodbye,
    4: StatusRequest,
    5: Status,
    6: PeerUp,
    7: PeerDown,
    8: MetricsRequest,
    9: Metrics,
    28: Verbosity,
    121: DebugPod,
    111: PendingRequest,
    112: PendingPods,
    10: Subscribe,
    11: Credit,
    12: SnapshotBegin,
    13: SnapshotEnd,
    14: NodeSet,
    15: NodeGone,
    16: PodSet,
    17: PodGone,
    18: NamespaceSet,
    19: NamespaceGone,
    20: Barrier,
    90: NamesRequest,
    91: Names,
    21: BarrierReached,
    22: View,
    23: ResourceClaimSet,
    83: ResourceSliceSet,
    84: DeviceClassSet,
    85: DeviceTaintRuleSet,
    70: ClaimSet,
    71: VolumeSet,
    72: StorageClassSet,
    73: CsiNodeSet,
    74: CsiDriverSet,
    75: CsiCapacitySet,
    76: AttachmentSet,
    77: OwnerSet,
    78: BudgetSet,
    80: PodGroupSet,
    81: GroupMembers,
    82: GroupKinds,
    110: ServerVersion,
    79: ObjectGone,
    30: Pull,
    120: Spans,
    31: Attempt,
    32: Outcome,
    34: GangAttempt,
    35: GangWaits,
    33: QueueConfig,
    40: WorkerJoin,
    41: ShardReset,
    42: ShardNode,
    43: ShardNodeGone,
    44: ShardPod,
    45: ShardPodGone,
    46: ShardImages,
    49: ShardStorage,
    52: ShardTaken,
    108: ShardNominated,
    109: ShardNominatedGone,
    47: MapRequest,
    48: MapResult,
    50: MapBatch,
    51: MapBatchResult,
    53: MapRun,
    54: MapRunResult,
    55: MapRunEnd,
    118: MapPicks,
    119: MapPicksResult,
    122: MapCheck,
    123: MapChecked,
    124: MapPicksEnd,
    57: Extend,
    58: Extended,
    100: PluginAsk,
    101: PluginAnswer,
    102: PluginPermit,
    130: PluginHint,
    131: PluginHinted,
    132: PluginActivate,
    103: PluginTold,
    104: PluginBack,
    113: ExplainRequest,
    114: Explained,
    60: Bind,
    61: BindResult,
    62: PodFailed,
    63: Leadership,
    69: Readiness,
    64: Preempt,
    65: PreemptResult,
    66: BindCancel,
    67: GroupFailed,
    68: GroupStatus,
    106: ClaimRelease,
    107: ClaimReleased,
    105: Nominate,
    115: HoldingsRequest,
    116: Holdings,
    117: Reread,
}
