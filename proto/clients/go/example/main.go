// Nodes by label, and pods that have to wait: what scheduler/bus_plugin/example/plugin.py does, in Go.
//
// usage: example SOCKET…     SOCKET is scheduler.sock in berth's run directory
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	berth "berth/bus"
)

type example struct{ client *berth.Client }

func label(labels []berth.Label, key string) (string, bool) {
	for _, l := range labels {
		if l.Key == "bus.example/"+key {
			return l.Value, true
		}
	}
	return "", false
}

func (e *example) Filter(ask *berth.PluginAsk) (map[string]string, error) {
	refused := map[string]string{}
	for _, node := range ask.Nodes {
		if value, _ := label(node.Labels, "allowed"); value == "no" {
			refused[node.Name] = "not allowed here"
		}
	}
	return refused, nil
}

func (e *example) Score(ask *berth.PluginAsk) (map[string]int64, error) {
	scores := map[string]int64{}
	for _, node := range ask.Nodes {
		if value, there := label(node.Labels, "score"); there {
			score, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return nil, err
			}
			scores[node.Name] = score
		}
	}
	return scores, nil
}

// Step: permit is the only other one that it knows.
func (e *example) Step(ask *berth.PluginAsk) (*berth.PluginAnswer, error) {
	if ask.Step != berth.PluginStepPermit {
		return nil, fmt.Errorf("no answer to the step %q", ask.Step)
	}
	if value, there := label(ask.Pod.Labels, "wait"); there { // so many seconds from now
		seconds, err := strconv.ParseFloat(value, 64)
		time.AfterFunc(time.Duration(seconds*float64(time.Second)), func() {
			e.client.Tell(&berth.PluginPermit{UID: ask.Pod.UID, Allow: true})
		})
		return &berth.PluginAnswer{Verdict: "wait"}, err
	}
	if _, there := label(ask.Pod.Labels, "deny"); there {
		return &berth.PluginAnswer{Verdict: "deny", Reason: "denied by its label"}, nil
	}
	return nil, nil
}

func (e *example) Told(told *berth.PluginTold) {
	if told.What == berth.PluginNewsBound {
		fmt.Printf("bound %s/%s to %s\n", told.NamespaceName, told.Name, told.Node)
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	plugin := &example{}
	plugin.client = berth.NewClient("example", plugin)
	plugin.client.Run(ctx, os.Args[1:]...)
}
