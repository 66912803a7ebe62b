package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

// Volumes of a workload: each pod of an operation has a volume and a claim that are bound to each other
// before the pods come, as a controller would have bound them.

func claimName(i int) string { return fmt.Sprintf("pvc-%d", i) }

func readObject(path string, object any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := yaml.UnmarshalStrict(text, object); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// boundPair makes volume and claim number i of a namespace from their templates.
func boundPair(volume v1.PersistentVolume, claim v1.PersistentVolumeClaim, namespace string,
	i int) (*v1.PersistentVolume, *v1.PersistentVolumeClaim) {
	pv, pvc := volume.DeepCopy(), claim.DeepCopy()
	number := fmt.Sprintf("vol-%d", i)
	pv.Name, pvc.Name, pvc.Namespace = namespace+"-"+number, claimName(i), namespace
	if source := pv.Spec.CSI; source != nil {
		source.VolumeHandle = pv.Name
	}
	if source := pv.Spec.AWSElasticBlockStore; source != nil {
		source.VolumeID = number
	}
	pv.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: namespace,
		Name: pvc.Name}
	pvc.Spec.VolumeName = pv.Name
	pv.Status.Phase, pvc.Status.Phase = v1.VolumeBound, v1.ClaimBound
	return pv, pvc
}

// createVolumes makes what the pods of an operation claim. The API server takes no status with a new
// object, so statuses are written afterwards.
func (e *Executor) createVolumes(op *Op, namespace string) error {
	var volume v1.PersistentVolume
	var claim v1.PersistentVolumeClaim
	if err := readObject(e.chosen.path(op.PersistentVolumeTemplatePath), &volume); err != nil {
		return err
	}
	if err := readObject(e.chosen.path(op.PersistentVolumeClaimTemplatePath), &claim); err != nil {
		return err
	}
	const volumes = "/api/v1/persistentvolumes"
	claims := "/api/v1/namespaces/" + namespace + "/persistentvolumeclaims"
	var created, statuses []order
	for i := range op.Count {
		pv, pvc := boundPair(volume, claim, namespace, i)
		pvBody, err := e.client.encode("v1", "PersistentVolume", pv)
		if err != nil {
			return err
		}
		pvcBody, err := e.client.encode("v1", "PersistentVolumeClaim", pvc)
		if err != nil {
			return err
		}
		created = append(created, order{path: claims, what: "persistentvolumeclaims", body: pvcBody},
			order{path: volumes, what: "persistentvolumes", body: pvBody})
		statuses = append(statuses,
			order{path: claims + "/" + pvc.Name + "/status", what: "persistentvolumeclaims/status", body: pvcBody},
			order{path: volumes + "/" + pv.Name + "/status", what: "persistentvolumes/status", body: pvBody})
	}
	if err := e.sendAll(created, 0); err != nil {
		return err
	}
	return e.sendAll(statuses, 0)
}

// offerVolumes gives a node that is about to be created what the strategy says beyond its template, and
// creates its CSINode.
func (e *Executor) offerVolumes(offer *NodeVolumes, node *v1.Node) error {
	if offer == nil {
		return nil
	}
	// Allocatable is all of the capacity where a template does not say otherwise; with something in it,
	// the API server fills in no more.
	if node.Status.Allocatable == nil {
		node.Status.Allocatable = node.Status.Capacity.DeepCopy()
	}
	for name, text := range offer.NodeAllocatable {
		amount, err := resource.ParseQuantity(text)
		if err != nil {
			return fmt.Errorf("allocatable %s: %w", name, err)
		}
		node.Status.Allocatable[v1.ResourceName(name)] = amount
	}
	object := &storagev1.CSINode{}
	object.Name = node.Name
	object.Annotations = map[string]string{v1.MigratedPluginsAnnotationKey: strings.Join(offer.MigratedPlugins, ",")}
	object.Spec.Drivers = []storagev1.CSINodeDriver{}
	for driver, room := range offer.CSINodeAllocatable {
		object.Spec.Drivers = append(object.Spec.Drivers,
			storagev1.CSINodeDriver{Name: driver, NodeID: node.Name, Allocatable: room})
	}
	slices.SortFunc(object.Spec.Drivers, func(a, b storagev1.CSINodeDriver) int { return strings.Compare(a.Name, b.Name) })
	return e.client.Create(e.ctx, "/apis/storage.k8s.io/v1/csinodes", "csinodes", "storage.k8s.io/v1", "CSINode", object)
}
