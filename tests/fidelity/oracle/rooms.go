package main

import (
	"sort"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/storage"
	storageinformers "k8s.io/client-go/informers/storage/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"

	"berth.test/oracle/release"
)

// orderedRooms lists CSIStorageCapacities by namespace and name. Of several that a node reaches
// VolumeBinding takes the first, which otherwise hangs on the order of a Go map, anew for each node.
type orderedRooms struct {
	informers.SharedInformerFactory
}

func (o orderedRooms) Storage() storage.Interface {
	return orderedStorage{o.SharedInformerFactory.Storage()}
}

type orderedStorage struct{ storage.Interface }

func (o orderedStorage) V1() storageinformers.Interface { return orderedV1{o.Interface.V1()} }

type orderedV1 struct{ storageinformers.Interface }

func (o orderedV1) CSIStorageCapacities() release.CapacityInformer {
	return orderedInformer{o.Interface.CSIStorageCapacities()}
}

type orderedInformer struct{ release.CapacityInformer }

func (o orderedInformer) Lister() storagelisters.CSIStorageCapacityLister {
	return orderedLister{o.CapacityInformer.Lister()}
}

type orderedLister struct {
	storagelisters.CSIStorageCapacityLister
}

func (o orderedLister) List(selector labels.Selector) ([]*storagev1.CSIStorageCapacity, error) {
	found, err := o.CSIStorageCapacityLister.List(selector)
	sort.Slice(found, func(i, k int) bool {
		if found[i].Namespace != found[k].Namespace {
			return found[i].Namespace < found[k].Namespace
		}
		return found[i].Name < found[k].Name
	})
	return found, err
}
