package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// What comes before the clock is the same for every candidate: nodes, the pods that are there before and,
// in a backlog, the measured pods. So it can be made once; whoever starts the API server on a copy of its
// store then has each run only recall it, that is play the operations without sending anything.

// inventory is what an API server holds when all is made; a run that finds anything else is refused.
type inventory struct {
	Nodes int `json:"nodes"`
	Pods  int `json:"pods"`
	Bound int `json:"bound"`
}

// prepareMain makes what comes before a run and prints what there is then.
func prepareMain(arguments []string) error {
	return withRun("prepare", arguments, (*run).prepareAndTell)
}

// prepareAndTell is setup and nothing behind it.
func (r *run) prepareAndTell() error {
	if r.executor.chosen.Staged {
		return errors.New("in a case in stages the scheduler is there from the beginning")
	}
	if _, err := r.setup(); err != nil {
		return err
	}
	found, err := r.count()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

// count looks at what there is: pods as the watch has them, nodes by asking.
func (r *run) count() (*inventory, error) {
	text, err := r.client.Get(r.ctx, "/api/v1/nodes?limit=1", "LIST nodes")
	if err != nil {
		return nil, err
	}
	var list struct {
		Metadata struct{ RemainingItemCount int }
		Items    []json.RawMessage
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	found := &inventory{Nodes: len(list.Items) + list.Metadata.RemainingItemCount}
	r.tracker.mutex.Lock()
	defer r.tracker.mutex.Unlock()
	for _, state := range r.tracker.pods {
		if state.created.IsZero() {
			continue
		}
		found.Pods++
		if !state.bound.IsZero() {
			found.Bound++
		}
	}
	return found, nil
}

// recall is setup on an API server that has it all already.
func (r *run) recall() ([]order, error) {
	text, err := os.ReadFile(r.prepared)
	if err != nil {
		return nil, err
	}
	var wanted inventory
	if err := json.Unmarshal(text, &wanted); err != nil {
		return nil, fmt.Errorf("%s: %w", r.prepared, err)
	}
	var found *inventory
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if found, err = r.count(); err != nil {
			return nil, err
		}
		if *found == wanted {
			break
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("prepared were %+v, and there are %+v", wanted, *found)
		}
	}
	r.executor.recall, r.client.silent = true, true
	defer func() { r.executor.recall, r.client.silent = false, false }()
	return r.setup()
}
