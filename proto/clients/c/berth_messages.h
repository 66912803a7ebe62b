/* Made by `make docs` from proto/messages.def: every message's number, every field's tag and
 * every word of the bus, for programs in C that speak on it or listen to it, with ZeroMQ and any
 * msgpack library. */
/* clang-format off */
#ifndef BERTH_MESSAGES_H
#define BERTH_MESSAGES_H

#define BERTH_SOURCE_CLAIM "claim" /* A PersistentVolumeClaim; of a pod's volume. */
#define BERTH_SOURCE_EPHEMERAL "ephemeral" /* A claim that is made for the pod; of a pod's volume. */
#define BERTH_SOURCE_CSI "csi" /* A volume of a CSI driver. */
#define BERTH_SOURCE_LOCAL "local" /* In-tree. */
#define BERTH_SOURCE_HOST_PATH "host-path" /* In-tree. */
#define BERTH_SOURCE_NFS "nfs" /* In-tree. */
#define BERTH_SOURCE_ISCSI "iscsi" /* In-tree. */
#define BERTH_SOURCE_RBD "rbd" /* In-tree. */
#define BERTH_SOURCE_CEPHFS "cephfs" /* In-tree. */
#define BERTH_SOURCE_FC "fc" /* In-tree. */
#define BERTH_SOURCE_GCE_PD "gce-pd" /* In-tree, with a translation to a CSI driver. */
#define BERTH_SOURCE_AWS_EBS "aws-ebs" /* In-tree, with a translation to a CSI driver. */
#define BERTH_SOURCE_AZURE_DISK "azure-disk" /* In-tree, with a translation to a CSI driver. */
#define BERTH_SOURCE_AZURE_FILE "azure-file" /* In-tree, with a translation to a CSI driver. */
#define BERTH_SOURCE_CINDER "cinder" /* In-tree, with a translation to a CSI driver. */
#define BERTH_SOURCE_VSPHERE "vsphere" /* In-tree, with a translation to a CSI driver. */
#define BERTH_SOURCE_PORTWORX "portworx" /* In-tree, with a translation to a CSI driver. */
#define BERTH_ATTRIBUTE_INT "int" /* A number. */
#define BERTH_ATTRIBUTE_BOOL "bool" /* True or false. */
#define BERTH_ATTRIBUTE_STRING "string" /* A text. */
#define BERTH_ATTRIBUTE_VERSION "version" /* A semantic version. */
#define BERTH_ATTRIBUTE_INTS "ints" /* Numbers. */
#define BERTH_ATTRIBUTE_BOOLS "bools" /* Values that are true or false. */
#define BERTH_ATTRIBUTE_STRINGS "strings" /* Texts. */
#define BERTH_ATTRIBUTE_VERSIONS "versions" /* Semantic versions. */
#define BERTH_OBJECT_CLAIM "PersistentVolumeClaim" /* Record claim. */
#define BERTH_OBJECT_VOLUME "PersistentVolume" /* Record volume. */
#define BERTH_OBJECT_STORAGE_CLASS "StorageClass" /* Record storage_class. */
#define BERTH_OBJECT_CSI_NODE "CSINode" /* Record csi_node. */
#define BERTH_OBJECT_CSI_DRIVER "CSIDriver" /* Record csi_driver. */
#define BERTH_OBJECT_CSI_CAPACITY "CSIStorageCapacity" /* Record csi_capacity. */
#define BERTH_OBJECT_ATTACHMENT "VolumeAttachment" /* Record attachment. */
#define BERTH_OBJECT_RESOURCE_CLAIM "ResourceClaim" /* Record resource_claim. */
#define BERTH_OBJECT_RESOURCE_SLICE "ResourceSlice" /* Record resource_slice. */
#define BERTH_OBJECT_DEVICE_CLASS "DeviceClass" /* Record device_class. */
#define BERTH_OBJECT_DEVICE_TAINT_RULE "DeviceTaintRule" /* Record device_taint_rule. */
#define BERTH_OBJECT_SERVICE "Service" /* Its pods are spread by default. */
#define BERTH_OBJECT_REPLICATION_CONTROLLER "ReplicationController" /* Its pods are spread by default. */
#define BERTH_OBJECT_REPLICA_SET "ReplicaSet" /* Its pods are spread by default. */
#define BERTH_OBJECT_STATEFUL_SET "StatefulSet" /* Its pods are spread by default. */
#define BERTH_OBJECT_BUDGET "PodDisruptionBudget" /* Record budget. */
#define BERTH_OBJECT_POD_GROUP "PodGroup" /* Record gang. */
#define BERTH_DOWN_GOODBYE "goodbye" /* It said so. */
#define BERTH_DOWN_SILENT "silent" /* Nothing came from it for too long. */
#define BERTH_DOWN_DISCONNECTED "disconnected" /* Its connection is gone. */
#define BERTH_DOWN_RESTARTED "restarted" /* It is another life of that process. */
#define BERTH_DOWN_GAP "gap" /* Something that it sent has not arrived. */
#define BERTH_PENDING_ACTIVE "active" /* Is tried as soon as it is its turn. */
#define BERTH_PENDING_BACKOFF "backoff" /* Was rejected, and is tried when its backoff is over. */
#define BERTH_PENDING_ERROR_BACKOFF "error-backoff" /* Failed for no fault of its own, and is tried when its backoff is over. */
#define BERTH_PENDING_UNSCHEDULABLE "unschedulable" /* Waits for an event that can help. */
#define BERTH_PENDING_GATED "gated" /* Is held back before it is tried at all. */
#define BERTH_PENDING_IN_FLIGHT "in-flight" /* Is at the scheduler. */
#define BERTH_PENDING_GROUP "group" /* Waits with its group until that is complete enough. */
#define BERTH_PENDING_EQUALS "equals" /* Waits for what becomes of a pod that asks for the same. */
#define BERTH_PENDING_BOUND "bound" /* Was bound; the watch has yet to show it. */
#define BERTH_PENDING_DELETING "deleting" /* Is being deleted, and not tried any more. */
#define BERTH_UNREAD_SERVED "served" /* They are served, but a right is missing, or the API server fails. */
#define BERTH_UNREAD_UNKNOWN "unknown" /* They were refused, and so was the question whether they are served. */
#define BERTH_UNREAD_LOOKING "looking" /* They were not served so far; since a pod names one they are looked for again just now. */
#define BERTH_OUTCOME_BOUND "bound" /* The pod is on a node. */
#define BERTH_OUTCOME_UNSCHEDULABLE "unschedulable" /* No node takes it. */
#define BERTH_OUTCOME_ERROR "error" /* Something failed. */
#define BERTH_OUTCOME_SKIPPED "skipped" /* The pod is gone, assigned, deleting or not ours. */
#define BERTH_FACTS_ALL "All" /* All that plugin_node has but its pods one by one; so it is without a word, too. */
#define BERTH_FACTS_NODE "Node" /* Nothing of the pods on it. */
#define BERTH_FACTS_NAMES "Names" /* Its name alone. */
#define BERTH_FACTS_PODS "Pods" /* All, and the pods on it one by one. */
#define BERTH_EVENT_SOURCE_ANY "*" /* Whatever it is about. */
#define BERTH_EVENT_SOURCE_POD "Pod" /* A pod, on a node or the one that waits itself. */
#define BERTH_EVENT_SOURCE_ASSIGNED_POD "AssignedPod" /* A pod on a node. */
#define BERTH_EVENT_SOURCE_NODE "Node" /* A node. */
#define BERTH_EVENT_SOURCE_CLAIM "PersistentVolumeClaim" /* A PersistentVolumeClaim. */
#define BERTH_EVENT_SOURCE_VOLUME "PersistentVolume" /* A PersistentVolume. */
#define BERTH_EVENT_SOURCE_STORAGE_CLASS "storage.k8s.io/StorageClass" /* A StorageClass. */
#define BERTH_EVENT_SOURCE_CSI_NODE "storage.k8s.io/CSINode" /* A CSINode. */
#define BERTH_EVENT_SOURCE_CSI_DRIVER "storage.k8s.io/CSIDriver" /* A CSIDriver. */
#define BERTH_EVENT_SOURCE_CSI_CAPACITY "storage.k8s.io/CSIStorageCapacity" /* A CSIStorageCapacity. */
#define BERTH_EVENT_SOURCE_ATTACHMENT "storage.k8s.io/VolumeAttachment" /* A VolumeAttachment. */
#define BERTH_EVENT_SOURCE_RESOURCE_CLAIM "resource.k8s.io/ResourceClaim" /* A ResourceClaim. */
#define BERTH_EVENT_SOURCE_RESOURCE_SLICE "resource.k8s.io/ResourceSlice" /* A ResourceSlice. */
#define BERTH_EVENT_SOURCE_DEVICE_CLASS "resource.k8s.io/DeviceClass" /* A DeviceClass. */
#define BERTH_EVENT_CHANGE_ALL "All" /* Anything. */
#define BERTH_EVENT_CHANGE_ADD "Add" /* It is new. */
#define BERTH_EVENT_CHANGE_DELETE "Delete" /* It is gone. */
#define BERTH_EVENT_CHANGE_UPDATE "Update" /* It has changed. */
#define BERTH_EVENT_CHANGE_NODE_ALLOCATABLE "UpdateNodeAllocatable" /* A node has other room. */
#define BERTH_EVENT_CHANGE_NODE_LABEL "UpdateNodeLabel" /* A node has other labels. */
#define BERTH_EVENT_CHANGE_NODE_TAINT "UpdateNodeTaint" /* A node has other taints, or takes pods again. */
#define BERTH_EVENT_CHANGE_NODE_CONDITION "UpdateNodeCondition" /* A node has other conditions. */
#define BERTH_EVENT_CHANGE_NODE_FEATURE "UpdateNodeDeclaredFeature" /* A node declares other features. */
#define BERTH_EVENT_CHANGE_POD_LABEL "UpdatePodLabel" /* A pod has other labels. */
#define BERTH_EVENT_CHANGE_POD_SCALE_DOWN "UpdatePodScaleDown" /* A pod asks for less. */
#define BERTH_EVENT_CHANGE_POD_TOLERATION "UpdatePodToleration" /* A pod tolerates more. */
#define BERTH_EVENT_CHANGE_POD_GATES "UpdatePodSchedulingGatesEliminated" /* A pod has lost its last gate. */
#define BERTH_EVENT_CHANGE_POD_CLAIM "UpdatePodGeneratedResourceClaim" /* A claim was made for a pod. */
#define BERTH_GANGS_OFF "off" /* No. */
#define BERTH_GANGS_AUTO "auto" /* Where its PodGroup is served; the default. */
#define BERTH_GANGS_ON "on" /* It names the plugin. */
#define BERTH_GANG_VICTIMS_PODS "Pods" /* Members as any pod; so it is without a word, too. */
#define BERTH_GANG_VICTIMS_SURPLUS "Surplus" /* Where it can be, no more of a gang than it has beyond its minimum. */
#define BERTH_GANG_VICTIMS_WHOLE "WholeGangs" /* As Surplus; of a gang that falls below its minimum all go. */
#define BERTH_TIE_BREAK_RANDOM "random" /* Any; so it is without a word, too. */
#define BERTH_TIE_BREAK_ROUND_ROBIN "round-robin" /* In turn: of n of them the one whose place among them, as nodes are walked, is how many choices were made before, modulo n. */
#define BERTH_TIE_BREAK_FIRST "first" /* The first by name. */
#define BERTH_MAP_STEP_COUNT "count" /* Only count. */
#define BERTH_MAP_STEP_MAP "map" /* Filter and score. */
#define BERTH_MAP_STEP_RUN "run" /* The same for pods that are alike, one after another, until a turn goes to another worker. */
#define BERTH_MAP_STEP_AGAIN "again" /* Score again, with merged surveys and extremes. */
#define BERTH_MAP_STEP_VICTIMS "victims" /* Nothing fits: say what removing lower-priority pods would do where that may help. */
#define BERTH_MAP_STEP_CLAIMS "claims" /* Nothing fits: say which of the pod's claims some node cannot use. */
#define BERTH_VERDICT_SUCCESS "Success" /* It is feasible. */
#define BERTH_VERDICT_ERROR "Error" /* A filter failed. */
#define BERTH_VERDICT_UNSCHEDULABLE "Unschedulable" /* It is rejected; removing pods may help. */
#define BERTH_VERDICT_UNRESOLVABLE "UnschedulableAndUnresolvable" /* It is rejected; removing pods cannot help. */
#define BERTH_EXTEND_STEP_NODES "nodes" /* Filter one after another and, if more than one node is left, prioritize all at once. */
#define BERTH_EXTEND_STEP_VICTIMS "victims" /* The only one that is asked: which of the candidates to preempt on. */
#define BERTH_PLUGIN_STEP_FILTER "filter" /* Which of the nodes are no good. */
#define BERTH_PLUGIN_STEP_SCORE "score" /* How good they are. */
#define BERTH_PLUGIN_STEP_PERMIT "permit" /* May the pod be bound to the only one. */
#define BERTH_PLUGIN_STEP_PRE_FILTER "preFilter" /* Before any node is looked at: may the pod be placed at all, and where; no node is told of. */
#define BERTH_PLUGIN_STEP_RESERVE "reserve" /* It has the only node, and its room there: take what it needs of the plugin's own. */
#define BERTH_PLUGIN_STEP_PRE_SCORE "preScore" /* These nodes are scored next: get ready. */
#define BERTH_PLUGIN_STEP_POST_FILTER "postFilter" /* No node is any good; why, each says: can anything be done about it. */
#define BERTH_PLUGIN_STEP_PRE_ENQUEUE "preEnqueue" /* May the pod be queued. */
#define BERTH_PLUGIN_STEP_QUEUE_SORT "queueSort" /* Where in the queue does it belong. */
#define BERTH_PLUGIN_STEP_PRE_BIND "preBind" /* It is bound to the only node next, which is told of by name alone: do what has to be done before. */
#define BERTH_PLUGIN_STEP_BIND "bind" /* Bind it to the only node, or leave that to the next one. */
#define BERTH_PLUGIN_NEWS_BOUND "bound" /* It is on the node (PostBind). */
#define BERTH_PLUGIN_NEWS_UNRESERVED "unreserved" /* It is not, though this plugin was asked for permission. */
#define BERTH_BIND_PLUGIN_VOLUME_BINDING "VolumeBinding" /* The binding of claims. */
#define BERTH_BIND_PLUGIN_DYNAMIC_RESOURCES "DynamicResources" /* The reserving of ResourceClaims. */
#define BERTH_BIND_PLUGIN_EXTENDER "Extender" /* The extender that binds the pod. */
#define BERTH_BIND_PLUGIN_HOOK "Hook" /* A plugin's hook at PreBind or Bind, which the message names. */
#define BERTH_REASON_SCHEDULED "Scheduled" /* It is; of a group. */
#define BERTH_REASON_UNSCHEDULABLE "Unschedulable" /* No node takes it, or it waits for others. */
#define BERTH_REASON_SCHEDULER_ERROR "SchedulerError" /* Something failed. */
#define BERTH_REASON_FAILED_SCHEDULING "FailedScheduling" /* Of a pod that is told by event alone. */
#define BERTH_CLAIM_DEALLOCATE "deallocate" /* It loses its devices and all reservations, unless it has changed since resource_version. */
#define BERTH_CLAIM_DELETE "delete" /* It goes, as it was made for the pod's extended resources. */
#define BERTH_CLAIM_UNRESERVE "unreserve" /* The pod's reservation goes, or its PodGroup's. */
#define BERTH_CLAIM_FORGET "forget" /* Of the binder alone: the pod's status says no more what its claims take of a node. */

/* label: A key and a value: a label, a node selector entry, a counter. */
#define BERTH_TAG_LABEL_KEY 1 /* str: The key. */
#define BERTH_TAG_LABEL_VALUE 2 /* str: The value. */

/* quantity: An amount of one resource. */
#define BERTH_TAG_QUANTITY_NAME 1 /* str: The resource: cpu, memory, nvidia.com/gpu, … */
#define BERTH_TAG_QUANTITY_AMOUNT 2 /* i64: cpu in millicores, everything else in whole units; rounded up. */

/* tally: A text and how often it occurred. */
#define BERTH_TAG_TALLY_TEXT 1 /* str: The text, such as a reason for rejecting a node. */
#define BERTH_TAG_TALLY_COUNT 2 /* i64: How often. */

/* taint: A node's taint. */
#define BERTH_TAG_TAINT_KEY 1 /* str: Key. */
#define BERTH_TAG_TAINT_VALUE 2 /* str: Value, may be empty. */
#define BERTH_TAG_TAINT_EFFECT 3 /* str: NoSchedule, PreferNoSchedule or NoExecute, as written. */

/* toleration: A pod's toleration. */
#define BERTH_TAG_TOLERATION_KEY 1 /* str: Key; empty matches every key. */
#define BERTH_TAG_TOLERATION_OPERATOR_NAME 2 /* str: Equal (also when empty), Exists, or Lt or Gt (toleration_comparison), as written. */
#define BERTH_TAG_TOLERATION_VALUE 3 /* str: Value for Equal, Lt and Gt. */
#define BERTH_TAG_TOLERATION_EFFECT 4 /* str: Effect; empty matches every effect. */

/* requirement: One requirement of a selector term. */
#define BERTH_TAG_REQUIREMENT_KEY 1 /* str: Label key, or field name in match_fields. */
#define BERTH_TAG_REQUIREMENT_OPERATOR_NAME 2 /* str: In, NotIn, Exists, DoesNotExist, Gt or Lt, as written. */
#define BERTH_TAG_REQUIREMENT_VALUES 3 /* list of str: The values. */

/* node_term: A node selector term: all requirements must hold; with none it matches nothing. */
#define BERTH_TAG_NODE_TERM_EXPRESSIONS 1 /* list of requirement: matchExpressions, on labels. */
#define BERTH_TAG_NODE_TERM_FIELDS 2 /* list of requirement: matchFields, on metadata.name. */

/* preferred_node_term: A preferred node selector term with its weight. */
#define BERTH_TAG_PREFERRED_NODE_TERM_WEIGHT 1 /* i64: 1 to 100; 0 is ignored. */
#define BERTH_TAG_PREFERRED_NODE_TERM_TERM 2 /* node_term: What the node should match. */

/* host_port: A port that a pod wants on its host. */
#define BERTH_TAG_HOST_PORT_IP 1 /* str: Host IP, 0.0.0.0 when unset. */
#define BERTH_TAG_HOST_PORT_PROTOCOL 2 /* str: TCP, UDP or SCTP, as written. */
#define BERTH_TAG_HOST_PORT_PORT 3 /* i64: 1 to 65535. */

/* image: An image that a node holds. */
#define BERTH_TAG_IMAGE_NAMES 1 /* list of str: All its names. */
#define BERTH_TAG_IMAGE_SIZE 2 /* i64: Bytes. */

/* condition: A pod's PodScheduled condition, as far as a later write needs it. */
#define BERTH_TAG_CONDITION_STATUS 1 /* str: True or False, as written; empty when the pod has no such condition. */
#define BERTH_TAG_CONDITION_REASON 2 /* str: Unschedulable, SchedulerError, SchedulingGated, …, as written. */
#define BERTH_TAG_CONDITION_MESSAGE 3 /* str: The message. */
#define BERTH_TAG_CONDITION_SINCE 4 /* str: lastTransitionTime as the API server wrote it. */
#define BERTH_TAG_CONDITION_PROBED 5 /* bool: True when lastProbeTime is set. */
#define BERTH_TAG_CONDITION_OBSERVED_GENERATION 6 /* i64: observedGeneration; 0 = absent. */

/* selector: A label selector: all labels and all expressions must hold. */
#define BERTH_TAG_SELECTOR_PRESENT 1 /* bool: False: no selector at all, which matches nothing; a present one with nothing in it matches everything. */
#define BERTH_TAG_SELECTOR_LABELS 2 /* list of label: matchLabels, sorted by key. */
#define BERTH_TAG_SELECTOR_EXPRESSIONS 3 /* list of requirement: matchExpressions: In, NotIn, Exists, DoesNotExist. */

/* affinity_term: A term of pod affinity or anti-affinity. */
#define BERTH_TAG_AFFINITY_TERM_SELECTOR 1 /* selector: Which pods. */
#define BERTH_TAG_AFFINITY_TERM_NAMESPACES 2 /* list of str: In which namespaces; the pod's own when the term names none and has no namespace selector. */
#define BERTH_TAG_AFFINITY_TERM_NAMESPACE_SELECTOR 3 /* selector: And in namespaces with such labels. */
#define BERTH_TAG_AFFINITY_TERM_TOPOLOGY_KEY 4 /* str: Label of nodes that tells domains apart. */
#define BERTH_TAG_AFFINITY_TERM_WEIGHT 5 /* i64: 1 to 100 for a preferred term, 0 for a required one. */

/* spread_constraint: A topology spread constraint. */
#define BERTH_TAG_SPREAD_CONSTRAINT_MAX_SKEW 1 /* i64: At least 1. */
#define BERTH_TAG_SPREAD_CONSTRAINT_TOPOLOGY_KEY 2 /* str: Label of nodes that tells domains apart. */
#define BERTH_TAG_SPREAD_CONSTRAINT_WHEN_UNSATISFIABLE 3 /* str: DoNotSchedule or ScheduleAnyway, as written. */
#define BERTH_TAG_SPREAD_CONSTRAINT_SELECTOR 4 /* selector: Which pods are counted. */
#define BERTH_TAG_SPREAD_CONSTRAINT_MIN_DOMAINS 5 /* i64: 0 = not set, counts as 1. */
#define BERTH_TAG_SPREAD_CONSTRAINT_MATCH_LABEL_KEYS 6 /* list of str: Labels of the pod that counted pods must share. */
#define BERTH_TAG_SPREAD_CONSTRAINT_NODE_AFFINITY_POLICY 7 /* str: Honor (also when empty) or Ignore, as written. */
#define BERTH_TAG_SPREAD_CONSTRAINT_NODE_TAINTS_POLICY 8 /* str: Ignore (also when empty) or Honor, as written. */

/* pod_volume: A volume of a pod that scheduling looks at. */
#define BERTH_TAG_POD_VOLUME_KIND 1 /* one of volume_source: What is behind it. */
#define BERTH_TAG_POD_VOLUME_NAME 2 /* str: Claim name (an ephemeral volume's as generated), disk name, volume ID, IQN, or the driver for csi. */
#define BERTH_TAG_POD_VOLUME_READ_ONLY 3 /* bool: The source's readOnly. */
#define BERTH_TAG_POD_VOLUME_MONITORS 4 /* list of str: rbd: its monitors. */
#define BERTH_TAG_POD_VOLUME_POOL 5 /* str: rbd: pool. */
#define BERTH_TAG_POD_VOLUME_IMAGE 6 /* str: rbd: image. */
#define BERTH_TAG_POD_VOLUME_VOLUME 7 /* str: The volume's name in the pod. */
#define BERTH_TAG_POD_VOLUME_DRIVER 8 /* str: For an in-tree disk that is migrated to CSI: the driver. */
#define BERTH_TAG_POD_VOLUME_HANDLE 9 /* str: For such a disk: what the driver calls it. */
#define BERTH_TAG_POD_VOLUME_PROBLEM 10 /* str: For such a disk: why it has no handle; empty = it has one. */

/* attached_volume: A volume that counts against a node's attach limit. */
#define BERTH_TAG_ATTACHED_VOLUME_DRIVER 1 /* str: CSI driver. */
#define BERTH_TAG_ATTACHED_VOLUME_HANDLE 2 /* str: What identifies the volume for that driver. */

/* device_claim: A ResourceClaim as a pod or a PodGroup names it. */
#define BERTH_TAG_DEVICE_CLAIM_NAME 1 /* str: Name in spec.resourceClaims. */
#define BERTH_TAG_DEVICE_CLAIM_CLAIM 2 /* str: The ResourceClaim's name; empty: not created yet. */
#define BERTH_TAG_DEVICE_CLAIM_GENERATED 3 /* bool: It is made from a template for this pod, or for its PodGroup. */
#define BERTH_TAG_DEVICE_CLAIM_UNNEEDED 4 /* bool: The status says that it needs none. */
#define BERTH_TAG_DEVICE_CLAIM_MALFORMED 5 /* bool: Neither a claim nor a template is named. */
#define BERTH_TAG_DEVICE_CLAIM_TEMPLATE 6 /* str: The ResourceClaimTemplate's name; empty: none is named. */
#define BERTH_TAG_DEVICE_CLAIM_FOR_GROUP 7 /* bool: Of a bind: it is to be reserved for the pod's PodGroup, not for the pod. */

/* extended_ask: What a container asks for of an extended resource. */
#define BERTH_TAG_EXTENDED_ASK_RESOURCE 1 /* str: The resource, by a name that a DeviceClass may stand for. */
#define BERTH_TAG_EXTENDED_ASK_CONTAINER 2 /* str: The container. */
#define BERTH_TAG_EXTENDED_ASK_PLACE 3 /* i64: Its place among init containers and, behind them, containers; from 0. */
#define BERTH_TAG_EXTENDED_ASK_RANK 4 /* i64: The resource's place among all that the container requests, by name; from 0. */
#define BERTH_TAG_EXTENDED_ASK_AMOUNT 5 /* i64: How many; not 0. */
#define BERTH_TAG_EXTENDED_ASK_PASSING 6 /* bool: An init container that ends before the next one begins. */

/* pod_container: A container as claims that take of a node's own resources look at it. */
#define BERTH_TAG_POD_CONTAINER_NAME 1 /* str: Name. */
#define BERTH_TAG_POD_CONTAINER_CLAIMS 2 /* list of str: resources.claims: names in spec.resourceClaims. */
#define BERTH_TAG_POD_CONTAINER_INIT 3 /* bool: It is an init container. */
#define BERTH_TAG_POD_CONTAINER_LIMITS 4 /* list of label: resources.limits. */

/* pod_amounts: What a pod asks for, as exact quantities, for what its claims add to it. All is of the spec alone. */
#define BERTH_TAG_POD_AMOUNTS_REQUESTS 1 /* list of label: Of its containers together. */
#define BERTH_TAG_POD_AMOUNTS_SCORE_CPU 2 /* str: Of those, where each that asks for no cpu counts as 100m. */
#define BERTH_TAG_POD_AMOUNTS_SCORE_MEMORY 3 /* str: Of those, where each that asks for no memory counts as 200Mi. */
#define BERTH_TAG_POD_AMOUNTS_WHOLE 4 /* list of label: Requests of the pod as a whole. */
#define BERTH_TAG_POD_AMOUNTS_WHOLE_LIMITS 5 /* list of label: Limits of the pod as a whole. */
#define BERTH_TAG_POD_AMOUNTS_HUGE_LIMITS 6 /* list of label: Limits on huge pages of its containers together. */
#define BERTH_TAG_POD_AMOUNTS_OVERHEAD 7 /* list of label: spec.overhead. */
#define BERTH_TAG_POD_AMOUNTS_CONTAINERS 8 /* list of pod_container: Init containers, then containers. */

/* counted_usage: What a pod takes from its node, and counts for there. */
#define BERTH_TAG_COUNTED_USAGE_USAGE 1 /* list of quantity: What it takes. */
#define BERTH_TAG_COUNTED_USAGE_SCORE_CPU 2 /* i64: Millicores it counts for in scoring. */
#define BERTH_TAG_COUNTED_USAGE_SCORE_MEMORY 3 /* i64: Bytes it counts for in scoring. */

/* other_count: What a pod comes to with feature gates that are not as by default. */
#define BERTH_TAG_OTHER_COUNT_RELEASE 1 /* i64: The minor version that counts so. */
#define BERTH_TAG_OTHER_COUNT_POD_LEVEL_RESOURCES 2 /* bool: With that gate (features). */
#define BERTH_TAG_OTHER_COUNT_POD_LEVEL_RESIZES 3 /* bool: And with that one. */
#define BERTH_TAG_OTHER_COUNT_REQUEST 4 /* list of quantity: Its request. */
#define BERTH_TAG_OTHER_COUNT_NODE_RESOURCES 6 /* bool: And with device_node_resources, where its status says what claims take of the node. */
#define BERTH_TAG_OTHER_COUNT_USAGE 5 /* counted_usage: Its usage, usage_score_cpu and usage_score_memory. */

/* pod: A pod, with only the fields that scheduling uses. Amounts are derived from the spec once, where it is read. */
#define BERTH_TAG_POD_UID 1 /* str: UID. */
#define BERTH_TAG_POD_NAMESPACE_NAME 2 /* str: Namespace. */
#define BERTH_TAG_POD_NAME 3 /* str: Name. */
#define BERTH_TAG_POD_RESOURCE_VERSION 4 /* i64: metadata.resourceVersion as a number; newer is greater. */
#define BERTH_TAG_POD_GENERATION 5 /* i64: metadata.generation. */
#define BERTH_TAG_POD_NODE_NAME 6 /* str: spec.nodeName; empty = not assigned. */
#define BERTH_TAG_POD_SCHEDULER_NAME 7 /* str: spec.schedulerName. */
#define BERTH_TAG_POD_PRIORITY 8 /* i64: spec.priority, none = 0. */
#define BERTH_TAG_POD_PREEMPTION_POLICY 9 /* str: Never, or PreemptLowerPriority (also when empty), as written. */
#define BERTH_TAG_POD_NOMINATED_NODE 10 /* str: status.nominatedNodeName. */
#define BERTH_TAG_POD_CREATED 11 /* i64: metadata.creationTimestamp. */
#define BERTH_TAG_POD_STARTED 12 /* i64: status.startTime; 0 = none. */
#define BERTH_TAG_POD_DELETING 13 /* bool: True when metadata.deletionTimestamp is set. */
#define BERTH_TAG_POD_GATES 14 /* list of str: Names of spec.schedulingGates, in order. */
#define BERTH_TAG_POD_LABELS 15 /* list of label: metadata.labels, sorted by key. */
#define BERTH_TAG_POD_REQUEST 16 /* list of quantity: What Filter asks for: pod-level resources on, status off, no defaults. */
#define BERTH_TAG_POD_SCORE_REQUEST 17 /* list of quantity: What NodeResourcesFit scores with: pod-level off, 100m and 200Mi defaults per container. */
#define BERTH_TAG_POD_USAGE 18 /* list of quantity: What it takes from its node: pod-level on, status on, no defaults. */
#define BERTH_TAG_POD_USAGE_SCORE_CPU 19 /* i64: Millicores it counts for in scoring on its node: status on, with defaults. */
#define BERTH_TAG_POD_USAGE_SCORE_MEMORY 20 /* i64: Bytes it counts for in scoring on its node: status on, with defaults. */
#define BERTH_TAG_POD_PORTS 21 /* list of host_port: Host ports of containers and restartable init containers. */
#define BERTH_TAG_POD_NODE_SELECTOR 22 /* list of label: spec.nodeSelector, sorted by key. */
#define BERTH_TAG_POD_HAS_NODE_SELECTOR 23 /* bool: True when spec.nodeSelector is set (also when empty). */
#define BERTH_TAG_POD_REQUIRED_TERMS 24 /* list of node_term: requiredDuringScheduling node affinity; ORed. */
#define BERTH_TAG_POD_HAS_REQUIRED_TERMS 25 /* bool: True when a required node affinity is set (also with no terms). */
#define BERTH_TAG_POD_PREFERRED_TERMS 26 /* list of preferred_node_term: preferredDuringScheduling node affinity. */
#define BERTH_TAG_POD_TOLERATIONS 27 /* list of toleration: spec.tolerations. */
#define BERTH_TAG_POD_IMAGES 28 /* list of str: Images of init containers, then containers, then image volumes; normalised with :latest. */
#define BERTH_TAG_POD_EXTENDED_ASKS 57 /* list of extended_ask: Of a pod without a node: what its containers ask for that devices may stand for; by resource, then place. */
#define BERTH_TAG_POD_CONTAINER_COUNT 29 /* i64: Init containers plus containers. */
#define BERTH_TAG_POD_SCHEDULED 30 /* condition: Its PodScheduled condition; absent once it is assigned. */
#define BERTH_TAG_POD_CONDITION_TYPES 31 /* list of str: Types of all status.conditions, in order. */
#define BERTH_TAG_POD_HAS_SPREAD 33 /* bool: True when spec.topologySpreadConstraints is not empty. */
#define BERTH_TAG_POD_CLAIMS 34 /* list of str: PersistentVolumeClaims of its volumes. */
#define BERTH_TAG_POD_RESOURCE_CLAIMS 35 /* list of str: Names of spec.resourceClaims. */
#define BERTH_TAG_POD_AFFINITY_REQUIRED 36 /* list of affinity_term: Required pod affinity. */
#define BERTH_TAG_POD_AFFINITY_PREFERRED 37 /* list of affinity_term: Preferred pod affinity. */
#define BERTH_TAG_POD_ANTI_AFFINITY_REQUIRED 38 /* list of affinity_term: Required pod anti-affinity. */
#define BERTH_TAG_POD_ANTI_AFFINITY_PREFERRED 39 /* list of affinity_term: Preferred pod anti-affinity. */
#define BERTH_TAG_POD_SPREAD 40 /* list of spread_constraint: spec.topologySpreadConstraints. */
#define BERTH_TAG_POD_VOLUMES 41 /* list of pod_volume: Volumes that scheduling looks at, in the pod's order. */
#define BERTH_TAG_POD_OWNER_KIND 42 /* str: Kind of its controller; empty = none. */
#define BERTH_TAG_POD_OWNER_NAME 43 /* str: Name of its controller. */
#define BERTH_TAG_POD_PREEMPTED 44 /* bool: Its first DisruptionTarget condition is True with reason PreemptionByScheduler. */
#define BERTH_TAG_POD_FEATURES 45 /* list of str: Node features that it needs. */
#define BERTH_TAG_POD_ATTACHED 46 /* list of attached_volume: For a pod on a node, towards workers: its volumes that count against attach limits there. */
#define BERTH_TAG_POD_OWNER_API 47 /* str: apiVersion of its controller. */
#define BERTH_TAG_POD_DISRUPTION_TARGET 48 /* str: message of its DisruptionTarget condition; empty = has none. */
#define BERTH_TAG_POD_OWNER_UID 49 /* str: UID of its controller. */
#define BERTH_TAG_POD_ATTACH_PROBLEM 50 /* str: For a pod on a node, towards workers: why attached cannot be known; then limits there cannot be checked. */
#define BERTH_TAG_POD_DEVICE_CLAIMS 51 /* list of device_claim: spec.resourceClaims, with what the status says of generated ones. */
#define BERTH_TAG_POD_GANG 52 /* str: Its PodGroup's name, in its own namespace; empty = none. */
#define BERTH_TAG_POD_GANG_API 53 /* str: API group of that PodGroup, by what names it: scheduling.k8s.io (spec.schedulingGroup), else scheduling.x-k8s.io (label scheduling.x-k8s.io/pod-group), else scheduling.sigs.k8s.io (label pod-group.scheduling.sigs.k8s.io). */
#define BERTH_TAG_POD_PHASE 54 /* str: status.phase, of pods with a PodGroup alone. */
#define BERTH_TAG_POD_HAS_PRIORITY 56 /* bool: True when spec.priority is set (also when 0). */
#define BERTH_TAG_POD_LIMITS 55 /* list of quantity: What it may take at most: spec alone, pod-level on. Decides nothing; /metrics/resources shows it. */
#define BERTH_TAG_POD_USAGE_VARIES 59 /* bool: True when 1.37 counts usage, usage_score_cpu and usage_score_memory otherwise, by another reading of the status. */
#define BERTH_TAG_POD_ANNOTATIONS 92 /* list of label: metadata.annotations that some plugin on the bus wants to be told of, sorted by key. */
#define BERTH_TAG_POD_USAGE_1_37 60 /* counted_usage: Then those three as 1.37 counts them; who decides puts them in their place. */
#define BERTH_TAG_POD_OTHER_COUNTS 80 /* list of other_count: Of a pod with requests as a whole: what it comes to with other gates than by default; who decides puts it in its place. */
#define BERTH_TAG_POD_RESIZE_DEFERRED 61 /* bool: Its first PodResizePending condition has the reason Deferred: its node has no room for what it asks for now (resize_preemption). */
#define BERTH_TAG_POD_AMOUNTS 90 /* list of pod_amounts: Of a pod with device_claims or extended_asks and without a node: one. */
#define BERTH_TAG_POD_ROOM_CLAIMS 91 /* list of str: Claims in status.nodeAllocatableResourceClaimStatuses. */
#define BERTH_TAG_POD_UNREADABLE 58 /* str: Why it cannot be understood, with the field; the rest is then what could be. It is not placed, and its node takes no other. */

/* node: A node, with only the fields that scheduling uses. */
#define BERTH_TAG_NODE_NAME 1 /* str: Name. */
#define BERTH_TAG_NODE_UID 2 /* str: UID. */
#define BERTH_TAG_NODE_RESOURCE_VERSION 3 /* i64: metadata.resourceVersion as a number. */
#define BERTH_TAG_NODE_LABELS 4 /* list of label: metadata.labels, sorted by key. */
#define BERTH_TAG_NODE_TAINTS 5 /* list of taint: spec.taints, in order. */
#define BERTH_TAG_NODE_UNSCHEDULABLE 6 /* bool: spec.unschedulable. */
#define BERTH_TAG_NODE_ALLOCATABLE 7 /* list of quantity: status.allocatable. */
#define BERTH_TAG_NODE_IMAGES 8 /* list of image: status.images. */
#define BERTH_TAG_NODE_FEATURES 9 /* list of str: status.declaredFeatures. */
#define BERTH_TAG_NODE_CONDITIONS 10 /* list of label: status.conditions as type and status. */
#define BERTH_TAG_NODE_ANNOTATIONS 13 /* list of label: metadata.annotations that some plugin on the bus wants to be told of, sorted by key. */
#define BERTH_TAG_NODE_SPARES_FROM_RESIZES 12 /* list of str: spec.podPreemptionPolicy.disableResizePreemption: who wants that no pod is evicted here for another one's resize. */
#define BERTH_TAG_NODE_AVOIDED 11 /* list of label: Annotation scheduler.alpha.kubernetes.io/preferAvoidPods: controllers by kind and UID. */

/* claim: A PersistentVolumeClaim. */
#define BERTH_TAG_CLAIM_NAMESPACE_NAME 1 /* str: Namespace. */
#define BERTH_TAG_CLAIM_NAME 2 /* str: Name. */
#define BERTH_TAG_CLAIM_UID 3 /* str: UID. */
#define BERTH_TAG_CLAIM_RESOURCE_VERSION 4 /* i64: metadata.resourceVersion as a number. */
#define BERTH_TAG_CLAIM_DELETING 5 /* bool: True when metadata.deletionTimestamp is set. */
#define BERTH_TAG_CLAIM_OWNER_UID 6 /* str: UID of its controller; empty = none. */
#define BERTH_TAG_CLAIM_VOLUME_NAME 7 /* str: spec.volumeName. */
#define BERTH_TAG_CLAIM_HAS_CLASS 8 /* bool: True when a storage class is named, in the annotation or in the spec (also the empty one). */
#define BERTH_TAG_CLAIM_CLASS_NAME 9 /* str: volume.beta.kubernetes.io/storage-class, else spec.storageClassName. */
#define BERTH_TAG_CLAIM_PHASE 10 /* str: status.phase. */
#define BERTH_TAG_CLAIM_ACCESS_MODES 11 /* list of str: spec.accessModes. */
#define BERTH_TAG_CLAIM_REQUESTED 12 /* i64: Bytes of storage requested. */
#define BERTH_TAG_CLAIM_VOLUME_MODE 13 /* str: Filesystem (also when unset) or Block, as written. */
#define BERTH_TAG_CLAIM_ATTRIBUTES_CLASS 14 /* str: spec.volumeAttributesClassName. */
#define BERTH_TAG_CLAIM_SELECTOR 15 /* selector: spec.selector. */
#define BERTH_TAG_CLAIM_BIND_COMPLETED 16 /* bool: Has the annotation pv.kubernetes.io/bind-completed. */
#define BERTH_TAG_CLAIM_SELECTED_NODE 17 /* str: Annotation volume.kubernetes.io/selected-node. */
#define BERTH_TAG_CLAIM_CLASS_ANNOTATED 18 /* bool: True when class_name is the annotation's. */
#define BERTH_TAG_CLAIM_SPEC_CLASS 19 /* str: spec.storageClassName then: scores go by it all the same. */

/* volume: A PersistentVolume. */
#define BERTH_TAG_VOLUME_NAME 1 /* str: Name. */
#define BERTH_TAG_VOLUME_UID 2 /* str: UID. */
#define BERTH_TAG_VOLUME_RESOURCE_VERSION 3 /* i64: metadata.resourceVersion as a number. */
#define BERTH_TAG_VOLUME_DELETING 4 /* bool: True when metadata.deletionTimestamp is set. */
#define BERTH_TAG_VOLUME_LABELS 5 /* list of label: metadata.labels, sorted by key. */
#define BERTH_TAG_VOLUME_CLASS_NAME 6 /* str: Annotation volume.beta.kubernetes.io/storage-class, else spec.storageClassName. */
#define BERTH_TAG_VOLUME_CAPACITY 7 /* i64: Bytes. */
#define BERTH_TAG_VOLUME_PHASE 8 /* str: status.phase. */
#define BERTH_TAG_VOLUME_ACCESS_MODES 9 /* list of str: spec.accessModes. */
#define BERTH_TAG_VOLUME_VOLUME_MODE 10 /* str: Filesystem (also when unset) or Block, as written. */
#define BERTH_TAG_VOLUME_ATTRIBUTES_CLASS 11 /* str: spec.volumeAttributesClassName. */
#define BERTH_TAG_VOLUME_HAS_TERMS 12 /* bool: True when spec.nodeAffinity.required is set. */
#define BERTH_TAG_VOLUME_TERMS 13 /* list of node_term: spec.nodeAffinity.required; ORed. */
#define BERTH_TAG_VOLUME_HAS_CLAIM_REF 14 /* bool: True when spec.claimRef is set. */
#define BERTH_TAG_VOLUME_CLAIM_NAMESPACE 15 /* str: spec.claimRef. */
#define BERTH_TAG_VOLUME_CLAIM_NAME 16 /* str: spec.claimRef. */
#define BERTH_TAG_VOLUME_CLAIM_UID 17 /* str: spec.claimRef.uid; may be empty. */
#define BERTH_TAG_VOLUME_SOURCE 18 /* one of volume_source: What is behind it; none: nothing of these. */
#define BERTH_TAG_VOLUME_DRIVER 19 /* str: CSI driver; for an in-tree disk that of its translation. */
#define BERTH_TAG_VOLUME_HANDLE 20 /* str: CSI volume handle; for an in-tree disk that of its translation. */
#define BERTH_TAG_VOLUME_BOUND_BY_CONTROLLER 21 /* bool: Has the annotation pv.kubernetes.io/bound-by-controller. */
#define BERTH_TAG_VOLUME_MIGRATED_PLUGIN 22 /* str: The in-tree plugin, such as kubernetes.io/aws-ebs, whose disk it is; empty for others. */
#define BERTH_TAG_VOLUME_HAS_MIGRATED_TERMS 23 /* bool: has_terms where the in-tree plugin is migrated. */
#define BERTH_TAG_VOLUME_MIGRATED_TERMS 24 /* list of node_term: terms where the in-tree plugin is migrated: with the driver's zone label. */
#define BERTH_TAG_VOLUME_MIGRATION_PROBLEM 25 /* str: Why the in-tree disk has no translation; empty = it has one. */
#define BERTH_TAG_VOLUME_CLASS_ANNOTATED 26 /* bool: True when class_name is the annotation's. */
#define BERTH_TAG_VOLUME_SPEC_CLASS 27 /* str: spec.storageClassName then: scores go by it all the same. */

/* storage_class: A StorageClass. */
#define BERTH_TAG_STORAGE_CLASS_NAME 1 /* str: Name. */
#define BERTH_TAG_STORAGE_CLASS_RESOURCE_VERSION 2 /* i64: metadata.resourceVersion as a number. */
#define BERTH_TAG_STORAGE_CLASS_PROVISIONER 3 /* str: provisioner. */
#define BERTH_TAG_STORAGE_CLASS_BINDING_MODE 4 /* str: Immediate or WaitForFirstConsumer, as written; empty = not set. */
#define BERTH_TAG_STORAGE_CLASS_TOPOLOGIES 5 /* list of node_term: allowedTopologies, each term's keys as In requirements; ORed; none = anywhere. */

/* driver_limit: A CSI driver on a node. */
#define BERTH_TAG_DRIVER_LIMIT_DRIVER 1 /* str: Driver. */
#define BERTH_TAG_DRIVER_LIMIT_LIMITED 2 /* bool: True when allocatable.count is set. */
#define BERTH_TAG_DRIVER_LIMIT_COUNT 3 /* i64: How many volumes may be attached. */

/* csi_node: A CSINode. */
#define BERTH_TAG_CSI_NODE_NAME 1 /* str: Name, which is the node's. */
#define BERTH_TAG_CSI_NODE_RESOURCE_VERSION 2 /* i64: metadata.resourceVersion as a number. */
#define BERTH_TAG_CSI_NODE_DRIVERS 3 /* list of driver_limit: spec.drivers. */
#define BERTH_TAG_CSI_NODE_MIGRATED 4 /* list of str: Annotation storage.alpha.kubernetes.io/migrated-plugins, split at commas. */

/* csi_driver: A CSIDriver. */
#define BERTH_TAG_CSI_DRIVER_NAME 1 /* str: Name. */
#define BERTH_TAG_CSI_DRIVER_RESOURCE_VERSION 2 /* i64: metadata.resourceVersion as a number. */
#define BERTH_TAG_CSI_DRIVER_STORAGE_CAPACITY 3 /* bool: spec.storageCapacity. */
#define BERTH_TAG_CSI_DRIVER_MUST_BE_THERE 4 /* bool: spec.preventPodSchedulingIfMissing: pods with its volumes go to no node without it. */

/* csi_capacity: A CSIStorageCapacity. */
#define BERTH_TAG_CSI_CAPACITY_NAMESPACE_NAME 1 /* str: Namespace. */
#define BERTH_TAG_CSI_CAPACITY_NAME 2 /* str: Name. */
#define BERTH_TAG_CSI_CAPACITY_RESOURCE_VERSION 3 /* i64: metadata.resourceVersion as a number. */
#define BERTH_TAG_CSI_CAPACITY_CLASS_NAME 4 /* str: storageClassName. */
#define BERTH_TAG_CSI_CAPACITY_HAS_CAPACITY 5 /* bool: True when capacity is set. */
#define BERTH_TAG_CSI_CAPACITY_CAPACITY 6 /* i64: Bytes. */
#define BERTH_TAG_CSI_CAPACITY_HAS_MAXIMUM 7 /* bool: True when maximumVolumeSize is set. */
#define BERTH_TAG_CSI_CAPACITY_MAXIMUM 8 /* i64: Bytes. */
#define BERTH_TAG_CSI_CAPACITY_TOPOLOGY 9 /* selector: nodeTopology. */

/* attachment: A VolumeAttachment. */
#define BERTH_TAG_ATTACHMENT_NAME 1 /* str: Name. */
#define BERTH_TAG_ATTACHMENT_RESOURCE_VERSION 2 /* i64: metadata.resourceVersion as a number. */
#define BERTH_TAG_ATTACHMENT_ATTACHER 3 /* str: spec.attacher. */
#define BERTH_TAG_ATTACHMENT_NODE_NAME 4 /* str: spec.nodeName. */
#define BERTH_TAG_ATTACHMENT_VOLUME_NAME 5 /* str: spec.source.persistentVolumeName; empty = inline. */

/* opaque_config: Configuration of devices for their driver. */
#define BERTH_TAG_OPAQUE_CONFIG_REQUESTS 1 /* list of str: The requests it is for; none = all of the claim's. */
#define BERTH_TAG_OPAQUE_CONFIG_SOURCE 2 /* str: In an allocation: FromClass or FromClaim, as written; else empty. */
#define BERTH_TAG_OPAQUE_CONFIG_DRIVER 3 /* str: opaque.driver; empty = it is not opaque, which is for nobody. */
#define BERTH_TAG_OPAQUE_CONFIG_PARAMETERS 4 /* str: opaque.parameters, as JSON. */

/* device_toleration: A request's toleration of devices' taints. */
#define BERTH_TAG_DEVICE_TOLERATION_KEY 1 /* str: Key; empty matches every key. */
#define BERTH_TAG_DEVICE_TOLERATION_OPERATOR_NAME 2 /* str: Equal (also when empty) or Exists, as written. */
#define BERTH_TAG_DEVICE_TOLERATION_VALUE 3 /* str: Value for Equal. */
#define BERTH_TAG_DEVICE_TOLERATION_EFFECT 4 /* str: Effect; empty matches every effect. */
#define BERTH_TAG_DEVICE_TOLERATION_HAS_SECONDS 5 /* bool: True when tolerationSeconds is set. */
#define BERTH_TAG_DEVICE_TOLERATION_SECONDS 6 /* i64: tolerationSeconds. */

/* device_ask: Devices of one class: a request, or one of its alternatives. */
#define BERTH_TAG_DEVICE_ASK_NAME 1 /* str: Name; of a request that is one of a kind its own. */
#define BERTH_TAG_DEVICE_ASK_CLASS_NAME 2 /* str: deviceClassName. */
#define BERTH_TAG_DEVICE_ASK_SELECTORS 3 /* list of str: CEL expressions; empty for a selector that is of no known kind. */
#define BERTH_TAG_DEVICE_ASK_MODE 4 /* str: ExactCount (also when empty) or All, as written; another is an error that names it. */
#define BERTH_TAG_DEVICE_ASK_COUNT 5 /* i64: How many, for ExactCount. */
#define BERTH_TAG_DEVICE_ASK_ADMIN_ACCESS 6 /* bool: adminAccess. */
#define BERTH_TAG_DEVICE_ASK_TOLERATIONS 7 /* list of device_toleration: tolerations. */
#define BERTH_TAG_DEVICE_ASK_CAPACITY 8 /* list of label: capacity.requests by name, sorted. */
#define BERTH_TAG_DEVICE_ASK_DERIVED 9 /* list of label: derivedAttributes: CEL expressions by name. */

/* device_request: A request of a ResourceClaim. */
#define BERTH_TAG_DEVICE_REQUEST_NAME 1 /* str: Name. */
#define BERTH_TAG_DEVICE_REQUEST_EXACTLY 2 /* bool: True: it is one of a kind, the only one of asks; false: asks are its alternatives (firstAvailable), best first. */
#define BERTH_TAG_DEVICE_REQUEST_ASKS 3 /* list of device_ask: None: it is of no known kind. */

/* device_constraint: What devices of a claim are to have in common, or not. */
#define BERTH_TAG_DEVICE_CONSTRAINT_REQUESTS 1 /* list of str: The requests it is for; none = all. */
#define BERTH_TAG_DEVICE_CONSTRAINT_MATCH_ATTRIBUTE 2 /* str: All have the same of this; empty = not set. */
#define BERTH_TAG_DEVICE_CONSTRAINT_DISTINCT_ATTRIBUTE 3 /* str: No two have the same of this; empty = not set. */

/* allocated_device: A device that a claim has been given. */
#define BERTH_TAG_ALLOCATED_DEVICE_REQUEST 1 /* str: For which request, or request/alternative. */
#define BERTH_TAG_ALLOCATED_DEVICE_DRIVER 2 /* str: Driver. */
#define BERTH_TAG_ALLOCATED_DEVICE_POOL 3 /* str: Pool. */
#define BERTH_TAG_ALLOCATED_DEVICE_DEVICE 4 /* str: Device. */
#define BERTH_TAG_ALLOCATED_DEVICE_HAS_ADMIN_ACCESS 5 /* bool: True when adminAccess is set. */
#define BERTH_TAG_ALLOCATED_DEVICE_ADMIN_ACCESS 6 /* bool: adminAccess: it counts as free all the same. */
#define BERTH_TAG_ALLOCATED_DEVICE_TOLERATIONS 7 /* list of device_toleration: tolerations. */
#define BERTH_TAG_ALLOCATED_DEVICE_BINDING_CONDITIONS 8 /* list of str: Conditions to wait for before the pod is bound. */
#define BERTH_TAG_ALLOCATED_DEVICE_BINDING_FAILURE_CONDITIONS 9 /* list of str: Conditions that end that wait. */
#define BERTH_TAG_ALLOCATED_DEVICE_SHARE_ID 10 /* str: Which share of it; empty = it is not shared. */
#define BERTH_TAG_ALLOCATED_DEVICE_CONSUMED 11 /* list of label: consumedCapacity by name, sorted. */
#define BERTH_TAG_ALLOCATED_DEVICE_SKIPS 12 /* list of str: skipNodeOperations: it is for nodes that declare that they can do without these operations of its driver. */

/* device_condition: A condition of an allocated device. */
#define BERTH_TAG_DEVICE_CONDITION_TYPE 1 /* str: Type. */
#define BERTH_TAG_DEVICE_CONDITION_STATUS 2 /* str: True, False or Unknown, as written. */
#define BERTH_TAG_DEVICE_CONDITION_REASON 3 /* str: Reason. */
#define BERTH_TAG_DEVICE_CONDITION_MESSAGE 4 /* str: Message. */

/* device_status: What its driver says of an allocated device. */
#define BERTH_TAG_DEVICE_STATUS_DRIVER 1 /* str: Driver. */
#define BERTH_TAG_DEVICE_STATUS_POOL 2 /* str: Pool. */
#define BERTH_TAG_DEVICE_STATUS_DEVICE 3 /* str: Device. */
#define BERTH_TAG_DEVICE_STATUS_SHARE_ID 4 /* str: Which share of it. */
#define BERTH_TAG_DEVICE_STATUS_CONDITIONS 5 /* list of device_condition: Conditions. */

/* resource_claim: A ResourceClaim. */
#define BERTH_TAG_RESOURCE_CLAIM_NAMESPACE_NAME 1 /* str: Namespace. */
#define BERTH_TAG_RESOURCE_CLAIM_NAME 2 /* str: Name. */
#define BERTH_TAG_RESOURCE_CLAIM_UID 3 /* str: UID. */
#define BERTH_TAG_RESOURCE_CLAIM_RESOURCE_VERSION 4 /* i64: metadata.resourceVersion as a number. */
#define BERTH_TAG_RESOURCE_CLAIM_DELETING 5 /* bool: True when metadata.deletionTimestamp is set. */
#define BERTH_TAG_RESOURCE_CLAIM_OWNER_UID 6 /* str: UID of its controller; empty = none. */
#define BERTH_TAG_RESOURCE_CLAIM_ALLOCATED 7 /* bool: True when status.allocation is set. */
#define BERTH_TAG_RESOURCE_CLAIM_HAS_TERMS 8 /* bool: True when the allocation is for some nodes only. */
#define BERTH_TAG_RESOURCE_CLAIM_TERMS 9 /* list of node_term: Those nodes; ORed. */
#define BERTH_TAG_RESOURCE_CLAIM_RESERVED_FOR 10 /* list of str: UIDs in status.reservedFor. */
#define BERTH_TAG_RESOURCE_CLAIM_EXTENDED 11 /* bool: Has the annotation resource.kubernetes.io/extended-resource-claim: it was made by a scheduler for a pod's extended resources. */
#define BERTH_TAG_RESOURCE_CLAIM_REQUESTS 12 /* list of device_request: spec.devices.requests. */
#define BERTH_TAG_RESOURCE_CLAIM_CONSTRAINTS 13 /* list of device_constraint: spec.devices.constraints. */
#define BERTH_TAG_RESOURCE_CLAIM_CONFIG 14 /* list of opaque_config: spec.devices.config. */
#define BERTH_TAG_RESOURCE_CLAIM_DEVICES 15 /* list of allocated_device: status.allocation.devices.results. */
#define BERTH_TAG_RESOURCE_CLAIM_OWNER_GROUP 18 /* str: Name of its controller where that is a PodGroup of scheduling.k8s.io; else empty. */
#define BERTH_TAG_RESOURCE_CLAIM_RESERVED_GROUPS 19 /* list of str: Names of the PodGroups of scheduling.k8s.io in status.reservedFor; their UIDs are in reserved_for. */
#define BERTH_TAG_RESOURCE_CLAIM_ALLOCATED_US 16 /* i64: status.allocation.allocationTimestamp; 0 = not set. */
#define BERTH_TAG_RESOURCE_CLAIM_DEVICE_STATUSES 17 /* list of device_status: status.devices. */
#define BERTH_TAG_RESOURCE_CLAIM_DOCUMENT 20 /* str: The claim as the API server sent it, so that it can be put back with devices: JSON, or its protobuf body in base64. Empty when it has devices, when it is being deleted, and when it is long, or cannot be put back as it came. */

/* device_class: A DeviceClass. */
#define BERTH_TAG_DEVICE_CLASS_NAME 1 /* str: Name. */
#define BERTH_TAG_DEVICE_CLASS_RESOURCE_VERSION 2 /* i64: metadata.resourceVersion as a number. */
#define BERTH_TAG_DEVICE_CLASS_CREATED 3 /* i64: metadata.creationTimestamp. */
#define BERTH_TAG_DEVICE_CLASS_SELECTORS 4 /* list of str: CEL expressions; empty for a selector that is of no known kind. */
#define BERTH_TAG_DEVICE_CLASS_CONFIG 5 /* list of opaque_config: spec.config. */
#define BERTH_TAG_DEVICE_CLASS_EXTENDED_RESOURCE 6 /* str: spec.extendedResourceName; empty = none. */

/* device_attribute: An attribute of a device. */
#define BERTH_TAG_DEVICE_ATTRIBUTE_NAME 1 /* str: Name, with or without a domain. */
#define BERTH_TAG_DEVICE_ATTRIBUTE_KIND 2 /* one of attribute_kind: Its kind; none: none that is known. */
#define BERTH_TAG_DEVICE_ATTRIBUTE_NUMBER 3 /* i64: Of an int; of a bool 1 for true. */
#define BERTH_TAG_DEVICE_ATTRIBUTE_TEXT 4 /* str: Of a string or version. */
#define BERTH_TAG_DEVICE_ATTRIBUTE_VALUES 5 /* list of str: Of a list; numbers in decimal, true and false as words. */

/* device_capacity: How much a device has of something. */
#define BERTH_TAG_DEVICE_CAPACITY_NAME 1 /* str: Name, with or without a domain. */
#define BERTH_TAG_DEVICE_CAPACITY_VALUE 2 /* str: How much. */
#define BERTH_TAG_DEVICE_CAPACITY_HAS_POLICY 3 /* bool: True when requestPolicy is set. */
#define BERTH_TAG_DEVICE_CAPACITY_DEFAULT_REQUEST 4 /* str: requestPolicy.default; empty = not set. */
#define BERTH_TAG_DEVICE_CAPACITY_VALID_VALUES 5 /* list of str: requestPolicy.validValues. */
#define BERTH_TAG_DEVICE_CAPACITY_HAS_RANGE 6 /* bool: True when requestPolicy.validRange is set. */
#define BERTH_TAG_DEVICE_CAPACITY_RANGE_MIN 7 /* str: Its min; empty = not set. */
#define BERTH_TAG_DEVICE_CAPACITY_RANGE_MAX 8 /* str: Its max; empty = not set. */
#define BERTH_TAG_DEVICE_CAPACITY_RANGE_STEP 9 /* str: Its step; empty = not set. */

/* device_counters: Counters of a set: those that there are, or those that a device takes. */
#define BERTH_TAG_DEVICE_COUNTERS_NAME 1 /* str: The set. */
#define BERTH_TAG_DEVICE_COUNTERS_COUNTERS 2 /* list of label: How much by name, sorted. */
#define BERTH_TAG_DEVICE_COUNTERS_GROUPS 3 /* list of str: compatibilityGroups. */

/* device_node_resource: What a device takes of a resource of its node (nodeAllocatableResources, in 1.36 nodeAllocatableResourceMappings). */
#define BERTH_TAG_DEVICE_NODE_RESOURCE_NAME 1 /* str: The resource. */
#define BERTH_TAG_DEVICE_NODE_RESOURCE_MAPS 2 /* bool: True when the device stands for some of it (mapping); in 1.36 always. */
#define BERTH_TAG_DEVICE_NODE_RESOURCE_CAPACITY_KEY 3 /* str: For what is consumed of this capacity; empty = for the device. */
#define BERTH_TAG_DEVICE_NODE_RESOURCE_MULTIPLIER 4 /* str: How much for each unit of that capacity, or for the device; empty = not set. */
#define BERTH_TAG_DEVICE_NODE_RESOURCE_HAS_OVERHEAD 5 /* bool: True when it costs some on top (overhead). */
#define BERTH_TAG_DEVICE_NODE_RESOURCE_PER_POD 6 /* str: overhead.perPod; empty = not set. */
#define BERTH_TAG_DEVICE_NODE_RESOURCE_PER_CONTAINER 7 /* str: overhead.perContainer; empty = not set. */
#define BERTH_TAG_DEVICE_NODE_RESOURCE_OLD 8 /* bool: It is one of 1.36, which knows no other; others know none of these. */

/* slice_device: A device of a ResourceSlice. */
#define BERTH_TAG_SLICE_DEVICE_NAME 1 /* str: Name. */
#define BERTH_TAG_SLICE_DEVICE_ATTRIBUTES 2 /* list of device_attribute: Sorted by name. */
#define BERTH_TAG_SLICE_DEVICE_CAPACITY 3 /* list of device_capacity: Sorted by name. */
#define BERTH_TAG_SLICE_DEVICE_CONSUMES 4 /* list of device_counters: consumesCounters. */
#define BERTH_TAG_SLICE_DEVICE_NODE_NAME 5 /* str: nodeName; empty = not set. */
#define BERTH_TAG_SLICE_DEVICE_HAS_TERMS 6 /* bool: True when nodeSelector is set. */
#define BERTH_TAG_SLICE_DEVICE_TERMS 7 /* list of node_term: nodeSelector; ORed. */
#define BERTH_TAG_SLICE_DEVICE_ALL_NODES 8 /* bool: allNodes. */
#define BERTH_TAG_SLICE_DEVICE_TAINTS 9 /* list of taint: taints. */
#define BERTH_TAG_SLICE_DEVICE_BINDS_TO_NODE 10 /* bool: bindsToNode. */
#define BERTH_TAG_SLICE_DEVICE_BINDING_CONDITIONS 11 /* list of str: bindingConditions. */
#define BERTH_TAG_SLICE_DEVICE_BINDING_FAILURE_CONDITIONS 12 /* list of str: bindingFailureConditions. */
#define BERTH_TAG_SLICE_DEVICE_SHAREABLE 13 /* bool: allowMultipleAllocations. */
#define BERTH_TAG_SLICE_DEVICE_NODE_RESOURCES 14 /* list of device_node_resource: Sorted by name; those of 1.36 last. */

/* resource_slice: A ResourceSlice: some devices of a pool. */
#define BERTH_TAG_RESOURCE_SLICE_NAME 1 /* str: Name. */
#define BERTH_TAG_RESOURCE_SLICE_RESOURCE_VERSION 2 /* i64: metadata.resourceVersion as a number. */
#define BERTH_TAG_RESOURCE_SLICE_DRIVER 3 /* str: Driver. */
#define BERTH_TAG_RESOURCE_SLICE_POOL 4 /* str: Its pool's name. */
#define BERTH_TAG_RESOURCE_SLICE_POOL_GENERATION 5 /* i64: The pool's generation; slices of older ones do not count. */
#define BERTH_TAG_RESOURCE_SLICE_POOL_SLICES 6 /* i64: Of how many slices the pool consists. */
#define BERTH_TAG_RESOURCE_SLICE_NODE_NAME 7 /* str: nodeName; empty = not set. */
#define BERTH_TAG_RESOURCE_SLICE_HAS_TERMS 8 /* bool: True when nodeSelector is set. */
#define BERTH_TAG_RESOURCE_SLICE_TERMS 9 /* list of node_term: nodeSelector; ORed. */
#define BERTH_TAG_RESOURCE_SLICE_ALL_NODES 10 /* bool: allNodes. */
#define BERTH_TAG_RESOURCE_SLICE_BY_DEVICE 11 /* bool: perDeviceNodeSelection: the devices say which nodes. */
#define BERTH_TAG_RESOURCE_SLICE_DEVICES 12 /* list of slice_device: devices. */
#define BERTH_TAG_RESOURCE_SLICE_SHARED 13 /* list of device_counters: sharedCounters. */
#define BERTH_TAG_RESOURCE_SLICE_SKIPS 14 /* list of str: skipNodeOperations. */

/* device_taint_rule: A DeviceTaintRule: a taint of the devices that it selects. */
#define BERTH_TAG_DEVICE_TAINT_RULE_NAME 1 /* str: Name. */
#define BERTH_TAG_DEVICE_TAINT_RULE_RESOURCE_VERSION 2 /* i64: metadata.resourceVersion as a number. */
#define BERTH_TAG_DEVICE_TAINT_RULE_HAS_SELECTOR 3 /* bool: True when deviceSelector is set. */
#define BERTH_TAG_DEVICE_TAINT_RULE_DRIVER 4 /* str: deviceSelector.driver; empty = any. */
#define BERTH_TAG_DEVICE_TAINT_RULE_POOL 5 /* str: deviceSelector.pool; empty = any. */
#define BERTH_TAG_DEVICE_TAINT_RULE_DEVICE 6 /* str: deviceSelector.device; empty = any. */
#define BERTH_TAG_DEVICE_TAINT_RULE_TAINT 7 /* taint: taint. */

/* owner: A Service, ReplicationController, ReplicaSet or StatefulSet: something whose pods are spread by default. */
#define BERTH_TAG_OWNER_KIND 1 /* one of object_kind: Its kind. */
#define BERTH_TAG_OWNER_NAMESPACE_NAME 2 /* str: Namespace. */
#define BERTH_TAG_OWNER_NAME 3 /* str: Name. */
#define BERTH_TAG_OWNER_RESOURCE_VERSION 4 /* i64: metadata.resourceVersion as a number. */
#define BERTH_TAG_OWNER_SELECTOR 5 /* selector: spec.selector; a Service's map as labels. */
#define BERTH_TAG_OWNER_UID 6 /* str: UID. */

/* budget: A PodDisruptionBudget. */
#define BERTH_TAG_BUDGET_NAMESPACE_NAME 1 /* str: Namespace. */
#define BERTH_TAG_BUDGET_NAME 2 /* str: Name. */
#define BERTH_TAG_BUDGET_RESOURCE_VERSION 3 /* i64: metadata.resourceVersion as a number. */
#define BERTH_TAG_BUDGET_SELECTOR 4 /* selector: spec.selector. */
#define BERTH_TAG_BUDGET_ALLOWED 5 /* i64: status.disruptionsAllowed. */
#define BERTH_TAG_BUDGET_DISRUPTED 6 /* list of str: Names of pods in status.disruptedPods. */
#define BERTH_TAG_BUDGET_GANG 7 /* str: Not of the API, but for a PodGroup of this name: members that terminate do not count; without a selector they are those of scheduling.k8s.io. Empty = a PodDisruptionBudget. */

/* gang: A PodGroup: pods that start together or not at all. Or a CompositePodGroup: groups that do. */
#define BERTH_TAG_GANG_API 1 /* str: Its API group: scheduling.x-k8s.io, scheduling.sigs.k8s.io or scheduling.k8s.io; of a CompositePodGroup scheduling.k8s.io/CompositePodGroup, as its name may be a PodGroup's, too. */
#define BERTH_TAG_GANG_NAMESPACE_NAME 2 /* str: Namespace. */
#define BERTH_TAG_GANG_NAME 3 /* str: Name. */
#define BERTH_TAG_GANG_UID 4 /* str: UID. */
#define BERTH_TAG_GANG_RESOURCE_VERSION 5 /* i64: metadata.resourceVersion as a number. */
#define BERTH_TAG_GANG_CREATED 6 /* i64: metadata.creationTimestamp. */
#define BERTH_TAG_GANG_DELETING 7 /* bool: True when metadata.deletionTimestamp is set. */
#define BERTH_TAG_GANG_MIN_MEMBER 8 /* i64: spec.minMember, or schedulingPolicy.gang.minCount, or its minGroupCount; 0 = basic policy: no gang. */
#define BERTH_TAG_GANG_TIMEOUT_S 9 /* i64: spec.scheduleTimeoutSeconds; 0 = not set. */
#define BERTH_TAG_GANG_HAS_MIN_RESOURCES 10 /* bool: True when spec.minResources is set. */
#define BERTH_TAG_GANG_MIN_RESOURCES 11 /* list of quantity: spec.minResources. */
#define BERTH_TAG_GANG_PHASE 12 /* str: status.phase; empty = not set. */
#define BERTH_TAG_GANG_SCHEDULED 13 /* i64: status.scheduled, in the API group that has it. */
#define BERTH_TAG_GANG_RUNNING 14 /* i64: status.running. */
#define BERTH_TAG_GANG_SUCCEEDED 15 /* i64: status.succeeded. */
#define BERTH_TAG_GANG_FAILED 16 /* i64: status.failed. */
#define BERTH_TAG_GANG_SCHEDULE_START 17 /* i64: status.scheduleStartTime; 0 = not set. */
#define BERTH_TAG_GANG_OCCUPIED_BY 18 /* str: status.occupiedBy. */
#define BERTH_TAG_GANG_STATUS_FOREIGN 19 /* bool: True: by metadata.managedFields somebody else wrote its phase or counts, who is neither we nor kubectl: a controller, so we do not. */
#define BERTH_TAG_GANG_STATUS_FOREIGN_AT 21 /* i64: When that one wrote last, by its clock and managedFields; 0 = not said. */
#define BERTH_TAG_GANG_SCHEDULED_CONDITION 20 /* condition: Its PodGroupScheduled condition, or PodGroupInitiallyScheduled. */
#define BERTH_TAG_GANG_GENERATION 22 /* i64: metadata.generation. */
#define BERTH_TAG_GANG_VERSION 23 /* str: The version that scheduling.k8s.io was read in, such as v1beta1; empty for the others. */
#define BERTH_TAG_GANG_HAS_PRIORITY 24 /* bool: True when spec.priority is set; scheduling.k8s.io alone has this and what follows. */
#define BERTH_TAG_GANG_PRIORITY 25 /* i64: spec.priority. */
#define BERTH_TAG_GANG_DISRUPTED_WHOLE 26 /* bool: spec.disruptionMode is All (PodGroup, in v1alpha2): its pods can only be evicted together. */
#define BERTH_TAG_GANG_PREEMPTION_POLICY 27 /* str: spec.preemptionPolicy; empty = not set. */
#define BERTH_TAG_GANG_TOPOLOGY_KEY 28 /* str: spec.schedulingConstraints.topology: the label whose value all its pods' nodes have in common; empty = none. */
#define BERTH_TAG_GANG_DEVICE_CLAIMS 30 /* list of device_claim: spec.resourceClaims, with what the status says of generated ones: its pods' claims that are named alike are reserved for it. */
#define BERTH_TAG_GANG_PARENT 31 /* str: spec.parentCompositePodGroupName; empty = none. */

/* gang_branch: A group in a tree of groups that is tried as one. */
#define BERTH_TAG_GANG_BRANCH_GROUP 1 /* gang: The PodGroup, or CompositePodGroup, as the queue knows it. */
#define BERTH_TAG_GANG_BRANCH_PARENT 2 /* i64: Number of the group that it is a child of, from 0; of the root -1. */

/* envelope: What stands before the body in every frame, behind the version byte. */
#define BERTH_TAG_ENVELOPE_TYPE 1 /* i64: Number of the message. */
#define BERTH_TAG_ENVELOPE_LINK 2 /* i64: Number of this frame on its link and in its direction; a hello is 1, a hello that asks for one is 0. */
#define BERTH_TAG_ENVELOPE_TERM 3 /* i64: Leadership term that the sender knows. */
#define BERTH_TAG_ENVELOPE_GENERATION 4 /* i64: Config generation that the sender runs. */
#define BERTH_TAG_ENVELOPE_EPOCH 5 /* i64: Stream position: epoch; 0 = not a stream message. */
#define BERTH_TAG_ENVELOPE_SEQUENCE 6 /* i64: Stream position: sequence. */
#define BERTH_TAG_ENVELOPE_SENT_US 7 /* i64: The sender's wall clock. */
#define BERTH_TAG_ENVELOPE_INCARNATION 8 /* i64: Which life of the sender this is. */
#define BERTH_TAG_ENVELOPE_PART 9 /* i64: Place in a snapshot, counted from snapshot_begin, which is 1; 0 = not in a snapshot. */

/* tapped: A frame as a tap mirrors it, and as a recording keeps it. */
#define BERTH_TAG_TAPPED_AT_US 1 /* i64: When it was sent or received. */
#define BERTH_TAG_TAPPED_PROCESS 2 /* str: Kind of the process that mirrors it. */
#define BERTH_TAG_TAPPED_INSTANCE 3 /* str: Its name. */
#define BERTH_TAG_TAPPED_SENT 4 /* bool: True: it sent the frame; false: it received it. */
#define BERTH_TAG_TAPPED_PEER_PROCESS 5 /* str: Kind of the other side; empty while unknown. */
#define BERTH_TAG_TAPPED_PEER_INSTANCE 6 /* str: Its name; empty while unknown. */
#define BERTH_TAG_TAPPED_TAP_SEQUENCE 7 /* i64: Numbers the frames of this process, mirrored or not; a jump is what the reader missed. */
#define BERTH_TAG_TAPPED_FRAME 8 /* str: The frame: version byte, envelope, body. */

/* journal_head: Whose life a journal is of, and what it was started with. */
#define BERTH_TAG_JOURNAL_HEAD_PROGRAM 1 /* str: Version of the program. */
#define BERTH_TAG_JOURNAL_HEAD_PROCESS 2 /* str: Its kind: watcher, queue, scheduler, worker or binder. */
#define BERTH_TAG_JOURNAL_HEAD_INSTANCE 3 /* str: Its name; empty: none was given. */
#define BERTH_TAG_JOURNAL_HEAD_STARTED_US 4 /* i64: When it was started. */
#define BERTH_TAG_JOURNAL_HEAD_ARGUMENTS 5 /* list of str: Its command line, without those that are about the process and not its core. */

/* journal_entry: One thing that a core was told, read of its surroundings, or said. */
#define BERTH_TAG_JOURNAL_ENTRY_KIND 1 /* i64: What it is: JOURNAL_KINDS in proto/journal/entry.h. */
#define BERTH_TAG_JOURNAL_ENTRY_NOW_NS 2 /* i64: How far the monotonic clock is beyond what it showed in the entry before; in the first, what it shows. */
#define BERTH_TAG_JOURNAL_ENTRY_WALL_US 3 /* i64: The same of the wall clock, microseconds. */
#define BERTH_TAG_JOURNAL_ENTRY_NUMBER 4 /* i64: number: it; request, data, answer, cancel: the request's; send: how many messages follow; text: errno where it could not be read. */
#define BERTH_TAG_JOURNAL_ENTRY_TYPE 5 /* i64: Message type; request: its channel. */
#define BERTH_TAG_JOURNAL_ENTRY_PROCESS 6 /* i64: Kind of process that a message is from or for. */
#define BERTH_TAG_JOURNAL_ENTRY_PEER 7 /* i64: Number of that peer; request: its route. */
#define BERTH_TAG_JOURNAL_ENTRY_TERM 8 /* i64: delivery: the term its sender knew; send: ours. */
#define BERTH_TAG_JOURNAL_ENTRY_GENERATION 9 /* i64: The sender's config generation. */
#define BERTH_TAG_JOURNAL_ENTRY_EPOCH 10 /* i64: Stream position. */
#define BERTH_TAG_JOURNAL_ENTRY_SEQUENCE 11 /* i64: Stream position. */
#define BERTH_TAG_JOURNAL_ENTRY_PART 12 /* i64: Place in a snapshot, from 1. */
#define BERTH_TAG_JOURNAL_ENTRY_SENT_US 13 /* i64: The sender's wall clock when it was sent. */
#define BERTH_TAG_JOURNAL_ENTRY_RECEIVED_US 14 /* i64: Ours when it was handed over. */
#define BERTH_TAG_JOURNAL_ENTRY_STATUS 15 /* i64: answer: HTTP status; 0: there was none. */
#define BERTH_TAG_JOURNAL_ENTRY_MAYBE_DONE 16 /* bool: answer: it may have been carried out nevertheless. */
#define BERTH_TAG_JOURNAL_ENTRY_RETRY_AFTER_S 17 /* i64: answer: seconds, -1: not said. */
#define BERTH_TAG_JOURNAL_ENTRY_TOOK_NS 18 /* i64: answer: how long it took; request: how long it may take. */
#define BERTH_TAG_JOURNAL_ENTRY_NAME 19 /* str: delivery: the sender's instance; text, change: of what; request: method, path and media types. */
#define BERTH_TAG_JOURNAL_ENTRY_ERROR 20 /* str: answer: why there was none; gap: why nothing follows. */
#define BERTH_TAG_JOURNAL_ENTRY_HASH 21 /* i64: message, request: of its body and what stands beside it. */
#define BERTH_TAG_JOURNAL_ENTRY_BODY 22 /* str: delivery, message: encoded as in a frame; text: what was read; data, answer, request: the bytes. Of what was said it is left out where journals are to be small, and where it is that of the message before. */
#define BERTH_TAG_JOURNAL_ENTRY_SILENT 23 /* bool: answer: nothing came on its connections, which are given up. */

/* hello: First message on a link, and again after every reconnect: who speaks. */
#define BERTH_MSG_HELLO 1
#define BERTH_TAG_HELLO_PROCESS 1 /* str: watcher, queue, scheduler, worker, binder, extender, plugin or tool. A text, as who is refused for another one is named. */
#define BERTH_TAG_HELLO_INSTANCE 2 /* str: Name of the process among its kind, such as worker-1. */
#define BERTH_TAG_HELLO_INCARNATION 3 /* i64: Random number drawn at start; another one means another life. */
#define BERTH_TAG_HELLO_PID 4 /* i64: Process id on its host. */
#define BERTH_TAG_HELLO_VERSION 5 /* str: Version of the program. */
#define BERTH_TAG_HELLO_SESSION 6 /* i64: Which start of this link it is, counted by the connecting side; the door answers with the same; 0 = the door asks for a hello. */
#define BERTH_TAG_HELLO_PACKS 7 /* bool: It reads packs: several frames that travel as one. */
#define BERTH_TAG_HELLO_REFUSED 8 /* str: With session 0: why the door does not let the caller in; empty = it asks for a hello. */

/* heartbeat: Nothing else was sent for a while. */
#define BERTH_MSG_HEARTBEAT 2

/* goodbye: The sender is about to end; its links are gone after this. */
#define BERTH_MSG_GOODBYE 3

/* status_request: Asks for a status report. */
#define BERTH_MSG_STATUS_REQUEST 4

/* status: A process about itself. */
#define BERTH_MSG_STATUS 5
#define BERTH_TAG_STATUS_PROCESS 1 /* str: Its kind. */
#define BERTH_TAG_STATUS_INSTANCE 2 /* str: Its name. */
#define BERTH_TAG_STATUS_PID 3 /* i64: Process id. */
#define BERTH_TAG_STATUS_UPTIME_MS 4 /* i64: Milliseconds since it started. */
#define BERTH_TAG_STATUS_TERM 5 /* i64: The leadership term it knows. */
#define BERTH_TAG_STATUS_GENERATION 6 /* i64: The config generation it runs. */
#define BERTH_TAG_STATUS_LINES 7 /* list of label: What it says about its own work, in reading order. */
#define BERTH_TAG_STATUS_COUNTERS 8 /* list of label: Bus counters: messages by type, refused frames by reason, peers. */

/* peer_up: A peer said hello. Local: never travels. */
#define BERTH_MSG_PEER_UP 6
#define BERTH_TAG_PEER_UP_PROCESS 1 /* str: Its kind. */
#define BERTH_TAG_PEER_UP_INSTANCE 2 /* str: Its name. */
#define BERTH_TAG_PEER_UP_INCARNATION 3 /* i64: Which life of it this is. */
#define BERTH_TAG_PEER_UP_TERM 4 /* i64: The term that its hello reported. */

/* peer_down: A peer left, fell silent, restarted, or a gap was found in what it sent. Local: never travels. */
#define BERTH_MSG_PEER_DOWN 7
#define BERTH_TAG_PEER_DOWN_PROCESS 1 /* str: Its kind. */
#define BERTH_TAG_PEER_DOWN_INSTANCE 2 /* str: Its name. */
#define BERTH_TAG_PEER_DOWN_REASON 3 /* one of down_reason: Why. */

/* metric_bucket: How often a histogram saw a value between two of its bounds. */
#define BERTH_TAG_METRIC_BUCKET_PLACE 1 /* i64: Which bucket, from 0; the one behind the last bound has no upper end. */
#define BERTH_TAG_METRIC_BUCKET_COUNT 2 /* i64: How often; not cumulative. */

/* metric_sample: One series of a metric. */
#define BERTH_TAG_METRIC_SAMPLE_METRIC 1 /* str: Its name, as in metrics.def. */
#define BERTH_TAG_METRIC_SAMPLE_LABELS 2 /* list of str: Values of its labels, in the order of the declaration. */
#define BERTH_TAG_METRIC_SAMPLE_VALUE 3 /* i64: A counter's or gauge's value, or a histogram's sum; nanoseconds where the metric is in seconds. */
#define BERTH_TAG_METRIC_SAMPLE_BUCKETS 4 /* list of metric_bucket: A histogram's buckets that are not empty. */

/* health_check: Something that may be wrong with a process. */
#define BERTH_TAG_HEALTH_CHECK_NAME 1 /* str: Such as sched-handler-sync. */
#define BERTH_TAG_HEALTH_CHECK_REASON 2 /* str: Why it fails; empty: it is well. */
#define BERTH_TAG_HEALTH_CHECK_NOTE 3 /* str: What is worth telling although it is well. */

/* metrics_request: Asks for what a process has counted. */
#define BERTH_MSG_METRICS_REQUEST 8
#define BERTH_TAG_METRICS_REQUEST_CHECKS_ONLY 1 /* bool: True: leave the samples out. */
#define BERTH_TAG_METRICS_REQUEST_ID 2 /* i64: Chosen by the asker; answered with the same. */

/* metrics: What a process has counted since it started, and how well it says it is. */
#define BERTH_MSG_METRICS 9
#define BERTH_TAG_METRICS_PROCESS 1 /* str: Its kind. */
#define BERTH_TAG_METRICS_INSTANCE 2 /* str: Its name. */
#define BERTH_TAG_METRICS_INCARNATION 3 /* i64: Which life of it this is; another one counts from 0. */
#define BERTH_TAG_METRICS_ID 4 /* i64: The request's. */
#define BERTH_TAG_METRICS_CHECKS 5 /* list of health_check: What may be wrong with it. */
#define BERTH_TAG_METRICS_SAMPLES 6 /* list of metric_sample: Every series. */
#define BERTH_TAG_METRICS_RELEASE 7 /* i64: The minor version that it decides as; 0: it does not decide, or not yet. */

/* verbosity: Log as much from now on. */
#define BERTH_MSG_VERBOSITY 28
#define BERTH_TAG_VERBOSITY_LEVEL 1 /* i64: As klog's -v: 2 and more is debug. */

/* debug_pod: From a tool: log everything about this pod for a while. Owed: exactly one of the same, which says what is in force. Nobody else says it. */
#define BERTH_MSG_DEBUG_POD 121
#define BERTH_TAG_DEBUG_POD_NAMESPACE_NAME 1 /* str: The pod's namespace. */
#define BERTH_TAG_DEBUG_POD_NAME 2 /* str: Its name; it need not exist. */
#define BERTH_TAG_DEBUG_POD_FOR_MS 3 /* i64: How long, at most an hour; 0: no more. */
#define BERTH_TAG_DEBUG_POD_REFUSED 4 /* str: In the answer: not empty: it is not, and why. */

/* pending_pod: A pod that waits, as the queue has it. */
#define BERTH_TAG_PENDING_POD_NAMESPACE_NAME 1 /* str: Its namespace. */
#define BERTH_TAG_PENDING_POD_NAME 2 /* str: Its name. */
#define BERTH_TAG_PENDING_POD_UID 3 /* str: Its UID. */
#define BERTH_TAG_PENDING_POD_PLACE 4 /* one of pending_place: Where it is. */
#define BERTH_TAG_PENDING_POD_PRIORITY 5 /* i64: Its priority. */
#define BERTH_TAG_PENDING_POD_ATTEMPTS 6 /* i64: How often it was handed out. */
#define BERTH_TAG_PENDING_POD_WAITING_MS 7 /* i64: Milliseconds since the queue first saw it. */
#define BERTH_TAG_PENDING_POD_BACKOFF_MS 8 /* i64: Milliseconds until its backoff is over. */
#define BERTH_TAG_PENDING_POD_NOMINATED_NODE 9 /* str: The node that it has a claim on, empty = none. */
#define BERTH_TAG_PENDING_POD_REJECTED_BY 10 /* list of str: Plugins that rejected it in its last attempt, or hold it back; others: those that are not known by name. */
#define BERTH_TAG_PENDING_POD_REASON 20 /* str: Gated by a plugin on the bus: why, as it says, or what it failed in; empty: it was not said, or it is asked just now. */

/* pending_request: Asks which pods wait. Owed: exactly one pending_pods. */
#define BERTH_MSG_PENDING_REQUEST 111
#define BERTH_TAG_PENDING_REQUEST_NODE 1 /* str: Those alone that have a claim on this node; empty = all. */
#define BERTH_TAG_PENDING_REQUEST_NAMESPACE_NAME 2 /* str: Those alone of this namespace; empty = all. */
#define BERTH_TAG_PENDING_REQUEST_LIMIT 3 /* i64: How many to name at most; 0, and above 1000: 1000. */
#define BERTH_TAG_PENDING_REQUEST_NAME 4 /* str: Those alone of this name; empty = all. */

/* pending_pods: Pods that wait. */
#define BERTH_MSG_PENDING_PODS 112
#define BERTH_TAG_PENDING_PODS_PODS 1 /* list of pending_pod: Those that have waited longest, longest first. */
#define BERTH_TAG_PENDING_PODS_TOTAL 2 /* i64: How many there are that were asked for. */

/* subscribe: Asks for the stream of cluster state: from a position on if it is still known, else as a snapshot. */
#define BERTH_MSG_SUBSCRIBE 10
#define BERTH_TAG_SUBSCRIBE_EPOCH 1 /* i64: Epoch of the position the subscriber has; 0 = none. */
#define BERTH_TAG_SUBSCRIBE_SEQUENCE 2 /* i64: Sequence of the last message it has. */
#define BERTH_TAG_SUBSCRIBE_CREDIT 3 /* i64: How many stream messages it can take now. */
#define BERTH_TAG_SUBSCRIBE_PODS_ONCE 4 /* bool: A snapshot of pods alone, and nothing behind it, whatever the position. */
#define BERTH_TAG_SUBSCRIBE_ONCE 5 /* bool: A snapshot of everything, and nothing behind it, whatever the position. */
#define BERTH_TAG_SUBSCRIBE_CHANGES_ONCE 6 /* bool: What has changed behind the position, or, if that is not known any more, a snapshot of everything; and nothing later. */

/* credit: Grants more stream messages. */
#define BERTH_MSG_CREDIT 11
#define BERTH_TAG_CREDIT_COUNT 1 /* i64: How many more. */

/* snapshot_begin: What follows until snapshot_end is the whole state; what is not in it does not exist. */
#define BERTH_MSG_SNAPSHOT_BEGIN 12

/* snapshot_end: The snapshot is complete; numbered changes follow. */
#define BERTH_MSG_SNAPSHOT_END 13

/* node_set: A node is new or has changed. */
#define BERTH_MSG_NODE_SET 14
#define BERTH_TAG_NODE_SET_NODE 1 /* node: The whole node as it is now. */

/* node_gone: A node was deleted. */
#define BERTH_MSG_NODE_GONE 15
#define BERTH_TAG_NODE_GONE_NAME 1 /* str: Its name. */

/* pod_set: A pod that is not Succeeded or Failed is new or has changed. */
#define BERTH_MSG_POD_SET 16
#define BERTH_TAG_POD_SET_POD 1 /* pod: The whole pod as it is now. */

/* pod_gone: A pod was deleted or has finished. */
#define BERTH_MSG_POD_GONE 17
#define BERTH_TAG_POD_GONE_UID 1 /* str: UID. */
#define BERTH_TAG_POD_GONE_NAMESPACE_NAME 2 /* str: Namespace. */
#define BERTH_TAG_POD_GONE_NAME 3 /* str: Name. */

/* namespace_set: A namespace is new or its labels have changed. */
#define BERTH_MSG_NAMESPACE_SET 18
#define BERTH_TAG_NAMESPACE_SET_NAME 1 /* str: Its name. */
#define BERTH_TAG_NAMESPACE_SET_LABELS 2 /* list of label: Its labels, sorted by key. */

/* namespace_gone: A namespace was deleted. */
#define BERTH_MSG_NAMESPACE_GONE 19
#define BERTH_TAG_NAMESPACE_GONE_NAME 1 /* str: Its name. */

/* barrier: Asks the watcher to read pods, nodes and, where they can be listed, ResourceClaims consistently, once, and to say so in the stream behind what it found. */
#define BERTH_MSG_BARRIER 20
#define BERTH_TAG_BARRIER_ID 1 /* i64: Chosen by the asker; answered with the same. */

/* names_request: Asks for the names of all nodes and pods, to compare with what receivers hold (SIGUSR2). */
#define BERTH_MSG_NAMES_REQUEST 90
#define BERTH_TAG_NAMES_REQUEST_ID 1 /* i64: Chosen by the asker. */

/* named_pod: A pod that there is. */
#define BERTH_TAG_NAMED_POD_UID 1 /* str: Its UID. */
#define BERTH_TAG_NAMED_POD_ASSIGNED 2 /* bool: True: it has a node. */
#define BERTH_TAG_NAMED_POD_SCHEDULER_NAME 3 /* str: Who is to place it; empty when it has a node. */

/* names: What the API server holds, as of this place in the stream: several of these, one behind the other, the last one says so. */
#define BERTH_MSG_NAMES 91
#define BERTH_TAG_NAMES_ID 1 /* i64: The names_request's id. */
#define BERTH_TAG_NAMES_PART 2 /* i64: From 1 on. */
#define BERTH_TAG_NAMES_LAST 3 /* bool: True: there are no more. */
#define BERTH_TAG_NAMES_NODES 4 /* list of str: Names of nodes. */
#define BERTH_TAG_NAMES_PODS 5 /* list of named_pod: Pods. */

/* barrier_reached: All that a consistent read begun after barrier has shown stands before this message in the stream. */
#define BERTH_MSG_BARRIER_REACHED 21
#define BERTH_TAG_BARRIER_REACHED_ID 1 /* i64: The barrier's id. */

/* view: How fresh the watcher's mirror is; once a second and when it changes between stale and fresh. */
#define BERTH_MSG_VIEW 22
#define BERTH_TAG_VIEW_SYNCED 1 /* bool: Every required kind has been listed. */
#define BERTH_TAG_VIEW_AGE_MS 2 /* i64: Milliseconds since the least recently heard required kind was known to be alive. */
#define BERTH_TAG_VIEW_STALEST 3 /* str: That kind. */

/* resource_claim_set: A ResourceClaim is new or has changed. */
#define BERTH_MSG_RESOURCE_CLAIM_SET 23
#define BERTH_TAG_RESOURCE_CLAIM_SET_RESOURCE_CLAIM 1 /* resource_claim: The whole claim as it is now. */

/* resource_slice_set: A ResourceSlice is new or has changed. */
#define BERTH_MSG_RESOURCE_SLICE_SET 83
#define BERTH_TAG_RESOURCE_SLICE_SET_SLICE 1 /* resource_slice: The whole slice as it is now. */

/* device_class_set: A DeviceClass is new or has changed. */
#define BERTH_MSG_DEVICE_CLASS_SET 84
#define BERTH_TAG_DEVICE_CLASS_SET_DEVICE_CLASS 1 /* device_class: The whole class as it is now. */

/* device_taint_rule_set: A DeviceTaintRule is new or has changed. */
#define BERTH_MSG_DEVICE_TAINT_RULE_SET 85
#define BERTH_TAG_DEVICE_TAINT_RULE_SET_RULE 1 /* device_taint_rule: The whole rule as it is now. */

/* claim_set: A PersistentVolumeClaim is new or has changed. */
#define BERTH_MSG_CLAIM_SET 70
#define BERTH_TAG_CLAIM_SET_CLAIM 1 /* claim: The whole claim as it is now. */

/* volume_set: A PersistentVolume is new or has changed. */
#define BERTH_MSG_VOLUME_SET 71
#define BERTH_TAG_VOLUME_SET_VOLUME 1 /* volume: The whole volume as it is now. */

/* storage_class_set: A StorageClass is new or has changed. */
#define BERTH_MSG_STORAGE_CLASS_SET 72
#define BERTH_TAG_STORAGE_CLASS_SET_STORAGE_CLASS 1 /* storage_class: The whole class as it is now. */

/* csi_node_set: A CSINode is new or has changed. */
#define BERTH_MSG_CSI_NODE_SET 73
#define BERTH_TAG_CSI_NODE_SET_CSI_NODE 1 /* csi_node: The whole object as it is now. */

/* csi_driver_set: A CSIDriver is new or has changed. */
#define BERTH_MSG_CSI_DRIVER_SET 74
#define BERTH_TAG_CSI_DRIVER_SET_CSI_DRIVER 1 /* csi_driver: The whole object as it is now. */

/* csi_capacity_set: A CSIStorageCapacity is new or has changed. */
#define BERTH_MSG_CSI_CAPACITY_SET 75
#define BERTH_TAG_CSI_CAPACITY_SET_CSI_CAPACITY 1 /* csi_capacity: The whole object as it is now. */

/* attachment_set: A VolumeAttachment is new or has changed. */
#define BERTH_MSG_ATTACHMENT_SET 76
#define BERTH_TAG_ATTACHMENT_SET_ATTACHMENT 1 /* attachment: The whole object as it is now. */

/* owner_set: A Service, ReplicationController, ReplicaSet or StatefulSet is new or has changed. */
#define BERTH_MSG_OWNER_SET 77
#define BERTH_TAG_OWNER_SET_OWNER 1 /* owner: The whole object as it is now. */

/* budget_set: A PodDisruptionBudget is new or has changed. */
#define BERTH_MSG_BUDGET_SET 78
#define BERTH_TAG_BUDGET_SET_BUDGET 1 /* budget: The whole budget as it is now. */

/* pod_group_set: A PodGroup is new or has changed. */
#define BERTH_MSG_POD_GROUP_SET 80
#define BERTH_TAG_POD_GROUP_SET_GROUP 1 /* gang: The whole group as it is now. */

/* group_members: How many pods name a PodGroup of a group that is served, finished ones included; a second after it has changed. Without pods: none is left. */
#define BERTH_MSG_GROUP_MEMBERS 81
#define BERTH_TAG_GROUP_MEMBERS_API 1 /* str: API group that the pods name. */
#define BERTH_TAG_GROUP_MEMBERS_NAMESPACE_NAME 2 /* str: Namespace. */
#define BERTH_TAG_GROUP_MEMBERS_NAME 3 /* str: The group's name. */
#define BERTH_TAG_GROUP_MEMBERS_PODS 4 /* i64: Pods, whatever their phase. */
#define BERTH_TAG_GROUP_MEMBERS_ASSIGNED 5 /* i64: Of these on a node, whatever their phase. */
#define BERTH_TAG_GROUP_MEMBERS_RUNNING 6 /* i64: In phase Running. */
#define BERTH_TAG_GROUP_MEMBERS_SUCCEEDED 7 /* i64: In phase Succeeded. */
#define BERTH_TAG_GROUP_MEMBERS_FAILED 8 /* i64: In phase Failed. */
#define BERTH_TAG_GROUP_MEMBERS_OWNERS 9 /* str: Owners of the first pod as namespace/name, sorted and joined by commas. */

/* unread_kind: PodGroups of an API group that are not read, though they may be served: who names one waits. */
#define BERTH_TAG_UNREAD_KIND_API 1 /* str: The API group. */
#define BERTH_TAG_UNREAD_KIND_STATE 2 /* one of unread_state: How it stands with them. */
#define BERTH_TAG_UNREAD_KIND_MESSAGE 3 /* str: Why, for the pods' condition; names the right that is missing. */

/* group_kinds: Of which API groups PodGroups are served. Until it comes: of none, and then a pod that names a PodGroup is a pod like any other. */
#define BERTH_MSG_GROUP_KINDS 82
#define BERTH_TAG_GROUP_KINDS_APIS 1 /* list of str: scheduling.x-k8s.io, scheduling.sigs.k8s.io, scheduling.k8s.io: those that are served; a PodGroup of another group does not matter. */
#define BERTH_TAG_GROUP_KINDS_UNREAD 2 /* list of unread_kind: Those whose PodGroups are not read, or not any more. */

/* server_version: Which version the API server says it is. Until it comes: not known. */
#define BERTH_MSG_SERVER_VERSION 110
#define BERTH_TAG_SERVER_VERSION_MAJOR 1 /* i64: Major version. */
#define BERTH_TAG_SERVER_VERSION_MINOR 2 /* i64: Minor version: 37, also of one that says 37+; 0 = not known. */
#define BERTH_TAG_SERVER_VERSION_GIT_VERSION 3 /* str: As it calls itself, such as v1.37.2; empty when that is no version's name. */
#define BERTH_TAG_SERVER_VERSION_PROBLEM 4 /* str: Why it is not known: what is wrong with the answer; empty when it is known. */

/* object_gone: An object of messages 23, 70 to 78, 80, 83 or 84 was deleted. */
#define BERTH_MSG_OBJECT_GONE 79
#define BERTH_TAG_OBJECT_GONE_KIND 1 /* one of object_kind: Its kind. */
#define BERTH_TAG_OBJECT_GONE_NAMESPACE_NAME 2 /* str: Namespace; empty for what has none. */
#define BERTH_TAG_OBJECT_GONE_NAME 3 /* str: Name. */
#define BERTH_TAG_OBJECT_GONE_API 4 /* str: API group, for a PodGroup alone. */

/* pull: Grants credit for pods to try; sets it, does not add. */
#define BERTH_MSG_PULL 30
#define BERTH_TAG_PULL_CREDIT 1 /* i64: How many attempts may be outstanding at this scheduler, those already sent included. */

/* span_attribute: What a span says of itself: a text, or else a number. */
#define BERTH_TAG_SPAN_ATTRIBUTE_KEY 1 /* str: Its name, as OpenTelemetry's conventions have it where they have one. */
#define BERTH_TAG_SPAN_ATTRIBUTE_TEXT 2 /* str: The text; empty: it is a number. */
#define BERTH_TAG_SPAN_ATTRIBUTE_NUMBER 3 /* i64: The number. */

/* trace_span: A finished span of a trace (proto/kube/tracing). */
#define BERTH_TAG_TRACE_SPAN_TRACE_ID 1 /* str: 32 hex digits. */
#define BERTH_TAG_TRACE_SPAN_SPAN_ID 2 /* str: 16 hex digits. */
#define BERTH_TAG_TRACE_SPAN_PARENT 3 /* str: The parent's span_id; empty: it is the root. */
#define BERTH_TAG_TRACE_SPAN_NAME 4 /* str: What was done. */
#define BERTH_TAG_TRACE_SPAN_SERVICE 5 /* str: Who did it, such as berth-queue: service.name. */
#define BERTH_TAG_TRACE_SPAN_BEGIN_US 6 /* i64: Wall clock. */
#define BERTH_TAG_TRACE_SPAN_END_US 7 /* i64: Wall clock; not before begin_us. */
#define BERTH_TAG_TRACE_SPAN_ERROR 8 /* str: Not empty: it failed, as this says. */
#define BERTH_TAG_TRACE_SPAN_ATTRIBUTES 9 /* list of span_attribute: What else there is to say; keys differ. */

/* spans: Finished spans of attempts that are traced, to be exported. Nothing is owed: what is lost is lost, and what comes twice is exported twice. */
#define BERTH_MSG_SPANS 120
#define BERTH_TAG_SPANS_SPANS 1 /* list of trace_span: In no order, of any traces. */

/* attempt: Try this pod now. Owed: exactly one outcome. */
#define BERTH_MSG_ATTEMPT 31
#define BERTH_TAG_ATTEMPT_POD 1 /* pod: The pod as the queue knows it. */
#define BERTH_TAG_ATTEMPT_ATTEMPTS 2 /* i64: Which attempt this is, from 1. */
#define BERTH_TAG_ATTEMPT_FIRST_US 3 /* i64: When the pod first entered the active queue. */
#define BERTH_TAG_ATTEMPT_CYCLE 4 /* i64: Number of this pop; comes back in the outcome. */
#define BERTH_TAG_ATTEMPT_EPOCH 5 /* i64: Epoch of the watcher's stream that the queue follows. */
#define BERTH_TAG_ATTEMPT_SEQUENCE 6 /* i64: Its position there: an attempt on a view of the same epoch that is older would miss what the queue no longer wakes the pod for. */
#define BERTH_TAG_ATTEMPT_TRACEPARENT 7 /* str: Of an attempt that is traced: trace and root span, as W3C Trace Context writes them; empty: it is not. */
#define BERTH_TAG_ATTEMPT_SPANS 8 /* list of trace_span: With it: the queue's own, children of the root, in order of time; the last ends when the attempt was sent. */

/* outcome: How an attempt ended. */
#define BERTH_MSG_OUTCOME 32
#define BERTH_TAG_OUTCOME_UID 1 /* str: The pod's UID. */
#define BERTH_TAG_OUTCOME_NAMESPACE_NAME 2 /* str: Namespace. */
#define BERTH_TAG_OUTCOME_NAME 3 /* str: Name. */
#define BERTH_TAG_OUTCOME_CYCLE 4 /* i64: The attempt's cycle. */
#define BERTH_TAG_OUTCOME_RESULT 5 /* one of outcome_result: How. */
#define BERTH_TAG_OUTCOME_PLUGINS 6 /* list of str: Plugins that rejected it, for unschedulable; empty means an error. */
#define BERTH_TAG_OUTCOME_PENDING_PLUGINS 7 /* list of str: Plugins that asked to wait for an event of their own. */
#define BERTH_TAG_OUTCOME_NOMINATED_NODE 8 /* str: Node that preemption is making room on, or made it before; empty = what the pod's status says. */
#define BERTH_TAG_OUTCOME_ACTIVATE 9 /* bool: True: try it again at once, without backoff (its preemption failed). */
#define BERTH_TAG_OUTCOME_GATED_EPOCH 10 /* i64: It waited for its victims to be seen going: what came up to this position of the watcher's stream wakes it no more; 0 = it did not wait, or they are gone. */
#define BERTH_TAG_OUTCOME_GATED_SEQUENCE 11 /* i64: That position within the epoch. */
#define BERTH_TAG_OUTCOME_BEHIND 12 /* bool: unschedulable: it was decided on a view that is older than the attempt's position; what happened in between wakes it no more, so that it is to be tried again. */
#define BERTH_TAG_OUTCOME_RELEASED 20 /* bool: It had room during the attempt, and gave it back (it was not permitted to be bound, the term of its bind ended, …): others may fit there. An error says that by itself. */

/* gang_member: A pod of a group that is tried; the fields of attempt. */
#define BERTH_TAG_GANG_MEMBER_POD 1 /* pod: The pod as the queue knows it. */
#define BERTH_TAG_GANG_MEMBER_ATTEMPTS 2 /* i64: Which attempt this is, from 1. */
#define BERTH_TAG_GANG_MEMBER_FIRST_US 3 /* i64: When the pod first entered the active queue. */
#define BERTH_TAG_GANG_MEMBER_CYCLE 4 /* i64: Number of this pop; comes back in the outcome. */
#define BERTH_TAG_GANG_MEMBER_TRACEPARENT 7 /* str: As in attempt. */
#define BERTH_TAG_GANG_MEMBER_SPANS 8 /* list of trace_span: As in attempt. */

/* gang_attempt: Try these pods of one group as one: at least needed of them are placed, or none. Owed: exactly one outcome for each member. */
#define BERTH_MSG_GANG_ATTEMPT 34
#define BERTH_TAG_GANG_ATTEMPT_GROUP 1 /* gang: The group as the queue knows it. */
#define BERTH_TAG_GANG_ATTEMPT_NEEDED 2 /* i64: minMember less the members that are on nodes (or on their way there) already; at least 0. */
#define BERTH_TAG_GANG_ATTEMPT_MEMBERS 3 /* list of gang_member: In the order in which they are placed: priority, then the time of the first attempt, then name. */
#define BERTH_TAG_GANG_ATTEMPT_EPOCH 4 /* i64: As in attempt. */
#define BERTH_TAG_GANG_ATTEMPT_SEQUENCE 5 /* i64: As in attempt. */
#define BERTH_TAG_GANG_ATTEMPT_PLACED 6 /* i64: Members that are on nodes (or on their way there) already. */
#define BERTH_TAG_GANG_ATTEMPT_TREE 7 /* list of gang_branch: Where the group is the root of a tree (a CompositePodGroup): all of the tree, each behind its parent, children by age and name. Members name the leaves; needed is 1, and placed does not count. */

/* gang_waits: A group is not complete enough to be tried: its owner and its pods' are to be told. Nothing is owed. */
#define BERTH_MSG_GANG_WAITS 35
#define BERTH_TAG_GANG_WAITS_GROUP 1 /* gang: The group; with a name alone when there is no such object. */
#define BERTH_TAG_GANG_WAITS_MESSAGE 2 /* str: Why, for the group; empty: it was told before. */
#define BERTH_TAG_GANG_WAITS_MEMBERS 3 /* list of gang_member: Pods whose condition is to say so, a message each; none = only the group's. */
#define BERTH_TAG_GANG_WAITS_MESSAGES 4 /* list of str: For each member why. */

/* shape_point: A point of the RequestedToCapacityRatio function. */
#define BERTH_TAG_SHAPE_POINT_UTILIZATION 1 /* i64: Percent, 0 to 100. */
#define BERTH_TAG_SHAPE_POINT_SCORE 2 /* i64: 0 to 10. */

/* score_plugin: A scoring plugin in a profile. */
#define BERTH_TAG_SCORE_PLUGIN_NAME 1 /* str: Its name, as in upstream. */
#define BERTH_TAG_SCORE_PLUGIN_WEIGHT 2 /* i64: Its weight, at least 1. */

/* label_rule: What a rule of the old Policy says about labels of nodes. */
#define BERTH_TAG_LABEL_RULE_LABELS 1 /* list of str: Keys. */
#define BERTH_TAG_LABEL_RULE_PRESENCE 2 /* bool: True: they should be there; false: they should not. */

/* plugin_event: Events that may help a pod that a plugin has turned away. */
#define BERTH_TAG_PLUGIN_EVENT_RESOURCE 1 /* one of event_source: What they are about. */
#define BERTH_TAG_PLUGIN_EVENT_ACTIONS 2 /* list of str: Words of event_change; any of them. */

/* bus_plugin: A plugin of a profile that is a process on the bus. */
#define BERTH_TAG_BUS_PLUGIN_NAME 1 /* str: Its name, and that of the process. */
#define BERTH_TAG_BUS_PLUGIN_DEADLINE_MS 2 /* i64: How long an answer may take, at least 1. */
#define BERTH_TAG_BUS_PLUGIN_IGNORE 3 /* bool: Its failures are ignored: it is as if it had not been asked. */
#define BERTH_TAG_BUS_PLUGIN_PERMIT_TIMEOUT_MS 4 /* i64: How long a pod may wait for its permission at most. */
#define BERTH_TAG_BUS_PLUGIN_FACTS 5 /* one of node_facts_told: What it is told of nodes. */
#define BERTH_TAG_BUS_PLUGIN_ANNOTATIONS 10 /* list of str: How the keys of those annotations begin that it is told of. */
#define BERTH_TAG_BUS_PLUGIN_EVENTS 20 /* list of plugin_event: What may help the pods that it has turned away; empty: anything. */
#define BERTH_TAG_BUS_PLUGIN_HINTS 21 /* bool: It is asked which of its pods such an event may help. */

/* features: What of Kubernetes' release and its feature gates changes a decision (proto/kube/release). */
#define BERTH_TAG_FEATURES_RELEASE 1 /* i64: The minor version whose behaviour this is: 36 or 37. */
#define BERTH_TAG_FEATURES_GANGS 2 /* bool: PodGroups of scheduling.k8s.io are tried as one: GenericWorkload, in 1.36 with a gate that makes a difference to their pods. */
#define BERTH_TAG_FEATURES_GANG_COUNTS 72 /* bool: Those of policy gang have a minimum: GenericWorkload, in 1.36 GangScheduling. Else all are as of policy basic. */
#define BERTH_TAG_FEATURES_VOLUME_LIMIT_SCALING 3 /* bool: VolumeLimitScaling: a node whose CSINode lacks a volume's driver is refused. */
#define BERTH_TAG_FEATURES_STORAGE_CAPACITY_SCORING 4 /* bool: StorageCapacityScoring: volumes that are still to be made are scored by the free capacity. */
#define BERTH_TAG_FEATURES_DEVICE_TAINT_RULES 5 /* bool: DRADeviceTaintRules: taints of devices come from DeviceTaintRules, too. */
#define BERTH_TAG_FEATURES_FRACTIONAL_CAPACITY 20 /* bool: DRAFractionalCapacityRange: ranges of a device's capacity are dealt with in thousandths. */
#define BERTH_TAG_FEATURES_DEVICE_TAINTS 21 /* bool: DRADeviceTaints: tainted devices are for claims that tolerate it. */
#define BERTH_TAG_FEATURES_DEVICE_PARTITIONS 22 /* bool: DRAPartitionableDevices: devices consume shared counters, and may each name their nodes. */
#define BERTH_TAG_FEATURES_DEVICE_SHARES 23 /* bool: DRAConsumableCapacity: devices may be shared, by capacity. */
#define BERTH_TAG_FEATURES_DEVICE_ALTERNATIVES 24 /* bool: DRAPrioritizedList: requests may have alternatives. */
#define BERTH_TAG_FEATURES_DEVICE_BINDING 25 /* bool: DRADeviceBindingConditions: devices may be waited for before a pod is bound. */
#define BERTH_TAG_FEATURES_DEVICE_STATUS 26 /* bool: DRAResourceClaimDeviceStatus: drivers say how devices are. */
#define BERTH_TAG_FEATURES_DEVICE_FILTER_TIMEOUT 28 /* bool: DRASchedulerFilterTimeout: a search for devices ends in time. */
#define BERTH_TAG_FEATURES_DEVICE_EXTENDED 70 /* bool: DRAExtendedResource: DeviceClasses stand for extended resources. */
#define BERTH_TAG_FEATURES_DEVICE_LISTS 60 /* bool: DRAListTypeAttributes: attributes of devices may be lists, and constraints compare sets. */
#define BERTH_TAG_FEATURES_DEVICE_DERIVED 62 /* bool: DRADerivedAttributes: requests say by expressions what attributes constraints see. */
#define BERTH_TAG_FEATURES_DEVICE_GROUPS 61 /* bool: DRADeviceCompatibilityGroups: devices share counters with those alone that have a group of theirs. */
#define BERTH_TAG_FEATURES_WORKLOAD_CLAIMS 63 /* bool: DRAWorkloadResourceClaims: claims of a PodGroup of scheduling.k8s.io are reserved for it, not for its pods. */
#define BERTH_TAG_FEATURES_DEVICE_NODE_RESOURCES 65 /* bool: DRANodeAllocatableResources: devices take of their node's own resources. */
#define BERTH_TAG_FEATURES_DEVICE_SKIPS 66 /* bool: DRAOptionalNodeOperations: devices may be for nodes alone that can do without operations of their driver. */
#define BERTH_TAG_FEATURES_GROUP_PREEMPTION_POLICY 40 /* bool: PodGroupPreemptionPolicy: whether a group of scheduling.k8s.io may evict is said by it, and its pods have to say the same. */
#define BERTH_TAG_FEATURES_SPREAD_LABEL_KEYS 50 /* bool: MatchLabelKeysInPodTopologySpread: matchLabelKeys of spread constraints count. */
#define BERTH_TAG_FEATURES_TOLERATION_COMPARISON 51 /* bool: TaintTolerationComparisonOperators: tolerations may have the operators Lt and Gt. */
#define BERTH_TAG_FEATURES_POD_LEVEL_RESOURCES 52 /* bool: PodLevelResources: requests of a pod as a whole count. */
#define BERTH_TAG_FEATURES_POD_LEVEL_RESIZES 53 /* bool: InPlacePodLevelResourcesVerticalScaling: what a pod's status says of them counts, too. */
#define BERTH_TAG_FEATURES_POP_FROM_BACKOFF 54 /* bool: SchedulerPopFromBackoffQ: a pod that waits out its backoff is tried when no other waits. */
#define BERTH_TAG_FEATURES_EXPECTED_NOMINATION 55 /* bool: NominatedNodeNameForExpectation: a pod whose bind may take a while is nominated before. */
#define BERTH_TAG_FEATURES_DECLARED_FEATURES 56 /* bool: NodeDeclaredFeatures: a pod goes where the features that it needs are declared. */
#define BERTH_TAG_FEATURES_RESIZE_PREEMPTION 67 /* bool: InPlacePodVerticalScalingSchedulerPreemption: for a pod on a node whose resize is deferred room is made there. */
#define BERTH_TAG_FEATURES_GROUP_PREEMPTION 57 /* bool: WorkloadAwarePreemption, of 1.36: a group of scheduling.k8s.io makes room as one, as all do since 1.37. */
#define BERTH_TAG_FEATURES_GROUP_TOPOLOGY 58 /* bool: TopologyAwareWorkloadScheduling: a group of scheduling.k8s.io may have to be within one domain of a node label. */
#define BERTH_TAG_FEATURES_GROUP_TREES 71 /* bool: CompositePodGroup: groups of scheduling.k8s.io may be leaves of a tree of groups, which is tried as one. */

/* profile: One profile of a KubeSchedulerConfiguration after defaulting and expansion. */
#define BERTH_TAG_PROFILE_SCHEDULER_NAME 1 /* str: spec.schedulerName it serves. */
#define BERTH_TAG_PROFILE_PRE_ENQUEUE 2 /* list of str: PreEnqueue plugins, in order. */
#define BERTH_TAG_PROFILE_PRE_FILTER 3 /* list of str: PreFilter plugins, in order. */
#define BERTH_TAG_PROFILE_FILTER 4 /* list of str: Filter plugins, in order. */
#define BERTH_TAG_PROFILE_POST_FILTER 5 /* list of str: PostFilter plugins, in order. */
#define BERTH_TAG_PROFILE_PRE_SCORE 6 /* list of str: PreScore plugins, in order. */
#define BERTH_TAG_PROFILE_SCORE 7 /* list of score_plugin: Score plugins, in order, with weights. */
#define BERTH_TAG_PROFILE_PERCENTAGE_OF_NODES_TO_SCORE 8 /* i64: Above 0 a pod is decided over the feasible nodes that kube-scheduler would have looked for; 0 = all nodes. */
#define BERTH_TAG_PROFILE_FIT_STRATEGY 9 /* str: LeastAllocated, MostAllocated or RequestedToCapacityRatio; a text, as what a disabled plugin's arguments say is shown as written. */
#define BERTH_TAG_PROFILE_FIT_RESOURCES 10 /* list of quantity: Scored resources with their weights. */
#define BERTH_TAG_PROFILE_FIT_SHAPE 11 /* list of shape_point: The shape, for RequestedToCapacityRatio. */
#define BERTH_TAG_PROFILE_FIT_IGNORED_RESOURCES 12 /* list of str: Resources that Filter does not look at. */
#define BERTH_TAG_PROFILE_FIT_IGNORED_GROUPS 13 /* list of str: The same by prefix before the slash. */
#define BERTH_TAG_PROFILE_BALANCED_RESOURCES 14 /* list of quantity: Resources of NodeResourcesBalancedAllocation, weight 1 each. */
#define BERTH_TAG_PROFILE_ADDED_REQUIRED 15 /* list of node_term: NodeAffinityArgs.addedAffinity, required. */
#define BERTH_TAG_PROFILE_HAS_ADDED_REQUIRED 16 /* bool: True when it is set. */
#define BERTH_TAG_PROFILE_ADDED_PREFERRED 17 /* list of preferred_node_term: NodeAffinityArgs.addedAffinity, preferred. */
#define BERTH_TAG_PROFILE_SPREAD_SYSTEM_DEFAULTS 18 /* bool: PodTopologySpreadArgs.defaultingType is System (or unset). */
#define BERTH_TAG_PROFILE_SPREAD_DEFAULTS 19 /* list of spread_constraint: PodTopologySpreadArgs.defaultConstraints, for List. */
#define BERTH_TAG_PROFILE_HARD_AFFINITY_WEIGHT 20 /* i64: InterPodAffinityArgs.hardPodAffinityWeight. */
#define BERTH_TAG_PROFILE_IGNORE_PREFERRED_OF_EXISTING 21 /* bool: InterPodAffinityArgs.ignorePreferredTermsOfExistingPods. */
#define BERTH_TAG_PROFILE_BIND_TIMEOUT_S 22 /* i64: VolumeBindingArgs.bindTimeoutSeconds. */
#define BERTH_TAG_PROFILE_DEVICE_FILTER_TIMEOUT_MS 64 /* i64: DynamicResourcesArgs.filterTimeout: how long a node's devices may be searched; 0 = any time. */
#define BERTH_TAG_PROFILE_DEVICE_BINDING_TIMEOUT_MS 65 /* i64: DynamicResourcesArgs.bindingTimeout: how long allocated devices may take to become ready. */
#define BERTH_TAG_PROFILE_RESERVE 23 /* list of str: Reserve plugins, in order. */
#define BERTH_TAG_PROFILE_PERMIT 24 /* list of str: Permit plugins, in order. */
#define BERTH_TAG_PROFILE_PRE_BIND 25 /* list of str: PreBind plugins, in order. */
#define BERTH_TAG_PROFILE_LABEL_PRESENCE 40 /* list of label_rule: CheckNodeLabelPresence: all must hold. */
#define BERTH_TAG_PROFILE_LABEL_PREFERENCES 41 /* list of label_rule: NodeLabelPriority: each is worth the same. */
#define BERTH_TAG_PROFILE_SERVICE_AFFINITY 42 /* list of str: CheckServiceAffinity: labels of nodes that a service's pods share. */
#define BERTH_TAG_PROFILE_SERVICE_ANTI_AFFINITY 43 /* list of str: ServiceAntiAffinity: labels of nodes over whose values a service's pods are spread. */
#define BERTH_TAG_PROFILE_CHECK_ALL 44 /* bool: A node is asked of every filter, also after one has said no. */
#define BERTH_TAG_PROFILE_DISKS_MAX 45 /* i64: Disks per node for MaxEBSVolumeCount and its like; 0 = what the node says, else their own. */
#define BERTH_TAG_PROFILE_GANGS 46 /* one of gangs_wanted: Whether it has Coscheduling. */
#define BERTH_TAG_PROFILE_GANG_WAIT_S 47 /* i64: CoschedulingArgs.permitWaitingTimeSeconds. */
#define BERTH_TAG_PROFILE_GANG_BACKOFF_S 48 /* i64: CoschedulingArgs.podGroupBackoffSeconds; 0 = off. */
#define BERTH_TAG_PROFILE_GANG_REJECT_PERCENTAGE 49 /* i64: CoschedulingArgs.podGroupRejectPercentage. */
#define BERTH_TAG_PROFILE_GANG_SORT 50 /* bool: QueueSort is Coscheduling's. */
#define BERTH_TAG_PROFILE_GANG_BUILT_IN 51 /* bool: PodGroups of scheduling.k8s.io count, too (features.gangs). */
#define BERTH_TAG_PROFILE_PREEMPT_PERCENTAGE 52 /* i64: DefaultPreemptionArgs.minCandidateNodesPercentage: how many candidates extenders are shown. */
#define BERTH_TAG_PROFILE_PREEMPT_ABSOLUTE 53 /* i64: DefaultPreemptionArgs.minCandidateNodesAbsolute; both 0 = all of them. */
#define BERTH_TAG_PROFILE_BUS_PLUGINS 60 /* list of bus_plugin: Plugins that are processes on the bus; the lists above say at which points. */
#define BERTH_TAG_PROFILE_POST_BIND 61 /* list of str: PostBind plugins, in order. */
#define BERTH_TAG_PROFILE_BIND 80 /* list of str: Bind plugins, in order; empty = DefaultBinder alone. */
#define BERTH_TAG_PROFILE_FEATURES 67 /* features: The release that it decides as, and its gates. */
#define BERTH_TAG_PROFILE_PLACEMENT_GENERATE 69 /* list of str: PlacementGenerate plugins, the first of which counts; with TopologyAwareWorkloadScheduling. */
#define BERTH_TAG_PROFILE_PLACEMENT_SCORE 70 /* list of score_plugin: PlacementScore plugins, in order, with weights; likewise. */
#define BERTH_TAG_PROFILE_VOLUME_SHAPE 68 /* list of shape_point: VolumeBindingArgs.shape: what the used share of a node's storage is worth; only with StorageCapacityScoring. */
#define BERTH_TAG_PROFILE_GANG_VICTIMS 66 /* one of gang_victims: CoschedulingArgs.gangVictims. */

/* queue_config: The configuration that is decided with: to every new peer, and when it changes. */
#define BERTH_MSG_QUEUE_CONFIG 33
#define BERTH_TAG_QUEUE_CONFIG_GENERATION 1 /* i64: Its number at the scheduler, from 1. */
#define BERTH_TAG_QUEUE_CONFIG_HASH 2 /* i64: Of the whole configuration: equal ones have equal hashes. */
#define BERTH_TAG_QUEUE_CONFIG_PROFILES 3 /* list of profile: Whose pods are ours, and what of them is asked before they are queued. */
#define BERTH_TAG_QUEUE_CONFIG_BACKOFF_INITIAL_S 4 /* i64: podInitialBackoffSeconds; 0 = as the queue has it. */
#define BERTH_TAG_QUEUE_CONFIG_BACKOFF_MAX_S 5 /* i64: podMaxBackoffSeconds; 0 = as the queue has it. */

/* worker_join: A worker offers itself for a share of the nodes; sent on start and whenever it found a gap. */
#define BERTH_MSG_WORKER_JOIN 40
#define BERTH_TAG_WORKER_JOIN_INSTANCE 1 /* str: Its name. */
#define BERTH_TAG_WORKER_JOIN_CAPACITY 2 /* i64: Relative size of the share it wants; 1 = a share like any other. */
#define BERTH_TAG_WORKER_JOIN_COUNTS 3 /* bool: It sends shard_taken. */
#define BERTH_TAG_WORKER_JOIN_PICKS 4 /* bool: It answers map_picks. */

/* shard_reset: Forget everything; configuration, nodes and pods follow. */
#define BERTH_MSG_SHARD_RESET 41
#define BERTH_TAG_SHARD_RESET_PROFILES 1 /* list of profile: The profiles to evaluate pods with. */
#define BERTH_TAG_SHARD_RESET_GENERATION 2 /* i64: Number of this configuration at the scheduler, from 1. */
#define BERTH_TAG_SHARD_RESET_HASH 3 /* i64: Of the whole configuration: equal ones have equal hashes. */

/* shard_node: A node of your share is new or has changed. */
#define BERTH_MSG_SHARD_NODE 42
#define BERTH_TAG_SHARD_NODE_NODE 1 /* node: The whole node. */

/* shard_node_gone: This node is no longer in your share. */
#define BERTH_MSG_SHARD_NODE_GONE 43
#define BERTH_TAG_SHARD_NODE_GONE_NAME 1 /* str: Its name. */

/* shard_pod: A pod is on a node of your share, assumed or assigned; replaces what you had of it. */
#define BERTH_MSG_SHARD_POD 44
#define BERTH_TAG_SHARD_POD_POD 1 /* pod: The pod; node_name says where. */
#define BERTH_TAG_SHARD_POD_IN_PLACE 2 /* bool: What changed is what its volumes stand for, not the pod: it keeps its place among its node's pods. */
#define BERTH_TAG_SHARD_POD_FREED 3 /* list of host_port: Of its ports, those that are free all the same, since another pod with them went and it was not updated since. */

/* shard_pod_gone: A pod no longer is on its node: deleted or forgotten. */
#define BERTH_MSG_SHARD_POD_GONE 45
#define BERTH_TAG_SHARD_POD_GONE_UID 1 /* str: Its UID. */
#define BERTH_TAG_SHARD_POD_GONE_NODE_NAME 2 /* str: The node it was on. */

/* shard_images: On how many nodes of the whole cluster an image is, and how many nodes there are. */
#define BERTH_MSG_SHARD_IMAGES 46
#define BERTH_TAG_SHARD_IMAGES_NODES 1 /* i64: Nodes in the cluster. */
#define BERTH_TAG_SHARD_IMAGES_COUNTS 2 /* list of tally: Nodes by image name, for the names whose count changed; 0 = gone. */
#define BERTH_TAG_SHARD_IMAGES_SIZES 3 /* list of tally: Bytes by image name, for the names whose size changed: that of the node first seen with it. */

/* shard_storage: What limits the volumes on a node of your share; replaces what you had of it. */
#define BERTH_MSG_SHARD_STORAGE 49
#define BERTH_TAG_SHARD_STORAGE_NODE_NAME 1 /* str: The node. */
#define BERTH_TAG_SHARD_STORAGE_HAS_CSI_NODE 2 /* bool: False: there is no CSINode, so nothing is limited. */
#define BERTH_TAG_SHARD_STORAGE_DRIVERS 3 /* list of driver_limit: All drivers of its CSINode. */
#define BERTH_TAG_SHARD_STORAGE_MIGRATED 4 /* list of str: In-tree plugins that are migrated there. */
#define BERTH_TAG_SHARD_STORAGE_ATTACHED 5 /* list of attached_volume: By its VolumeAttachments, for those drivers. */

/* shard_taken: Taken in of the messages about your share; more may be sent. */
#define BERTH_MSG_SHARD_TAKEN 52
#define BERTH_TAG_SHARD_TAKEN_COUNT 1 /* i64: How many since the last time. */

/* shard_nominated: A pod is nominated to a node of your share; replaces what you had of it. It counts in a first pass for pods of no higher priority. */
#define BERTH_MSG_SHARD_NOMINATED 108
#define BERTH_TAG_SHARD_NOMINATED_POD 1 /* pod: The pod; nominated_node says where. */

/* shard_nominated_gone: A pod is no longer nominated to this node. */
#define BERTH_MSG_SHARD_NOMINATED_GONE 109
#define BERTH_TAG_SHARD_NOMINATED_GONE_UID 1 /* str: Its UID. */
#define BERTH_TAG_SHARD_NOMINATED_GONE_NODE_NAME 2 /* str: The node. */

/* count: How many pods, or how much weight, one place has in the eyes of one plugin. */
#define BERTH_TAG_COUNT_SLOT 1 /* i64: Which of the plugin's counts; the plugin's own numbering. */
#define BERTH_TAG_COUNT_KEY 2 /* str: Topology key, where the slot does not say it. */
#define BERTH_TAG_COUNT_VALUE 3 /* str: The domain: the key's value. */
#define BERTH_TAG_COUNT_COUNT 4 /* i64: The sum; an entry of zero is an entry. */
#define BERTH_TAG_COUNT_WHOLE 5 /* bool: True: of no domain; value says nothing. */

/* plugin_counts: What one plugin counted. */
#define BERTH_TAG_PLUGIN_COUNTS_PLUGIN 1 /* str: The plugin. */
#define BERTH_TAG_PLUGIN_COUNTS_COUNTS 2 /* list of count: Each (slot, key, value) at most once. */

/* extreme: The range of one plugin's raw scores over feasible nodes. */
#define BERTH_TAG_EXTREME_PLUGIN 1 /* str: The plugin. */
#define BERTH_TAG_EXTREME_LEAST 2 /* i64: Least raw score. */
#define BERTH_TAG_EXTREME_GREATEST 3 /* i64: Greatest raw score, at least 0 for plugins that only need it. */

/* zone_choice: A zone or region label of a bound volume, with the values that it allows. */
#define BERTH_TAG_ZONE_CHOICE_KEY 1 /* str: The label. */
#define BERTH_TAG_ZONE_CHOICE_VALUES 2 /* list of str: Any of these. */

/* placed_volume: A PersistentVolume, as far as nodes matter to it. */
#define BERTH_TAG_PLACED_VOLUME_NAME 1 /* str: Name. */
#define BERTH_TAG_PLACED_VOLUME_RESOURCE_VERSION 2 /* i64: The version that was looked at. */
#define BERTH_TAG_PLACED_VOLUME_MISSING 3 /* bool: A claim is bound to it, but it does not exist. */
#define BERTH_TAG_PLACED_VOLUME_HAS_TERMS 4 /* bool: False: every node can use it. */
#define BERTH_TAG_PLACED_VOLUME_TERMS 5 /* list of node_term: Which nodes can; ORed. */
#define BERTH_TAG_PLACED_VOLUME_MIGRATED_PLUGIN 6 /* str: The in-tree plugin whose disk it is; on nodes where that is migrated, the next three hold instead. */
#define BERTH_TAG_PLACED_VOLUME_HAS_MIGRATED_TERMS 7 /* bool: As has_terms. */
#define BERTH_TAG_PLACED_VOLUME_MIGRATED_TERMS 8 /* list of node_term: As terms. */
#define BERTH_TAG_PLACED_VOLUME_MIGRATION_PROBLEM 9 /* str: Not empty: there the filter fails with this. */
#define BERTH_TAG_PLACED_VOLUME_CAPACITY 10 /* i64: Bytes; of a candidate. */
#define BERTH_TAG_PLACED_VOLUME_CLASS_NAME 11 /* str: Its storage class by its spec, for the score; of a candidate. */

/* volume_choice: A volume that a claim could be bound to, were it not for the node. */
#define BERTH_TAG_VOLUME_CHOICE_VOLUME 1 /* i64: Index in the findings' candidates. */
#define BERTH_TAG_VOLUME_CHOICE_PREBOUND 2 /* bool: It is reserved for the claim: this one, or none at all. */

/* storage_amount: How much storage there is. */
#define BERTH_TAG_STORAGE_AMOUNT_BYTES 1 /* i64: Bytes. */

/* delayed_claim: A claim of the pod that is bound once the pod has a node. */
#define BERTH_TAG_DELAYED_CLAIM_NAME 1 /* str: Name. */
#define BERTH_TAG_DELAYED_CLAIM_UID 2 /* str: UID. */
#define BERTH_TAG_DELAYED_CLAIM_RESOURCE_VERSION 3 /* i64: The version that was looked at. */
#define BERTH_TAG_DELAYED_CLAIM_SELECTED 4 /* bool: It is being provisioned for selected_node, and for no other. */
#define BERTH_TAG_DELAYED_CLAIM_SELECTED_NODE 5 /* str: That node. */
#define BERTH_TAG_DELAYED_CLAIM_CHOICES 6 /* list of volume_choice: Best first: the first that the node can use and that no earlier claim has taken. */
#define BERTH_TAG_DELAYED_CLAIM_PROBLEM 7 /* str: Not empty: looking for a volume fails with this. */
#define BERTH_TAG_DELAYED_CLAIM_PROVISIONABLE 8 /* bool: Its class can make a volume. */
#define BERTH_TAG_DELAYED_CLAIM_TOPOLOGIES 9 /* list of node_term: Where; ORed; none = anywhere. */
#define BERTH_TAG_DELAYED_CLAIM_ROOM_COUNTS 10 /* bool: Its driver publishes where there is room. */
#define BERTH_TAG_DELAYED_CLAIM_ROOMS 11 /* list of selector: Nodes from which enough room can be reached. */
#define BERTH_TAG_DELAYED_CLAIM_ROOM_SIZES 12 /* list of storage_amount: What is free in each of the rooms. */
#define BERTH_TAG_DELAYED_CLAIM_REQUESTED 13 /* i64: Bytes. */
#define BERTH_TAG_DELAYED_CLAIM_CLASS_NAME 14 /* str: Its storage class by its spec, for the score. */

/* volume_findings: What the coordinator found out about a pod's volumes. */
#define BERTH_TAG_VOLUME_FINDINGS_ZONES 1 /* list of zone_choice: Of bound volumes; all must hold on nodes that have any such label. */
#define BERTH_TAG_VOLUME_FINDINGS_BOUND 2 /* list of placed_volume: Volumes of the bound claims, in the pod's order. */
#define BERTH_TAG_VOLUME_FINDINGS_DELAYED 3 /* list of delayed_claim: Claims to be bound: those with a selected node in the pod's order, then the others by size. */
#define BERTH_TAG_VOLUME_FINDINGS_CANDIDATES 4 /* list of placed_volume: What their choices point to. */
#define BERTH_TAG_VOLUME_FINDINGS_WANTED 5 /* list of attached_volume: Volumes that count against attach limits; each once. */
#define BERTH_TAG_VOLUME_FINDINGS_WANTED_PROBLEM 6 /* str: Not empty: why wanted cannot be known. */
#define BERTH_TAG_VOLUME_FINDINGS_WANTED_MISSING 7 /* bool: Such a problem rejects the pod on every node; otherwise the filter fails. */
#define BERTH_TAG_VOLUME_FINDINGS_EXCLUSIVE 8 /* list of str: Names of the pod's ReadWriteOncePod claims, each once. */
#define BERTH_TAG_VOLUME_FINDINGS_NEEDED 10 /* list of str: Drivers that must be on a node, by their CSIDrivers. */
#define BERTH_TAG_VOLUME_FINDINGS_NEEDED_BY_DISKS 11 /* list of str: The same for disks of in-tree plugins, which count on nodes with a CSINode alone. */
#define BERTH_TAG_VOLUME_FINDINGS_WANTED_NEEDS_CSI_NODE 9 /* bool: The problem is a disk of the pod's own, which matters only on nodes with a CSINode. */

/* device_place: Where the devices are that a claim has been given. */
#define BERTH_TAG_DEVICE_PLACE_CLAIM 1 /* str: The ResourceClaim. */
#define BERTH_TAG_DEVICE_PLACE_TERMS 2 /* list of node_term: Nodes that can use them; ORed. */
#define BERTH_TAG_DEVICE_PLACE_ANYWHERE 3 /* bool: Every node can use them. */
#define BERTH_TAG_DEVICE_PLACE_SKIPS 4 /* bool: But only where the feature DRAOptionalNodeOperations is declared. */

/* device_verdict: What it comes to on a node to allocate devices for a pod's claims. */
#define BERTH_TAG_DEVICE_VERDICT_FITS 1 /* bool: All claims get devices. */
#define BERTH_TAG_DEVICE_VERDICT_FAILS 2 /* bool: The search failed, and so does the filter, with the reason. */
#define BERTH_TAG_DEVICE_VERDICT_REASON 3 /* str: Why not. */
#define BERTH_TAG_DEVICE_VERDICT_SCORE 4 /* i64: Where all get devices: the better the alternatives of their requests, the more. */
#define BERTH_TAG_DEVICE_VERDICT_DEMAND 5 /* list of quantity: What the pod takes of the node with what its devices take of it; none: they take nothing. */
#define BERTH_TAG_DEVICE_VERDICT_EARLY 6 /* bool: Why not was found before claims were looked at. */

/* device_node: A node and its verdict. */
#define BERTH_TAG_DEVICE_NODE_NODE 1 /* str: The node. */
#define BERTH_TAG_DEVICE_NODE_VERDICT 2 /* i64: Index in the findings' device_verdicts. */

/* device_user: A pod whose status says that a claim takes of its node's own resources, as 1.36 counts them. */
#define BERTH_TAG_DEVICE_USER_CLAIM 1 /* str: The ResourceClaim, in the namespace of the pod that is decided. */
#define BERTH_TAG_DEVICE_USER_NODE 2 /* str: The node. */
#define BERTH_TAG_DEVICE_USER_UID 3 /* str: The pod. */

/* device_count: How many devices of a class a node reaches. */
#define BERTH_TAG_DEVICE_COUNT_NODE 1 /* str: The node. */
#define BERTH_TAG_DEVICE_COUNT_THERE 2 /* i64: How many there are. */
#define BERTH_TAG_DEVICE_COUNT_USED 3 /* i64: How many of them are allocated. */

/* device_stock: The devices that stand for an extended resource, for scores by it. */
#define BERTH_TAG_DEVICE_STOCK_RESOURCE 1 /* str: The resource. */
#define BERTH_TAG_DEVICE_STOCK_THERE 2 /* i64: How many there are on each node that is not listed. */
#define BERTH_TAG_DEVICE_STOCK_USED 3 /* i64: How many of them are allocated. */
#define BERTH_TAG_DEVICE_STOCK_NODES 4 /* list of device_count: The other nodes. */

/* findings: What the coordinator found out about a pod, before any node is looked at, that its workers need and cannot know. */
#define BERTH_TAG_FINDINGS_SKIP 1 /* i64: Bit i: Filter plugin i of the profile has nothing to do. */
#define BERTH_TAG_FINDINGS_NAMESPACE_LABELS 2 /* list of label: Labels of the pod's namespace, sorted by key. */
#define BERTH_TAG_FINDINGS_SPREAD_NEEDS_ALL_KEYS 3 /* bool: Soft spread constraints ignore nodes that lack a topology key: they are the pod's own, or a list in the profile. */
#define BERTH_TAG_FINDINGS_CLAIMS_IN_USE 4 /* i64: ReadWriteOncePod claims of the pod that other pods use. */
#define BERTH_TAG_FINDINGS_VOLUMES 5 /* volume_findings: About its volumes. */
#define BERTH_TAG_FINDINGS_OWNERS 6 /* list of selector: For rules of the old Policy: selectors of the services that select the pod, and behind them that of its controller. */
#define BERTH_TAG_FINDINGS_SERVICES 7 /* i64: How many of these are services'. */
#define BERTH_TAG_FINDINGS_NO_TERMS 8 /* bool: No pod on any node has terms of pod affinity or anti-affinity. */
#define BERTH_TAG_FINDINGS_DEVICE_PLACES 12 /* list of device_place: Claims of the pod whose devices are for some nodes only. */
#define BERTH_TAG_FINDINGS_DEVICE_VERDICTS 14 /* list of device_verdict: Of a pod with claims to allocate; the first is that of all nodes that are not listed. None: there is nothing to allocate. */
#define BERTH_TAG_FINDINGS_DEVICE_NODES 15 /* list of device_node: Nodes with another verdict than the first, sorted by name. */
#define BERTH_TAG_FINDINGS_DEVICE_RESOURCES 16 /* list of str: Extended resources that it asks for and a DeviceClass stands for: where a node has none of one, devices are given for it. */
#define BERTH_TAG_FINDINGS_DEVICE_STOCKS 17 /* list of device_stock: Of extended resources that it asks for, that the profile scores by and a DeviceClass stands for. */
#define BERTH_TAG_FINDINGS_DEVICE_USERS 18 /* list of device_user: With device_node_resources in 1.36: who is seen to use allocated claims of the pod, by its claims. */
#define BERTH_TAG_FINDINGS_DISKS 13 /* list of attached_volume: For rules of the old Policy: volumes that count against attach limits. */

/* victim: A pod that is to make room. */
#define BERTH_TAG_VICTIM_UID 1 /* str: UID. */
#define BERTH_TAG_VICTIM_NAMESPACE_NAME 2 /* str: Namespace. */
#define BERTH_TAG_VICTIM_NAME 3 /* str: Name. */
#define BERTH_TAG_VICTIM_PRIORITY 4 /* i64: Its priority. */
#define BERTH_TAG_VICTIM_STARTED 5 /* i64: status.startTime; 0 = none. */
#define BERTH_TAG_VICTIM_DELETING 6 /* bool: It is terminating already. */
#define BERTH_TAG_VICTIM_UNMARKED 7 /* bool: Towards the binder: it has no condition DisruptionTarget, and the fields below are known; false: look at it first. */
#define BERTH_TAG_VICTIM_RESOURCE_VERSION 8 /* i64: metadata.resourceVersion. */
#define BERTH_TAG_VICTIM_GENERATION 9 /* i64: metadata.generation. */
#define BERTH_TAG_VICTIM_CONDITION_TYPES 10 /* list of str: Types of all status.conditions, in order. */

/* candidate: A node on which removing pods would make room. */
#define BERTH_TAG_CANDIDATE_NODE 1 /* str: The node. */
#define BERTH_TAG_CANDIDATE_VICTIMS 2 /* list of victim: In upstream's order: the most important first. */
#define BERTH_TAG_CANDIDATE_VIOLATIONS 3 /* i64: How many of them a PodDisruptionBudget would protect. */
#define BERTH_TAG_CANDIDATE_TIES 4 /* i64: How many nodes of the share are as good as this one; not with detail. */
#define BERTH_TAG_CANDIDATE_OTHERS 5 /* list of victim: All other pods on the node, when they were asked for: extenders may choose among them. */

/* guarded_pod: That a PodDisruptionBudget protects a pod of a group that goes as a whole. */
#define BERTH_TAG_GUARDED_POD_POD 1 /* i64: Which pod, from 1; of one that has several budgets they stand together. */
#define BERTH_TAG_GUARDED_POD_NODE_NAME 2 /* str: Where it is. */
#define BERTH_TAG_GUARDED_POD_BUDGET 3 /* i64: Place in dry_run_question.budgets, growing for a pod. */

/* whole_group: A PodGroup of scheduling.k8s.io whose pods can only be evicted together. */
#define BERTH_TAG_WHOLE_GROUP_NAMESPACE_NAME 1 /* str: Namespace. */
#define BERTH_TAG_WHOLE_GROUP_NAME 2 /* str: Name. */
#define BERTH_TAG_WHOLE_GROUP_PRIORITY 3 /* i64: Its priority, which is that of its pods. */
#define BERTH_TAG_WHOLE_GROUP_PODS 4 /* i64: How many of its pods are on nodes, of all workers. */
#define BERTH_TAG_WHOLE_GROUP_STARTED 5 /* i64: When the first of these started; the present for one that has not. */
#define BERTH_TAG_WHOLE_GROUP_LEAVES 6 /* list of str: Of a CompositePodGroup: names of the PodGroups whose pods these are; empty: the group is one itself. */
#define BERTH_TAG_WHOLE_GROUP_GUARDED 7 /* list of guarded_pod: Its pods that some PodDisruptionBudget protects, wherever they are. */

/* dry_run_question: What is asked beside the pod when room is to be made for it. */
#define BERTH_TAG_DRY_RUN_QUESTION_BUDGETS 1 /* list of budget: All PodDisruptionBudgets; by gangVictims also one for each gang on nodes, which allows what it has beyond its minimum. */
#define BERTH_TAG_DRY_RUN_QUESTION_NOW_US 2 /* i64: The time that stands for the start of pods that have none. */
#define BERTH_TAG_DRY_RUN_QUESTION_TURNED_AWAY 3 /* list of str: Nodes that pass the filters, but which an extender has turned away; sorted. They are looked at as well. */
#define BERTH_TAG_DRY_RUN_QUESTION_OTHERS 4 /* bool: Tell all candidates, and with them all other pods on their nodes. */
#define BERTH_TAG_DRY_RUN_QUESTION_WHOLES 5 /* list of whole_group: Groups that go as a whole, by 1.37's rules for groups; a node's candidates name only those of their pods that are there. */

/* map_request: Filter and score this pod on your nodes, as they are at this place of the stream. */
#define BERTH_MSG_MAP_REQUEST 47
#define BERTH_TAG_MAP_REQUEST_CYCLE 1 /* i64: Number of the scheduling cycle. */
#define BERTH_TAG_MAP_REQUEST_ROUND 2 /* i64: 1; then counted on with every further question of the cycle. */
#define BERTH_TAG_MAP_REQUEST_POD 3 /* pod: The pod. */
#define BERTH_TAG_MAP_REQUEST_DETAIL 5 /* bool: True: report every node's verdict and scores. */
#define BERTH_TAG_MAP_REQUEST_TIE_BREAK 6 /* one of tie_break_rule: Which of the best. */
#define BERTH_TAG_MAP_REQUEST_SEED 7 /* i64: Seed of the random tie-break. */
#define BERTH_TAG_MAP_REQUEST_ONLY 10 /* list of str: When not empty: look at these nodes only. */
#define BERTH_TAG_MAP_REQUEST_STEP 12 /* one of map_step: The question. */
#define BERTH_TAG_MAP_REQUEST_FINDINGS 13 /* findings: What the coordinator found out about the pod. */
#define BERTH_TAG_MAP_REQUEST_ALONE 14 /* bool: You have all nodes: your own counts and surveys are the cluster's. */
#define BERTH_TAG_MAP_REQUEST_COUNTS 15 /* list of plugin_counts: Merged counts of all workers; not when alone. */
#define BERTH_TAG_MAP_REQUEST_SURVEYS 16 /* list of plugin_counts: again: merged surveys of all workers. */
#define BERTH_TAG_MAP_REQUEST_EXTREMES 17 /* list of extreme: again, map_run: ranges of raw scores over all workers. */
#define BERTH_TAG_MAP_REQUEST_NOMINATED_TOO 20 /* bool: The last of `only` is the pod's nominated node, which PreFilter ruled out: a filter that fails on it counts as not asked. */
#define BERTH_TAG_MAP_REQUEST_OWN_HOSTNAMES 21 /* bool: Every node's label kubernetes.io/hostname is its name: what is counted by hostname matters to nobody else, and only how many such entries there are is told. */
#define BERTH_TAG_MAP_REQUEST_LIST 22 /* bool: Tell every feasible node and its total. */
#define BERTH_TAG_MAP_REQUEST_BARE 24 /* bool: Score as if no pod were on any node and no image there. */
#define BERTH_TAG_MAP_REQUEST_LIKE_FORMER 26 /* bool: map_batch: as the request before it but for cycle, seed and the pod's UID and name; the rest is left out. */
#define BERTH_TAG_MAP_REQUEST_SIBLINGS 27 /* list of str: UIDs of nominated pods that do not count for this one: they belong to its group. */
#define BERTH_TAG_MAP_REQUEST_DRY_RUN 28 /* dry_run_question: victims: what else is asked. */

/* plugin_score: What one plugin says of one node. */
#define BERTH_TAG_PLUGIN_SCORE_PLUGIN 1 /* str: The plugin. */
#define BERTH_TAG_PLUGIN_SCORE_RAW 2 /* i64: Before normalising. */
#define BERTH_TAG_PLUGIN_SCORE_WEIGHTED 3 /* i64: Normalised, times weight. */

/* rejection: What one filter says of a node that it rejects. */
#define BERTH_TAG_REJECTION_PLUGIN 1 /* str: The filter. */
#define BERTH_TAG_REJECTION_CODE 2 /* one of verdict_code: As in the verdict. */
#define BERTH_TAG_REJECTION_REASONS 3 /* list of str: Its reasons. */

/* verdict: What filters and scores say of one node. */
#define BERTH_TAG_VERDICT_NODE 1 /* str: The node. */
#define BERTH_TAG_VERDICT_CODE 2 /* one of verdict_code: What it comes to. */
#define BERTH_TAG_VERDICT_PLUGIN 3 /* str: The plugin that rejected it. */
#define BERTH_TAG_VERDICT_REASONS 4 /* list of str: Its reasons. */
#define BERTH_TAG_VERDICT_SCORES 5 /* list of plugin_score: For feasible nodes, in the profile's order. */
#define BERTH_TAG_VERDICT_TOTAL 6 /* i64: The sum of weighted scores. */
#define BERTH_TAG_VERDICT_OTHERS 7 /* list of rejection: For rejected nodes: every filter that rejects it when asked alone, without nominated pods. */

/* listed_node: A feasible node. */
#define BERTH_TAG_LISTED_NODE_NODE 1 /* str: The node. */
#define BERTH_TAG_LISTED_NODE_TOTAL 2 /* i64: The sum of its weighted scores. */

/* timed_parts: How long the parts of a decision took. */
#define BERTH_TAG_TIMED_PARTS_PRE_FILTER_NS 1 /* i64: What comes before the filters: what rules count, and what they prepare. */
#define BERTH_TAG_TIMED_PARTS_FILTER_NS 2 /* i64: The filters. */
#define BERTH_TAG_TIMED_PARTS_PRE_SCORE_NS 3 /* i64: What comes before the scores. */
#define BERTH_TAG_TIMED_PARTS_SCORE_NS 4 /* i64: The scores, their ranges and sums. */

/* dry_run_answer: What removing pods of lower priority would do on a worker's nodes. */
#define BERTH_TAG_DRY_RUN_ANSWER_REASONS 1 /* list of tally: Why nodes would not fit even then. */
#define BERTH_TAG_DRY_RUN_ANSWER_NODES 2 /* i64: How many nodes were looked at. */
#define BERTH_TAG_DRY_RUN_ANSWER_FITS 3 /* i64: Nodes among them that are candidates. */
#define BERTH_TAG_DRY_RUN_ANSWER_CANDIDATES 4 /* list of candidate: The best candidate of your share; all of them when detail was asked for. */
#define BERTH_TAG_DRY_RUN_ANSWER_VERDICTS 5 /* list of verdict: The nodes that cannot be a candidate because a filter failed, with code Error; with detail all that cannot, and why. */

/* map_result: One worker's part of a cycle. */
#define BERTH_MSG_MAP_RESULT 48
#define BERTH_TAG_MAP_RESULT_CYCLE 1 /* i64: The cycle. */
#define BERTH_TAG_MAP_RESULT_ROUND 2 /* i64: The round. */
#define BERTH_TAG_MAP_RESULT_NODES 3 /* i64: Nodes in this worker's share. */
#define BERTH_TAG_MAP_RESULT_FEASIBLE 4 /* i64: How many of them passed the filters. */
#define BERTH_TAG_MAP_RESULT_BEST_TOTAL 6 /* i64: Greatest total. */
#define BERTH_TAG_MAP_RESULT_BEST_COUNT 7 /* i64: How many nodes have it. */
#define BERTH_TAG_MAP_RESULT_BEST_NODE 8 /* str: One of them, by the tie-break asked for. */
#define BERTH_TAG_MAP_RESULT_REASONS 10 /* list of tally: Why nodes were rejected. */
#define BERTH_TAG_MAP_RESULT_UNRESOLVABLE 11 /* i64: Rejected nodes that removing pods cannot help. */
#define BERTH_TAG_MAP_RESULT_PLUGINS 12 /* list of str: Plugins that rejected at least one node. */
#define BERTH_TAG_MAP_RESULT_ERROR 13 /* str: Not empty: the request makes no sense, or a filter failed; the cycle fails with this text. */
#define BERTH_TAG_MAP_RESULT_VERDICTS 14 /* list of verdict: Every node, when detail was asked for. */
#define BERTH_TAG_MAP_RESULT_EVALUATED 17 /* i64: How many nodes were filtered: all, or those of `only` that are in this share. */
#define BERTH_TAG_MAP_RESULT_NOMINATED_FITS 18 /* bool: The pod's nominated node is in this share and passed the filters. */
#define BERTH_TAG_MAP_RESULT_DRY_RUN 35 /* dry_run_answer: victims: the answer. */
#define BERTH_TAG_MAP_RESULT_COUNTS 22 /* list of plugin_counts: count: what the plugins counted over your nodes. */
#define BERTH_TAG_MAP_RESULT_SURVEYS 23 /* list of plugin_counts: What the plugins need to know of all feasible nodes before they score. */
#define BERTH_TAG_MAP_RESULT_EXTREMES 24 /* list of extreme: Range of the raw scores of each plugin that normalises. */
#define BERTH_TAG_MAP_RESULT_SKIPPED 26 /* i64: Bit i: PreFilter plugin i of the profile turned out to have nothing to do once the counts were known. */
#define BERTH_TAG_MAP_RESULT_NOMINATED_CODE 27 /* one of verdict_code: The verdict's code of the pod's nominated node, when it is in this share. */
#define BERTH_TAG_MAP_RESULT_NOMINATED_WAITS 28 /* bool: On the pod's nominated node, in this share, a pod of lower priority that was preempted still terminates. */
#define BERTH_TAG_MAP_RESULT_SCORE_ERROR 30 /* str: Not empty: scoring failed; so does the cycle, unless a single node is feasible. */
#define BERTH_TAG_MAP_RESULT_SCORE_SKIPPED 31 /* i64: Bit i: Score plugin i of the profile has nothing to say about this pod. */
#define BERTH_TAG_MAP_RESULT_NOMINATED_PLUGIN 32 /* str: Who rejected the pod's nominated node, when it is in this share. */
#define BERTH_TAG_MAP_RESULT_LISTED 33 /* list of listed_node: When a list was asked for: all feasible nodes. */
#define BERTH_TAG_MAP_RESULT_UNAVAILABLE 34 /* list of str: claims: the pod's claims that have devices which some node cannot use, and that were looked at there. */
#define BERTH_TAG_MAP_RESULT_FILTER_NS 40 /* i64: Time that filtering took; for a class of pods, whose verdicts and scores are kept together, with scoring; for victims the whole dry run. */
#define BERTH_TAG_MAP_RESULT_SCORE_NS 41 /* i64: Time that scoring took, where it was a pass of its own. */
#define BERTH_TAG_MAP_RESULT_TIMED 42 /* list of timed_parts: Of a decision whose calls of plugins were timed one by one, and whose filters and scores were one pass: what that consisted of. One, or none. */

/* map_batch: You have all nodes: answer these requests in order, putting each pod on the node that its answer chooses before you look at the next; stop at the first that is not placed. */
#define BERTH_MSG_MAP_BATCH 50
#define BERTH_TAG_MAP_BATCH_CYCLE 1 /* i64: The first request's cycle; names the batch. */
#define BERTH_TAG_MAP_BATCH_LIMIT_US 2 /* i64: Begin no further request once this long has passed; 0 = no limit. */
#define BERTH_TAG_MAP_BATCH_REQUESTS 3 /* list of map_request: One a pod, all of the step map. */
#define BERTH_TAG_MAP_BATCH_FOLLOWS 4 /* i64: Not 0: this comes right behind the batch of that cycle, before its answer. Unless you have placed all of that one, leave this one alone and do not answer. */

/* map_batch_result: How far a worker came with a batch. */
#define BERTH_MSG_MAP_BATCH_RESULT 51
#define BERTH_TAG_MAP_BATCH_RESULT_CYCLE 1 /* i64: The batch. */
#define BERTH_TAG_MAP_BATCH_RESULT_PLACED 2 /* i64: How many of the answers chose a node: their pods are on it as if by shard_pod. */
#define BERTH_TAG_MAP_BATCH_RESULT_RESULTS 3 /* list of map_result: Answers in order. Those that chose a node go without reasons, plugins and extremes; one that did not is the last, and whole. */

/* map_run: Pods like this one are to be placed, by all workers together: where would you put one after the other, if all came to your nodes? Each is on its node when you look at the next; map_run_end says which stay. */
#define BERTH_MSG_MAP_RUN 53
#define BERTH_TAG_MAP_RUN_REQUEST 1 /* map_request: The request of the first of them. Normalise with its extremes, widened by your own; when grouped with these alone. */
#define BERTH_TAG_MAP_RUN_COUNT 2 /* i64: How many at most. */
#define BERTH_TAG_MAP_RUN_LIMIT_US 3 /* i64: Begin no further once this long has passed; 0 = no limit. */
#define BERTH_TAG_MAP_RUN_GROUPED 4 /* bool: Rules count other pods: answer for each group of nodes that those rules cannot tell apart. The request's counts are those of the other workers alone, of rules that do not group. */
#define BERTH_TAG_MAP_RUN_LIKELY 5 /* i64: How many of them your nodes would get if all nodes were alike, and some more. */
#define BERTH_TAG_MAP_RUN_RISING 6 /* bool: Grouped: go on in a group behind a pod that raises the top of a range, where that can raise no other node's score. */

/* run_place: Where a worker would put one more pod. */
#define BERTH_TAG_RUN_PLACE_NODE 1 /* str: The node. */
#define BERTH_TAG_RUN_PLACE_TOTAL 2 /* i64: Its total score; of a group, without what the rules that group say. */
#define BERTH_TAG_RUN_PLACE_TIES 3 /* i64: How many of your nodes, or of the group's, had it. */
#define BERTH_TAG_RUN_PLACE_NEXT_TOTAL 4 /* i64: Grouped: the node's total with the pod on it. */
#define BERTH_TAG_RUN_PLACE_FITS 5 /* bool: Grouped: one more pod would fit there then, as far as rules by node say. */
#define BERTH_TAG_RUN_PLACE_NOT_PUT 6 /* bool: Grouped, of the last: you have not put a pod there; what comes behind it is not known. */
#define BERTH_TAG_RUN_PLACE_RAISED 7 /* list of extreme: Grouped, when rising: the group's ranges that a pod here raises. What comes behind in the group is told with no range that ends below these. */

/* run_key: A label that a rule reads of nodes. */
#define BERTH_TAG_RUN_KEY_KEY 1 /* str: Its key. */
#define BERTH_TAG_RUN_KEY_PRESENCE 2 /* bool: It only matters whether a node has it. */

/* run_rule: A rule that counts pods, to one worker. */
#define BERTH_TAG_RUN_RULE_PLUGIN 1 /* str: The plugin. */
#define BERTH_TAG_RUN_RULE_GROUPS 2 /* bool: It speaks for groups of your nodes; else for each node by itself. */
#define BERTH_TAG_RUN_RULE_KEYS 3 /* list of run_key: The labels that tell its groups apart. */

/* run_value: What the nodes of a group have for one label. */
#define BERTH_TAG_RUN_VALUE_PRESENT 1 /* bool: They have it. */
#define BERTH_TAG_RUN_VALUE_VALUE 2 /* str: With this value. */

/* run_own: What each node of a group counts for itself alone, to one rule. */
#define BERTH_TAG_RUN_OWN_SLOT 1 /* i64: The slot of the rule's counts. */
#define BERTH_TAG_RUN_OWN_COUNT 2 /* i64: The count; 0 = there is none. */

/* run_group: Nodes of one worker that counting rules cannot tell apart. */
#define BERTH_TAG_RUN_GROUP_VALUES 1 /* list of run_value: For all keys of all rules, in their order. */
#define BERTH_TAG_RUN_GROUP_OWN 2 /* list of run_own: One a rule. */
#define BERTH_TAG_RUN_GROUP_NEXT_OWN 3 /* list of run_own: The same of a node that one more pod is on. */
#define BERTH_TAG_RUN_GROUP_PASSING 4 /* i64: How many of the nodes pass the rules by node. */
#define BERTH_TAG_RUN_GROUP_EXTREMES 5 /* list of extreme: Range of the raw scores of each plugin that normalises and scores by node; the same behind each place that a pod was put on, but for what it says it raises. */
#define BERTH_TAG_RUN_GROUP_ADDS 6 /* list of plugin_counts: What one more pod on a node adds to the counts. */
#define BERTH_TAG_RUN_GROUP_PLACES 7 /* list of run_place: In order. */

/* map_run_result: Where one worker would put pods of a run. */
#define BERTH_MSG_MAP_RUN_RESULT 54
#define BERTH_TAG_MAP_RUN_RESULT_CYCLE 1 /* i64: As in the request. */
#define BERTH_TAG_MAP_RUN_RESULT_ROUND 2 /* i64: As in the request. */
#define BERTH_TAG_MAP_RUN_RESULT_FEASIBLE 3 /* i64: Your nodes that passed the filters, for the first; grouped: those by node. */
#define BERTH_TAG_MAP_RUN_RESULT_FAILS 4 /* bool: Something failed, or cannot be told: the pods are to be asked about one by one. */
#define BERTH_TAG_MAP_RUN_RESULT_EXTREMES 5 /* list of extreme: Range of the raw scores of each plugin that normalises: the same for each place; grouped: the range that was normalised with. */
#define BERTH_TAG_MAP_RUN_RESULT_FILTER_NS 7 /* i64: Time that filtering and scoring took, for all places. */
#define BERTH_TAG_MAP_RUN_RESULT_SKIPPED 8 /* i64: As in map_result, for the first. */
#define BERTH_TAG_MAP_RUN_RESULT_SCORE_SKIPPED 9 /* i64: As in map_result, for the first. */
#define BERTH_TAG_MAP_RUN_RESULT_TIMED 13 /* list of timed_parts: As in map_result: all places that were timed so, in one. */
#define BERTH_TAG_MAP_RUN_RESULT_PLACES 6 /* list of run_place: In order; fewer than asked for when time, nodes or the same extremes ran out. */
#define BERTH_TAG_MAP_RUN_RESULT_RULES 10 /* list of run_rule: Grouped: the rules that count, in the profile's order. */
#define BERTH_TAG_MAP_RUN_RESULT_COUNTS 11 /* list of plugin_counts: Grouped: what they count over your nodes. */
#define BERTH_TAG_MAP_RUN_RESULT_GROUPS 12 /* list of run_group: Grouped: those with nodes that pass; places is empty. */

/* run_pod: Who a pod of a run is. */
#define BERTH_TAG_RUN_POD_UID 1 /* str: UID. */
#define BERTH_TAG_RUN_POD_NAME 2 /* str: Name. */
#define BERTH_TAG_RUN_POD_PLACE 3 /* i64: Which of the places told, counted from 0, group after group. */

/* map_run_end: These places of a run are taken, by these pods; the others are free again. Who takes a place on which no pod was put comes by shard_pod. */
#define BERTH_MSG_MAP_RUN_END 55
#define BERTH_TAG_MAP_RUN_END_CYCLE 1 /* i64: The run's. */
#define BERTH_TAG_MAP_RUN_END_PODS 2 /* list of run_pod: Fewer than you told of, or none. */
#define BERTH_TAG_MAP_RUN_END_PLACED 3 /* i64: How many pods of the run have a place, on whosever nodes. */

/* map_picks: Pods unlike each other are to be placed, by all workers together: which of your nodes, as they are, would be best for each? No pod is put anywhere. */
#define BERTH_MSG_MAP_PICKS 118
#define BERTH_TAG_MAP_PICKS_CYCLE 1 /* i64: The first request's cycle; names the question. */
#define BERTH_TAG_MAP_PICKS_ROUND 2 /* i64: 1; then counted on with every further question of the cycle. */
#define BERTH_TAG_MAP_PICKS_LIMIT_US 3 /* i64: Begin no further request once this long has passed; 0 = no limit. */
#define BERTH_TAG_MAP_PICKS_REQUESTS 4 /* list of map_request: One a pod, 64 at most, all of the step map. Normalise with its extremes, widened by your own. */

/* pick_rival: The node that was picked for a pod before this one, and might be better for this one, too. */
#define BERTH_TAG_PICK_RIVAL_PICK 1 /* i64: Number of that pick, from 0 on. */
#define BERTH_TAG_PICK_RIVAL_TOTAL 2 /* i64: What the node comes to for this pod, while the other one is not there. */

/* node_pick: Which of a worker's nodes is best for a pod. */
#define BERTH_TAG_NODE_PICK_NODE 1 /* str: The best but for those that were picked before it; empty: there is none. */
#define BERTH_TAG_NODE_PICK_TOTAL 2 /* i64: Its total score. */
#define BERTH_TAG_NODE_PICK_TIES 3 /* i64: How many nodes have it, but for those that were picked before. */
#define BERTH_TAG_NODE_PICK_FEASIBLE 4 /* i64: How many passed the filters, those that were picked before included. */
#define BERTH_TAG_NODE_PICK_FAILS 5 /* bool: Something failed, or cannot be told: the pod is to be asked about alone. */
#define BERTH_TAG_NODE_PICK_EXTREMES 6 /* list of extreme: Range of the raw scores of each plugin that normalises, where it is another one than the request's. */
#define BERTH_TAG_NODE_PICK_RIVALS 7 /* list of pick_rival: Nodes that were picked before and come to more than this one; all that pass where there is none. */
#define BERTH_TAG_NODE_PICK_TIED 10 /* i64: Bit i: the node of pick i comes to as much as this one. */
#define BERTH_TAG_NODE_PICK_SKIPPED 8 /* i64: As in map_result; told are the bits that are others than the pick's before it. */
#define BERTH_TAG_NODE_PICK_SCORE_SKIPPED 9 /* i64: The same. */

/* map_picks_result: Which of a worker's nodes are best for pods unlike each other. */
#define BERTH_MSG_MAP_PICKS_RESULT 119
#define BERTH_TAG_MAP_PICKS_RESULT_CYCLE 1 /* i64: As in the request. */
#define BERTH_TAG_MAP_PICKS_RESULT_ROUND 2 /* i64: As in the request. */
#define BERTH_TAG_MAP_PICKS_RESULT_FILTER_NS 3 /* i64: Time that filtering and scoring took, for all picks. */
#define BERTH_TAG_MAP_PICKS_RESULT_PICKS 4 /* list of node_pick: In order; fewer than asked for when time ran out. */
#define BERTH_TAG_MAP_PICKS_RESULT_TIMED 5 /* list of timed_parts: As in map_result: all picks that were timed so, in one. */

/* check_pod: Where a pod goes, if it goes there. */
#define BERTH_TAG_CHECK_POD_NODE 1 /* str: The node, if it is one of yours. */
#define BERTH_TAG_CHECK_POD_TOTAL 2 /* i64: What its node comes to, with none of these pods there. */

/* map_check: Some of the pods that you were asked about last would go to these nodes, one after the other: are those of yours that get one still good for the pods behind it, or better? */
#define BERTH_MSG_MAP_CHECK 122
#define BERTH_TAG_MAP_CHECK_CYCLE 1 /* i64: Names the question, which map_picks asked. */
#define BERTH_TAG_MAP_CHECK_ROUND 2 /* i64: Its round. */
#define BERTH_TAG_MAP_CHECK_PODS 3 /* list of check_pod: The first of its pods, in order. */

/* checked_node: What a node with pods of a check on it is to a pod behind those. */
#define BERTH_TAG_CHECKED_NODE_POD 1 /* i64: Number of the pod, from 0 on. */
#define BERTH_TAG_CHECKED_NODE_NODE 2 /* str: The node. */
#define BERTH_TAG_CHECKED_NODE_TOTAL 3 /* i64: Its total score. */
#define BERTH_TAG_CHECKED_NODE_REJECTED 4 /* bool: It does not pass any more. */
#define BERTH_TAG_CHECKED_NODE_FAILS 5 /* bool: It cannot be told. */

/* map_checked: What became of a worker's nodes, with pods on them. */
#define BERTH_MSG_MAP_CHECKED 123
#define BERTH_TAG_MAP_CHECKED_CYCLE 1 /* i64: As in the request. */
#define BERTH_TAG_MAP_CHECKED_ROUND 2 /* i64: As in the request. */
#define BERTH_TAG_MAP_CHECKED_CHANGED 3 /* list of checked_node: By pod, in order: where a node comes to as much as the pod's own, or more, and where it does not pass any more. */

/* picked_place: Where a pod of a question goes. */
#define BERTH_TAG_PICKED_PLACE_POD 1 /* i64: Number of the pod, from 0 on. */
#define BERTH_TAG_PICKED_PLACE_NODE 2 /* str: A node of yours. */

/* map_picks_end: These pods that you were asked about are on these nodes of yours, as if by shard_pod. */
#define BERTH_MSG_MAP_PICKS_END 124
#define BERTH_TAG_MAP_PICKS_END_CYCLE 1 /* i64: Names the question, which map_picks asked. */
#define BERTH_TAG_MAP_PICKS_END_ROUND 2 /* i64: Its round. */
#define BERTH_TAG_MAP_PICKS_END_PODS 3 /* list of picked_place: In order. */

/* extender_ref: An extender of the configuration. */
#define BERTH_TAG_EXTENDER_REF_INDEX 1 /* i64: Its place there, from 0. */
#define BERTH_TAG_EXTENDER_REF_URL 2 /* str: Its urlPrefix: two processes whose files differ find out. */

/* extender_refusal: A node that an extender turns away. */
#define BERTH_TAG_EXTENDER_REFUSAL_NODE 1 /* str: The node. */
#define BERTH_TAG_EXTENDER_REFUSAL_REASON 2 /* str: Why; goes into the pod's message as it is. */
#define BERTH_TAG_EXTENDER_REFUSAL_UNRESOLVABLE 3 /* bool: Removing pods would not help. */
#define BERTH_TAG_EXTENDER_REFUSAL_PLUGIN 4 /* str: The plugin on the bus that does; empty = an extender. */

/* extender_score: What extenders add to a node's total. */
#define BERTH_TAG_EXTENDER_SCORE_NODE 1 /* str: The node. */
#define BERTH_TAG_EXTENDER_SCORE_SCORE 2 /* i64: Score times weight times 10, summed over the extenders. */

/* extend: Ask these extenders about a pod. Owed: exactly one extended. */
#define BERTH_MSG_EXTEND 57
#define BERTH_TAG_EXTEND_ID 1 /* i64: Comes back in the answer. */
#define BERTH_TAG_EXTEND_UID 2 /* str: The pod's UID. */
#define BERTH_TAG_EXTEND_NAMESPACE_NAME 3 /* str: Its namespace. */
#define BERTH_TAG_EXTEND_NAME 4 /* str: Its name. */
#define BERTH_TAG_EXTEND_STEP 5 /* one of extend_step: The question. */
#define BERTH_TAG_EXTEND_EXTENDERS 6 /* list of extender_ref: Those that are interested, in the order in which they filter. */
#define BERTH_TAG_EXTEND_NODES 7 /* list of str: nodes: the feasible ones, sorted. */
#define BERTH_TAG_EXTEND_CANDIDATES 8 /* list of candidate: victims: where pods could make room, and which. */
#define BERTH_TAG_EXTEND_EXTENDERS_HASH 9 /* i64: Of all extenders of the configuration that is decided with; 0 = not said. */

/* extended: What the extenders say. */
#define BERTH_MSG_EXTENDED 58
#define BERTH_TAG_EXTENDED_ID 1 /* i64: As asked. */
#define BERTH_TAG_EXTENDED_ERROR 2 /* str: Not empty: an extender that may not be ignored failed, and with it the attempt. */
#define BERTH_TAG_EXTENDED_GONE 3 /* bool: The pod does not exist any more, or it is another one of its name. */
#define BERTH_TAG_EXTENDED_ALL 4 /* bool: nodes: every node passed. */
#define BERTH_TAG_EXTENDED_NODES 5 /* list of str: nodes: otherwise those that passed, sorted. */
#define BERTH_TAG_EXTENDED_REFUSED 6 /* list of extender_refusal: nodes: others, as far as reasons were given; each node once. */
#define BERTH_TAG_EXTENDED_SCORES 7 /* list of extender_score: nodes: those that are not 0. */
#define BERTH_TAG_EXTENDED_BARE 8 /* bool: nodes: they came back as objects, which upstream then scores as if no pod were on them. */
#define BERTH_TAG_EXTENDED_CANDIDATES 9 /* list of candidate: victims: the nodes that remain, and the victims there by UID. */
#define BERTH_TAG_EXTENDED_IGNORED 10 /* bool: victims: it failed and is ignorable: the candidates stay as they were. */
#define BERTH_TAG_EXTENDED_UID 11 /* str: The pod's UID. */

/* plugin_pod: A pod on a node, as a plugin is told of it. */
#define BERTH_TAG_PLUGIN_POD_NAMESPACE_NAME 1 /* str: Namespace. */
#define BERTH_TAG_PLUGIN_POD_NAME 2 /* str: Name. */
#define BERTH_TAG_PLUGIN_POD_UID 3 /* str: UID. */
#define BERTH_TAG_PLUGIN_POD_LABELS 4 /* list of label: metadata.labels, sorted by key. */
#define BERTH_TAG_PLUGIN_POD_REQUESTED 5 /* list of quantity: What it takes. */
#define BERTH_TAG_PLUGIN_POD_PRIORITY 6 /* i64: spec.priority, none = 0. */
#define BERTH_TAG_PLUGIN_POD_ASSUMED 7 /* bool: It is only about to be bound. */

/* plugin_node: A node, as a plugin is told of it. */
#define BERTH_TAG_PLUGIN_NODE_NAME 1 /* str: Name. */
#define BERTH_TAG_PLUGIN_NODE_LABELS 2 /* list of label: metadata.labels, sorted by key. */
#define BERTH_TAG_PLUGIN_NODE_TAINTS 3 /* list of taint: spec.taints, in order. */
#define BERTH_TAG_PLUGIN_NODE_UNSCHEDULABLE 4 /* bool: spec.unschedulable. */
#define BERTH_TAG_PLUGIN_NODE_ALLOCATABLE 5 /* list of quantity: status.allocatable. */
#define BERTH_TAG_PLUGIN_NODE_REQUESTED 6 /* list of quantity: What the pods on it take, those included that are only about to be bound. */
#define BERTH_TAG_PLUGIN_NODE_PODS 7 /* i64: How many pods that are. */
#define BERTH_TAG_PLUGIN_NODE_REASONS 10 /* list of str: postFilter: why it is no good. */
#define BERTH_TAG_PLUGIN_NODE_REJECTED_BY 11 /* str: postFilter: the plugin that says so. */
#define BERTH_TAG_PLUGIN_NODE_UNRESOLVABLE 12 /* bool: postFilter: removing pods would not help. */
#define BERTH_TAG_PLUGIN_NODE_CONDITIONS 13 /* list of label: status.conditions as type and status. */
#define BERTH_TAG_PLUGIN_NODE_ANNOTATIONS 14 /* list of label: metadata.annotations that some plugin wants to be told of, sorted by key. */
#define BERTH_TAG_PLUGIN_NODE_PODS_THERE 15 /* list of plugin_pod: nodeFacts Pods: those pods. */

/* plugin_refusal: A node that a plugin turns away. */
#define BERTH_TAG_PLUGIN_REFUSAL_NODE 1 /* str: The node. */
#define BERTH_TAG_PLUGIN_REFUSAL_REASON 2 /* str: Why; goes into the pod's message as it is. Empty: in our words. */
#define BERTH_TAG_PLUGIN_REFUSAL_UNRESOLVABLE 3 /* bool: Removing pods would not help. */

/* plugin_opinion: What a plugin thinks of a node. */
#define BERTH_TAG_PLUGIN_OPINION_NODE 1 /* str: The node. */
#define BERTH_TAG_PLUGIN_OPINION_SCORE 2 /* i64: 0 to 100; multiplied with the plugin's weight and added to the node's total. */

/* plugin_ask: Say what you think of this pod. Owed: exactly one plugin_answer, within the deadline. */
#define BERTH_MSG_PLUGIN_ASK 100
#define BERTH_TAG_PLUGIN_ASK_ID 1 /* i64: Comes back in the answer. */
#define BERTH_TAG_PLUGIN_ASK_STEP 2 /* one of plugin_step: The question. */
#define BERTH_TAG_PLUGIN_ASK_POD 3 /* pod: The pod. */
#define BERTH_TAG_PLUGIN_ASK_NODES 4 /* list of plugin_node: All nodes in question, sorted by name. */
#define BERTH_TAG_PLUGIN_ASK_DEADLINE_MS 5 /* i64: So much time there is for the answer. */
#define BERTH_TAG_PLUGIN_ASK_REASON 10 /* str: postFilter: why no node was looked at; empty = they were. */

/* plugin_answer: What a plugin thinks of a pod. */
#define BERTH_MSG_PLUGIN_ANSWER 101
#define BERTH_TAG_PLUGIN_ANSWER_ID 1 /* i64: As asked. */
#define BERTH_TAG_PLUGIN_ANSWER_ERROR 2 /* str: Not empty: the plugin could not find out. */
#define BERTH_TAG_PLUGIN_ANSWER_REFUSED 3 /* list of plugin_refusal: filter: the nodes that are no good; all others pass. */
#define BERTH_TAG_PLUGIN_ANSWER_SCORES 4 /* list of plugin_opinion: score: of nodes that are not mentioned it is 0. */
#define BERTH_TAG_PLUGIN_ANSWER_VERDICT 5 /* str: preEnqueue, preFilter, reserve, preBind: allow (also when empty) or deny; permit: also wait for a plugin_permit; bind: bound, deny, or empty: it is left to the next one. A text, as another one is an error of the plugin. */
#define BERTH_TAG_PLUGIN_ANSWER_REASON 6 /* str: deny: why; postFilter without a node: why there is none. */
#define BERTH_TAG_PLUGIN_ANSWER_TIMEOUT_MS 7 /* i64: wait: how long at most; 0 = as long as is configured. */
#define BERTH_TAG_PLUGIN_ANSWER_SKIP 10 /* bool: preFilter, preScore: the plugin's filter, or its score, has nothing to do for this pod, and is not asked. */
#define BERTH_TAG_PLUGIN_ANSWER_NARROWED 11 /* bool: preFilter: only those in nodes are to be looked at, if there are any. */
#define BERTH_TAG_PLUGIN_ANSWER_NODES 12 /* list of str: preFilter: the only nodes in question; without any, and not narrowed, all are. */
#define BERTH_TAG_PLUGIN_ANSWER_NORMALIZE 13 /* str: score: what makes 0 to 100 of any scores: highest (the greatest becomes 100), lowest (likewise, and then 100 less that), range (the least becomes 0, the greatest 100). Empty: they are 0 to 100. A text, as another one is an error of the plugin. */
#define BERTH_TAG_PLUGIN_ANSWER_NODE 14 /* str: postFilter: the pod is nominated to it, and tried again. */
#define BERTH_TAG_PLUGIN_ANSWER_UNRESOLVABLE 15 /* bool: postFilter without a node: no other plugin is asked. */
#define BERTH_TAG_PLUGIN_ANSWER_KEY 20 /* i64: queueSort: pods with a larger one go first; among equals who has waited longest. */

/* plugin_permit: A pod that waits for this plugin's permission has it, or never gets it. */
#define BERTH_MSG_PLUGIN_PERMIT 102
#define BERTH_TAG_PLUGIN_PERMIT_UID 1 /* str: The pod's UID. */
#define BERTH_TAG_PLUGIN_PERMIT_ALLOW 2 /* bool: True: it may be bound; false: its attempt fails. */
#define BERTH_TAG_PLUGIN_PERMIT_REASON 3 /* str: Why not. */

/* plugin_hint: Something has happened: which of these pods, that you have turned away, is it worth to try again? Owed: exactly one plugin_hinted, within the deadline; without it, of all. */
#define BERTH_MSG_PLUGIN_HINT 130
#define BERTH_TAG_PLUGIN_HINT_ID 1 /* i64: Comes back in the answer. */
#define BERTH_TAG_PLUGIN_HINT_DEADLINE_MS 2 /* i64: So much time there is for the answer. */
#define BERTH_TAG_PLUGIN_HINT_EVENT 3 /* str: What has happened, as upstream labels it: NodeAdd, AssignedPodDelete, … */
#define BERTH_TAG_PLUGIN_HINT_NAMESPACE_NAME 4 /* str: Of the object that it has happened to; empty: it has none. */
#define BERTH_TAG_PLUGIN_HINT_NAME 5 /* str: Its name. */
#define BERTH_TAG_PLUGIN_HINT_PODS 6 /* list of pod: The pods. */
#define BERTH_TAG_PLUGIN_HINT_NODES 7 /* list of plugin_node: The node as it is now, where the event is about one that is there; without what its pods take. */

/* plugin_hinted: Which pods are worth another attempt. */
#define BERTH_MSG_PLUGIN_HINTED 131
#define BERTH_TAG_PLUGIN_HINTED_ID 1 /* i64: As asked. */
#define BERTH_TAG_PLUGIN_HINTED_ERROR 2 /* str: Not empty: the plugin could not find out; then all are. */
#define BERTH_TAG_PLUGIN_HINTED_QUEUE 3 /* list of str: UIDs of the pods to be tried again; the others sleep on. */

/* plugin_activate: Try these pods now, whatever they wait for (upstream's Activate). Nothing is owed. */
#define BERTH_MSG_PLUGIN_ACTIVATE 132
#define BERTH_TAG_PLUGIN_ACTIVATE_PODS 1 /* list of str: Each as NAMESPACE/NAME; who does not wait is left alone. */

/* plugin_told: What became of a pod. No answer is owed. */
#define BERTH_MSG_PLUGIN_TOLD 103
#define BERTH_TAG_PLUGIN_TOLD_WHAT 1 /* one of plugin_news: The news. */
#define BERTH_TAG_PLUGIN_TOLD_UID 2 /* str: The pod's UID. */
#define BERTH_TAG_PLUGIN_TOLD_NAMESPACE_NAME 3 /* str: Its namespace. */
#define BERTH_TAG_PLUGIN_TOLD_NAME 4 /* str: Its name. */
#define BERTH_TAG_PLUGIN_TOLD_NODE 5 /* str: The node. */

/* plugin_back: What a plugin says may be another thing now, and no object has changed (it did not answer and does again; devices or volumes that were reserved, or in doubt, are free): pods that it may have turned away are worth another attempt. */
#define BERTH_MSG_PLUGIN_BACK 104
#define BERTH_TAG_PLUGIN_BACK_NAME 1 /* str: The plugin; empty: room is free that nominations kept, which may help anybody. */

/* past_decision: A decision about a pod, as it was made. */
#define BERTH_TAG_PAST_DECISION_UID 1 /* str: The pod's UID. */
#define BERTH_TAG_PAST_DECISION_WALL_US 2 /* i64: When: microseconds since 1970. */
#define BERTH_TAG_PAST_DECISION_ATTEMPT 3 /* i64: Which attempt it was, from 1 on; 0 = not known. */
#define BERTH_TAG_PAST_DECISION_NODE 4 /* str: Where it was placed, or room was to be made for it; empty = nowhere. */
#define BERTH_TAG_PAST_DECISION_PLACED 5 /* bool: It was placed there. */
#define BERTH_TAG_PAST_DECISION_SCORE 6 /* i64: The node's total. */
#define BERTH_TAG_PAST_DECISION_NODES 7 /* i64: How many nodes there were. */
#define BERTH_TAG_PAST_DECISION_FEASIBLE 8 /* i64: On how many of them it could have been. */
#define BERTH_TAG_PAST_DECISION_VICTIMS 9 /* i64: How many pods were to go for it. */
#define BERTH_TAG_PAST_DECISION_MESSAGE 10 /* str: Why it was not placed, as in its condition. */
#define BERTH_TAG_PAST_DECISION_NAMESPACE_NAME 11 /* str: The pod's namespace, where decisions are told of whichever pods; else empty. */
#define BERTH_TAG_PAST_DECISION_NAME 12 /* str: Likewise its name. */

/* explain_request: Asks how it decides, and what it has decided about a pod. Owed: exactly one explained. */
#define BERTH_MSG_EXPLAIN_REQUEST 113
#define BERTH_TAG_EXPLAIN_REQUEST_NAMESPACE_NAME 1 /* str: The pod's namespace. */
#define BERTH_TAG_EXPLAIN_REQUEST_NAME 2 /* str: Its name; empty = of no pod. */
#define BERTH_TAG_EXPLAIN_REQUEST_LATEST 3 /* i64: Not 0: so many of the last decisions are told, of whichever pods, 1000 at most, and nothing of how it decides. */

/* explained: How it decides, and what is kept of its decisions about a pod. */
#define BERTH_MSG_EXPLAINED 114
#define BERTH_TAG_EXPLAINED_DECISIONS 1 /* list of past_decision: The last ones about pods of that name, newest first. */
#define BERTH_TAG_EXPLAINED_KEPT 2 /* i64: Of how many decisions something is kept. */
#define BERTH_TAG_EXPLAINED_OLDEST_US 3 /* i64: When the oldest of them was made; 0 = there is none. */
#define BERTH_TAG_EXPLAINED_WAITS_FOR 4 /* str: Why it decides nothing now; empty = it does. */
#define BERTH_TAG_EXPLAINED_STATE 5 /* str: What it does with the pod now; empty = nothing. */
#define BERTH_TAG_EXPLAINED_RELEASE 6 /* i64: Minor version of the Kubernetes that it decides as. */
#define BERTH_TAG_EXPLAINED_TIE_BREAK 7 /* one of tie_break_rule: Which of the best nodes it takes. */
#define BERTH_TAG_EXPLAINED_PROFILES 8 /* list of profile: What it decides with. */
#define BERTH_TAG_EXPLAINED_ASKS 9 /* list of str: Extenders and plugins on the bus, whom nobody asks to explain. */

/* claim_binding: What is to become of a claim before its pod is bound. */
#define BERTH_TAG_CLAIM_BINDING_NAMESPACE_NAME 1 /* str: The claim's namespace, which is the pod's. */
#define BERTH_TAG_CLAIM_BINDING_NAME 2 /* str: The claim. */
#define BERTH_TAG_CLAIM_BINDING_UID 3 /* str: Its UID. */
#define BERTH_TAG_CLAIM_BINDING_VOLUME_NAME 4 /* str: The PersistentVolume whose claimRef is to name it; empty = a volume is to be provisioned. */
#define BERTH_TAG_CLAIM_BINDING_PREBOUND 5 /* bool: The volume's claimRef names the claim already. */
#define BERTH_TAG_CLAIM_BINDING_RESOURCE_VERSION 6 /* i64: The claim's, as decided on; when it is to be provisioned a precondition of the write, 0 = none. */
#define BERTH_TAG_CLAIM_BINDING_VOLUME_VERSION 7 /* i64: The volume's, as decided on: a precondition of the write, 0 = none. */

/* device_allocation: The devices that a ResourceClaim is given with a bind. */
#define BERTH_TAG_DEVICE_ALLOCATION_CLAIM 1 /* str: The claim, in the pod's namespace. */
#define BERTH_TAG_DEVICE_ALLOCATION_UID 2 /* str: Its UID, a precondition of the write. */
#define BERTH_TAG_DEVICE_ALLOCATION_DEVICES 3 /* list of allocated_device: The devices. */
#define BERTH_TAG_DEVICE_ALLOCATION_CONFIG 4 /* list of opaque_config: Their configuration, with its source. */
#define BERTH_TAG_DEVICE_ALLOCATION_HAS_TERMS 5 /* bool: True when they are for some nodes only. */
#define BERTH_TAG_DEVICE_ALLOCATION_TERMS 6 /* list of node_term: Those nodes; ORed. */
#define BERTH_TAG_DEVICE_ALLOCATION_SHARED 7 /* bool: Of a bind: other pods of its group are given it, too. Whoever is first writes it, and the others find it. */
#define BERTH_TAG_DEVICE_ALLOCATION_DOCUMENT 9 /* str: Of a bind: the claim as the scheduler knows it, as resource_claim.document. It is written without being read before; where that fails, and where this is empty, it is read. */

/* claim_overhead: What a claim's devices cost of a resource of the node on top. */
#define BERTH_TAG_CLAIM_OVERHEAD_NAME 1 /* str: The resource. */
#define BERTH_TAG_CLAIM_OVERHEAD_PER_POD 2 /* str: perPod; empty = not set. */
#define BERTH_TAG_CLAIM_OVERHEAD_PER_CONTAINER 3 /* str: perContainer; empty = not set. */

/* claim_room: What a claim's devices take of the node's own resources, as status.nodeAllocatableResourceClaimStatuses says it. */
#define BERTH_TAG_CLAIM_ROOM_CLAIM 1 /* str: The claim. */
#define BERTH_TAG_CLAIM_ROOM_CONTAINERS 2 /* list of str: Containers that name it. */
#define BERTH_TAG_CLAIM_ROOM_AMOUNTS 3 /* list of label: mapping, in 1.36 resources; by name. */
#define BERTH_TAG_CLAIM_ROOM_OVERHEADS 4 /* list of claim_overhead: overhead; by name. */

/* extended_use: Which request of the special claim covers an extended resource of a container. */
#define BERTH_TAG_EXTENDED_USE_CONTAINER 1 /* str: The container's name. */
#define BERTH_TAG_EXTENDED_USE_RESOURCE 2 /* str: The extended resource. */
#define BERTH_TAG_EXTENDED_USE_REQUEST 3 /* str: The request's name. */

/* extended_claim: The ResourceClaim that is made for the extended resources of a pod that devices stand for. */
#define BERTH_TAG_EXTENDED_CLAIM_REQUESTS 1 /* list of device_request: spec.devices.requests, each one of a kind. */
#define BERTH_TAG_EXTENDED_CLAIM_ALLOCATION 2 /* device_allocation: What it is given; claim and uid are empty, as both are not known before it is made. */
#define BERTH_TAG_EXTENDED_CLAIM_USES 3 /* list of extended_use: For the pod's status.extendedResourceClaimStatus.requestMappings, in order. None, as no requests: the claim is made for nothing, and the bind fails, as upstream's does. */

/* decision_hops: How long the parts of a decision took that the scheduler knows of, in microseconds. Behind them comes what is left until the bind was sent. */
#define BERTH_TAG_DECISION_HOPS_TO_SCHEDULER 1 /* i64: From the queue's sending of the attempt until the scheduler took it, by their wall clocks. */
#define BERTH_TAG_DECISION_HOPS_LINE 2 /* i64: Until workers were asked: behind the decisions before it. */
#define BERTH_TAG_DECISION_HOPS_WORKER 3 /* i64: Until the last of them had sent the answer. */
#define BERTH_TAG_DECISION_HOPS_EVALUATING 4 /* i64: Of this: filtering and scoring for this pod, by the slowest worker. */
#define BERTH_TAG_DECISION_HOPS_BACK 5 /* i64: Until the scheduler took that answer, by their wall clocks. */

/* bind: Bind this pod. Owed: exactly one bind_result. */
#define BERTH_MSG_BIND 60
#define BERTH_TAG_BIND_UID 1 /* str: UID, a precondition of the write. */
#define BERTH_TAG_BIND_NAMESPACE_NAME 2 /* str: Namespace. */
#define BERTH_TAG_BIND_NAME 3 /* str: Name. */
#define BERTH_TAG_BIND_NODE_NAME 4 /* str: The chosen node. */
#define BERTH_TAG_BIND_SCHEDULER_NAME 5 /* str: Profile, for the event. */
#define BERTH_TAG_BIND_RESOURCE_VERSION 6 /* i64: The pod's, for the event. */
#define BERTH_TAG_BIND_CLAIMS 7 /* list of claim_binding: Claims to bind first, in order; empty = none. */
#define BERTH_TAG_BIND_BIND_TIMEOUT_S 8 /* i64: How long binding the claims may take. */
#define BERTH_TAG_BIND_SET_NOMINATED 9 /* bool: True: say in status.nominatedNodeName where it will be, as binding its claims takes a while. */
#define BERTH_TAG_BIND_DEVICE_CLAIMS 12 /* list of device_claim: ResourceClaims to be reserved for the pod first. */
#define BERTH_TAG_BIND_EXTENDERS 13 /* list of extender_ref: The extender that binds the pod instead of us; empty = none. */
#define BERTH_TAG_BIND_ALLOCATIONS 15 /* list of device_allocation: Of device_claims those that have no devices yet, with what they are to be given; the others are allocated already. */
#define BERTH_TAG_BIND_RELIED_ON 20 /* list of device_allocation: Of device_claims those that had devices when the pod was decided: which, by claim, UID and devices. With other devices the pod is not bound. */
#define BERTH_TAG_BIND_EXTENDERS_HASH 14 /* i64: With it: of all extenders of the configuration that was decided with; 0 = not said. */
#define BERTH_TAG_BIND_EXTENDED 17 /* list of extended_claim: A claim to be made for the pod, after device_claims; empty = none, more than one is malformed. */
#define BERTH_TAG_BIND_CLAIM_ROOMS 21 /* list of claim_room: For the pod's status, before it is bound: what its claims take of the node; empty = nothing is said. */
#define BERTH_TAG_BIND_ROOMS_BY_KIND 22 /* bool: How that is written: mapping and overhead, as since 1.37; false: resources. */
#define BERTH_TAG_BIND_DEVICE_TIMEOUT_MS 18 /* i64: How long allocated devices may take to become ready (bindingTimeout of DynamicResourcesArgs); 0 = 600 s, below 0 = they are not waited for. */
#define BERTH_TAG_BIND_GROUP 23 /* str: With DRAWorkloadResourceClaims: its PodGroup of scheduling.k8s.io, whose reservations are the pod's as well; empty = none. */
#define BERTH_TAG_BIND_GROUP_UID 24 /* str: That one's UID. */
#define BERTH_TAG_BIND_POPPED_US 16 /* i64: When the queue sent the attempt, by its wall clock; 0 = not known (a group's), or this bind was sent before. */
#define BERTH_TAG_BIND_HOPS 19 /* decision_hops: With it: where the time since then went. */
#define BERTH_TAG_BIND_TRACEPARENT 25 /* str: Of an attempt that is traced: the span that the binder's own are children of, as W3C Trace Context writes it; empty: it is not traced. */
#define BERTH_TAG_BIND_PRE_BIND 40 /* list of str: Plugins whose hooks at PreBind are asked behind the claims, in order; empty = none. */
#define BERTH_TAG_BIND_BINDERS 41 /* list of str: Bind plugins, in order, up to DefaultBinder; empty = that one alone. */
#define BERTH_TAG_BIND_POST_BIND 42 /* list of str: Plugins whose hooks at PostBind are told; empty = none. */
#define BERTH_TAG_BIND_BUS_PLUGINS 43 /* list of bus_plugin: Of pre_bind and binders those that are processes on the bus. */
#define BERTH_TAG_BIND_TOLD 44 /* list of pod: With them: the pod as they are told of it. */

/* bind_result: How a bind ended, after any doubt was resolved. */
#define BERTH_MSG_BIND_RESULT 61
#define BERTH_TAG_BIND_RESULT_UID 1 /* str: UID. */
#define BERTH_TAG_BIND_RESULT_NAMESPACE_NAME 2 /* str: Namespace. */
#define BERTH_TAG_BIND_RESULT_NAME 3 /* str: Name. */
#define BERTH_TAG_BIND_RESULT_NODE_NAME 4 /* str: The node that was asked for. */
#define BERTH_TAG_BIND_RESULT_BOUND 5 /* bool: True: the pod is on that node. */
#define BERTH_TAG_BIND_RESULT_CODE 6 /* i64: HTTP status; 0 = no answer. */
#define BERTH_TAG_BIND_RESULT_MESSAGE 7 /* str: The API server's message, or why nothing was written. */
#define BERTH_TAG_BIND_RESULT_GONE 8 /* bool: True: the pod does not exist any more, or has another UID. */
#define BERTH_TAG_BIND_RESULT_ELAPSED_US 9 /* i64: From taking the request to knowing the answer. */
#define BERTH_TAG_BIND_RESULT_PLUGIN 10 /* one of bind_plugin: Who failed, when not bound; none: the bind itself. */
#define BERTH_TAG_BIND_RESULT_ALLOCATED 11 /* list of str: UIDs of the bind's ResourceClaims whose allocation was written or may have been, bound or not, the one that was made included unless it was deleted again: the devices stay in use until the watch has shown it. */
#define BERTH_TAG_BIND_RESULT_EXTENDED 12 /* str: Of the claim that was made for extended resources and was not deleted again: its UID. */
#define BERTH_TAG_BIND_RESULT_EXTENDED_NAME 13 /* str: Its name. */

/* pod_failed: An attempt failed: tell the pod's owner by event and condition. */
#define BERTH_MSG_POD_FAILED 62
#define BERTH_TAG_POD_FAILED_POD 1 /* pod: The pod as last seen, its condition included. */
#define BERTH_TAG_POD_FAILED_REASON 2 /* one of condition_reason: Why, in a word. */
#define BERTH_TAG_POD_FAILED_MESSAGE 3 /* str: The whole message. */
#define BERTH_TAG_POD_FAILED_SET_NOMINATED 4 /* bool: True: status.nominatedNodeName is to become nominated_node. */
#define BERTH_TAG_POD_FAILED_NOMINATED_NODE 5 /* str: The new nomination; empty clears it. */
#define BERTH_TAG_POD_FAILED_EVENT_ONLY 6 /* bool: True: no condition (a pod that is being deleted). */

/* binding: A bind or a preemption that is under way. */
#define BERTH_TAG_BINDING_UID 1 /* str: UID of the pod or the preemptor. */
#define BERTH_TAG_BINDING_NODE_NAME 2 /* str: The node. */

/* leadership: Whether this instance may decide and write; on every change, every second, and to every new peer. */
#define BERTH_MSG_LEADERSHIP 63
#define BERTH_TAG_LEADERSHIP_LEADING 1 /* bool: True: we hold the lease. */
#define BERTH_TAG_LEADERSHIP_LEAD_TERM 2 /* i64: The term; grows with every change of leadership. */
#define BERTH_TAG_LEADERSHIP_HOLDER 3 /* str: Identity of the holder as last observed. */
#define BERTH_TAG_LEADERSHIP_IDENTITY 4 /* str: Our own identity. */
#define BERTH_TAG_LEADERSHIP_IN_FLIGHT 5 /* list of binding: Binds not answered yet; complete in each message. */
#define BERTH_TAG_LEADERSHIP_PREEMPTING 6 /* list of binding: Preemptions not answered yet, by preemptor; complete in each message. */
#define BERTH_TAG_LEADERSHIP_RELEASING 7 /* list of str: UIDs of the claims of which something is being taken back (claim_release) and that is not answered yet; complete in each message. */
#define BERTH_TAG_LEADERSHIP_UNANSWERED 8 /* bool: It stops, and binds, preemptions or releases that were sent are not answered, whether it still waits for them or not: they may come after its end. */

/* readiness: Whether this instance could decide if it led; once a second, and to every new peer. */
#define BERTH_MSG_READINESS 69
#define BERTH_TAG_READINESS_READY 1 /* bool: True: it could. */
#define BERTH_TAG_READINESS_LACKS 2 /* str: What is missing otherwise: the queue, the watcher, snapshot, a fresh view, a worker, workers to catch up. */

/* preempt: Evict these pods for this one. Owed: exactly one preempt_result; a preempt for a preemptor that has one under way for the same node is answered by that one's. */
#define BERTH_MSG_PREEMPT 64
#define BERTH_TAG_PREEMPT_POD 1 /* pod: The preemptor. */
#define BERTH_TAG_PREEMPT_NODE_NAME 2 /* str: Where room is made; empty: only its group is said to have room then. */
#define BERTH_TAG_PREEMPT_VICTIMS 3 /* list of victim: All victims in order; those that terminate already are left alone, and of one whose bind waits for its claims only the bind is ended. */
#define BERTH_TAG_PREEMPT_LOWER 4 /* list of pod: Pods of lower priority that were nominated to this node: their nomination is cleared first. */
#define BERTH_TAG_PREEMPT_GROUP_UID 5 /* str: UID of the PodGroup that room is made for, anywhere; empty: it is for the pod. */
#define BERTH_TAG_PREEMPT_FOR_TREE 6 /* bool: That is a CompositePodGroup. */

/* preempt_result: How a preemption's writes ended. */
#define BERTH_MSG_PREEMPT_RESULT 65
#define BERTH_TAG_PREEMPT_RESULT_UID 1 /* str: The preemptor's UID. */
#define BERTH_TAG_PREEMPT_RESULT_NAMESPACE_NAME 2 /* str: Its namespace. */
#define BERTH_TAG_PREEMPT_RESULT_NAME 3 /* str: Its name. */
#define BERTH_TAG_PREEMPT_RESULT_NODE_NAME 4 /* str: The node. */
#define BERTH_TAG_PREEMPT_RESULT_DONE 5 /* bool: True: every victim is deleted, is terminating, was gone, or was kept from being bound, and no nomination remains. False: make the preemptor try again. */
#define BERTH_TAG_PREEMPT_RESULT_MESSAGE 6 /* str: Why not. */

/* bind_cancel: Stop this bind, unless its Binding was sent already; its bind_result is owed as ever. */
#define BERTH_MSG_BIND_CANCEL 66
#define BERTH_TAG_BIND_CANCEL_UID 1 /* str: The pod's UID. */
#define BERTH_TAG_BIND_CANCEL_NODE_NAME 2 /* str: The node. */
#define BERTH_TAG_BIND_CANCEL_REASON 3 /* str: For the bind_result's message. */

/* group_failed: A group could not be placed, waits or was placed: tell its owner by one event and one condition. */
#define BERTH_MSG_GROUP_FAILED 67
#define BERTH_TAG_GROUP_FAILED_GROUP 1 /* gang: The group as last seen, its condition included. */
#define BERTH_TAG_GROUP_FAILED_SCHEDULED 2 /* bool: True: it is placed, the condition becomes True. */
#define BERTH_TAG_GROUP_FAILED_REASON 3 /* one of condition_reason: Why, in a word. */
#define BERTH_TAG_GROUP_FAILED_MESSAGE 4 /* str: The whole message: member, rule and number of nodes. */
#define BERTH_TAG_GROUP_FAILED_SCHEDULER_NAME 5 /* str: Profile, for the event. */

/* group_status: Patch a PodGroup's status; what is as it was is left out of the patch. Nothing is owed: what got lost is sent again when the group is next looked at. */
#define BERTH_MSG_GROUP_STATUS 68
#define BERTH_TAG_GROUP_STATUS_GROUP 1 /* gang: The group as last seen: what the patch is the difference to. */
#define BERTH_TAG_GROUP_STATUS_PHASE 2 /* str: status.phase. */
#define BERTH_TAG_GROUP_STATUS_SCHEDULED 3 /* i64: status.scheduled, where the API group has it. */
#define BERTH_TAG_GROUP_STATUS_RUNNING 4 /* i64: status.running. */
#define BERTH_TAG_GROUP_STATUS_SUCCEEDED 5 /* i64: status.succeeded. */
#define BERTH_TAG_GROUP_STATUS_FAILED 6 /* i64: status.failed. */
#define BERTH_TAG_GROUP_STATUS_SCHEDULE_START 7 /* i64: status.scheduleStartTime; 0 = leave as it is, negative = now. */
#define BERTH_TAG_GROUP_STATUS_OCCUPIED_BY 8 /* str: status.occupiedBy; empty = leave as it is. */
#define BERTH_TAG_GROUP_STATUS_EVENT_REASON 9 /* str: A warning to tell with it (Timeout); empty = none. */
#define BERTH_TAG_GROUP_STATUS_EVENT_MESSAGE 10 /* str: Its text. */

/* claim_release: Take something back of a ResourceClaim of a pod that is not bound. Owed: exactly one claim_released; another one for a claim that has one under way is answered by that one's. */
#define BERTH_MSG_CLAIM_RELEASE 106
#define BERTH_TAG_CLAIM_RELEASE_WHAT 1 /* one of claim_step: The order. */
#define BERTH_TAG_CLAIM_RELEASE_UID 2 /* str: The pod's UID. */
#define BERTH_TAG_CLAIM_RELEASE_NAMESPACE_NAME 3 /* str: Its namespace, which is the claim's. */
#define BERTH_TAG_CLAIM_RELEASE_NAME 4 /* str: Its name. */
#define BERTH_TAG_CLAIM_RELEASE_CLAIM 5 /* str: The claim. */
#define BERTH_TAG_CLAIM_RELEASE_CLAIM_UID 6 /* str: Its UID, a precondition of the write. */
#define BERTH_TAG_CLAIM_RELEASE_RESOURCE_VERSION 7 /* i64: deallocate: the claim's, as decided on. */
#define BERTH_TAG_CLAIM_RELEASE_GROUP_UID 9 /* str: UID of the pod's PodGroup. unreserve: its reservation goes, not the pod's; deallocate: that it is reserved for it is in nobody's way. Empty = none. */
#define BERTH_TAG_CLAIM_RELEASE_ID 8 /* i64: Names the request; the same when it is sent again. */

/* claim_released: How a claim_release ended. */
#define BERTH_MSG_CLAIM_RELEASED 107
#define BERTH_TAG_CLAIM_RELEASED_WHAT 1 /* one of claim_step: As asked. */
#define BERTH_TAG_CLAIM_RELEASED_UID 2 /* str: The pod's UID. */
#define BERTH_TAG_CLAIM_RELEASED_NAMESPACE_NAME 3 /* str: Its namespace. */
#define BERTH_TAG_CLAIM_RELEASED_CLAIM 4 /* str: The claim. */
#define BERTH_TAG_CLAIM_RELEASED_CLAIM_UID 5 /* str: Its UID. */
#define BERTH_TAG_CLAIM_RELEASED_DONE 6 /* bool: True: it is as was asked for, or the claim is gone. */
#define BERTH_TAG_CLAIM_RELEASED_CODE 7 /* i64: HTTP status of what failed; 0 = no answer. */
#define BERTH_TAG_CLAIM_RELEASED_MESSAGE 8 /* str: Why not, in upstream's words. */
#define BERTH_TAG_CLAIM_RELEASED_ID 9 /* i64: The request's; of several that it answers, the last one's. */

/* nominate: The pod has a node, but waits before it is bound: say in status.nominatedNodeName where it will be. */
#define BERTH_MSG_NOMINATE 105
#define BERTH_TAG_NOMINATE_POD 1 /* pod: The pod as last seen. */
#define BERTH_TAG_NOMINATE_NODE_NAME 2 /* str: The node. */

/* holdings_request: Asks what it holds, to compare (berth compare). Owed: holdings, one behind the other, the last one says so. */
#define BERTH_MSG_HOLDINGS_REQUEST 115
#define BERTH_TAG_HOLDINGS_REQUEST_ID 1 /* i64: Chosen by the asker. */
#define BERTH_TAG_HOLDINGS_REQUEST_SCHEDULERS 2 /* list of str: Of pods without a node those alone that name one of these; none: of nobody. */
#define BERTH_TAG_HOLDINGS_REQUEST_LIST 3 /* str: The set whose things are to be named; empty = none. */

/* held_set: A set of things of which a process holds some. */
#define BERTH_TAG_HELD_SET_NAME 1 /* str: nodes, assigned (pods on a node, as the watcher said), pending (pods without one), share-nodes and share-pods (what workers have, assumed pods included); of the watcher also where it lists a kind, such as /api/v1/pods. */
#define BERTH_TAG_HELD_SET_COUNT 2 /* i64: How many things. */
#define BERTH_TAG_HELD_SET_DIGEST 3 /* i64: Sum of their hashes, without versions: those of disjoint sets can be added. */
#define BERTH_TAG_HELD_SET_VERSIONS 4 /* i64: The same with versions; 0 where none are kept. */

/* held_thing: An object that a process holds. */
#define BERTH_TAG_HELD_THING_NAME 1 /* str: Its name, behind its namespace and / if it has one that is known here. */
#define BERTH_TAG_HELD_THING_UID 2 /* str: Its UID; empty where things are told apart by name. */
#define BERTH_TAG_HELD_THING_VERSION 3 /* i64: metadata.resourceVersion as a number; 0: not kept. */
#define BERTH_TAG_HELD_THING_NODE 4 /* str: Of a pod: the node that it is on. */

/* holdings: What it holds. */
#define BERTH_MSG_HOLDINGS 116
#define BERTH_TAG_HOLDINGS_ID 1 /* i64: The holdings_request's. */
#define BERTH_TAG_HOLDINGS_PART 2 /* i64: From 1 on. */
#define BERTH_TAG_HOLDINGS_LAST 3 /* bool: True: there are no more. The sets, and what follows here, are in that one. */
#define BERTH_TAG_HOLDINGS_THINGS 4 /* list of held_thing: Things of the set that was asked for. */
#define BERTH_TAG_HOLDINGS_SETS 5 /* list of held_set: What it holds of each set. */
#define BERTH_TAG_HOLDINGS_WHOLE 6 /* bool: True: it has had everything once, and is not about to be told all of it anew. */
#define BERTH_TAG_HOLDINGS_EPOCH 7 /* i64: The state stream's, where it is; 0: it has no place in it. */
#define BERTH_TAG_HOLDINGS_SEQUENCE 8 /* i64: Its place there. */
#define BERTH_TAG_HOLDINGS_SERVES 9 /* list of str: Of a queue: whose pods it serves. */
#define BERTH_TAG_HOLDINGS_OWN_WORKER 10 /* bool: It is what the worker inside a scheduler holds; its answers come before the scheduler's. */

/* reread: Read anew what you hold: the watcher lists kinds, queue and scheduler ask it for a snapshot, a worker joins anew. Nothing is forgotten before what is read is there. */
#define BERTH_MSG_REREAD 117
#define BERTH_TAG_REREAD_PATHS 1 /* list of str: Of the watcher: the kinds that it lists there (/api/v1/pods); none: all. */
#define BERTH_TAG_REREAD_OWN_WORKER 2 /* bool: Of a scheduler: for the worker inside it alone. */

#endif
