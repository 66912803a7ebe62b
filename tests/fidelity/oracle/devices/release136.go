//go:build !release137

package main

import "k8s.io/dynamic-resource-allocation/structured"

// ofRelease adds what the scheduler of one release alone tells the allocator.
func ofRelease(map[string]bool, *structured.Features) {}
