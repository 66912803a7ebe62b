package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// PodEvent is what a stream of pods says, as far as a stopwatch has to know.
type PodEvent struct {
	Type                          string // ADDED, MODIFIED, DELETED
	Namespace, Name, UID, Version string
	Node                          string
	Attempted, Gated, Deleted     bool
	Claims                        string // the names of its ResourceClaims, as far as they are there, each with a comma behind it
	Wanted                        int    // how many claims it has
}

// followPods lists pods, as the server's cache has them, and watches from there until the context ends.
// The server cuts off watches that it cannot fill quickly enough; such a one goes on where it ended.
// What is listed comes before it returns, as ADDED; the rest with the function that it returns.
func followPods(ctx context.Context, client *Client, selector string, each func(*PodEvent)) (func() error, error) {
	const pods = "/api/v1/pods?resourceVersion="
	accept, stream := "application/json", "application/json"
	if !client.json {
		accept, stream = protobufType, protobufType+";stream=watch"
	}
	answer, err := client.open(ctx, "GET", pods+"0"+selector, "", accept, nil)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil {
		return nil, err
	}
	version, err := scanPodList(text, client.json, each)
	if err != nil {
		return nil, err
	}
	open := func() (*http.Response, error) {
		return client.open(ctx, "GET", pods+version+"&watch=1&timeoutSeconds=3600"+selector, "", stream, nil)
	}
	if answer, err = open(); err != nil {
		return nil, err
	}
	return func() error {
		for {
			err := decodePods(answer.Body, client.json, func(event *PodEvent) {
				version = event.Version
				each(event)
			})
			answer.Body.Close()
			if ctx.Err() != nil {
				return ctx.Err()
			}
			var refused *watchError
			if errors.As(err, &refused) {
				return err
			}
			if answer, err = open(); err != nil {
				return err
			}
		}
	}, nil
}

// watchError is what the server itself says is wrong with a watch.
type watchError struct{ text string }

func (e *watchError) Error() string { return "the API server ends the watch: " + e.text }

// decodePods reads a watch of pods until it ends, and hands each event to `each`.
func decodePods(body io.Reader, asJSON bool, each func(*PodEvent)) error {
	if asJSON {
		return decodeJSON(body, each)
	}
	reader := bufio.NewReaderSize(body, 256<<10)
	var header [4]byte
	var frame []byte
	for {
		if _, err := io.ReadFull(reader, header[:]); err != nil {
			return err
		}
		size := int(binary.BigEndian.Uint32(header[:]))
		if cap(frame) < size {
			frame = make([]byte, size*2)
		}
		frame = frame[:size]
		if _, err := io.ReadFull(reader, frame); err != nil {
			return io.ErrUnexpectedEOF // the length promised more
		}
		event, err := scanWatchEvent(frame)
		if err != nil {
			return err
		}
		each(event)
	}
}

type namedClaim struct{ ResourceClaimName string }

type jsonPod struct {
	Message  string // of a Status, which stands here in an ERROR
	Metadata struct {
		Namespace, Name, UID, ResourceVersion string
		DeletionTimestamp                     string
	}
	Spec struct {
		NodeName        string
		SchedulingGates []struct{ Name string }
		ResourceClaims  []namedClaim
	}
	Status json.RawMessage // a Status has a text here
}

func (p *jsonPod) event(kind string) *PodEvent {
	var status struct {
		Conditions            []struct{ Type string }
		ResourceClaimStatuses []namedClaim
	}
	_ = json.Unmarshal(p.Status, &status)
	event := &PodEvent{Type: kind, Namespace: p.Metadata.Namespace, Name: p.Metadata.Name, UID: p.Metadata.UID,
		Version: p.Metadata.ResourceVersion, Node: p.Spec.NodeName, Gated: len(p.Spec.SchedulingGates) > 0,
		Deleted: p.Metadata.DeletionTimestamp != ""}
	for _, condition := range status.Conditions {
		event.Attempted = event.Attempted || condition.Type == "PodScheduled"
	}
	event.Wanted = len(p.Spec.ResourceClaims)
	for _, claim := range append(p.Spec.ResourceClaims, status.ResourceClaimStatuses...) {
		event.claim([]byte(claim.ResourceClaimName))
	}
	return event
}

func (e *PodEvent) claim(name []byte) {
	if len(name) > 0 {
		e.Claims += string(name) + ","
	}
}

func decodeJSON(body io.Reader, each func(*PodEvent)) error {
	decoder := json.NewDecoder(bufio.NewReaderSize(body, 256<<10))
	for {
		var read struct {
			Type   string
			Object jsonPod
		}
		if err := decoder.Decode(&read); err != nil {
			return err
		}
		if read.Type == "ERROR" {
			return &watchError{read.Object.Message}
		}
		each(read.Object.event(read.Type))
	}
}

// scanPodList hands out a list's pods as if they were added, and returns the list's version.
func scanPodList(text []byte, asJSON bool, each func(*PodEvent)) (string, error) {
	if asJSON {
		var list struct {
			Metadata struct{ ResourceVersion string }
			Items    []jsonPod
		}
		err := json.Unmarshal(text, &list)
		for i := range list.Items {
			each(list.Items[i].event("ADDED"))
		}
		return list.Metadata.ResourceVersion, err
	}
	version := ""
	err := envelope(text, func(list []byte) error {
		return fields(list, func(number int, value []byte) error {
			switch number {
			case 1:
				return fields(value, func(number int, text []byte) error {
					if number == 2 {
						version = string(text)
					}
					return nil
				})
			case 2:
				event := &PodEvent{Type: "ADDED"}
				if err := scanPod(value, event); err != nil {
					return err
				}
				each(event)
			}
			return nil
		})
	})
	return version, err
}

// ---- protobuf, only the fields that are looked at -----------------------------------------------

var errWire = errors.New("malformed protobuf in the watch")

// fields calls `each` for the length-delimited fields of a message and steps over all others.
func fields(data []byte, each func(number int, value []byte) error) error {
	for len(data) > 0 {
		key, used := binary.Uvarint(data)
		if used <= 0 {
			return errWire
		}
		data = data[used:]
		skip := 0
		switch key & 7 {
		case 0:
			_, skip = binary.Uvarint(data)
			if skip <= 0 {
				return errWire
			}
		case 1:
			skip = 8
		case 5:
			skip = 4
		case 2:
			size, used := binary.Uvarint(data)
			if used <= 0 || uint64(len(data)-used) < size {
				return errWire
			}
			if err := each(int(key>>3), data[used:used+int(size)]); err != nil {
				return err
			}
			skip = used + int(size)
		default:
			return errWire
		}
		if len(data) < skip {
			return errWire
		}
		data = data[skip:]
	}
	return nil
}

// scanWatchEvent: WatchEvent{type=1, object=2{raw=1}}; raw is an envelope around the pod.
func scanWatchEvent(frame []byte) (*PodEvent, error) {
	event := &PodEvent{}
	err := fields(frame, func(number int, value []byte) error {
		switch number {
		case 1:
			event.Type = string(value)
		case 2:
			return fields(value, func(number int, raw []byte) error {
				if number != 1 {
					return nil
				}
				return envelope(raw, func(object []byte) error {
					if event.Type == "ERROR" {
						return &watchError{printable(object)}
					}
					return scanPod(object, event)
				})
			})
		}
		return nil
	})
	return event, err
}

// envelope opens "k8s\0" and Unknown{raw=2}.
func envelope(raw []byte, each func([]byte) error) error {
	if len(raw) < 4 || string(raw[:4]) != "k8s\x00" {
		return errWire
	}
	return fields(raw[4:], func(number int, value []byte) error {
		if number != 2 {
			return nil
		}
		return each(value)
	})
}

func scanPod(data []byte, event *PodEvent) error {
	return fields(data, func(part int, value []byte) error {
		switch part {
		case 1:
			return fields(value, func(number int, text []byte) error {
				switch number {
				case 1:
					event.Name = string(text)
				case 3:
					event.Namespace = string(text)
				case 5:
					event.UID = string(text)
				case 6:
					event.Version = string(text)
				case 9:
					event.Deleted = true
				}
				return nil
			})
		case 2:
			return fields(value, func(number int, text []byte) error {
				switch number {
				case 10:
					event.Node = string(text)
				case 38:
					event.Gated = true
				case 39:
					event.Wanted++
					return fields(text, func(number int, name []byte) error {
						if number == 3 {
							event.claim(name)
						}
						return nil
					})
				}
				return nil
			})
		case 3:
			return scanStatus(value, event)
		}
		return nil
	})
}

func scanStatus(data []byte, event *PodEvent) error {
	return fields(data, func(number int, value []byte) error {
		if number != 2 && number != 15 {
			return nil
		}
		return fields(value, func(inner int, text []byte) error {
			if number == 15 && inner == 2 {
				event.claim(text)
			}
			event.Attempted = event.Attempted || (number == 2 && inner == 1 && string(text) == "PodScheduled")
			return nil
		})
	})
}
