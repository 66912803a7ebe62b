//go:build !release137

// Package release holds what is called otherwise in one release of Kubernetes than in the other.
package release

import (
	"context"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/client-go/informers"
	storageinformers "k8s.io/client-go/informers/storage/v1"
	"k8s.io/client-go/kubernetes"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
)

// Version is that of the kube-scheduler that is linked in.
const Version = "v1.36.3"

// CapacityInformer is what a factory gives for CSIStorageCapacities.
type CapacityInformer = storageinformers.CSIStorageCapacityInformer

// Informers are the scheduler's own.
func Informers(client kubernetes.Interface) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(client, 0)
}

// Queued is the pod as the queue has it.
func Queued(q queue.SchedulingQueue, name, namespace string) (*framework.QueuedPodInfo, bool) {
	return q.GetPod(name, namespace)
}

// PodEvents are those that an update of a pod comes to.
func PodEvents(after, before *v1.Pod, _ bool) []fwk.ClusterEvent {
	return framework.PodSchedulingPropertiesChange(after, before)
}

// FillIn writes into a pod what the API server defaults apart from the API's own functions.
func FillIn(*v1.Pod) error {
	return nil
}

// ResizeDeferred is of no release before 1.37.
func ResizeDeferred(*v1.Pod) bool {
	return false
}

// Preempting is what DefaultPreemption says when pods are to go.
func Preempting(string, int) string {
	return ""
}

// Victims are the pods that would have to go from the node, and how many of them a budget protects.
func Victims(ctx context.Context, dp *defaultpreemption.DefaultPreemption, state fwk.CycleState, pod *v1.Pod,
	ni fwk.NodeInfo, pdbs []*policyv1.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	return dp.SelectVictimsOnNode(ctx, state.Clone(), pod, ni, pdbs)
}
