// Command hints answers, for one line of JSON at a time, which plugins' rejections of a pod
// kube-scheduler v1.36.3 takes an event to cure: it asks the hint functions that the real
// scheduler registers with its queue. For an in-tree disk it answers with its CSI translation.
//
// A line: {"pod": Pod, "resource": "Node", "old": object, "new": object, "profile": "listed",
// "owners": [Service, …]}; an object that is not there is left out. resource may be AssignedPod,
// UnschedulablePod, Node or the kind of a storage object. Or: {"translate": PersistentVolume}, or
// {"inline": Volume, "namespace": "ns"} for a pod's own.
//
// The answer repeats the line with "events": [{"event": "AssignedPodAdd", "plugins": [...]}], each
// update that upstream sees in the change with the plugins that it helps, or with "csi": {...}.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"sort"
	"unsafe"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	csitrans "k8s.io/csi-translation-lib"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	_ "k8s.io/kubernetes/pkg/scheduler/apis/config/v1"
	queue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	"berth.test/oracle/release"
)

// Two profiles: upstream's default, and one with hard default constraints and an added affinity.
const configuration = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: listed
  pluginConfig:
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints:
      - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}
      - {maxSkew: 1, topologyKey: rack, whenUnsatisfiable: ScheduleAnyway}
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions: [{key: disk, operator: Exists}]
`

type line struct {
	Pod       *v1.Pod              `json:"pod,omitempty"`
	Resource  string               `json:"resource,omitempty"`
	Old       json.RawMessage      `json:"old,omitempty"`
	New       json.RawMessage      `json:"new,omitempty"`
	Profile   string               `json:"profile,omitempty"`
	Owners    []json.RawMessage    `json:"owners,omitempty"`
	Translate *v1.PersistentVolume `json:"translate,omitempty"`
	Inline    *v1.Volume           `json:"inline,omitempty"`
	Namespace string               `json:"namespace,omitempty"`
}

type oracle struct {
	informer informers.SharedInformerFactory
	hints    map[string]queue.QueueingHintMap
	logger   klog.Logger
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func newOracle(ctx context.Context) *oracle {
	obj, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(configuration), nil, nil)
	must(err)
	cfg := obj.(*config.KubeSchedulerConfiguration)
	client := fake.NewSimpleClientset()
	o := &oracle{informer: release.Informers(client), logger: klog.FromContext(ctx)}
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	sched, err := scheduler.New(ctx, client, o.informer, nil, profile.NewRecorderFactory(broadcaster),
		scheduler.WithComponentConfigVersion(cfg.TypeMeta.APIVersion), scheduler.WithProfiles(cfg.Profiles...))
	must(err)
	// The queue keeps what the scheduler registered with it for itself.
	field := reflect.ValueOf(sched.SchedulingQueue.(*queue.PriorityQueue)).Elem().FieldByName("queueingHintMap")
	o.hints = reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Interface().(queue.QueueingHintMapPerProfile)
	return o
}

// owners puts Services and controllers where the plugins look them up, and nothing else.
func (o *oracle) owners(list []json.RawMessage) {
	core, apps := o.informer.Core().V1(), o.informer.Apps().V1()
	var services, rcs, sets, stateful []interface{}
	for _, raw := range list {
		var kind metav1.TypeMeta
		must(json.Unmarshal(raw, &kind))
		switch kind.Kind {
		case "Service":
			services = append(services, decode(raw, &v1.Service{}))
		case "ReplicationController":
			rcs = append(rcs, decode(raw, &v1.ReplicationController{}))
		case "ReplicaSet":
			sets = append(sets, decode(raw, &appsv1.ReplicaSet{}))
		case "StatefulSet":
			stateful = append(stateful, decode(raw, &appsv1.StatefulSet{}))
		default:
			panic("not an owner: " + kind.Kind)
		}
	}
	must(core.Services().Informer().GetIndexer().Replace(services, ""))
	must(core.ReplicationControllers().Informer().GetIndexer().Replace(rcs, ""))
	must(apps.ReplicaSets().Informer().GetIndexer().Replace(sets, ""))
	must(apps.StatefulSets().Informer().GetIndexer().Replace(stateful, ""))
}

func decode[T any](raw json.RawMessage, into *T) *T {
	must(json.Unmarshal(raw, into))
	return into
}

// decoded is nil, and not a nil of the object's type, when there is no object.
func decoded[T any](raw json.RawMessage) interface{} {
	if raw == nil {
		return nil
	}
	return decode(raw, new(T))
}

// happened is what upstream's event handlers make of the change.
func happened(l *line) (interface{}, interface{}, []fwk.ClusterEvent) {
	storage := map[string]struct {
		resource fwk.EventResource
		decode   func(json.RawMessage) interface{}
	}{
		"PersistentVolumeClaim": {fwk.PersistentVolumeClaim, decoded[v1.PersistentVolumeClaim]},
		"PersistentVolume":      {fwk.PersistentVolume, decoded[v1.PersistentVolume]},
		"StorageClass":          {fwk.StorageClass, decoded[storagev1.StorageClass]},
		"CSINode":               {fwk.CSINode, decoded[storagev1.CSINode]},
		"CSIDriver":             {fwk.CSIDriver, decoded[storagev1.CSIDriver]},
		"CSIStorageCapacity":    {fwk.CSIStorageCapacity, decoded[storagev1.CSIStorageCapacity]},
		"VolumeAttachment":      {fwk.VolumeAttachment, decoded[storagev1.VolumeAttachment]},
	}
	plain := func(resource fwk.EventResource) []fwk.ClusterEvent {
		action := fwk.Update
		if l.Old == nil {
			action = fwk.Add
		} else if l.New == nil {
			action = fwk.Delete
		}
		return []fwk.ClusterEvent{{Resource: resource, ActionType: action}}
	}
	switch l.Resource {
	case "Node":
		before, after := decoded[v1.Node](l.Old), decoded[v1.Node](l.New)
		if before != nil && after != nil {
			return before, after, framework.NodeSchedulingPropertiesChange(after.(*v1.Node), before.(*v1.Node))
		}
		return before, after, plain(fwk.Node)
	case "AssignedPod", "UnschedulablePod":
		before, after := decoded[v1.Pod](l.Old), decoded[v1.Pod](l.New)
		if before != nil && after != nil {
			return before, after, release.PodEvents(after.(*v1.Pod), before.(*v1.Pod), l.Resource == "UnschedulablePod")
		}
		return before, after, plain(framework.EventAssignedPodAdd.Resource)
	}
	kind, ok := storage[l.Resource]
	if !ok {
		panic("unknown resource " + l.Resource)
	}
	return kind.decode(l.Old), kind.decode(l.New), plain(kind.resource)
}

func (o *oracle) helped(hints queue.QueueingHintMap, pod *v1.Pod, event fwk.ClusterEvent, before, after interface{}) []string {
	set := map[string]bool{}
	for registered, functions := range hints {
		if !framework.MatchClusterEvents(registered, event) {
			continue
		}
		for _, f := range functions {
			hint, err := f.QueueingHintFn(o.logger, pod, before, after)
			if hint == fwk.Queue || err != nil {
				set[f.PluginName] = true
			}
		}
	}
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func (o *oracle) answer(l *line) (string, interface{}) {
	if l.Translate != nil {
		return "csi", csiOf(csitrans.New().TranslateInTreePVToCSI(o.logger, l.Translate))
	}
	if l.Inline != nil {
		return "csi", csiOf(csitrans.New().TranslateInTreeInlineVolumeToCSI(o.logger, l.Inline, l.Namespace))
	}
	o.owners(l.Owners)
	type told struct {
		Event   string   `json:"event"`
		Plugins []string `json:"plugins"`
	}
	name := l.Profile
	if name == "" {
		name = "default-scheduler"
	}
	all := []told{}
	before, after, list := happened(l)
	for _, event := range list {
		all = append(all, told{event.Label(), o.helped(o.hints[name], l.Pod, event, before, after)})
	}
	return "events", all
}

func csiOf(pv *v1.PersistentVolume, err error) interface{} {
	type csi struct {
		Driver   string                 `json:"driver,omitempty"`
		Handle   string                 `json:"handle,omitempty"`
		Affinity *v1.VolumeNodeAffinity `json:"nodeAffinity,omitempty"`
		Error    string                 `json:"error,omitempty"`
	}
	if err != nil {
		return csi{Error: err.Error()}
	}
	return csi{pv.Spec.CSI.Driver, pv.Spec.CSI.VolumeHandle, pv.Spec.NodeAffinity, ""}
}

func main() {
	gates := flag.String("gates", "", "feature gates, as kube-scheduler's --feature-gates")
	flag.Parse()
	must(utilfeature.DefaultMutableFeatureGate.Set(*gates))
	klog.SetOutput(os.Stderr)
	klog.LogToStderr(false)
	o := newOracle(context.Background())
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for in.Scan() {
		var l line
		must(json.Unmarshal(in.Bytes(), &l))
		key, answer := o.answer(&l)
		text, err := json.Marshal(answer)
		must(err)
		fmt.Fprintf(out, "%s,%q:%s}\n", in.Text()[:len(in.Text())-1], key, text)
	}
	must(in.Err())
}
