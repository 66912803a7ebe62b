//go:build release137

// Package release holds what is called otherwise in one release of Kubernetes than in the other.
package release

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	storageinformers "k8s.io/client-go/informers/storage/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-helpers/resource"
	fwk "k8s.io/kube-scheduler/framework"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
)

// Version is that of the kube-scheduler that is linked in.
const Version = "v1.37.2"

// CapacityInformer is what a factory gives for CSIStorageCapacities.
type CapacityInformer = storageinformers.TypedCSIStorageCapacityInformer

// Informers are the scheduler's own.
func Informers(client kubernetes.Interface) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(client, 0, nil)
}

// Queued is the pod as the queue has it.
func Queued(q queue.SchedulingQueue, name, namespace string) (*framework.QueuedPodInfo, bool) {
	return q.GetPod(name, namespace, nil)
}

// PodEvents are those that an update of a pod comes to, of one that waits or of one that is on a node.
func PodEvents(after, before *v1.Pod, waits bool) []fwk.ClusterEvent {
	return framework.PodSchedulingPropertiesChange(after, before, waits)
}

// FillIn writes into a pod what the API server defaults apart from the API's own functions: as it
// is created, the requests and limits of the pod as a whole.
func FillIn(pod *v1.Pod) error {
	var inside core.Pod
	if err := corev1.Convert_v1_Pod_To_core_Pod(pod, &inside, nil); err != nil {
		return err
	}
	podutil.DefaultPodLevelResources(&inside)
	var filled v1.Pod
	if err := corev1.Convert_core_Pod_To_v1_Pod(&inside, &filled, nil); err != nil {
		return err
	}
	pod.Spec.Resources = filled.Spec.Resources
	return nil
}

// ResizeDeferred says that the pod is tried for the sake of its resize.
func ResizeDeferred(pod *v1.Pod) bool {
	return utilfeature.DefaultFeatureGate.Enabled(features.InPlacePodVerticalScalingSchedulerPreemption) &&
		resource.IsPodResizeDeferred(pod)
}

// Preempting is what DefaultPreemption says when pods are to go: Evaluator.Preempt, with the
// plugin's own word before it.
func Preempting(node string, victims int) string {
	return fmt.Sprintf("preemption: found a potential placement for pod on node %v, preempting %d victims", node, victims)
}

// Victims are the pods that would have to go from the node, and how many of them a budget protects.
func Victims(ctx context.Context, dp *defaultpreemption.DefaultPreemption, state fwk.CycleState, pod *v1.Pod,
	ni fwk.NodeInfo, pdbs []*policyv1.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	found, statuses, err := dp.Evaluator.DryRunPreemption(ctx, state, pod, []fwk.NodeInfo{ni}, pdbs, 0, 1)
	if err == nil && len(found) > 0 {
		victims := found[0].Victims()
		return victims.Pods, int(victims.NumPDBViolations), nil
	}
	if statuses != nil {
		return nil, 0, statuses.Get(ni.Node().Name)
	}
	return nil, 0, fwk.NewStatus(fwk.Unschedulable, "no victims")
}
