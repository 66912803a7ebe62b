//go:build release137

package main

import (
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
)

const minor = "1.37"

// ownTaintRule is the DeviceTaintRule of the release.
var ownTaintRule = kind{"resource.k8s.io/v1", "DeviceTaintRule", resourcev1.DeviceTaintRule{}}

// ownPodGroups are those of scheduling.k8s.io, the preferred version first.
var ownPodGroups = []kind{
	{"scheduling.k8s.io/v1beta1", "PodGroup", schedulingv1beta1.PodGroup{}},
	{"scheduling.k8s.io/v1alpha3", "PodGroup", schedulingv1alpha3.PodGroup{}},
}
