// Package scheduler, continued: tests that step the loop by hand, played to another process.
//
// Such a test makes pods, calls ScheduleOne once for each, does something, and then looks which pods are in
// the active queue again.  Here the process is started by the first ScheduleOne, which returns when every
// pending pod has been tried; the active queue is then the pods that were tried once more since.  How often
// a pod was tried is told by its events, of which the first and the second of a kind are written at once.
package scheduler

import (
	"context"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
)

const (
	triedWithin = 30 * time.Second
	settles     = 2 * time.Second // longer than the backoff of one attempt, and its attempt
)

// outsideQueue is the queue that a test sees.
type outsideQueue struct {
	internalqueue.SchedulingQueue
	sched *Scheduler
	tried map[types.UID]int // attempts known of; bound pods have one more
}

// oneOutside plays ScheduleOne to the process; false: it is for the loop of this process.
func (sched *Scheduler) oneOutside(ctx context.Context) bool {
	if sched.outside.inside {
		return false
	}
	if names := sched.foreignPlugins(); len(names) > 0 {
		say("plugins %s", strings.Join(names, ","))
		sched.outside.inside = true
		return false
	}
	queue, wrapped := sched.SchedulingQueue.(*outsideQueue)
	if !wrapped {
		queue = &outsideQueue{SchedulingQueue: sched.SchedulingQueue, sched: sched}
		sched.SchedulingQueue = queue
		sched.Start(ctx)
	}
	queue.awaitTried(ctx)
	return true
}

// awaitTried waits until every pod has been tried, and begins to count anew.
func (q *outsideQueue) awaitTried(ctx context.Context) {
	for deadline := time.Now().Add(triedWithin); ctx.Err() == nil; time.Sleep(4 * pollEvery) {
		tried, missing := q.attempts(ctx)
		if !missing || time.Now().After(deadline) {
			q.tried = tried
			return
		}
	}
}

// attempts counts them by pod; missing: a pod that is not gated has none yet.
func (q *outsideQueue) attempts(ctx context.Context) (tried map[types.UID]int, missing bool) {
	tried = map[types.UID]int{}
	events, err := q.sched.client.EventsV1().Events("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return tried, true
	}
	for i := range events.Items {
		if events.Items[i].Reason == "FailedScheduling" {
			tried[events.Items[i].Regarding.UID] += repeated(&events.Items[i])
		}
	}
	for _, pod := range q.pods(ctx) {
		if pod.Spec.NodeName != "" {
			tried[pod.UID]++
		}
		missing = missing || tried[pod.UID] == 0 && len(pod.Spec.SchedulingGates) == 0
	}
	return tried, missing
}

func repeated(event *eventsv1.Event) int {
	if event.Series == nil {
		return 1
	}
	return max(2, int(event.Series.Count))
}

func (q *outsideQueue) pods(ctx context.Context) []*v1.Pod {
	list, err := q.sched.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil
	}
	pods := make([]*v1.Pod, len(list.Items))
	for i := range list.Items {
		pods[i] = &list.Items[i]
	}
	return pods
}

// PodsInActiveQ is the pods that were tried again.  It takes its time, so that "none" can be believed.
func (q *outsideQueue) PodsInActiveQ() []*v1.Pod {
	ctx := context.Background()
	time.Sleep(settles)
	tried, _ := q.attempts(ctx)
	var again []*v1.Pod
	for _, pod := range q.pods(ctx) {
		if tried[pod.UID] > q.tried[pod.UID] {
			again = append(again, pod)
		}
	}
	return again
}

// PendingPods is the pods without a node, and those that were bound since they were tried.
func (q *outsideQueue) PendingPods() ([]*v1.Pod, string) {
	var pending []*v1.Pod
	for _, pod := range q.pods(context.Background()) {
		if pod.Spec.NodeName == "" {
			pending = append(pending, pod)
		}
	}
	return pending, "as the API server has them"
}
