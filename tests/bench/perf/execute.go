package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Executor plays the operations of a workload. Names are numbered where upstream lets the server
// make them up, so that every candidate meets the same cluster.
type Executor struct {
	ctx        context.Context
	client     *Client
	tracker    *Tracker
	chosen     *Chosen
	bindInit   bool // pods of earlier operations are created with a node, in turn
	nodes      []string
	bindNext   int
	inventory  map[string][]string // keys of the pods created, by namespace
	spaces     map[string]bool
	priorities map[int32]bool
	background []func(context.Context) // churn and deletions, started with the clock
	guard      sync.Mutex              // of serial and priorities, which churn uses beside other operations
	serial     int
	labels     map[string]map[string]string // of the pods created, by key
	templates  map[string]json.RawMessage   // the specs of claims that ResourceClaimTemplates have, by key
	named      []string                     // all nodes, those with a taint too
	place      func() error                 // has somebody place pods from now on, see Chosen.placed
	placing    *Candidate                   // who does
	stages     *stages                      // nil, unless the case is played in stages
	recall     bool                         // the objects are there: only what is known of them is made again
}

const creators = 30 // as many as upstream's

// order is one request to create something, or to write the status of something.
type order struct {
	path, what string
	body       []byte
	plain      bool       // the body is JSON, whatever the client speaks
	claims     *podClaims // what is made for the pod when it is there
}

// sendAll posts orders from several workers; at a rate, when it is not 0.
func (e *Executor) sendAll(orders []order, rate float64) error {
	work := make(chan order, len(orders))
	failures := make(chan error, creators)
	var workers sync.WaitGroup
	for range creators {
		workers.Go(func() {
			for each := range work {
				if err := patiently(e.ctx, func() error { return e.sendOne(each) }); err != nil {
					select {
					case failures <- err:
					default:
					}
				}
			}
		})
	}
	began := time.Now()
	for i, each := range orders {
		if rate > 0 {
			time.Sleep(time.Until(began.Add(time.Duration(float64(i) / rate * float64(time.Second)))))
		}
		work <- each
	}
	close(work)
	workers.Wait()
	select {
	case err := <-failures:
		return err
	default:
		return nil
	}
}

func (e *Executor) sendOne(each order) error {
	method, kind := "POST", e.client.contentType()
	if strings.HasSuffix(each.what, "/status") {
		method = "PUT"
	}
	if each.plain {
		kind = "application/json"
	}
	if each.claims != nil {
		return e.createWithClaims(each)
	}
	return e.client.send(e.ctx, method, each.path, kind, method+" "+each.what, each.body)
}

// prepare plays all operations before the measured one, and returns that one with its number.
func (e *Executor) prepare() (*Op, int, error) {
	for index := range e.chosen.Ops {
		op := &e.chosen.Ops[index]
		if op.CollectMetrics {
			return op, index, nil
		}
		if err := e.play(op, index); err != nil {
			return nil, 0, fmt.Errorf("operation %d, %s: %w", index, op.Opcode, err)
		}
	}
	return nil, 0, fmt.Errorf("no operation is measured")
}

func (e *Executor) play(op *Op, index int) error {
	switch op.Opcode {
	case "createNodes":
		return e.createNodes(op, index)
	case "createNamespaces":
		return e.createNamespaces(op)
	case "createPods":
		return e.createPods(op, index)
	case "createAny":
		return e.createAny(op)
	case "createPodGroups":
		return e.createPodGroups(op)
	case "createResourceDriver":
		return e.createResourceDriver(op)
	case "allocResourceClaims":
		return e.allocate(op, index)
	case "churn":
		return e.churn(op, index)
	case "deletePods":
		return e.deletePods(op)
	case "updateAny":
		return e.updateAny(op)
	case "startCollectingMetrics":
		return e.stages.begin(op)
	case "stopCollectingMetrics":
		return e.stages.end()
	case "barrier":
		return e.barrier(op)
	case "sleep":
		if !e.recall {
			time.Sleep(op.Duration.Duration)
		}
		return nil
	}
	return fmt.Errorf("not known")
}

// ---- nodes and namespaces -----------------------------------------------------------------------

func baseNode(prefix string) *v1.Node {
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix}, Status: v1.NodeStatus{
		Capacity: v1.ResourceList{v1.ResourcePods: resource.MustParse("110"), v1.ResourceCPU: resource.MustParse("4"),
			v1.ResourceMemory: resource.MustParse("32Gi")},
		Phase:      v1.NodeRunning,
		Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}}}
}

func (e *Executor) createNodes(op *Op, index int) error {
	next := func(int, int) (*v1.Node, error) { return baseNode(fmt.Sprintf("node-%d-", index)), nil }
	if op.NodeTemplatePath != "" {
		template, err := readTemplate(e.chosen.path(op.NodeTemplatePath), op.TemplateParams)
		if err != nil {
			return err
		}
		next = copier[v1.Node](template)
	}
	var orders []order
	start := len(e.named)
	for i := range op.Count {
		node, err := next(i, op.Count)
		if err != nil {
			return err
		}
		if node.Name == "" {
			node.Name = fmt.Sprintf("%s%05d", node.GenerateName, start+i)
		}
		if node.Labels == nil {
			node.Labels = map[string]string{}
		}
		node.Labels["kubernetes.io/hostname"] = node.Name
		// Upstream patches these labels afterwards; in the first request they cost the server less.
		if s := op.LabelNodePrepareStrategy; s != nil {
			node.Labels[s.LabelKey] = s.LabelValues[i%len(s.LabelValues)]
		} else if s := op.UniqueNodeLabelStrategy; s != nil {
			node.Labels[s.LabelKey] = "unique-" + node.Name
		}
		if err := e.offerVolumes(op.NodeAllocatableStrategy, node); err != nil {
			return err
		}
		e.declare(node)
		body, err := e.client.encode("v1", "Node", node)
		if err != nil {
			return err
		}
		orders = append(orders, order{path: "/api/v1/nodes", what: "nodes", body: body})
		e.named = append(e.named, node.Name)
		if len(node.Spec.Taints) == 0 {
			e.nodes = append(e.nodes, node.Name)
		}
	}
	return e.sendAll(orders, 0)
}

// declare has a node say which features it has, where the case asks for some.
func (e *Executor) declare(node *v1.Node) {
	for i := range e.chosen.Params[declaredFeatures] {
		node.Status.DeclaredFeatures = append(node.Status.DeclaredFeatures, fmt.Sprintf("Feature%d", i+1))
	}
	slices.Sort(node.Status.DeclaredFeatures)
}

func (e *Executor) namespace(name string, base *v1.Namespace) error {
	if e.spaces[name] {
		return nil
	}
	space := base.DeepCopy()
	space.Name = name
	e.spaces[name] = true
	return e.client.Create(e.ctx, "/api/v1/namespaces", "namespaces", "v1", "Namespace", space)
}

func (e *Executor) createNamespaces(op *Op) error {
	base := &v1.Namespace{}
	if op.NamespaceTemplatePath != "" {
		text, err := os.ReadFile(e.chosen.path(op.NamespaceTemplatePath))
		if err != nil {
			return err
		}
		if err := yaml.UnmarshalStrict(text, base); err != nil {
			return err
		}
	}
	for i := range op.Count {
		if err := e.namespace(fmt.Sprintf("%s-%d", op.Prefix, i), base); err != nil {
			return err
		}
	}
	return nil
}

// ---- pods ---------------------------------------------------------------------------------------

func basePod() *v1.Pod {
	amounts := v1.ResourceList{v1.ResourceCPU: resource.MustParse("100m"), v1.ResourceMemory: resource.MustParse("500Mi")}
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "pod-"}, Spec: v1.PodSpec{Containers: []v1.Container{{
		Name: "pause", Image: "registry.k8s.io/pause:3.10.2", Ports: []v1.ContainerPort{{ContainerPort: 80}},
		Resources: v1.ResourceRequirements{Limits: amounts, Requests: amounts}}}}}
}

// next is a number that no object of a run has had.
func (e *Executor) next() int {
	e.guard.Lock()
	defer e.guard.Unlock()
	e.serial++
	return e.serial
}

// priorityClass names a class of this value. Upstream switches the Priority admission off to write
// bare numbers; with a class of the number they are the same pods, and it can stay on.
func (e *Executor) priorityClass(value int32) (string, error) {
	e.guard.Lock()
	defer e.guard.Unlock()
	name := fmt.Sprintf("priority-%d", value)
	if e.priorities[value] {
		return name, nil
	}
	e.priorities[value] = true
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
	return name, e.client.Create(e.ctx, "/apis/scheduling.k8s.io/v1/priorityclasses", "priorityclasses",
		"scheduling.k8s.io/v1", "PriorityClass", class)
}

// podOrders makes the requests for an operation's pods, and their keys.
func (e *Executor) podOrders(op *Op, index int, bind bool) ([]order, []string, error) {
	namespace := op.Namespace
	if namespace == "" {
		namespace = fmt.Sprintf("namespace-%d", index)
	}
	if err := e.namespace(namespace, &v1.Namespace{}); err != nil {
		return nil, nil, err
	}
	next := func(int, int) (*v1.Pod, error) { return basePod(), nil }
	path := op.PodTemplatePath
	if path == "" {
		path = e.chosen.template
	}
	if path != "" {
		template, err := readTemplate(e.chosen.path(path), op.TemplateParams)
		if err != nil {
			return nil, nil, err
		}
		next = copier[v1.Pod](template)
	}
	if op.PersistentVolumeTemplatePath != "" {
		if err := e.createVolumes(op, namespace); err != nil {
			return nil, nil, err
		}
	}
	var orders []order
	var keys []string
	for i := range op.Count {
		pod, err := next(i, op.Count)
		if err != nil {
			return nil, nil, err
		}
		if pod.Name == "" {
			pod.Name = fmt.Sprintf("%s%06d", pod.GenerateName, e.next())
		}
		pod.Namespace = namespace
		if path != "" && e.chosen.labelled() {
			if pod.Labels == nil {
				pod.Labels = map[string]string{}
			}
			pod.Labels["signature"] = fmt.Sprintf("signature-label-%d", i/max(1, op.SignatureBatchSize))
		}
		if op.PersistentVolumeTemplatePath != "" {
			pod.Spec.Volumes = []v1.Volume{{Name: "vol", VolumeSource: v1.VolumeSource{
				PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claimName(i)}}}}
		}
		if pod.Spec.Priority != nil {
			if pod.Spec.PriorityClassName, err = e.priorityClass(*pod.Spec.Priority); err != nil {
				return nil, nil, err
			}
		}
		if bind {
			pod.Spec.NodeName = e.nodes[e.bindNext%len(e.nodes)]
			e.bindNext++
		}
		body, err := e.client.encode("v1", "Pod", pod)
		if err != nil {
			return nil, nil, err
		}
		claims, err := e.claimsOf(pod)
		if err != nil {
			return nil, nil, err
		}
		orders = append(orders, order{path: "/api/v1/namespaces/" + namespace + "/pods", what: "pods", body: body, claims: claims})
		keys = append(keys, namespace+"/"+pod.Name)
		e.labels[namespace+"/"+pod.Name] = pod.Labels
	}
	e.inventory[namespace] = append(e.inventory[namespace], keys...)
	return orders, keys, nil
}

func (e *Executor) createPods(op *Op, index int) error {
	waits := !op.SkipWaitToCompletion
	before := waits && e.bindInit && e.stages == nil
	orders, keys, err := e.podOrders(op, index, before && !e.chosen.placed())
	if err != nil {
		return err
	}
	if before && e.chosen.placed() && op.Count > 0 {
		if err := e.havePlaced(); err != nil {
			return err
		}
	}
	e.stages.expect(keys)
	if err := e.sendAll(orders, 0); err != nil {
		return err
	}
	if waits {
		return e.waitBound(keys)
	}
	return e.wait("the pods of an earlier operation to exist", func() bool {
		for _, key := range keys {
			if e.tracker.pods[key] == nil {
				return false
			}
		}
		return true
	})
}

// waitBound waits until these pods have nodes.
func (e *Executor) waitBound(keys []string) error {
	return e.wait("the pods of an earlier operation", func() bool {
		for _, key := range keys {
			if state := e.tracker.pods[key]; state == nil || state.bound.IsZero() {
				return false
			}
		}
		return true
	})
}

// havePlaced has somebody place the pods that are there before the measured ones.
func (e *Executor) havePlaced() error {
	if e.recall || e.place == nil {
		return nil
	}
	return e.place()
}

// wait is the tracker's, and ends early when the scheduler does.
func (e *Executor) wait(what string, condition func() bool) error {
	if e.recall {
		return nil // it was waited for when the objects were made, and they may have gone since
	}
	lost := false
	limit := 10 * time.Minute
	if e.stages != nil {
		limit = e.stages.run.limit
	}
	err := e.tracker.wait(what, limit, func() bool {
		lost = !e.stages.alive() || e.placing != nil && !e.placing.alive()
		return lost || condition()
	})
	if err == nil && lost {
		err = fmt.Errorf("the scheduler ended, while %s were waited for", what)
	}
	return err
}

func selected(labels, wanted map[string]string) bool {
	for key, value := range wanted {
		if labels[key] != value {
			return false
		}
	}
	return true
}

// barrier waits until all pods so far are bound or, with stage Attempted, were at least looked at.
func (e *Executor) barrier(op *Op) error {
	wanted := map[string]bool{}
	for _, name := range op.Namespaces {
		wanted[name] = true
	}
	return e.wait("a barrier", func() bool {
		for key, state := range e.tracker.pods {
			namespace, _, _ := strings.Cut(key, "/")
			if len(wanted) > 0 && !wanted[namespace] || !selected(e.labels[key], op.LabelSelector) {
				continue
			}
			if state.bound.IsZero() && !(op.StageRequirement == "Attempted" && state.attempted) {
				return false
			}
		}
		return true
	})
}

func (e *Executor) deletePods(op *Op) error {
	var doomed []string
	for _, key := range e.inventory[op.Namespace] {
		if selected(e.labels[key], op.LabelSelector) {
			doomed = append(doomed, key)
		}
	}
	remove := func(ctx context.Context) {
		_ = atPace(ctx, op.DeletePodsPerSecond, len(doomed), func(i int) error {
			path := "/api/v1/namespaces/" + strings.Replace(doomed[i], "/", "/pods/", 1)
			if err := e.client.Delete(ctx, path, "pods", ""); err != nil && ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, "deletePods:", err)
			}
			return nil
		})
	}
	e.stages.paces(op.DeletePodsPerSecond, len(doomed))
	switch {
	case !op.SkipWaitToCompletion:
		remove(e.ctx)
	case e.stages != nil:
		go remove(e.ctx)
	default:
		e.background = append(e.background, remove)
	}
	return nil
}

// atPace does something for each number below count, so many a second; at once if perSecond is 0. As
// scheduler_perf's ticker has it: what takes longer than its turn delays the next, and is not made up for.
func atPace(ctx context.Context, perSecond, count int, do func(i int) error) error {
	var turns <-chan time.Time
	if perSecond > 0 {
		ticker := time.NewTicker(time.Second / time.Duration(perSecond))
		defer ticker.Stop()
		turns = ticker.C
	}
	for i := range count {
		if turns != nil {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-turns:
			}
		}
		if err := do(i); err != nil {
			return err
		}
	}
	return nil
}

// ---- any kind -----------------------------------------------------------------------------------

type anyObject map[string]any

func (o anyObject) text(name string) string {
	value, _ := o[name].(string)
	return value
}

func (o anyObject) metadata() map[string]any {
	if found, ok := o["metadata"].(map[string]any); ok {
		return found
	}
	made := map[string]any{}
	o["metadata"] = made
	return made
}

// post creates an object of any kind and returns its path.
func (e *Executor) post(ctx context.Context, object anyObject, namespace string) (string, error) {
	each, err := e.orderFor(ctx, object, namespace)
	if err != nil || e.client.silent {
		return "", err
	}
	name, _ := object.metadata()["name"].(string)
	return each.path + "/" + name, patiently(ctx, func() error {
		return e.client.send(ctx, "POST", each.path, "application/json", "POST "+each.what, each.body)
	})
}

// withClass gives what has a bare priority the class of it.
func (e *Executor) withClass(object anyObject) error {
	spec, _ := object["spec"].(map[string]any)
	value, ok := spec["priority"].(float64)
	if !ok || object.text("kind") != "Pod" && object.text("kind") != "PodGroup" {
		return nil
	}
	name, err := e.priorityClass(int32(value))
	spec["priorityClassName"] = name
	return err
}

// orderFor is the request that creates an object of any kind.
func (e *Executor) orderFor(ctx context.Context, object anyObject, namespace string) (order, error) {
	metadata := object.metadata()
	if metadata["name"] == nil {
		metadata["name"] = fmt.Sprintf("%v%06d", metadata["generateName"], e.next())
	}
	if err := e.withClass(object); err != nil {
		return order{}, err
	}
	if object.text("apiVersion") == "resource.k8s.io/v1beta2" {
		object["apiVersion"] = resourceVersion // the same objects, and no API server has to be asked for it
	}
	if err := e.keepTemplate(object, namespace); err != nil || e.client.silent {
		return order{}, err
	}
	collection, plural, err := e.client.collection(ctx, object.text("apiVersion"), object.text("kind"), namespace)
	if err != nil {
		return order{}, err
	}
	body, err := json.Marshal(object)
	return order{path: collection, what: plural, body: body, plain: true}, err
}

func (e *Executor) createAny(op *Op) error {
	count := op.Count
	if op.CountParam == "" {
		count = max(1, count)
	}
	return e.createMany(op, count, func(anyObject) {})
}

// createMany creates so many objects of a template, each changed before.
func (e *Executor) createMany(op *Op, count int, change func(anyObject)) error {
	template, err := readTemplate(e.chosen.path(op.TemplatePath), op.TemplateParams)
	if err != nil {
		return err
	}
	if op.Namespace != "" {
		if err := e.namespace(op.Namespace, &v1.Namespace{}); err != nil {
			return err
		}
	}
	var orders []order
	for i := range count {
		object, err := render[anyObject](template, i, count)
		if err != nil {
			return err
		}
		change(*object)
		each, err := e.orderFor(e.ctx, *object, op.Namespace)
		if err != nil {
			return err
		}
		orders = append(orders, each)
	}
	return e.sendAll(orders, 0)
}

// createPodGroups makes groups in the version that scheduler_perf's own client speaks, whatever a template says.
func (e *Executor) createPodGroups(op *Op) error {
	return e.createMany(op, op.Count, func(object anyObject) { object["apiVersion"] = "scheduling.k8s.io/v1beta1" })
}

// churn creates objects again and again beside the measured pods, or creates and deletes them in turn.
func (e *Executor) churn(op *Op, index int) error {
	namespace := op.Namespace
	if namespace == "" {
		namespace = fmt.Sprintf("namespace-%d", index)
	}
	if err := e.namespace(namespace, &v1.Namespace{}); err != nil {
		return err
	}
	interval := max(op.IntervalMilliseconds, 0)
	if interval == 0 {
		interval = 500
	}
	turns := make([]func(context.Context, int), len(op.TemplatePaths))
	for i, path := range op.TemplatePaths {
		template, err := readTemplate(e.chosen.path(path), nil)
		if err != nil {
			return err
		}
		if turns[i], err = e.turn(op, template, namespace); err != nil {
			return err
		}
	}
	again := func(ctx context.Context) {
		ticker := time.NewTicker(time.Duration(interval) * time.Millisecond)
		defer ticker.Stop()
		for count := 0; op.Mode == "recreate" || op.Number == 0 || count < op.Number; count++ {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			for _, turn := range turns {
				turn(ctx, count)
			}
		}
	}
	if e.stages != nil {
		go again(e.ctx)
	} else {
		e.background = append(e.background, again)
	}
	return nil
}

// turn is what a template's object goes through at each tick.
func (e *Executor) turn(op *Op, template *Template, namespace string) (func(context.Context, int), error) {
	if op.Mode != "recreate" && op.Mode != "create" {
		return nil, fmt.Errorf("churn has no mode %q", op.Mode)
	}
	slots := make([]string, max(1, op.Number))
	return func(ctx context.Context, count int) {
		slot := &slots[count%len(slots)]
		if op.Mode == "recreate" && *slot != "" {
			if err := e.client.Delete(ctx, *slot, "churned", ""); err != nil && ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, "churn:", err)
			}
			*slot = ""
			return
		}
		object, err := render[anyObject](template, count, 0)
		if err == nil {
			*slot, err = e.post(ctx, *object, namespace)
		}
		if err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "churn:", err)
		}
	}, nil
}
