package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fakeServer notes every request as "METHOD path body", answers a pod with a UID, and binds it, for all that
// its watch says.
type fakeServer struct {
	mutex    sync.Mutex
	requests []string
	claims   []resourcev1.ResourceClaim // what is listed
	tracker  *Tracker
	binds    func(name string) bool
}

func (f *fakeServer) ServeHTTP(answer http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	f.mutex.Lock()
	f.requests = append(f.requests, request.Method+" "+request.URL.Path+" "+string(body))
	f.mutex.Unlock()
	namespace, name := "", ""
	if parts := strings.Split(request.URL.Path, "/"); len(parts) > 5 && parts[5] == "pods" {
		namespace = parts[4]
		if len(parts) > 6 {
			name = parts[6]
		}
	}
	switch {
	case request.Method == "GET":
		_ = json.NewEncoder(answer).Encode(map[string]any{"items": f.claims})
	case request.Method == "POST" && namespace != "":
		var pod struct{ Metadata struct{ Name string } }
		_ = json.Unmarshal(body, &pod)
		fmt.Fprintf(answer, `{"metadata":{"name":%q,"uid":"uid-of-%s"}}`, pod.Metadata.Name, pod.Metadata.Name)
		f.tracker.event(&PodEvent{Type: "ADDED", Namespace: namespace, Name: pod.Metadata.Name})
		if f.binds == nil || f.binds(pod.Metadata.Name) {
			f.tracker.event(&PodEvent{Type: "MODIFIED", Namespace: namespace, Name: pod.Metadata.Name, Node: "n"})
		}
	case request.Method == "PUT":
		_, _ = answer.Write(body)
	case request.Method == "DELETE" && name != "":
		f.tracker.event(&PodEvent{Type: "DELETED", Namespace: namespace, Name: name, Node: "n"})
	}
}

// count is how many requests begin so.
func (f *fakeServer) count(start string) int {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return len(slices.DeleteFunc(slices.Clone(f.requests), func(r string) bool { return !strings.HasPrefix(r, start) }))
}

func withFake(t *testing.T, chosen *Chosen) (*fakeServer, *Executor) {
	t.Helper()
	tracker := &Tracker{pods: map[string]*podState{}, first: make(chan struct{})}
	tracker.changed = sync.NewCond(&tracker.mutex)
	fake := &fakeServer{tracker: tracker}
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	go func() {
		for t.Context().Err() == nil {
			time.Sleep(10 * time.Millisecond)
			tracker.changed.Broadcast()
		}
	}()
	client := &Client{server: server.URL, json: true, sent: map[string]int{}, shapes: map[string]kindShape{},
		connections: []*http.Client{server.Client()}}
	return fake, &Executor{ctx: t.Context(), client: client, tracker: tracker, chosen: chosen, bindInit: true,
		inventory: map[string][]string{}, spaces: map[string]bool{"test": true}, priorities: map[int32]bool{},
		labels: map[string]map[string]string{}}
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const claimingPod = `{metadata: {generateName: pod}, spec: {containers: [{name: c}],
  resourceClaims: [{name: gpu, resourceClaimTemplateName: one}, {name: shared, resourceClaimName: other}]}}`

func claiming(t *testing.T, release string) (*fakeServer, *Executor) {
	t.Helper()
	folder := t.TempDir()
	write(t, folder, "pod.yaml", claimingPod)
	fake, executor := withFake(t, &Chosen{folder: folder, template: "pod.yaml", release: release,
		Gates: []string{"DynamicResourceAllocation=true"}})
	object := anyObject{"kind": "ResourceClaimTemplate", "metadata": map[string]any{"name": "one"},
		"spec": map[string]any{"spec": map[string]any{"devices": map[string]any{"requests": []any{}}}}}
	if err := executor.keepTemplate(object, "test"); err != nil {
		t.Fatal(err)
	}
	return fake, executor
}

func TestAPodGetsTheClaimsOfItsTemplates(t *testing.T) {
	fake, executor := claiming(t, "1.36")
	orders, keys, err := executor.podOrders(&Op{Count: 1, Namespace: "test"}, 0, false)
	if err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	if err := executor.sendAll(orders, 0); err != nil {
		t.Fatal(err)
	}
	if len(fake.requests) != 3 || !strings.HasPrefix(fake.requests[0], "POST /api/v1/namespaces/test/pods ") {
		t.Fatal(fake.requests)
	}
	_, text, _ := strings.Cut(fake.requests[1], "/resourceclaims ")
	var claim resourcev1.ResourceClaim
	if err := json.Unmarshal([]byte(text), &claim); err != nil {
		t.Fatal(fake.requests[1], err)
	}
	owner := claim.OwnerReferences[0]
	if claim.Name != "pod000001-gpu" || owner.UID != "uid-of-pod000001" || owner.Name != "pod000001" || !*owner.Controller ||
		claim.Spec.Devices.Requests == nil || claim.Annotations["resource.kubernetes.io/pod-claim-name"] != "gpu" {
		t.Errorf("%+v", claim)
	}
	if want := `PATCH /api/v1/namespaces/test/pods/pod000001/status {"status":{"resourceClaimStatuses":[{"name":"gpu","resourceClaimName":"pod000001-gpu"}]}}`; fake.requests[2] != want {
		t.Errorf("%s\nnot %s", fake.requests[2], want)
	}
}

func TestAPodWithoutItsTemplateIsAnError(t *testing.T) {
	_, executor := claiming(t, "1.36")
	executor.spaces["elsewhere"] = true
	if _, _, err := executor.podOrders(&Op{Count: 1, Namespace: "elsewhere"}, 0, false); err == nil ||
		!strings.Contains(err.Error(), "no ResourceClaimTemplate one") {
		t.Error(err)
	}
}

func TestADriverPublishesForTheNodesThatMatch(t *testing.T) {
	fake, executor := withFake(t, &Chosen{})
	executor.named = []string{"with-1", "without-1", "with-2"}
	if err := executor.createResourceDriver(&Op{DriverName: "d", Nodes: "with-*", MaxClaimsPerNode: 3}); err != nil {
		t.Fatal(err)
	}
	pools := map[string]int{}
	for _, request := range fake.requests {
		_, text, _ := strings.Cut(request, "/resourceslices ")
		var slice resourcev1.ResourceSlice
		if err := json.Unmarshal([]byte(text), &slice); err != nil {
			t.Fatal(request, err)
		}
		if *slice.Spec.NodeName != slice.Name || slice.Spec.Driver != "d" || *slice.Spec.Devices[2].Attributes["dra.example.com/numa"].IntValue != 2 {
			t.Errorf("%+v", slice)
		}
		pools[slice.Spec.Pool.Name] = len(slice.Spec.Devices)
	}
	if !maps.Equal(pools, map[string]int{"with-1": 3, "with-2": 3}) {
		t.Error(pools)
	}
}

func TestClaimsAreAllocatedByPodsThatGo(t *testing.T) {
	fake, executor := withFake(t, &Chosen{})
	placing := 0
	executor.place = func() error {
		placing++
		return nil
	}
	fake.claims = []resourcev1.ResourceClaim{{ObjectMeta: metav1.ObjectMeta{Name: "free-1"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "taken"}, Status: resourcev1.ResourceClaimStatus{Allocation: &resourcev1.AllocationResult{}}},
		{ObjectMeta: metav1.ObjectMeta{Name: "free-2"}}}
	if err := executor.allocate(&Op{Namespace: "test"}, 7); err != nil {
		t.Fatal(err)
	}
	if placing != 1 || fake.count("POST /api/v1/namespaces/test/pods ") != 2 || fake.count("DELETE /api/v1/namespaces/test/pods/allocates-7-") != 2 {
		t.Error(placing, fake.requests)
	}
	for _, name := range []string{"free-1", "free-2"} {
		if fake.count("PATCH "+claimsPath("test")+"/"+name+`/status {"status":{"reservedFor":null}}`) != 1 {
			t.Errorf("%s is still reserved: %v", name, fake.requests)
		}
	}
	if len(executor.tracker.pods) != 0 {
		t.Errorf("pods are left: %v", executor.tracker.pods)
	}
}

func TestTheCeilingWaitsForAllClaimsOfAPod(t *testing.T) {
	c := &ceiling{shelf: &shelf{claims: map[string]*heldClaim{}}, queued: map[string]bool{}}
	for i, row := range []struct {
		event PodEvent
		want  bool
	}{{PodEvent{Type: "ADDED", UID: "a", Wanted: 2, Claims: "x,"}, false}, {PodEvent{Type: "MODIFIED", UID: "a", Wanted: 2, Claims: "x,y,"}, true},
		{PodEvent{Type: "MODIFIED", UID: "a", Wanted: 2, Claims: "x,y,"}, false}, {PodEvent{Type: "ADDED", UID: "b"}, true},
		{PodEvent{Type: "MODIFIED", UID: "b"}, false}} {
		if got := c.isNew(&row.event); got != row.want {
			t.Errorf("row %d: %v", i, got)
		}
	}
}

func TestTheCeilingWritesWhatClaimsNeed(t *testing.T) {
	fake, executor := withFake(t, &Chosen{})
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "own", Namespace: "test"}}
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{Count: 2}},
		{Name: "s", FirstAvailable: []resourcev1.DeviceSubRequest{{Name: "t"}}}}
	c := &ceiling{client: executor.client, shelf: &shelf{claims: map[string]*heldClaim{}}}
	c.shelf.keep(claim, false)
	for _, pod := range []string{"one", "two"} {
		if !c.allocate(t.Context(), &PodEvent{Namespace: "test", Name: pod, UID: pod, Wanted: 1, Claims: "own,"}, "n") {
			t.Fatal(fake.requests)
		}
	}
	// The second pod finds devices, and only joins.
	for start, want := range map[string]int{"PATCH /api/v1/namespaces/test/pods/": 2, "PUT " + claimsPath("test") + "/own ": 1, "PUT " + claimsPath("test") + "/own/status ": 2} {
		if got := fake.count(start); got != want {
			t.Errorf("%d of %s", got, start)
		}
	}
	written := c.shelf.claims["test/own"].claim
	results := written.Status.Allocation.Devices.Results
	if len(written.Status.ReservedFor) != 2 || len(results) != 3 || results[0].Device == results[1].Device || results[0].Pool != "n" ||
		results[2].Request != "s/t" || !slices.Contains(written.Finalizers, resourcev1.Finalizer) {
		t.Errorf("%+v", written)
	}
	c.shelf.keep(claim, true)
	if len(c.shelf.claims) != 0 {
		t.Error("a claim that is gone is kept")
	}
}

func steadyRun(t *testing.T, release string, count int, forHowLong time.Duration) (*fakeServer, *run) {
	t.Helper()
	fake, executor := claiming(t, release)
	r := &run{options: &options{limit: time.Minute, release: release}, ctx: t.Context(), client: executor.client, tracker: executor.tracker,
		executor: executor, candidate: &Candidate{ended: make(chan struct{})}, began: time.Now(),
		steadyOp: &Op{Count: count, Namespace: "test", Duration: metav1.Duration{Duration: forHowLong}}}
	return fake, r
}

func TestInASteadyStateWhoIsBoundIsReplaced(t *testing.T) {
	for _, release := range []string{"1.36", "1.37"} {
		fake, r := steadyRun(t, release, 3, 300*time.Millisecond)
		if err := r.keepSteady(); err != nil {
			t.Fatal(err)
		}
		created, gone := fake.count("POST /api/v1/namespaces/test/pods "), fake.count("DELETE /api/v1/namespaces/test/pods/")
		if len(r.keys) < 6 || gone < 3 || created < gone || created > gone+6 {
			t.Errorf("%s: %d measured, %d created, %d deleted", release, len(r.keys), created, gone)
		}
		if claims := fake.count("DELETE " + claimsPath("test")); claims != gone || fake.count("PATCH "+claimsPath("test")) != gone {
			t.Errorf("%s: %d claims are gone, and %d pods", release, claims, gone)
		}
		if sorted := slices.Sorted(slices.Values(r.keys)); len(slices.Compact(sorted)) != len(r.keys) {
			t.Errorf("%s: a pod is counted twice", release)
		}
	}
}

// One of three pods never fits: 1.36's harness waits for it, later ones go on with the others.
func TestABatchIsReplacedAsAWholeIn136Alone(t *testing.T) {
	for release, want := range map[string]bool{"1.36": false, "1.37": true} {
		fake, r := steadyRun(t, release, 3, 300*time.Millisecond)
		fake.binds = func(name string) bool { return name != "pod000001" }
		if err := r.keepSteady(); err != nil {
			t.Fatal(err)
		}
		if goesOn := len(r.keys) > 2; goesOn != want || fake.count("DELETE /api/v1/namespaces/test/pods/pod000001") != 0 {
			t.Errorf("%s: %d pods measured", release, len(r.keys))
		}
	}
}

func TestASteadyStateWithoutABindFails(t *testing.T) {
	fake, r := steadyRun(t, "1.37", 2, 100*time.Millisecond)
	fake.binds = func(string) bool { return false }
	if err := r.keepSteady(); err == nil || !strings.Contains(err.Error(), "no pod was bound in 100ms") || len(r.keys) != 2 {
		t.Error(err, r.keys)
	}
}

func TestAClassThatIsNotKnownYetIsWaitedFor(t *testing.T) {
	for what, want := range map[string]int{"pods is forbidden: no PriorityClass with name priority-1 was found": 3, "pods is forbidden": 1} {
		tries := 0
		err := patiently(t.Context(), func() error {
			if tries++; tries < 3 {
				return &StatusError{403, what}
			}
			return nil
		})
		if tries != want || (err == nil) != (want == 3) {
			t.Errorf("%s: %d tries, %v", what, tries, err)
		}
	}
}

// ---- cases --------------------------------------------------------------------------------------

const deviceCases = `
- name: Groups
  featureGates: {GenericWorkload: true, Other: true}
  workloadTemplate:
  - {opcode: createNodes, countParam: $initNodes}
  - {opcode: createPodGroups, countParam: $initPodGroups, namespace: g, templatePath: group.yaml, templateParams: {size: $podsPerGroup}}
  - {opcode: createPods, countParam: $initPodGroups, countMultiplierParam: $podsPerGroup, namespace: g, collectMetrics: true,
     templateParams: {size: $podsPerGroup, cpu: $cpu, roots: "$roots|2", none: "$none|", plain: 7}}
  workloads:
  - {name: Many, labels: [performance], params: {initNodes: 5000, initPodGroups: 1000, podsPerGroup: 3, cpu: 600m}}
  - {name: Few, labels: [performance], featureGates: {Other: false}, params: {initNodes: 5000, initPodGroups: 3, podsPerGroup: 1000, cpu: 1}}
- name: Steady
  schedulerConfigPath: config.yaml
  workloadTemplate:
  - {opcode: createResourceDriver, driverName: d, nodes: "*", maxClaimsPerNodeParam: $maxClaimsPerNode}
  - {opcode: createPods, countParam: $measurePods, steadyStateParam: $steadyState, durationParam: $duration, collectMetrics: true}
  workloads:
  - {name: Short, params: {maxClaimsPerNode: 10, measurePods: 10, steadyState: false, duration: 0s}}
  - {name: Long, labels: [performance], params: {maxClaimsPerNode: 10, measurePods: 10, steadyState: true, duration: 10s}}
- name: Slices
  workloadTemplate:
  - {opcode: startCollectingMetrics, namespaces: [default]}
  - {opcode: createAny, templatePath: slice.yaml}
  - {opcode: stopCollectingMetrics}
  workloads: [{name: One}]
- name: Configured
  schedulerConfigPath: other.yaml
  workloadTemplate: [{opcode: createPods, count: 1, collectMetrics: true}]
  workloads: [{name: One}]
`

func deviceSample(t *testing.T) []TestCase {
	t.Helper()
	folder := t.TempDir()
	write(t, folder, "performance-config.yaml", deviceCases)
	write(t, folder, "config.yaml", "{apiVersion: v, kind: k, profiles: [{schedulerName: s}]}")
	write(t, folder, "other.yaml", "{apiVersion: v, kind: k, parallelism: 3}")
	cases, err := readCases(folder)
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

func TestTheSizeOfAGroupIsNotScaled(t *testing.T) {
	chosen, err := choose(deviceSample(t), "Groups", "1.37", 100, nil)
	if err != nil || chosen.Workload != "Many" || chosen.Params["initPodGroups"] != 20 || chosen.Ops[2].Count != 60 {
		t.Fatalf("%v %+v", err, chosen)
	}
	params := chosen.Ops[2].TemplateParams
	for name, want := range map[string]any{"size": 3, "cpu": "600m", "roots": 2.0, "none": nil, "plain": 7.0} {
		if params[name] != want {
			t.Errorf("%s is %v (%T)", name, params[name], params[name])
		}
	}
	if groupsOf(chosen.Params) != 20 || !chosen.placed() || !slices.Equal(chosen.Gates, []string{"GenericWorkload=true", "Other=true"}) {
		t.Errorf("%+v", chosen)
	}
	chosen, err = choose(deviceSample(t), "Groups/Few", "1.37", 0, nil)
	if err != nil || !slices.Equal(chosen.Gates, []string{"GenericWorkload=true", "Other=false"}) {
		t.Errorf("%v %+v", err, chosen)
	}
}

func TestASteadyStateKeepsItsSize(t *testing.T) {
	chosen, err := choose(deviceSample(t), "Steady", "1.37", 500, nil)
	if err != nil || !chosen.Steady || chosen.Params["measurePods"] != 10 || chosen.Ops[1].Duration.Duration != 10*time.Second ||
		!chosen.Ops[1].SteadyState || chosen.Ops[0].MaxClaimsPerNode != 10 {
		t.Errorf("%v %+v", err, chosen)
	}
	chosen, err = choose(deviceSample(t), "Steady/Short", "1.37", 0, nil)
	if err != nil || chosen.Steady {
		t.Errorf("%v %+v", err, chosen)
	}
	if profiles, err := deviceSample(t)[1].profiles(); err != nil || string(profiles) != `[{"schedulerName":"s"}]` {
		t.Errorf("%v %s", err, profiles)
	}
}

func TestWhatMeasuresNoPodsIsRefused(t *testing.T) {
	for name, want := range map[string]string{"Slices": "a measure of something else than pods", "Configured": "schedulerConfigPath with parallelism"} {
		if _, err := choose(deviceSample(t), name, "1.37", 0, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPodsAreLabelledAsTheirReleasesHarnessLabelsThem(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "scheduler_perf", "topic")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, folder, "pod.yaml", "{metadata: {generateName: p}}")
	for release, want := range map[string]string{"1.36": "", "1.37": "signature-label-1"} {
		_, executor := withFake(t, &Chosen{folder: folder, template: "pod.yaml", release: release})
		_, keys, err := executor.podOrders(&Op{Count: 3, Namespace: "test", SignatureBatchSize: 2}, 0, false)
		if err != nil || executor.labels[keys[2]]["signature"] != want {
			t.Errorf("%s: %v %v", release, err, executor.labels)
		}
	}
}

func TestAGroupHasTheVersionOfTheClientAndAClassOfItsPriority(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "group.yaml", `{apiVersion: scheduling.k8s.io/v1alpha3, kind: PodGroup, metadata: {name: "g-{{.Index}}"},
  spec: {priority: {{if .priority}}{{AddInt 0 .priority}}{{else}}5{{end}}, list: {{JSON .list}}, size: {{Int .size}}}}`)
	fake, executor := withFake(t, &Chosen{folder: folder, release: "1.37"})
	executor.client.shapes["scheduling.k8s.io/v1beta1/PodGroup"] = kindShape{"podgroups", true}
	err := executor.createPodGroups(&Op{Count: 2, Namespace: "test", TemplatePath: "group.yaml",
		TemplateParams: map[string]any{"priority": 9.0, "list": []any{"a<b"}, "size": "4"}})
	if err != nil || fake.count("POST /apis/scheduling.k8s.io/v1beta1/namespaces/test/podgroups ") != 2 ||
		fake.count("POST /apis/scheduling.k8s.io/v1/priorityclasses ") != 1 {
		t.Fatal(err, fake.requests)
	}
	for _, want := range []string{`"priorityClassName":"priority-9"`, `"priority":9`, `"apiVersion":"scheduling.k8s.io/v1beta1"`, `\u003c`, `"size":4`} {
		if !strings.Contains(fake.requests[2], want) {
			t.Errorf("%s: no %s", fake.requests[2], want)
		}
	}
}
