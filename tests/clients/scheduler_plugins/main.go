// Command scheduler_plugins says what two plugins of scheduler-plugins answer: the module's own code, asked the way
// kube-scheduler asks it. A line in is one of ../golden's inputs, a line out the answer, a score or a refusal's words.
//
//	scheduler_plugins target_load_packing    < ../golden/target_load_packing.ndjson
//	scheduler_plugins node_resource_topology < ../golden/node_resource_topology.ndjson
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/paypal/load-watcher/pkg/watcher"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/core"
	corev1 "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"sigs.k8s.io/scheduler-plugins/apis/config"
	"sigs.k8s.io/scheduler-plugins/pkg/noderesourcetopology"
	"sigs.k8s.io/scheduler-plugins/pkg/trimaran/targetloadpacking"
)

// handle is as much of a scheduler as the plugins ask for; pods that come are told to whoever listens.
type handle struct {
	framework.Handle
	api      *rest.Config
	listener cache.ResourceEventHandler
}

type factory struct {
	informers.SharedInformerFactory
	h *handle
}

type informer struct {
	cache.SharedIndexInformer
	h *handle
}

type group struct {
	core.Interface
	h *handle
}

type version struct {
	corev1.Interface
	h *handle
}

type pods struct {
	corev1.PodInformer
	h *handle
}

func (h *handle) KubeConfig() *rest.Config                               { return h.api }
func (h *handle) SharedInformerFactory() informers.SharedInformerFactory { return factory{h: h} }
func (f factory) Core() core.Interface                                   { return group{h: f.h} }
func (g group) V1() corev1.Interface                                     { return version{h: g.h} }
func (v version) Pods() corev1.PodInformer                               { return pods{h: v.h} }
func (p pods) Informer() cache.SharedIndexInformer                       { return informer{h: p.h} }
func (i informer) AddEventHandler(l cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.h.listener = l
	return nil, nil
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "scheduler_plugins:", err)
		os.Exit(1)
	}
}

// served is what a server says by path, until it is told otherwise.
type served struct {
	sync.Mutex
	pages map[string]string
}

func (s *served) set(path, text string) {
	s.Lock()
	defer s.Unlock()
	s.pages[path] = text
}

func (s *served) drop(path string) {
	s.Lock()
	defer s.Unlock()
	delete(s.pages, path)
}

func (s *served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Lock()
	text, ok := s.pages[r.URL.Path]
	s.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		text = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`
	}
	fmt.Fprint(w, text)
}

func nodeInfo(node *v1.Node) *framework.NodeInfo {
	info := framework.NewNodeInfo()
	info.SetNode(node)
	return info
}

// ---- TargetLoadPacking ----

type packingCase struct {
	Spec       v1.PodSpec      `json:"spec"`
	Load       *float64        `json:"load"`
	Capacity   v1.ResourceList `json:"capacity"`
	Missing    []v1.PodSpec    `json:"missing"`
	Target     int64           `json:"target"`
	Multiplier json.Number     `json:"multiplier"`
	Default    string          `json:"default"`
}

func packing(line []byte, s *served, url string) string {
	var c packingCase
	must(json.Unmarshal(line, &c))
	metrics := watcher.WatcherMetrics{Data: watcher.Data{NodeMetricsMap: watcher.NodeMetricsMap{}}}
	metrics.Window.End = time.Now().Unix()
	if c.Load != nil {
		metrics.Data.NodeMetricsMap["n"] = watcher.NodeMetrics{Metrics: []watcher.Metric{
			{Type: watcher.CPU, Operator: watcher.Average, Value: *c.Load}}}
	}
	text, err := json.Marshal(metrics)
	must(err)
	s.set("/watcher", string(text))
	h := &handle{}
	args := &config.TargetLoadPackingArgs{
		TrimaranSpec:              config.TrimaranSpec{WatcherAddress: url},
		DefaultRequests:           v1.ResourceList{v1.ResourceCPU: resource.MustParse(c.Default)},
		DefaultRequestsMultiplier: c.Multiplier.String(), TargetUtilization: c.Target}
	plugin, err := targetloadpacking.New(context.Background(), args, h)
	must(err)
	for _, spec := range c.Missing {
		spec.NodeName = "n"
		h.listener.OnAdd(&v1.Pod{Spec: spec}, false)
	}
	node := &v1.Node{Status: v1.NodeStatus{Capacity: c.Capacity}}
	node.Name = "n"
	score, status := plugin.(framework.ScorePlugin).Score(context.Background(), nil, &v1.Pod{Spec: c.Spec}, nodeInfo(node))
	must(status.AsError())
	return fmt.Sprint(score)
}

// ---- NodeResourceTopologyMatch ----

const topologies = "/apis/topology.node.k8s.io/v1alpha2"

type topologyCase struct {
	Pod  v1.Pod          `json:"pod"`
	Node v1.Node         `json:"node"`
	NRT  json.RawMessage `json:"nrt"`
}

func topology(line []byte, s *served, plugin framework.FilterPlugin) string {
	var c topologyCase
	must(json.Unmarshal(line, &c))
	path, object := topologies+"/noderesourcetopologies/"+c.Node.Name, map[string]any{}
	s.drop(path)
	must(json.Unmarshal(c.NRT, &object))
	if object != nil { // else the node's topology is not known
		s.set(path, named(object, c.Node.Name))
	}
	status := plugin.Filter(context.Background(), nil, &c.Pod, nodeInfo(&c.Node))
	if status == nil {
		return `""`
	}
	return fmt.Sprintf("%q", strings.Join(status.Reasons(), ", "))
}

func named(object map[string]any, name string) string {
	object["apiVersion"], object["kind"] = "topology.node.k8s.io/v1alpha2", "NodeResourceTopology"
	object["metadata"] = map[string]any{"name": name}
	text, err := json.Marshal(object)
	must(err)
	return string(text)
}

func newTopology(s *served, url string) framework.FilterPlugin {
	s.set("/api", `{"kind":"APIVersions","versions":["v1"]}`)
	s.set("/apis", `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"topology.node.k8s.io","versions":[
		{"groupVersion":"topology.node.k8s.io/v1alpha2","version":"v1alpha2"}],
		"preferredVersion":{"groupVersion":"topology.node.k8s.io/v1alpha2","version":"v1alpha2"}}]}`)
	s.set(topologies, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"topology.node.k8s.io/v1alpha2","resources":[
		{"name":"noderesourcetopologies","singularName":"noderesourcetopology","namespaced":false,
		 "kind":"NodeResourceTopology","verbs":["get","list","watch"]}]}`)
	h := &handle{api: &rest.Config{Host: url, QPS: -1}}
	plugin, err := noderesourcetopology.New(context.Background(), &config.NodeResourceTopologyMatchArgs{
		ScoringStrategy: config.ScoringStrategy{Type: config.LeastAllocated}}, h)
	must(err)
	return plugin.(framework.FilterPlugin)
}

func main() {
	if len(os.Args) != 2 {
		must(fmt.Errorf("which plugin?"))
	}
	s := &served{pages: map[string]string{}}
	server := httptest.NewServer(s)
	defer server.Close()
	var filter framework.FilterPlugin
	if os.Args[1] == "node_resource_topology" {
		filter = newTopology(s, server.URL)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if filter != nil {
			fmt.Println(topology(lines.Bytes(), s, filter))
		} else {
			fmt.Println(packing(lines.Bytes(), s, server.URL))
		}
	}
	must(lines.Err())
}
