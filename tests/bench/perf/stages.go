package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A case in stages: the scheduler is there from the beginning, pods that fit nowhere are created, and
// updates, deletions, new nodes and new pods then let them in. What is measured are the pods that the
// case names between its startCollectingMetrics and its stopCollectingMetrics.

// stages is what is known while such a case is played; nil in all other cases.
type stages struct {
	run        *run
	namespaces []string
	labels     map[string]string
	measuring  bool
	paced      time.Duration // what the case's own pace takes at least, of the measured time
	pacedUntil time.Time
}

// alive says whether the scheduler still runs, where it has to.
func (s *stages) alive() bool { return s == nil || s.run.candidate.alive() }

// begin starts the clock.
func (s *stages) begin(op *Op) error {
	s.namespaces, s.labels, s.measuring = op.Namespaces, op.LabelSelector, true
	if err := s.run.snapshot(); err != nil {
		return err
	}
	s.run.began = time.Now()
	return nil
}

// expect is told of all pods that are about to be created.
func (s *stages) expect(keys []string) {
	if s == nil || !s.measuring {
		return
	}
	var measured []string
	for _, key := range keys {
		namespace, _, _ := strings.Cut(key, "/")
		if (len(s.namespaces) == 0 || slices.Contains(s.namespaces, namespace)) &&
			selected(s.run.executor.labels[key], s.labels) {
			measured = append(measured, key)
		}
	}
	s.run.tracker.expect(measured)
	s.run.keys = append(s.run.keys, measured...)
}

// paces is told of something that begins now and is done so many times a second. What goes on at the same
// time counts once.
func (s *stages) paces(perSecond, count int) {
	if s == nil || !s.measuring || perSecond <= 0 {
		return
	}
	now := time.Now()
	until := now.Add(time.Duration(count) * time.Second / time.Duration(perSecond))
	if s.pacedUntil.Before(now) {
		s.pacedUntil = now
	}
	if until.After(s.pacedUntil) {
		s.paced += until.Sub(s.pacedUntil)
		s.pacedUntil = until
	}
}

// pacedBy is how much of the time until the last bind went at the case's own pace: what is left of a pace
// when all pods are bound kept nobody waiting.
func (s *stages) pacedBy(last time.Time) time.Duration {
	if s == nil {
		return 0
	}
	return max(0, s.paced-max(0, s.pacedUntil.Sub(last)))
}

// end stops the clock, when all measured pods are bound.
func (s *stages) end() error {
	err := s.run.tracker.allBound(s.run.limit, s.run.stall, s.alive)
	s.measuring = false
	s.run.last = s.run.usage()
	return err
}

// playStages is a run of such a case: every operation, one after the other.
func (r *run) playStages() error {
	r.executor.stages = &stages{run: r}
	settle(10*time.Second, func() float64 { return cpuSeconds(r.servers) })
	settle(r.quiet, machineCPU)
	if err := r.start(); err != nil {
		return err
	}
	if err := r.canaryWithNode(); err != nil {
		return err
	}
	first := r.atFirstBind(r.ctx)
	var failure error
	for index := range r.executor.chosen.Ops {
		op := &r.executor.chosen.Ops[index]
		if err := r.executor.play(op, index); err != nil {
			failure = fmt.Errorf("operation %d, %s: %w", index, op.Opcode, err)
			break
		}
	}
	if failure != nil {
		r.last, r.first = r.usage(), r.before
	} else {
		r.first = <-first
	}
	r.rest()
	if failure == nil {
		failure = r.tracker.failure
	}
	return failure
}

// canaryWithNode has the scheduler place a pod on a node that is there for this alone.
func (r *run) canaryWithNode() error {
	node := baseNode("")
	node.Name = "canary"
	node.Spec.Taints = []v1.Taint{{Key: "canary", Effect: v1.TaintEffectNoSchedule}}
	if err := r.client.Create(r.ctx, "/api/v1/nodes", "nodes", "v1", "Node", node); err != nil {
		return err
	}
	if err := r.canary(v1.Toleration{Key: "canary", Operator: v1.TolerationOpExists}); err != nil {
		return err
	}
	return r.client.Delete(r.ctx, "/api/v1/nodes/canary", "nodes", "")
}

// updateAny puts objects anew, and then their status, as a template says for each number.
func (e *Executor) updateAny(op *Op) error {
	template, err := readTemplate(e.chosen.path(op.TemplatePath), op.TemplateParams)
	if err != nil {
		return err
	}
	count := max(1, op.Count)
	e.stages.paces(op.UpdatePerSecond, count)
	return atPace(e.ctx, op.UpdatePerSecond, count, func(i int) error {
		object, err := render[anyObject](template, i, count)
		if err != nil {
			return err
		}
		for _, part := range []string{strings.Join(op.Subresources, "/"), "status"} {
			if err := e.put(*object, op.Namespace, part); err != nil {
				return err
			}
		}
		return nil
	})
}

// put replaces an object, or one of its subresources.
func (e *Executor) put(object anyObject, namespace, part string) error {
	path, what, err := e.client.collection(e.ctx, object.text("apiVersion"), object.text("kind"), namespace)
	if err != nil {
		return err
	}
	name, _ := object.metadata()["name"].(string)
	path += "/" + name
	if part != "" {
		path, what = path+"/"+part, what+"/"+part
	}
	body, err := e.whole(object)
	if err != nil {
		return err
	}
	return e.client.send(e.ctx, "PUT", path, e.client.contentType(), "PUT "+what, body)
}

// whole writes an object as creating it did: the same spelling of quantities, and allocatable where a
// node's template says capacity alone.
func (e *Executor) whole(object anyObject) ([]byte, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	switch kind := object.text("kind"); kind {
	case "Pod":
		pod := &v1.Pod{}
		if err := json.Unmarshal(text, pod); err != nil {
			return nil, err
		}
		pod.TypeMeta = metav1.TypeMeta{} // the envelope says it
		return e.client.encode("v1", kind, pod)
	case "Node":
		node := &v1.Node{}
		if err := json.Unmarshal(text, node); err != nil {
			return nil, err
		}
		if node.Status.Allocatable == nil {
			node.Status.Allocatable = node.Status.Capacity
		}
		node.TypeMeta = metav1.TypeMeta{}
		return e.client.encode("v1", kind, node)
	default:
		return nil, fmt.Errorf("no template of a %q can be put", kind)
	}
}
