package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// podState is what the watch has said about a pod, and when.
type podState struct {
	created, bound      time.Time
	attempted, measured bool
}

// Tracker is the stopwatch: one watch of all pods, opened before the first of them is created.
type Tracker struct {
	mutex    sync.Mutex
	changed  *sync.Cond
	pods     map[string]*podState
	measured int // pods that will be measured
	seen     int // of these, how many the watch has shown
	bound    int // and how many of them have a node
	last     time.Time
	moved    time.Time     // the last bind of a measured pod, or eviction of one that was bound
	first    chan struct{} // closed at the first bind of a measured pod
	failure  error
}

// NewTracker opens the watch and follows it until the context ends.
func NewTracker(ctx context.Context, client *Client) (*Tracker, error) {
	t := &Tracker{pods: map[string]*podState{}, first: make(chan struct{})}
	t.changed = sync.NewCond(&t.mutex)
	follow, err := followPods(ctx, client, "", t.event)
	if err != nil {
		return nil, fmt.Errorf("the harness's own watch: %w", err)
	}
	go func() {
		err := follow()
		t.mutex.Lock()
		t.failure = err
		t.mutex.Unlock()
		t.changed.Broadcast()
	}()
	go func() { // waiters look at the clock as well
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		for range ticker.C {
			t.changed.Broadcast()
		}
	}()
	return t, nil
}

// expect says which pods are measured, before any of them is bound.
func (t *Tracker) expect(keys []string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for _, key := range keys {
		state := t.pods[key]
		if state == nil {
			state = &podState{}
			t.pods[key] = state
		} else if !state.created.IsZero() {
			t.seen++ // it was made in advance
		}
		state.measured = true
	}
	t.measured += len(keys)
}

func (t *Tracker) event(event *PodEvent) {
	now := time.Now()
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if event.Type != "ADDED" && event.Type != "MODIFIED" && event.Type != "DELETED" {
		return
	}
	key := event.Namespace + "/" + event.Name
	state := t.pods[key]
	if event.Type == "DELETED" {
		if event.Node != "" {
			t.moved = now
		}
		if state != nil && !state.measured {
			delete(t.pods, key)
		}
		return
	}
	if state == nil {
		state = &podState{}
		t.pods[key] = state
	}
	if state.created.IsZero() {
		state.created = now
		if state.measured {
			t.seen++
		}
	}
	state.attempted = state.attempted || event.Attempted
	if event.Node == "" || !state.bound.IsZero() {
		return
	}
	state.bound = now
	if state.measured {
		if t.bound == 0 {
			close(t.first)
		}
		t.bound++
		t.last, t.moved = now, now
	}
	t.changed.Broadcast()
}

// wait blocks until the condition holds; it looks at the tracker with the lock held.
func (t *Tracker) wait(what string, limit time.Duration, condition func() bool) error {
	deadline := time.Now().Add(limit)
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for !condition() {
		if t.failure != nil {
			return t.failure
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("after %v still waiting for %s", limit, what)
		}
		t.changed.Wait()
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// allBound waits for the measured pods, as long as there is progress: some schedulers make all the
// room that the pods need before they bind the first.
func (t *Tracker) allBound(limit, stall time.Duration, alive func() bool) error {
	began := time.Now()
	idle := func() bool { return time.Since(t.moved) > stall && time.Since(began) > stall }
	err := t.wait("the measured pods to be bound", limit, func() bool {
		return t.bound >= t.measured || idle() || !alive()
	})
	if err != nil {
		return err
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.bound < t.measured {
		return fmt.Errorf("%d of %d measured pods are bound, and no more for %v", t.bound, t.measured,
			time.Since(later(began, t.moved)).Round(time.Second))
	}
	return nil
}

// states are copies of what is known about these pods.
func (t *Tracker) states(keys []string) []*podState {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	states := make([]*podState, 0, len(keys))
	for _, key := range keys {
		copied := *t.pods[key]
		states = append(states, &copied)
	}
	return states
}
