package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func samplePod() *v1.Pod {
	shared, made, template := "shared", "pod-1-own", "template"
	now := metav1.NewTime(time.Unix(1700000000, 0))
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "space", Name: "pod-1", UID: "u-1", ResourceVersion: "77",
			DeletionTimestamp: &now, Labels: map[string]string{"a": "b"}},
		Spec: v1.PodSpec{NodeName: "node-9", SchedulingGates: []v1.PodSchedulingGate{{Name: "g"}},
			Containers:     []v1.Container{{Name: "c", Image: "i"}},
			ResourceClaims: []v1.PodResourceClaim{{Name: "a", ResourceClaimName: &shared}, {Name: "b", ResourceClaimTemplateName: &template}}},
		Status: v1.PodStatus{ResourceClaimStatuses: []v1.PodResourceClaimStatus{{Name: "b", ResourceClaimName: &made}}, Phase: v1.PodPending, Conditions: []v1.PodCondition{
			{Type: v1.PodScheduled, Status: v1.ConditionTrue}}}}
}

// frame is what kube-apiserver writes: a length, and a WatchEvent around the enveloped object.
func frame(t *testing.T, kind string, pod *v1.Pod) []byte {
	t.Helper()
	client := &Client{}
	raw, err := client.encode("v1", "Pod", pod)
	if err != nil {
		t.Fatal(err)
	}
	body, err := (&metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: raw}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func wanted() PodEvent {
	return PodEvent{Type: "MODIFIED", Namespace: "space", Name: "pod-1", UID: "u-1", Version: "77", Node: "node-9",
		Attempted: true, Gated: true, Deleted: true, Wanted: 2, Claims: "shared,pod-1-own,"}
}

func TestBothEncodingsOfAWatchSayTheSame(t *testing.T) {
	text, err := json.Marshal(map[string]any{"type": "MODIFIED", "object": samplePod()})
	if err != nil {
		t.Fatal(err)
	}
	for asJSON, body := range map[bool][]byte{false: frame(t, "MODIFIED", samplePod()), true: text} {
		var events []PodEvent
		err := decodePods(bytes.NewReader(body), asJSON, func(event *PodEvent) { events = append(events, *event) })
		if err != io.EOF || len(events) != 1 || events[0] != wanted() {
			t.Errorf("json=%v: %v, %+v", asJSON, err, events)
		}
	}
}

func TestBothEncodingsOfAListSayTheSame(t *testing.T) {
	list := &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "99"}, Items: []v1.Pod{*samplePod(), *samplePod()}}
	for _, asJSON := range []bool{false, true} {
		text, err := (&Client{json: asJSON}).encode("v1", "PodList", list)
		if err != nil {
			t.Fatal(err)
		}
		want, seen := wanted(), 0
		want.Type = "ADDED"
		version, err := scanPodList(text, asJSON, func(event *PodEvent) {
			seen++
			if *event != want {
				t.Errorf("json=%v: %+v", asJSON, *event)
			}
		})
		if err != nil || version != "99" || seen != 2 {
			t.Errorf("json=%v: %v, version %s, %d pods", asJSON, err, version, seen)
		}
	}
}

func TestAPendingPodHasNothingSet(t *testing.T) {
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "space", Name: "pod-2"}}
	var events []PodEvent
	_ = decodePods(bytes.NewReader(frame(t, "ADDED", pod)), false, func(e *PodEvent) { events = append(events, *e) })
	if len(events) != 1 || events[0] != (PodEvent{Type: "ADDED", Namespace: "space", Name: "pod-2"}) {
		t.Errorf("%+v", events)
	}
}

func TestDamagedFramesDoNotPass(t *testing.T) {
	whole := frame(t, "MODIFIED", samplePod())
	for at := range whole {
		if at == 0 {
			continue
		}
		err := decodePods(bytes.NewReader(whole[:at]), false, func(*PodEvent) { t.Errorf("cut at %d went unnoticed", at) })
		if err == nil || err == io.EOF {
			t.Errorf("cut at %d: %v", at, err)
		}
	}
	for at := 4; at < len(whole); at++ {
		damaged := bytes.Clone(whole[4:])
		damaged[at-4] ^= 0xff
		if event, err := scanWatchEvent(damaged); err == nil && event == nil {
			t.Errorf("damage at %d: neither event nor error", at) // and above all no panic
		}
	}
}

func TestScalingKeepsTheClusterAsFull(t *testing.T) {
	for _, row := range []struct {
		params map[string]int
		nodes  int
		want   map[string]int
	}{
		{map[string]int{"initNodes": 5000, "initPods": 1000, "measurePods": 10000}, 500,
			map[string]int{"initNodes": 500, "initPods": 100, "measurePods": 1000}},
		{map[string]int{"taintNodes": 1000, "normalNodes": 4000, "measurePods": 4000}, 50,
			map[string]int{"taintNodes": 10, "normalNodes": 40, "measurePods": 40}},
		{map[string]int{"initNodes": 6000, "initNamespaces": 100, "initPodsPerNamespace": 40}, 600,
			map[string]int{"initNodes": 600, "initNamespaces": 100, "initPodsPerNamespace": 4}},
		{map[string]int{"initNodes": 6000, "initNamespaces": 100, "initPodsPerNamespace": 40}, 60,
			map[string]int{"initNodes": 60, "initNamespaces": 40, "initPodsPerNamespace": 1}},
		{map[string]int{"initNodes": 6000, "initNamespaces": 100, "initPodsPerNamespace": 40, "measurePods": 2000}, 1000,
			map[string]int{"initNamespaces": 100, "initPodsPerNamespace": 6, "measurePods": 333}},
		{map[string]int{"gatedPods": 10000, "measurePods": 20000}, 500,
			map[string]int{"gatedPods": 1000, "measurePods": 2000}},
		{map[string]int{"nodes": 10, "none": 0}, 100, map[string]int{"nodes": 100, "none": 0}},
	} {
		got := scale(row.params, row.nodes)
		for name, value := range row.want {
			if got[name] != value {
				t.Errorf("%v to %d nodes: %s is %d, not %d", row.params, row.nodes, name, got[name], value)
			}
		}
	}
}

const sampleCases = `
- name: Plain
  defaultPodTemplatePath: pod.yaml
  workloadTemplate:
  - {opcode: createNodes, countParam: $initNodes}
  - {opcode: createPodSets, count: 2, namespacePrefix: set, createPodsOp: {opcode: createPods, count: 3}}
  - {opcode: createPods, countParam: $measurePods, collectMetrics: true}
  workloads:
  - {name: Small, params: {initNodes: 5, measurePods: 10}}
  - {name: Large, labels: [performance], threshold: 100, params: {initNodes: 5000, measurePods: 9000}}
  - {name: Larger, labels: [performance], params: {initNodes: 5000, measurePods: 90}}
- name: Profile
  workloadTemplate: [{opcode: startCollectingProfile}]
  workloads: [{name: One}]
- name: Volumes
  workloadTemplate: [{opcode: createPods, count: 1, persistentVolumeTemplatePath: pv.yaml}]
  workloads: [{name: One}]
- name: Stages
  workloadTemplate:
  - {opcode: createNodes, countParam: $nodes}
  - {opcode: startCollectingMetrics, name: some, namespaces: [a, b], labelSelector: {type: parked}}
  - {opcode: createPods, countParam: $measurePods, namespace: a, skipWaitToCompletion: true}
  - {opcode: updateAny, countParam: $nodes, templatePath: node.yaml, updatePerSecond: 100, subresources: [resize]}
  - {opcode: barrier, labelSelector: {type: parked}}
  - {opcode: stopCollectingMetrics}
  workloads: [{name: One, params: {nodes: 2, measurePods: 20}}]
- name: Unended
  workloadTemplate: [{opcode: startCollectingMetrics}, {opcode: createPods, count: 1}]
  workloads: [{name: One}]
`

func sample(t *testing.T) []TestCase {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "performance-config.yaml"), []byte(sampleCases), 0o600); err != nil {
		t.Fatal(err)
	}
	cases, err := readCases(folder)
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

func TestACaseIsScaledFromTheWorkloadWithAThreshold(t *testing.T) {
	chosen, err := choose(sample(t), "Plain", firstRelease, 50, map[string]int{"measurePods": 7})
	if err != nil {
		t.Fatal(err)
	}
	if chosen.Workload != "Large" || chosen.Params["initNodes"] != 50 || chosen.Params["measurePods"] != 7 {
		t.Errorf("%+v", chosen)
	}
	var spaces []string
	for _, op := range chosen.Ops {
		spaces = append(spaces, op.Opcode+" "+op.Namespace)
	}
	if got := strings.Join(spaces, ","); got != "createNodes ,createPods set-0,createPods set-1,createPods " {
		t.Errorf("unrolled to %s", got)
	}
}

func TestAWorkloadByNameKeepsItsSize(t *testing.T) {
	chosen, err := choose(sample(t), "Plain/Small", firstRelease, 0, nil)
	if err != nil || chosen.Params["measurePods"] != 10 {
		t.Errorf("%v %+v", err, chosen)
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	for name, want := range map[string]string{"Profile": "opcode startCollectingProfile",
		"Volumes": "opcode createPods with a volume without a claim", "Unended": "Unended measures 1 operations", "None": "no case None", "Plain/None": "no workload None"} {
		if _, err := choose(sample(t), name, firstRelease, 0, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := choose(sample(t), "Plain", firstRelease, 0, map[string]int{"pods": 1}); err == nil ||
		!strings.Contains(err.Error(), "initNodes, measurePods") {
		t.Errorf("an unknown parameter: %v", err)
	}
}

func TestACaseInStagesKeepsItsSize(t *testing.T) {
	chosen, err := choose(sample(t), "Stages", firstRelease, 500, nil)
	if err != nil || !chosen.Staged || chosen.Params["nodes"] != 2 || len(chosen.Ops) != 6 {
		t.Fatalf("%v %+v", err, chosen)
	}
	if put := chosen.Ops[3]; put.Count != 2 || put.UpdatePerSecond != 100 || put.Subresources[0] != "resize" {
		t.Errorf("%+v", put)
	}
}

func TestInStagesOnlyTheNamedPodsAreMeasured(t *testing.T) {
	tracker := &Tracker{pods: map[string]*podState{}, first: make(chan struct{})}
	tracker.changed = sync.NewCond(&tracker.mutex)
	r := &run{tracker: tracker, executor: &Executor{labels: map[string]map[string]string{}}}
	s := &stages{run: r, namespaces: []string{"a"}, labels: map[string]string{"type": "parked"}}
	for key, kind := range map[string]string{"a/1": "parked", "a/2": "blocker", "b/1": "parked"} {
		r.executor.labels[key] = map[string]string{"type": kind, "more": "yes"}
	}
	s.expect([]string{"a/1"}) // before the clock starts
	s.measuring = true
	s.expect([]string{"a/1", "a/2", "b/1"})
	if len(r.keys) != 1 || r.keys[0] != "a/1" || tracker.measured != 1 {
		t.Errorf("%v, %d", r.keys, tracker.measured)
	}
}

func TestTheCasesOwnPaceIsCountedOnce(t *testing.T) {
	var none *stages
	none.paces(100, 5)
	s := &stages{}
	s.paces(100, 500) // before the clock starts
	s.measuring = true
	s.paces(0, 500)
	s.paces(100, 500)
	s.paces(100, 480) // at the same time
	s.paces(100, 600)
	for early, want := range []float64{6, 5, 4} {
		last := s.pacedUntil.Add(time.Duration(-early) * time.Second)
		if seconds := s.pacedBy(last).Seconds(); math.Abs(seconds-want) > 0.01 {
			t.Errorf("%f seconds, not %f", seconds, want)
		}
	}
	if s.pacedBy(s.pacedUntil.Add(time.Hour)) != s.paced || s.pacedBy(time.Time{}) != 0 || none.pacedBy(time.Now()) != 0 {
		t.Error(s.paced)
	}
}

func TestAPaceIsKeptAndNotMadeUpFor(t *testing.T) {
	began, done := time.Now(), 0
	err := atPace(context.Background(), 100, 10, func(i int) error {
		if i == 2 {
			time.Sleep(200 * time.Millisecond) // nineteen turns, of which one is kept
		}
		done++
		return nil
	})
	if took := time.Since(began); err != nil || done != 10 || took < 260*time.Millisecond {
		t.Errorf("%v, %d in %v", err, done, took)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := atPace(ctx, 1, 1, func(int) error { return nil }); err == nil {
		t.Error("done although cancelled")
	}
}

func TestVolumeAndClaimNameEachOther(t *testing.T) {
	template := v1.PersistentVolume{}
	template.Spec.CSI = &v1.CSIPersistentVolumeSource{Driver: "d"}
	for i := range 2 {
		pv, pvc := boundPair(template, v1.PersistentVolumeClaim{}, "space", i)
		ref := pv.Spec.ClaimRef
		if pvc.Spec.VolumeName != pv.Name || ref.Name != pvc.Name || ref.Namespace != "space" || pvc.Name != claimName(i) ||
			pv.Spec.CSI.VolumeHandle != pv.Name || pv.Status.Phase != v1.VolumeBound || pvc.Status.Phase != v1.ClaimBound {
			t.Errorf("%+v %+v", pv, pvc)
		}
	}
	if template.Spec.CSI.VolumeHandle != "" {
		t.Error("the template was changed")
	}
}

func TestWhatIsPutIsWhole(t *testing.T) {
	e := &Executor{client: &Client{json: true}}
	text, err := e.whole(anyObject{"kind": "Node", "apiVersion": "v1", "metadata": map[string]any{"name": "n"},
		"status": map[string]any{"capacity": map[string]any{"cpu": "0.0001"}}})
	var node v1.Node
	if err != nil || json.Unmarshal(text, &node) != nil || node.Kind != "Node" || node.Name != "n" ||
		node.Status.Allocatable.Cpu().String() != "100u" {
		t.Errorf("%v %s", err, text)
	}
	if _, err := e.whole(anyObject{"kind": "Secret"}); err == nil {
		t.Error("a Secret was put")
	}
}

func TestTemplateFunctionsAreUpstreams(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.yaml")
	text := `{a: {{AddInt .Index 2}}, b: {{Mod .Index 3}}, c: {{DivideInt .Count 4}}, d: {{MultiplyInt .Index 2 2}}, e: {{SubtractInt .Count "1"}}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	template, err := readTemplate(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := render[map[string]int](template, 7, 10)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]int{"a": 9, "b": 1, "c": 2, "d": 28, "e": 9} {
		if (*got)[name] != value {
			t.Errorf("%s is %d, not %d", name, (*got)[name], value)
		}
	}
}

func TestOthersAreSoughtOnOurProcessorsOnly(t *testing.T) {
	ours := allowedCPUs("Name:\tx\nCpus_allowed_list:\t0-1,4\nother: 7\n")
	if len(ours) != 3 || !ours["cpu0"] || !ours["cpu1"] || !ours["cpu4"] {
		t.Errorf("%v", ours)
	}
	stat := "cpu  99 99 99 99 99 99 99 99 0 0\ncpu0 1 2 3 1000 1000 4 5 6 0 0\ncpu2 9 9 9 9 9 9 9 9 0 0\n" +
		"cpu4 10 0 0 7 7 0 0 0 0 0\nintr 5\n"
	if got := busyTicks(stat, ours); got != 31 {
		t.Errorf("%d ticks, not 31", got)
	}
}

func TestUpstreamsAverageLeavesOutTheFirstSecond(t *testing.T) {
	began := time.Unix(1000, 0)
	var bounds []time.Time
	for second, count := range []int{0, 5, 10, 0, 20} { // binds in the middle of each second
		for range count {
			bounds = append(bounds, began.Add(time.Duration(second)*time.Second+500*time.Millisecond))
		}
	}
	// 10 in one second, then 20 in two seconds, which count twice.
	if got, want := upstreamAverage(bounds, began), (10.0+10+10)/3; math.Abs(got-want) > 1e-9 {
		t.Errorf("%v, not %v", got, want)
	}
}

func TestOurOwnCases(t *testing.T) {
	cases, err := readCases("../cases")
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := choose(cases, "Gangs", firstRelease, 1000, nil)
	if err != nil {
		t.Fatal(err)
	}
	if chosen.Params["groups"] != 250 || chosen.Params["measurePods"] != 2000 {
		t.Errorf("not 8 pods a group: %v", chosen.Params)
	}
	template, err := readTemplate(chosen.path(chosen.template), nil)
	if err != nil {
		t.Fatal(err)
	}
	pod, err := render[v1.Pod](template, 17, 2000)
	if err != nil || pod.Name != "member-17" || pod.Labels["scheduling.x-k8s.io/pod-group"] != "group-2" {
		t.Errorf("%v, %+v", err, pod)
	}
}

func TestGroupsPerSecond(t *testing.T) {
	began := time.Unix(1700000000, 0)
	at := func(ms ...int) (states []*podState) {
		for _, each := range ms {
			states = append(states, &podState{bound: began.Add(time.Duration(each) * time.Millisecond)})
		}
		return states
	}
	for want, states := range map[float64][]*podState{
		4: at(0, 100, 350, 200, 600, 10), // whole after 100, 350 and 600 ms
		0: append(at(0, 100, 350, 200, 600), &podState{}),
	} {
		if got := groupsPerSecond(states, 3); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v groups/s, not %v", got, want)
		}
	}
	if groupsPerSecond(at(1, 2, 3), 2) != 0 || groupsPerSecond(at(1, 2), 0) != 0 {
		t.Error("groups where there are none")
	}
}

func TestWhatWasMadeInAdvanceIsMeasured(t *testing.T) {
	tracker := &Tracker{pods: map[string]*podState{}, first: make(chan struct{})}
	tracker.changed = sync.NewCond(&tracker.mutex)
	tracker.event(&PodEvent{Type: "ADDED", Namespace: "space", Name: "early"})
	tracker.expect([]string{"space/early", "space/late"})
	if tracker.seen != 1 || tracker.measured != 2 {
		t.Fatalf("%d of %d seen", tracker.seen, tracker.measured)
	}
	tracker.event(&PodEvent{Type: "ADDED", Namespace: "space", Name: "late"})
	tracker.event(&PodEvent{Type: "MODIFIED", Namespace: "space", Name: "early", Node: "n"})
	if tracker.seen != 2 || tracker.bound != 1 {
		t.Fatalf("%d seen, %d bound", tracker.seen, tracker.bound)
	}
}

func TestRecallingKnowsWhatMakingKnewAndSendsNothing(t *testing.T) {
	// No server: whatever is sent fails.
	executor := &Executor{ctx: t.Context(), client: &Client{silent: true, sent: map[string]int{}}, recall: true, bindInit: true,
		chosen: &Chosen{Ops: []Op{{Opcode: "createNodes", Count: 3}, {Opcode: "createNamespaces", Prefix: "more", Count: 2},
			{Opcode: "createPods", Count: 4}, {Opcode: "deletePods", Namespace: "namespace-2"},
			{Opcode: "sleep", Duration: metav1.Duration{Duration: time.Hour}}, {Opcode: "createPods", Count: 5, CollectMetrics: true}}},
		inventory: map[string][]string{}, spaces: map[string]bool{}, priorities: map[int32]bool{},
		labels: map[string]map[string]string{}}
	op, index, err := executor.prepare()
	if err != nil || index != 5 {
		t.Fatalf("operation %d: %v", index, err)
	}
	orders, keys, err := executor.podOrders(op, index, false)
	if err != nil || len(orders) != 5 || keys[0] != "namespace-5/pod-000005" {
		t.Fatalf("%d orders, keys %v: %v", len(orders), keys, err)
	}
	if len(executor.nodes) != 3 || len(executor.inventory["namespace-2"]) != 4 || len(executor.client.sent) != 0 {
		t.Fatalf("%+v", executor)
	}
}

// Who evicts for all pods before it binds the first is at work, though nothing is bound.
func TestOwnFiguresAreReadAsBerthStatusPrintsThem(t *testing.T) {
	found := readOwnFigures("binder (binder)  pid 7  up 2.0s\n    decisions_timed              51\n" +
		"    decision_p50_us              388\n    decision_p999_us             2143\n" +
		"    hop_line                     p50_us=4 p99_us=120 p999_us=130 tail_us=99\n" +
		"    lane_bind                    waiting=0\n")
	want := map[string]int{"decisions_timed": 51, "decision_p50_us": 388, "decision_p999_us": 2143,
		"hop_line_p50_us": 4, "hop_line_p99_us": 120, "hop_line_p999_us": 130, "hop_line_tail_us": 99}
	if !maps.Equal(found, want) {
		t.Errorf("found %v", found)
	}
}

func TestEvictionsAreProgress(t *testing.T) {
	tracker := &Tracker{pods: map[string]*podState{}, first: make(chan struct{})}
	tracker.changed = sync.NewCond(&tracker.mutex)
	tracker.expect([]string{"space/high"})
	ended := make(chan error, 1)
	go func() {
		ended <- tracker.allBound(time.Minute, 300*time.Millisecond, func() bool { return true })
	}()
	for range 12 {
		time.Sleep(50 * time.Millisecond)
		tracker.event(&PodEvent{Type: "DELETED", Namespace: "space", Name: "low", Node: "node-1"})
		tracker.changed.Broadcast()
	}
	select {
	case err := <-ended:
		t.Fatal("given up while pods were evicted:", err)
	default:
	}
	for range 12 {
		time.Sleep(50 * time.Millisecond)
		tracker.event(&PodEvent{Type: "DELETED", Namespace: "space", Name: "pending"})
		tracker.changed.Broadcast()
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "0 of 1 measured pods are bound, and no more for 0s") {
		t.Fatal("a stalled run ends with:", err)
	}
}
