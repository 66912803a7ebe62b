package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The ceiling: everything that a scheduler has to send and to receive, and nothing decided. It
// watches all pods, as a scheduler must, binds each pending one to the next node in turn, and tells
// each bind in an event, unless it is to send Bindings alone. What it reaches is what the API server lets any scheduler reach.
//
// With claims, each pod is first nominated, and each of its claims that has no devices gets its finalizer and then
// some of the node, all as kube-scheduler writes it. Which devices these are, and whether they are free, nobody asks.
//
// With victims, each pod first makes room as a preemptor does: it is rejected and nominated, so many
// pods of its node are marked, deleted and told of, and only then is it bound.

type ceiling struct {
	client  *Client
	nodes   []string
	host    string
	binds   chan *PodEvent
	events  chan *note
	failed  atomic.Int64
	victims int
	listed  chan struct{} // closed when all pods that were there are known
	mutex   sync.Mutex
	placed  map[string][]*PodEvent // by node: pods that were there, and are not evicted yet
	shelf   *shelf                 // of claims, nil when they are not looked at
	queued  map[string]bool        // pods with claims, by UID
}

// note is an event to be written.
type note struct {
	pod                          *PodEvent
	kind, reason, action, detail string
}

func ceilingMain(arguments []string) error {
	flags := flag.NewFlagSet("ceiling", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "the scheduler's kubeconfig")
	asJSON := flags.Bool("json", false, "speak JSON (our small API server)")
	connections := flags.Int("connections", 2, "HTTP/2 connections")
	inFlight := flags.Int("in-flight", 32, "binds, and as many events, at a time")
	victims := flags.Int("victims", 0, "how many pods of its node are evicted for each pod")
	events := flags.Bool("events", true, "tell of each bind in an event")
	claims := flags.Bool("claims", false, "give the claims of each pod devices, before it is bound")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	client, err := NewClient(*kubeconfig, *asJSON, *connections)
	if err != nil {
		return err
	}
	host, _ := os.Hostname()
	c := &ceiling{client: client, host: host, binds: make(chan *PodEvent, 1<<17), events: make(chan *note, 1<<17),
		victims: *victims, listed: make(chan struct{}), placed: map[string][]*PodEvent{}, queued: map[string]bool{}}
	if *claims {
		if c.shelf, err = followClaims(ctx, client); err != nil {
			return err
		}
	}
	if err := c.listNodes(ctx); err != nil {
		return err
	}
	var workers sync.WaitGroup
	tell := c.tell
	if !*events {
		tell = c.forget
	}
	for range *inFlight {
		workers.Go(func() { c.bind(ctx) })
		workers.Go(func() { tell(ctx) })
	}
	err = c.watch(ctx)
	workers.Wait()
	if ctx.Err() == nil {
		return err
	}
	fmt.Printf("ceiling: %d requests failed\n", c.failed.Load())
	return nil
}

func (c *ceiling) listNodes(ctx context.Context) error {
	text, err := c.client.Get(ctx, "/api/v1/nodes", "LIST nodes")
	if err != nil {
		return err
	}
	var list struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	for _, node := range list.Items {
		c.nodes = append(c.nodes, node.Metadata.Name)
	}
	if len(c.nodes) == 0 {
		return fmt.Errorf("there are no nodes")
	}
	return nil
}

func (c *ceiling) watch(ctx context.Context) error {
	follow, err := followPods(ctx, c.client, "&fieldSelector=status.phase!%3DSucceeded,status.phase!%3DFailed",
		func(event *PodEvent) {
			if event.Gated || event.Deleted || !c.isNew(event) {
				return
			}
			if event.Node == "" {
				c.binds <- event
				return
			}
			c.mutex.Lock()
			c.placed[event.Node] = append(c.placed[event.Node], event)
			c.mutex.Unlock()
		})
	if err != nil {
		return err
	}
	close(c.listed)
	return follow()
}

// isNew says whether a pod is seen for the first time, or with claims whether it has all of them for the first time.
func (c *ceiling) isNew(event *PodEvent) bool {
	if c.shelf == nil || event.Wanted == 0 || event.Node != "" {
		return event.Type == "ADDED"
	}
	if c.queued[event.UID] || strings.Count(event.Claims, ",") < event.Wanted {
		return false
	}
	c.queued[event.UID] = true
	return true
}

var turn atomic.Int64

// choose takes the next node in turn that has as many pods as are to be evicted, and those pods.
func (c *ceiling) choose() (string, []*PodEvent) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for range c.nodes {
		node := c.nodes[int(turn.Add(1))%len(c.nodes)]
		if placed := c.placed[node]; len(placed) >= c.victims {
			c.placed[node] = placed[c.victims:]
			return node, placed[:c.victims]
		}
	}
	return c.nodes[int(turn.Add(1))%len(c.nodes)], nil
}

func (c *ceiling) check(ctx context.Context, err error) bool {
	if err != nil && c.failed.Add(1) < 10 && ctx.Err() == nil {
		fmt.Println("ceiling:", err)
	}
	return err == nil
}

func podPath(pod *PodEvent) string {
	return "/api/v1/namespaces/" + pod.Namespace + "/pods/" + pod.Name
}

func (c *ceiling) patchStatus(ctx context.Context, pod *PodEvent, status string) bool {
	body := fmt.Sprintf(`{"metadata":{"uid":%q},"status":%s}`, pod.UID, status)
	return c.check(ctx, c.client.send(ctx, "PATCH", podPath(pod)+"/status", "application/strategic-merge-patch+json",
		"PATCH pods/status", []byte(body)))
}

// makeRoom sends what a preemptor costs; the texts are as long as kube-scheduler's.
func (c *ceiling) makeRoom(ctx context.Context, pod *PodEvent, node string, victims []*PodEvent) bool {
	now := time.Now().UTC().Format(time.RFC3339)
	why := fmt.Sprintf("0/%d nodes are available: %d Insufficient cpu.", len(c.nodes), len(c.nodes))
	done := c.patchStatus(ctx, pod, fmt.Sprintf(`{"conditions":[{"type":"PodScheduled","status":"False",`+
		`"reason":"Unschedulable","message":%q,"lastTransitionTime":%q}],"nominatedNodeName":%q}`, why, now, node))
	c.events <- &note{pod, "Warning", "FailedScheduling", "Scheduling", why}
	for _, victim := range victims {
		done = c.patchStatus(ctx, victim, fmt.Sprintf(`{"conditions":[{"type":"DisruptionTarget","status":"True",`+
			`"reason":"PreemptionByScheduler","message":"default-scheduler: preempting to accommodate a higher priority `+
			`pod","lastTransitionTime":%q}]}`, now)) && done
		done = c.check(ctx, c.client.Delete(ctx, podPath(victim), "pods",
			fmt.Sprintf(`{"preconditions":{"uid":%q}}`, victim.UID))) && done
		c.events <- &note{victim, "Normal", "Preempted", "Preempting", "Preempted by pod " + pod.UID + " on node " + node}
	}
	return done
}

func (c *ceiling) bind(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case pod := <-c.binds:
			if c.victims > 0 {
				<-c.listed
			}
			node, victims := c.choose()
			if len(victims) > 0 && !c.makeRoom(ctx, pod, node, victims) {
				continue
			}
			if c.shelf != nil && pod.Wanted > 0 && !c.allocate(ctx, pod, node) {
				continue
			}
			binding := &v1.Binding{
				ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: types.UID(pod.UID)},
				Target:     v1.ObjectReference{Kind: "Node", Name: node}}
			if c.check(ctx, c.client.Create(ctx, podPath(pod)+"/binding", "pods/binding", "v1", "Binding", binding)) {
				c.events <- &note{pod, "Normal", "Scheduled", "Binding",
					"Successfully assigned " + pod.Namespace + "/" + pod.Name + " to " + node}
			}
		}
	}
}

// forget is in the place of tell, where nobody is told of anything.
func (c *ceiling) forget(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.events:
		}
	}
}

func (c *ceiling) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-c.events:
			now := metav1.NewMicroTime(time.Now())
			event := &eventsv1.Event{
				ObjectMeta: metav1.ObjectMeta{Namespace: n.pod.Namespace,
					Name: fmt.Sprintf("%s.%x", n.pod.Name, now.UnixNano())},
				EventTime: now, ReportingController: "default-scheduler",
				ReportingInstance: "default-scheduler-" + c.host, Action: n.action, Reason: n.reason,
				Regarding: v1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: n.pod.Namespace,
					Name: n.pod.Name, UID: types.UID(n.pod.UID), ResourceVersion: n.pod.Version},
				Note: n.detail, Type: n.kind}
			path := "/apis/events.k8s.io/v1/namespaces/" + n.pod.Namespace + "/events"
			c.check(ctx, c.client.Create(ctx, path, "events", "events.k8s.io/v1", "Event", event))
		}
	}
}
