package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	coordination "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
)

// The nodes' kubelets, as far as the API shows them: each node is there, ready, and says so; a pod that is on it
// runs as soon as it is seen, and is gone a moment after it was told to go.  Nothing is really run.
type kubelets struct {
	client  kubernetes.Interface
	version string // of the API server, and so of all
	pods    cache.SharedIndexInformer
	queue   workqueue.TypedRateLimitingInterface[string]
	nodes   map[string]string // name to address
	given   int               // pod addresses
}

const (
	nodeCount    = 3
	leaseSeconds = 40
	beat         = time.Second
	dyingTime    = 200 * time.Millisecond
)

func kubelet() {
	kubeconfig := flag.String("kubeconfig", "", "how to reach the API server")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	die(err)
	config.QPS, config.Burst = 500, 1000
	client, err := kubernetes.NewForConfig(config)
	die(err)
	version, err := client.Discovery().ServerVersion()
	die(err)
	k := &kubelets{client: client, version: version.GitVersion, nodes: map[string]string{}, queue: workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](50*time.Millisecond, 2*time.Second))}
	for i := 0; i < nodeCount; i++ {
		die(k.register(ctx, i))
	}
	go k.beat(ctx)
	k.pods = informers.NewSharedInformerFactory(client, 0).Core().V1().Pods().Informer()
	_, err = k.pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    k.look,
		UpdateFunc: func(_, now any) { k.look(now) },
	})
	die(err)
	go k.pods.RunWithContext(ctx)
	go func() {
		<-ctx.Done()
		k.queue.ShutDown()
	}()
	for k.next(ctx) {
	}
}

func die(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "suite kubelet:", err)
		os.Exit(1)
	}
}

// ---- nodes ----

func (k *kubelets) register(ctx context.Context, i int) error {
	name, address := fmt.Sprintf("node-%d", i), fmt.Sprintf("127.0.1.%d", i+1)
	k.nodes[name] = address
	room := v1.ResourceList{
		v1.ResourceCPU:              resource.MustParse("4"),
		v1.ResourceMemory:           resource.MustParse("8Gi"),
		v1.ResourceEphemeralStorage: resource.MustParse("20Gi"),
		v1.ResourcePods:             resource.MustParse("110"),
	}
	node := &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			v1.LabelHostname: name, v1.LabelOSStable: "linux", v1.LabelArchStable: "amd64",
			v1.LabelTopologyZone: fmt.Sprintf("zone-%d", i), v1.LabelTopologyRegion: "region"}},
		Status: v1.NodeStatus{Capacity: room, Allocatable: room,
			Addresses: []v1.NodeAddress{{Type: v1.NodeInternalIP, Address: address}, {Type: v1.NodeHostName, Address: name}},
			NodeInfo:  v1.NodeSystemInfo{OperatingSystem: "linux", Architecture: "amd64", KubeletVersion: k.version}},
	}
	if _, err := k.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return err // its first beat makes it ready
	}
	for _, name := range daemons {
		if err := k.daemon(ctx, name+"-"+node.Name, node.Name); err != nil {
			return err
		}
	}
	return nil
}

// The tests wait for a minute each where a node does not have these.
var daemons = []string{"kube-proxy", "fluentd-elasticsearch", "node-problem-detector"}

func (k *kubelets) daemon(ctx context.Context, name, node string) error {
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.PodSpec{NodeName: node, PriorityClassName: "system-node-critical", HostNetwork: true,
			Tolerations: []v1.Toleration{{Operator: v1.TolerationOpExists}},
			Containers:  []v1.Container{{Name: "c", Image: "none"}}},
	}
	_, err := k.client.CoreV1().Pods(metav1.NamespaceSystem).Create(ctx, pod, metav1.CreateOptions{})
	return err
}

// What there is of a resource may all be given away; true when that was not said.
func allocates(node *v1.Node) bool {
	changed := false
	for name, amount := range node.Status.Capacity {
		if given, there := node.Status.Allocatable[name]; !there || given.Cmp(amount) != 0 {
			node.Status.Allocatable[name], changed = amount, true
		}
	}
	for name := range node.Status.Allocatable {
		if _, there := node.Status.Capacity[name]; !there {
			delete(node.Status.Allocatable, name)
			changed = true
		}
	}
	return changed
}

// Its conditions, what it has, and its lease.
func (k *kubelets) say(ctx context.Context, name string) error {
	node, err := k.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	now, news := metav1.Now(), allocates(node)
	if len(node.Status.Conditions) == 0 || node.Status.Conditions[0].Status != v1.ConditionTrue {
		node.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue, Reason: "KubeletReady",
			LastHeartbeatTime: now, LastTransitionTime: now}}
		for _, kind := range []v1.NodeConditionType{v1.NodeMemoryPressure, v1.NodeDiskPressure, v1.NodePIDPressure} {
			node.Status.Conditions = append(node.Status.Conditions, v1.NodeCondition{Type: kind,
				Status: v1.ConditionFalse, Reason: "Sufficient", LastHeartbeatTime: now, LastTransitionTime: now})
		}
		news = true
	}
	if news {
		if _, err := k.client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return k.renew(ctx, name)
}

func (k *kubelets) renew(ctx context.Context, name string) error {
	leases := k.client.CoordinationV1().Leases(v1.NamespaceNodeLease)
	spec := coordination.LeaseSpec{HolderIdentity: &name, LeaseDurationSeconds: ptr.To[int32](leaseSeconds),
		RenewTime: &metav1.MicroTime{Time: time.Now()}}
	lease, err := leases.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = leases.Create(ctx, &coordination.Lease{ObjectMeta: metav1.ObjectMeta{Name: name,
			Namespace: v1.NamespaceNodeLease}, Spec: spec}, metav1.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	lease.Spec = spec
	_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	return err
}

func (k *kubelets) beat(ctx context.Context) {
	for ctx.Err() == nil {
		for name := range k.nodes {
			err := retry.RetryOnConflict(retry.DefaultRetry, func() error { return k.say(ctx, name) })
			if err != nil && ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, "suite kubelet: node", name+":", err)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(beat):
		}
	}
}

// ---- pods ----

// How long a pod that was told to go is still there: what its containers sleep first, within its grace.
func left(pod *v1.Pod) time.Duration {
	if pod.DeletionTimestamp == nil {
		return 0
	}
	stays, grace := dyingTime, time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0))*time.Second
	for _, c := range pod.Spec.Containers {
		if c.Lifecycle != nil && c.Lifecycle.PreStop != nil && c.Lifecycle.PreStop.Sleep != nil {
			stays = max(stays, time.Duration(c.Lifecycle.PreStop.Sleep.Seconds)*time.Second)
		}
	}
	return time.Until(pod.DeletionTimestamp.Add(-grace).Add(min(stays, max(grace, dyingTime))))
}

func (k *kubelets) look(object any) {
	pod := object.(*v1.Pod)
	if _, ours := k.nodes[pod.Spec.NodeName]; !ours {
		return
	}
	key, _ := cache.MetaNamespaceKeyFunc(pod)
	k.queue.AddAfter(key, left(pod))
}

func (k *kubelets) next(ctx context.Context) bool {
	key, over := k.queue.Get()
	if over {
		return false
	}
	defer k.queue.Done(key)
	object, there, _ := k.pods.GetStore().GetByKey(key)
	if !there {
		k.queue.Forget(key)
		return true
	}
	err := k.care(ctx, object.(*v1.Pod).DeepCopy())
	if err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
		k.queue.AddRateLimited(key)
	} else {
		k.queue.Forget(key)
	}
	return true
}

func ended(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
}

// What its kubelet would do next.
func (k *kubelets) care(ctx context.Context, pod *v1.Pod) error {
	pods := k.client.CoreV1().Pods(pod.Namespace)
	if pod.DeletionTimestamp == nil {
		if ended(pod) || pod.Status.Phase == v1.PodRunning {
			return nil
		}
		k.run(pod)
		_, err := pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
		return err
	}
	if wait := left(pod); wait > 0 {
		k.queue.AddAfter(pod.Namespace+"/"+pod.Name, wait)
		return nil
	}
	if !ended(pod) {
		end(pod)
		now, err := pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		pod = now
	}
	return pods.Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0),
		Preconditions: &metav1.Preconditions{UID: &pod.UID}})
}

func statusesOf(containers []v1.Container, state v1.ContainerState, ready bool) []v1.ContainerStatus {
	var statuses []v1.ContainerStatus
	for _, c := range containers {
		statuses = append(statuses, v1.ContainerStatus{Name: c.Name, Image: c.Image, ImageID: c.Image,
			ContainerID: "none://" + c.Name, Ready: ready, Started: ptr.To(ready), State: state})
	}
	return statuses
}

func condition(pod *v1.Pod, kind v1.PodConditionType, status v1.ConditionStatus) {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == kind {
			if c.Status != status {
				c.Status, c.LastTransitionTime = status, metav1.Now()
			}
			return
		}
	}
	pod.Status.Conditions = append(pod.Status.Conditions, v1.PodCondition{Type: kind, Status: status,
		LastTransitionTime: metav1.Now()})
}

var readiness = []v1.PodConditionType{v1.PodScheduled, v1.PodReadyToStartContainers, v1.PodInitialized,
	v1.ContainersReady, v1.PodReady}

func (k *kubelets) run(pod *v1.Pod) {
	now, host := metav1.Now(), k.nodes[pod.Spec.NodeName]
	k.given++
	address := fmt.Sprintf("10.64.%d.%d", k.given/250%250, k.given%250+1)
	if pod.Spec.HostNetwork {
		address = host
	}
	s := &pod.Status
	s.Phase, s.StartTime, s.QOSClass = v1.PodRunning, &now, pod.Status.QOSClass
	s.HostIP, s.HostIPs = host, []v1.HostIP{{IP: host}}
	s.PodIP, s.PodIPs = address, []v1.PodIP{{IP: address}}
	over := v1.ContainerState{Terminated: &v1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}}
	s.InitContainerStatuses = statusesOf(pod.Spec.InitContainers, over, true)
	running := v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: now}}
	s.ContainerStatuses = statusesOf(pod.Spec.Containers, running, true)
	for _, kind := range readiness {
		condition(pod, kind, v1.ConditionTrue)
	}
}

func end(pod *v1.Pod) {
	now := metav1.Now()
	pod.Status.Phase = v1.PodFailed
	killed := v1.ContainerState{Terminated: &v1.ContainerStateTerminated{ExitCode: 137, Reason: "Error", FinishedAt: now}}
	pod.Status.ContainerStatuses = statusesOf(pod.Spec.Containers, killed, false)
	condition(pod, v1.ContainersReady, v1.ConditionFalse)
	condition(pod, v1.PodReady, v1.ConditionFalse)
}
