package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
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
// each bind in an event. What it reaches is what the API server lets any scheduler reach.

type ceiling struct {
	client *Client
	nodes  []string
	host   string
	binds  chan *PodEvent
	events chan *bound
	failed atomic.Int64
}

type bound struct {
	pod  *PodEvent
	node string
}

func ceilingMain(arguments []string) error {
	flags := flag.NewFlagSet("ceiling", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "the scheduler's kubeconfig")
	asJSON := flags.Bool("json", false, "speak JSON (our small API server)")
	connections := flags.Int("connections", 2, "HTTP/2 connections")
	inFlight := flags.Int("in-flight", 32, "binds, and as many events, at a time")
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
	c := &ceiling{client: client, host: host, binds: make(chan *PodEvent, 1<<17), events: make(chan *bound, 1<<17)}
	if err := c.listNodes(ctx); err != nil {
		return err
	}
	var workers sync.WaitGroup
	for range *inFlight {
		workers.Go(func() { c.bind(ctx) })
		workers.Go(func() { c.tell(ctx) })
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
			if event.Type == "ADDED" && event.Node == "" && !event.Gated && !event.Deleted {
				c.binds <- event
			}
		})
	if err != nil {
		return err
	}
	return follow()
}

var turn atomic.Int64

func (c *ceiling) bind(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case pod := <-c.binds:
			node := c.nodes[int(turn.Add(1))%len(c.nodes)]
			binding := &v1.Binding{
				ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: types.UID(pod.UID)},
				Target:     v1.ObjectReference{Kind: "Node", Name: node}}
			path := "/api/v1/namespaces/" + pod.Namespace + "/pods/" + pod.Name + "/binding"
			if err := c.client.Create(ctx, path, "pods/binding", "v1", "Binding", binding); err != nil {
				if c.failed.Add(1) < 10 && ctx.Err() == nil {
					fmt.Println("ceiling:", err)
				}
				continue
			}
			c.events <- &bound{pod, node}
		}
	}
}

func (c *ceiling) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case b := <-c.events:
			now := metav1.NewMicroTime(time.Now())
			event := &eventsv1.Event{
				ObjectMeta: metav1.ObjectMeta{Namespace: b.pod.Namespace,
					Name: fmt.Sprintf("%s.%x", b.pod.Name, now.UnixNano())},
				EventTime: now, ReportingController: "default-scheduler",
				ReportingInstance: "default-scheduler-" + c.host, Action: "Binding", Reason: "Scheduled",
				Regarding: v1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: b.pod.Namespace,
					Name: b.pod.Name, UID: types.UID(b.pod.UID), ResourceVersion: b.pod.Version},
				Note: "Successfully assigned " + b.pod.Namespace + "/" + b.pod.Name + " to " + b.node, Type: "Normal"}
			path := "/apis/events.k8s.io/v1/namespaces/" + b.pod.Namespace + "/events"
			if err := c.client.Create(ctx, path, "events", "events.k8s.io/v1", "Event", event); err != nil {
				if c.failed.Add(1) < 10 && ctx.Err() == nil {
					fmt.Println("ceiling:", err)
				}
			}
		}
	}
}
