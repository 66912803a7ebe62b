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
}

// followPods watches pods, from what the server has at hand, until the context ends. The server cuts
// off watches that it cannot fill quickly enough; such a one goes on where it ended.
func followPods(ctx context.Context, client *Client, selector string, each func(*PodEvent)) (func() error, error) {
	accept, version := "application/json", "0"
	if !client.json {
		accept = protobufType + ";stream=watch"
	}
	open := func() (*http.Response, error) {
		return client.open(ctx, "GET", "/api/v1/pods?watch=1&timeoutSeconds=3600&resourceVersion="+version+selector,
			"", accept, nil)
	}
	answer, err := open()
	if err != nil {
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

type jsonEvent struct {
	Type   string
	Object struct {
		Message  string
		Metadata struct {
			Namespace, Name, UID, ResourceVersion string
			DeletionTimestamp                     string
		}
		Spec struct {
			NodeName        string
			SchedulingGates []struct{ Name string }
		}
		Status struct {
			Conditions []struct{ Type string }
		}
	}
}

func decodeJSON(body io.Reader, each func(*PodEvent)) error {
	decoder := json.NewDecoder(bufio.NewReaderSize(body, 256<<10))
	for {
		var read jsonEvent
		if err := decoder.Decode(&read); err != nil {
			return err
		}
		if read.Type == "ERROR" {
			return &watchError{read.Object.Message}
		}
		object := &read.Object
		event := &PodEvent{Type: read.Type, Namespace: object.Metadata.Namespace, Name: object.Metadata.Name,
			UID: object.Metadata.UID, Version: object.Metadata.ResourceVersion, Node: object.Spec.NodeName,
			Gated: len(object.Spec.SchedulingGates) > 0, Deleted: object.Metadata.DeletionTimestamp != ""}
		for _, condition := range object.Status.Conditions {
			event.Attempted = event.Attempted || condition.Type == "PodScheduled"
		}
		each(event)
	}
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

// scanWatchEvent: WatchEvent{type=1, object=2{raw=1}}; raw is "k8s\0" and Unknown{raw=2}; that is the pod.
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
				return scanEnvelope(raw, event)
			})
		}
		return nil
	})
	return event, err
}

func scanEnvelope(raw []byte, event *PodEvent) error {
	if len(raw) < 4 || string(raw[:4]) != "k8s\x00" {
		return errWire
	}
	return fields(raw[4:], func(number int, value []byte) error {
		if number == 2 && event.Type == "ERROR" {
			return &watchError{printable(value)}
		}
		if number != 2 {
			return nil
		}
		return scanPod(value, event)
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
				}
				return nil
			})
		case 3:
			return fields(value, func(number int, condition []byte) error {
				if number != 2 {
					return nil
				}
				return fields(condition, func(number int, text []byte) error {
					event.Attempted = event.Attempted || (number == 1 && string(text) == "PodScheduled")
					return nil
				})
			})
		}
		return nil
	})
}
