//go:build release137

package main

import "k8s.io/dynamic-resource-allocation/structured"

// ofRelease adds what the scheduler of one release alone tells the allocator.
func ofRelease(gates map[string]bool, features *structured.Features) {
	features.ListTypeAttributes = gates["DRAListTypeAttributes"]
	features.CompatibilityGroups = gates["DRADeviceCompatibilityGroups"]
	features.DerivedAttributes = gates["DRADerivedAttributes"]
	features.FractionalCapacityRange = gates["DRAFractionalCapacityRange"]
}
