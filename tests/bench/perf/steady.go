package main

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// A steady state: a few pods wait, and who is bound is deleted and followed by another, for as long as the case
// says. Measured are all pods that were bound in that time. Release 1.36's harness waits until all that it has
// created are bound and then begins anew; later ones replace each pod when it is bound.

// playSteady is a run of such a case.
func (r *run) playSteady() error {
	if r.init == "scheduler" {
		if err := r.start(); err != nil {
			return err
		}
	}
	setup := r.setup
	if r.prepared != "" {
		setup = r.recall
	}
	if _, err := setup(); err != nil {
		return err
	}
	settle(10*time.Second, func() float64 { return cpuSeconds(r.servers) })
	settle(r.quiet, machineCPU)
	if r.candidate == nil {
		if err := r.start(); err != nil {
			return err
		}
	}
	if err := r.canary(); err != nil {
		return err
	}
	if err := r.snapshot(); err != nil {
		return err
	}
	r.began = time.Now()
	first := r.atFirstBind(r.ctx)
	failure := r.keepSteady()
	r.last = r.usage()
	if failure == nil {
		r.first = <-first
	} else {
		r.first = r.before
	}
	r.rest()
	if failure == nil {
		failure = r.tracker.failure
	}
	return failure
}

// keepSteady has as many pods wait as the case says, until its time is over.
func (r *run) keepSteady() error {
	e, op := r.executor, r.steadyOp
	deadline := r.began.Add(op.Duration.Duration)
	waiting := map[string]*podClaims{}
	if err := r.refill(waiting, op.Count); err != nil {
		return err
	}
	for {
		bound, err := r.someBound(waiting, deadline)
		if err != nil {
			return err
		}
		r.keys = append(r.keys, bound...)
		if !time.Now().Before(deadline) {
			break
		}
		err = inParallel(r.ctx, len(bound), func(i int) error { return e.deleteWithClaims(bound[i], waiting[bound[i]]) })
		if err != nil {
			return err
		}
		for _, key := range bound {
			delete(waiting, key)
		}
		if err := r.refill(waiting, len(bound)); err != nil {
			return err
		}
	}
	if len(r.keys) == 0 {
		for key := range waiting {
			r.keys = append(r.keys, key)
		}
		return fmt.Errorf("no pod was bound in %v", op.Duration.Duration)
	}
	return nil
}

// refill creates so many pods.
func (r *run) refill(waiting map[string]*podClaims, count int) error {
	op := *r.steadyOp
	op.Count = count
	orders, keys, err := r.executor.podOrders(&op, r.steadyIndex, false)
	if err != nil {
		return err
	}
	r.tracker.expect(keys)
	for i, key := range keys {
		waiting[key] = orders[i].claims
	}
	return r.executor.sendAll(orders, 0)
}

// someBound waits for one of the pods to be bound, or for all of them, and returns those that are. When the
// time is over, it returns what was bound by then.
func (r *run) someBound(waiting map[string]*podClaims, deadline time.Time) ([]string, error) {
	wanted := 1
	if r.executor.chosen.release == firstRelease {
		wanted = len(waiting)
	}
	var bound []string
	err := r.tracker.wait("a pod to be bound", r.limit, func() bool {
		bound = bound[:0]
		for key := range waiting {
			if state := r.tracker.pods[key]; state != nil && !state.bound.IsZero() && state.bound.Before(deadline) {
				bound = append(bound, key)
			}
		}
		return len(bound) >= wanted || !time.Now().Before(deadline) || !r.candidate.alive()
	})
	if err == nil && !r.candidate.alive() {
		err = errors.New("the scheduler ended")
	}
	return bound, err
}

// startPlacer starts who places the pods that are there before, once; stopPlacer ends it.
func (r *run) startPlacer() error {
	if r.executor.placing != nil || r.candidate != nil {
		return nil
	}
	if len(r.placer) == 0 {
		return errors.New("somebody has to place the pods that are there before: --placer")
	}
	log := r.log + ".placer"
	if r.log == "" {
		log = os.DevNull
	}
	var err error
	r.executor.placing, err = startCandidate(r.placer, log)
	return err
}

func (r *run) stopPlacer() {
	if r.executor.placing != nil {
		r.executor.placing.stop()
		r.executor.placing = nil
	}
}
