// devices: upstream's structured allocator, asked by lines of JSON.
//
// A line of the input is {"slices": [...], "classes": [...], "claims": [...], "allocated": [...],
// "nodes": [...]}: ResourceSlices, DeviceClasses, ResourceClaims to allocate for one pod,
// ResourceClaims that are allocated already, and Nodes. A line of the output lists for each node
// what the allocator says: {"outcome": "allocated", "steps": N, "claims": [AllocationResult...]},
// "nothing", "invalid" or "error" with its "text". A share's random ID is written as "share".
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"time"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

type question struct {
	Slices    []*resourceapi.ResourceSlice `json:"slices"`
	Classes   []*resourceapi.DeviceClass   `json:"classes"`
	Claims    []*resourceapi.ResourceClaim `json:"claims"`
	Allocated []*resourceapi.ResourceClaim `json:"allocated"`
	Nodes     []*v1.Node                   `json:"nodes"`
	Gates     map[string]bool              `json:"featureGates"`
}

type answer struct {
	Outcome string                         `json:"outcome"`
	Text    string                         `json:"text,omitempty"`
	Steps   int64                          `json:"steps"`
	Claims  []resourceapi.AllocationResult `json:"claims,omitempty"`
}

type lister []*resourceapi.DeviceClass

func (l lister) List() ([]*resourceapi.DeviceClass, error) { return l, nil }

func (l lister) Get(name string) (*resourceapi.DeviceClass, error) {
	for _, class := range l {
		if class.Name == name {
			return class, nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: "resource.k8s.io", Resource: "deviceclass"}, name)
}

// allocatedState follows what the plugin gathers from its informer. Without DRAConsumableCapacity
// a share is the whole device.
func allocatedState(claims []*resourceapi.ResourceClaim, shares bool) structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, claim := range claims {
		if claim.Status.Allocation == nil {
			continue
		}
		for _, result := range claim.Status.Allocation.Devices.Results {
			id := structured.MakeDeviceID(result.Driver, result.Pool, result.Device)
			switch {
			case result.AdminAccess != nil && *result.AdminAccess:
			case result.ShareID == nil || !shares:
				state.AllocatedDevices.Insert(id)
			default:
				state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, result.ShareID))
				if result.ConsumedCapacity != nil {
					state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, result.ConsumedCapacity))
				}
			}
		}
	}
	return state
}

// features are what the default gates enable, and what these gates change of it.
func features(gates map[string]bool) structured.Features {
	on := func(gate string) bool {
		value, given := gates[gate]
		return value || !given
	}
	features := structured.Features{
		AdminAccess:            true,
		PrioritizedList:        on("DRAPrioritizedList"),
		PartitionableDevices:   on("DRAPartitionableDevices"),
		DeviceTaints:           on("DRADeviceTaints"),
		DeviceBindingAndStatus: on("DRADeviceBindingConditions") && on("DRAResourceClaimDeviceStatus"),
		ConsumableCapacity:     on("DRAConsumableCapacity"),
	}
	ofRelease(gates, &features)
	return features
}

func stepsOf(allocator structured.Allocator) int64 {
	stats := reflect.ValueOf(allocator).MethodByName("GetStats").Call(nil)[0]
	return stats.FieldByName("NumAllocateOneInvocations").Int()
}

func ask(q *question, node *v1.Node, cache *cel.Cache, limit time.Duration) answer {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	on := features(q.Gates)
	state := allocatedState(q.Allocated, on.ConsumableCapacity)
	allocator, err := structured.NewAllocator(ctx, on, state, lister(q.Classes), q.Slices, cache)
	if err != nil {
		return answer{Outcome: "error", Text: err.Error()}
	}
	results, err := allocator.Allocate(ctx, node, q.Claims)
	steps := stepsOf(allocator)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return answer{Outcome: "expired"}
	case err != nil && err.Error() == "invalid resource pools were encountered":
		return answer{Outcome: "invalid", Text: err.Error(), Steps: steps}
	case err != nil:
		return answer{Outcome: "error", Text: err.Error(), Steps: steps}
	case len(results) != len(q.Claims):
		return answer{Outcome: "nothing", Steps: steps}
	}
	share := types.UID("share")
	for i := range results {
		for k := range results[i].Devices.Results {
			if results[i].Devices.Results[k].ShareID != nil {
				results[i].Devices.Results[k].ShareID = &share
			}
		}
	}
	return answer{Outcome: "allocated", Steps: steps, Claims: results}
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	caches := map[bool]*cel.Cache{} // by whether attributes may be lists
	for _, lists := range []bool{false, true} {
		caches[lists] = cel.NewCache(1000, cel.Features{EnableConsumableCapacity: true, EnableListTypeAttributes: lists})
	}
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			fmt.Fprintln(os.Stderr, "devices:", err)
			os.Exit(1)
		}
		answers := make([]answer, len(q.Nodes))
		for i, node := range q.Nodes {
			answers[i] = ask(&q, node, caches[q.Gates["DRAListTypeAttributes"]], 200*time.Millisecond)
		}
		if err := encoder.Encode(answers); err != nil {
			fmt.Fprintln(os.Stderr, "devices:", err)
			os.Exit(1)
		}
	}
}
