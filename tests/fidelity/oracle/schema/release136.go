//go:build !release137

package main

import (
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
)

const minor = "1.36"

// ownTaintRule is the DeviceTaintRule of the release.
var ownTaintRule = kind{"resource.k8s.io/v1beta2", "DeviceTaintRule", resourcev1beta2.DeviceTaintRule{}}

// ownPodGroups are those of scheduling.k8s.io, the preferred version first.
var ownPodGroups = []kind{
	{"scheduling.k8s.io/v1alpha2", "PodGroup", schedulingv1alpha2.PodGroup{}},
}
