// Package util, continued: one API server for all cases of a process that want the same gates.
//
// Upstream starts one for each case, in the process of the test; that is most of what a case costs.  What a
// case leaves behind is taken away at its end, so that the next one finds an API server like a new one.
package util

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/dynamic"
	clientset "k8s.io/client-go/kubernetes"
	restclient "k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"berth.test/upstream/test/integration/framework"
)

type server struct {
	client clientset.Interface
	config *restclient.Config
}

var (
	servers     = map[string]server{}
	serversLock sync.Mutex
	// Groups whose objects no test of a scheduler makes.
	untouched = map[string]bool{"rbac.authorization.k8s.io": true, "flowcontrol.apiserver.k8s.io": true,
		"apiregistration.k8s.io": true, "coordination.k8s.io": true, "events.k8s.io": true, "discovery.k8s.io": true,
		"networking.k8s.io": true, "admissionregistration.k8s.io": true}
	// Of the core group those that a test may have made.
	core = map[string]bool{"nodes": true, "pods": true, "persistentvolumes": true, "persistentvolumeclaims": true,
		"services": true, "replicationcontrollers": true}
)

// sharedServer is upstream's StartTestServer, or the API server that it started before for the same gates.
func sharedServer(ctx context.Context, t *testing.T, share bool, setup framework.TestServerSetup) (clientset.Interface, *restclient.Config, framework.TearDownFunc) {
	if !share {
		return framework.StartTestServer(ctx, t, setup)
	}
	serversLock.Lock()
	defer serversLock.Unlock()
	key := gatesInForce()
	found, known := servers[key]
	if !known {
		found.client, found.config, _ = framework.StartTestServer(context.Background(), t, setup)
		servers[key] = found
	}
	return found.client, restclient.CopyConfig(found.config), func() { wipe(t, found) }
}

func gatesInForce() string {
	gates := utilfeature.DefaultMutableFeatureGate
	values := []string{gates.EmulationVersion().String()}
	for name := range gates.GetAll() {
		values = append(values, fmt.Sprintf("%s=%t", name, gates.Enabled(name)))
	}
	sort.Strings(values)
	return strings.Join(values, ",")
}

// wipe takes away what a case has made.
func wipe(t *testing.T, from server) {
	lists, _ := from.client.Discovery().ServerPreferredResources()
	client := dynamic.NewForConfigOrDie(from.config)
	for _, list := range lists {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil || untouched[group.Group] {
			continue
		}
		for _, resource := range list.APIResources {
			if strings.Contains(resource.Name, "/") || !strings.Contains(fmt.Sprint(resource.Verbs), "deletecollection") ||
				group.Group == "" && !core[resource.Name] {
				continue
			}
			if err := wipeResource(client, group.WithResource(resource.Name)); err != nil {
				t.Logf("wiping %s: %v", resource.Name, err)
			}
		}
	}
	wipeNamespaces(t, from.client)
}

// wipeNamespaces takes them away at once: no controller does it here.
func wipeNamespaces(t *testing.T, client clientset.Interface) {
	ctx := context.Background()
	list, err := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Logf("wiping namespaces: %v", err)
		return
	}
	for i := range list.Items {
		name := list.Items[i].Name
		if name == metav1.NamespaceDefault || strings.HasPrefix(name, "kube-") {
			continue
		}
		_ = client.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{})
		if left, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{}); err == nil {
			left.Spec.Finalizers = nil
			_, _ = client.CoreV1().Namespaces().Finalize(ctx, left, metav1.UpdateOptions{})
		}
	}
}

func wipeResource(client dynamic.Interface, resource schema.GroupVersionResource) error {
	ctx := context.Background()
	list, err := client.Resource(resource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, item := range list.Items {
		if item.GetName() == "kubernetes" || strings.HasPrefix(item.GetName(), "system-") {
			continue
		}
		at := client.Resource(resource).Namespace(item.GetNamespace())
		if len(item.GetFinalizers()) > 0 {
			_, _ = at.Patch(ctx, item.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		}
		_ = at.Delete(ctx, item.GetName(), metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)})
	}
	return nil
}
