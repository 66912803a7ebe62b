package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Devices: what a driver publishes, and the claims of pods. The harness stands in for the controllers that
// work on claims: who creates a pod that names a template makes its claims and tells the pod of them, and who
// deletes such a pod deletes its claims.

const resourceVersion = "resource.k8s.io/v1"

// podClaims are the claims that a pod gets from templates.
type podClaims struct {
	namespace, pod string
	names          []string          // as the pod calls them
	specs          []json.RawMessage // one for each
}

// claim is what the pod's claim of a name is called.
func (p *podClaims) claim(name string) string { return p.pod + "-" + name }

func claimsPath(namespace string) string {
	return "/apis/" + resourceVersion + "/namespaces/" + namespace + "/resourceclaims"
}

// keepTemplate remembers a ResourceClaimTemplate, of whose spec claims are made.
func (e *Executor) keepTemplate(object anyObject, namespace string) error {
	if object.text("kind") != "ResourceClaimTemplate" {
		return nil
	}
	spec, _ := object["spec"].(map[string]any)
	text, err := json.Marshal(spec["spec"])
	if err != nil {
		return err
	}
	if e.templates == nil {
		e.templates = map[string]json.RawMessage{}
	}
	name, _ := object.metadata()["name"].(string)
	e.templates[namespace+"/"+name] = text
	return nil
}

// claimsOf are those that have to be made for a pod, nil where there are none.
func (e *Executor) claimsOf(pod *v1.Pod) (*podClaims, error) {
	var claims *podClaims
	for _, wanted := range pod.Spec.ResourceClaims {
		if wanted.ResourceClaimTemplateName == nil {
			continue
		}
		spec, known := e.templates[pod.Namespace+"/"+*wanted.ResourceClaimTemplateName]
		if !known {
			return nil, fmt.Errorf("pod %s: no ResourceClaimTemplate %s", pod.Name, *wanted.ResourceClaimTemplateName)
		}
		if claims == nil {
			claims = &podClaims{namespace: pod.Namespace, pod: pod.Name}
		}
		claims.names = append(claims.names, wanted.Name)
		claims.specs = append(claims.specs, spec)
	}
	return claims, nil
}

// createWithClaims makes a pod, then its claims, and then tells the pod which they are.
func (e *Executor) createWithClaims(each order) error {
	if e.client.silent {
		return nil
	}
	text, err := e.client.created(e.ctx, each.path, e.client.contentType(), "POST pods", each.body)
	if err != nil {
		return err
	}
	var pod struct{ Metadata struct{ UID string } }
	if err := json.Unmarshal(text, &pod); err != nil {
		return err
	}
	claims := each.claims
	type status struct {
		Name  string `json:"name"`
		Claim string `json:"resourceClaimName"`
	}
	var statuses []status
	for i, name := range claims.names {
		body, err := json.Marshal(claims.object(i, pod.Metadata.UID))
		if err != nil {
			return err
		}
		if err := e.client.send(e.ctx, "POST", claimsPath(claims.namespace), "application/json", "POST resourceclaims", body); err != nil {
			return err
		}
		statuses = append(statuses, status{name, claims.claim(name)})
	}
	body, err := json.Marshal(map[string]any{"status": map[string]any{"resourceClaimStatuses": statuses}})
	if err != nil {
		return err
	}
	return e.client.send(e.ctx, "PATCH", each.path+"/"+claims.pod+"/status", "application/strategic-merge-patch+json",
		"PATCH pods/status", body)
}

// object is claim number i, owned by the pod.
func (p *podClaims) object(i int, uid string) map[string]any {
	return map[string]any{"apiVersion": resourceVersion, "kind": "ResourceClaim",
		"metadata": map[string]any{"name": p.claim(p.names[i]), "namespace": p.namespace,
			"annotations": map[string]string{"resource.kubernetes.io/pod-claim-name": p.names[i]},
			"ownerReferences": []map[string]any{{"apiVersion": "v1", "kind": "Pod", "name": p.pod, "uid": uid,
				"controller": true, "blockOwnerDeletion": true}}},
		"spec": p.specs[i]}
}

const atOnce = `{"gracePeriodSeconds":0}`

// deleteWithClaims removes a pod at once, and its claims, which the scheduler keeps from going while they hold
// devices.
func (e *Executor) deleteWithClaims(key string, claims *podClaims) error {
	path := "/api/v1/namespaces/" + strings.Replace(key, "/", "/pods/", 1)
	if err := e.client.Delete(e.ctx, path, "pods", atOnce); err != nil || claims == nil {
		return err
	}
	for _, name := range claims.names {
		path := claimsPath(claims.namespace) + "/" + claims.claim(name)
		if err := e.patchClaim(path, "", `{"metadata":{"finalizers":null}}`); err != nil {
			return err
		}
		if err := e.client.Delete(e.ctx, path, "resourceclaims", ""); err != nil {
			return err
		}
	}
	return nil
}

func (e *Executor) patchClaim(path, part, body string) error {
	return e.client.send(e.ctx, "PATCH", path+part, "application/merge-patch+json", "PATCH resourceclaims"+part, []byte(body))
}

// ---- devices ------------------------------------------------------------------------------------

// driverSlice is what a node's driver publishes: so many devices that are alike but for a number.
func driverSlice(driver, node string, devices int) *resourcev1.ResourceSlice {
	model, family, version := "A100", "GPU", "1.2.3"
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node},
		Spec: resourcev1.ResourceSliceSpec{Driver: driver, NodeName: &node,
			Pool: resourcev1.ResourcePool{Name: node, ResourceSliceCount: 1}}}
	for i := range devices {
		number := int64(i)
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("instance-%d", i),
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: &model},
				"family": {StringValue: &family}, "driverVersion": {VersionValue: &version},
				"dra.example.com/numa": {IntValue: &number}},
			Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("1Gi")}}})
	}
	return slice
}

// createResourceDriver publishes devices for all nodes whose names match.
func (e *Executor) createResourceDriver(op *Op) error {
	var orders []order
	for _, node := range e.named {
		if match, err := filepath.Match(op.Nodes, node); err != nil {
			return err
		} else if !match {
			continue
		}
		body, err := e.client.encode(resourceVersion, "ResourceSlice", driverSlice(op.DriverName, node, op.MaxClaimsPerNode))
		if err != nil {
			return err
		}
		orders = append(orders, order{path: "/apis/" + resourceVersion + "/resourceslices", what: "resourceslices", body: body})
	}
	return e.sendAll(orders, 0)
}

// ---- claims that are allocated before -----------------------------------------------------------

// allocate gives the claims of a namespace devices. A pod for each has the scheduler choose them; what is left
// when the pods are gone are claims that hold their devices, and that nobody uses.
func (e *Executor) allocate(op *Op, index int) error {
	if e.recall {
		return nil
	}
	claims, err := e.unallocated(op.Namespace)
	if err != nil || len(claims) == 0 {
		return err
	}
	if err := e.havePlaced(); err != nil {
		return err
	}
	var orders []order
	var keys []string
	for i, claim := range claims {
		pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("allocates-%d-%d", index, i), Namespace: op.Namespace},
			Spec: v1.PodSpec{Containers: []v1.Container{{Name: "pause", Image: "registry.k8s.io/pause:3.10.2",
				Resources: v1.ResourceRequirements{Claims: []v1.ResourceClaim{{Name: "it"}}}}},
				ResourceClaims: []v1.PodResourceClaim{{Name: "it", ResourceClaimName: &claim}}}}
		body, err := e.client.encode("v1", "Pod", pod)
		if err != nil {
			return err
		}
		orders = append(orders, order{path: "/api/v1/namespaces/" + op.Namespace + "/pods", what: "pods", body: body})
		keys = append(keys, op.Namespace+"/"+pod.Name)
	}
	if err := e.sendAll(orders, 0); err != nil {
		return err
	}
	if err := e.waitBound(keys); err != nil {
		return err
	}
	return e.release(op.Namespace, claims, keys)
}

// unallocated are the names of claims without devices.
func (e *Executor) unallocated(namespace string) ([]string, error) {
	text, err := e.client.Get(e.ctx, claimsPath(namespace), "LIST resourceclaims")
	if err != nil {
		return nil, err
	}
	var list struct{ Items []resourcev1.ResourceClaim }
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	var names []string
	for i := range list.Items {
		if list.Items[i].Status.Allocation == nil {
			names = append(names, list.Items[i].Name)
		}
	}
	return names, nil
}

// release removes the pods that had the claims allocated.
func (e *Executor) release(namespace string, claims, keys []string) error {
	err := inParallel(e.ctx, len(keys), func(i int) error {
		if err := e.deleteWithClaims(keys[i], nil); err != nil {
			return err
		}
		return e.patchClaim(claimsPath(namespace)+"/"+claims[i], "/status", `{"status":{"reservedFor":null}}`)
	})
	if err != nil {
		return err
	}
	return e.wait("the pods that had claims allocated to be gone", func() bool {
		for _, key := range keys {
			if e.tracker.pods[key] != nil {
				return false
			}
		}
		return true
	})
}

// inParallel does something for each number below count, as many at a time as there are creators.
func inParallel(ctx context.Context, count int, do func(i int) error) error {
	failures, slots := make(chan error, count), make(chan struct{}, creators)
	for i := range count {
		slots <- struct{}{}
		go func() {
			failures <- do(i)
			<-slots
		}()
	}
	var first error
	for range count {
		if err := <-failures; err != nil && first == nil {
			first = err
		}
	}
	if first == nil {
		first = ctx.Err()
	}
	return first
}
