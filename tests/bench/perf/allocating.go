package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// The ceiling with claims: a watch of all of them, as a scheduler has, and the writes that give one devices.

// shelf are the claims as the watch, or an answer, last had them.
type shelf struct {
	mutex  sync.Mutex
	claims map[string]*heldClaim
}

// heldClaim is one of them; who writes it holds its lock, since pods may share it.
type heldClaim struct {
	mutex sync.Mutex
	claim *resourcev1.ResourceClaim
}

func (s *shelf) keep(claim *resourcev1.ResourceClaim, gone bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	key := claim.Namespace + "/" + claim.Name
	if gone {
		delete(s.claims, key)
	} else if s.claims[key] == nil {
		s.claims[key] = &heldClaim{claim: claim} // what comes later are our own writes
	}
}

// find waits for the watch to show a claim.
func (s *shelf) find(ctx context.Context, key string) *heldClaim {
	for ctx.Err() == nil {
		s.mutex.Lock()
		held := s.claims[key]
		s.mutex.Unlock()
		if held != nil {
			return held
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// followClaims lists all claims, and watches from there.
func followClaims(ctx context.Context, client *Client) (*shelf, error) {
	const path = "/apis/" + resourceVersion + "/resourceclaims"
	text, err := client.exchange(ctx, "GET", path, "", client.contentType(), "LIST resourceclaims", nil)
	if err != nil {
		return nil, err
	}
	var list resourcev1.ResourceClaimList
	if err := client.decode(text, &list); err != nil {
		return nil, err
	}
	s := &shelf{claims: map[string]*heldClaim{}}
	for i := range list.Items {
		s.keep(&list.Items[i], false)
	}
	accept := client.contentType()
	if !client.json {
		accept += ";stream=watch"
	}
	answer, err := client.open(ctx, "GET", path+"?watch=1&timeoutSeconds=3600&resourceVersion="+list.ResourceVersion, "", accept, nil)
	if err != nil {
		return nil, err
	}
	go func() {
		defer answer.Body.Close()
		if err := s.follow(client, answer.Body); ctx.Err() == nil {
			fmt.Println("ceiling: the watch of claims:", err)
		}
	}()
	return s, nil
}

func (s *shelf) follow(client *Client, body io.Reader) error {
	if client.json {
		decoder := json.NewDecoder(bufio.NewReader(body))
		for {
			var read struct {
				Type   string
				Object resourcev1.ResourceClaim
			}
			if err := decoder.Decode(&read); err != nil {
				return err
			}
			s.keep(&read.Object, read.Type == "DELETED")
		}
	}
	reader := bufio.NewReaderSize(body, 64<<10)
	for {
		var header [4]byte
		if _, err := io.ReadFull(reader, header[:]); err != nil {
			return err
		}
		frame := make([]byte, binary.BigEndian.Uint32(header[:]))
		if _, err := io.ReadFull(reader, frame); err != nil {
			return err
		}
		var event metav1.WatchEvent
		claim := &resourcev1.ResourceClaim{}
		if err := event.Unmarshal(frame); err != nil {
			return err
		}
		if err := client.decode(event.Object.Raw, claim); err != nil {
			return err
		}
		s.keep(claim, event.Type == "DELETED")
	}
}

// decode reads an object in the client's format.
func (c *Client) decode(text []byte, object interface{ Unmarshal([]byte) error }) error {
	if c.json {
		return json.Unmarshal(text, object)
	}
	if len(text) < 4 {
		return errWire
	}
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(text[4:]); err != nil {
		return err
	}
	return object.Unmarshal(envelope.Raw)
}

// allocate writes what a pod's claims need before the pod can be bound to the node.
func (c *ceiling) allocate(ctx context.Context, pod *PodEvent, node string) bool {
	done := c.patchStatus(ctx, pod, fmt.Sprintf(`{"nominatedNodeName":%q}`, node))
	for name := range strings.SplitSeq(strings.TrimSuffix(pod.Claims, ","), ",") {
		held := c.shelf.find(ctx, pod.Namespace+"/"+name)
		if held == nil {
			return false
		}
		held.mutex.Lock()
		done = c.giveDevices(ctx, held, pod, node) && done
		held.mutex.Unlock()
	}
	return done
}

func (c *ceiling) giveDevices(ctx context.Context, held *heldClaim, pod *PodEvent, node string) bool {
	claim := held.claim.DeepCopy()
	if claim.Status.Allocation == nil {
		if !slices.Contains(claim.Finalizers, resourcev1.Finalizer) {
			claim.Finalizers = append(claim.Finalizers, resourcev1.Finalizer)
			var err error
			if claim, err = c.putClaim(ctx, claim, ""); !c.check(ctx, err) {
				return false
			}
			held.claim = claim.DeepCopy()
		}
		claim.Status.Allocation = someDevices(claim, node)
	}
	claim.Status.ReservedFor = append(claim.Status.ReservedFor,
		resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: pod.Name, UID: types.UID(pod.UID)})
	claim, err := c.putClaim(ctx, claim, "/status")
	if !c.check(ctx, err) {
		return false
	}
	held.claim = claim
	return true
}

func (c *ceiling) putClaim(ctx context.Context, claim *resourcev1.ResourceClaim, part string) (*resourcev1.ResourceClaim, error) {
	body, err := c.client.encode(resourceVersion, "ResourceClaim", claim)
	if err != nil {
		return nil, err
	}
	text, err := c.client.exchange(ctx, "PUT", claimsPath(claim.Namespace)+"/"+claim.Name+part, c.client.contentType(),
		c.client.contentType(), "PUT resourceclaims"+part, body)
	if err != nil {
		return nil, err
	}
	written := &resourcev1.ResourceClaim{}
	return written, c.client.decode(text, written)
}

var deviceTurn atomic.Int64

// someDevices are as many as the claim asks for, of the node, each another one.
func someDevices(claim *resourcev1.ResourceClaim, node string) *resourcev1.AllocationResult {
	result := &resourcev1.AllocationResult{NodeSelector: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
		MatchFields: []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{node}}}}}}}
	for _, request := range claim.Spec.Devices.Requests {
		name, count := request.Name, int64(1)
		if request.Exactly != nil {
			count = max(1, request.Exactly.Count)
		} else if len(request.FirstAvailable) > 0 {
			name += "/" + request.FirstAvailable[0].Name
		}
		for range count {
			result.Devices.Results = append(result.Devices.Results, resourcev1.DeviceRequestAllocationResult{Request: name,
				Driver: "test-driver.cdi.k8s.io", Pool: node, Device: fmt.Sprintf("instance-%d", deviceTurn.Add(1))})
		}
	}
	return result
}
