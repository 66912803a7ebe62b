// receiver: a collector of traces that takes OTLP over HTTP as the official definitions have it, and nothing else.
//
//	receiver FILE
//
// Listens on a free port of 127.0.0.1 and prints it. Each span becomes a line of JSON in FILE. A request that is
// not exactly what the definitions allow (a field that they do not know, an id of another length, a span that ends
// before it began, a repeated id) is answered with 400, and is a line with "fault".
package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

const longest = 64 << 20

type line struct {
	Fault      string         `json:"fault,omitempty"`
	Service    string         `json:"service,omitempty"`
	Trace      string         `json:"trace,omitempty"`
	Span       string         `json:"span,omitempty"`
	Parent     string         `json:"parent,omitempty"`
	Name       string         `json:"name,omitempty"`
	Kind       string         `json:"kind,omitempty"`
	Begin      uint64         `json:"begin,omitempty"`
	End        uint64         `json:"end,omitempty"`
	Status     string         `json:"status,omitempty"`
	Message    string         `json:"message,omitempty"`
	Attributes map[string]any `json:"attributes,omitempty"`
}

type receiver struct {
	lock sync.Mutex
	file *os.File
	seen map[string]bool
}

// unknown looks for fields that the definitions do not have.
func unknown(m protoreflect.Message) error {
	if len(m.GetUnknown()) > 0 {
		return fmt.Errorf("%s has a field that is not defined", m.Descriptor().FullName())
	}
	var found error
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Kind() != protoreflect.MessageKind || field.IsMap():
		case field.IsList():
			for i := 0; i < value.List().Len() && found == nil; i++ {
				found = unknown(value.List().Get(i).Message())
			}
		default:
			found = unknown(value.Message())
		}
		return found == nil
	})
	return found
}

func values(all []*common.KeyValue) (map[string]any, error) {
	found := map[string]any{}
	for _, pair := range all {
		if _, twice := found[pair.Key]; twice || pair.Key == "" {
			return nil, fmt.Errorf("attribute %q is there twice, or has no name", pair.Key)
		}
		switch v := pair.Value.GetValue().(type) {
		case *common.AnyValue_StringValue:
			found[pair.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			found[pair.Key] = v.IntValue
		default:
			return nil, fmt.Errorf("attribute %q has no value of ours", pair.Key)
		}
	}
	return found, nil
}

func lineOf(service string, span *trace.Span) (line, error) {
	attributes, err := values(span.Attributes)
	l := line{Service: service, Trace: hex.EncodeToString(span.TraceId), Span: hex.EncodeToString(span.SpanId),
		Parent: hex.EncodeToString(span.ParentSpanId), Name: span.Name, Kind: span.Kind.String(),
		Begin: span.StartTimeUnixNano, End: span.EndTimeUnixNano, Status: span.Status.GetCode().String(),
		Message: span.Status.GetMessage(), Attributes: attributes}
	switch {
	case err != nil:
	case len(span.TraceId) != 16 || len(span.SpanId) != 8 || len(span.ParentSpanId)%8 != 0 || len(span.ParentSpanId) > 8:
		err = fmt.Errorf("span %q has an id of another length", span.Name)
	case span.Name == "" || span.StartTimeUnixNano == 0 || span.EndTimeUnixNano < span.StartTimeUnixNano:
		err = fmt.Errorf("span %q has no name, or ends before it began", span.Name)
	}
	return l, err
}

func (r *receiver) decode(body []byte) (lines []line, err error) {
	// ExportTraceServiceRequest has the one field of TracesData; its package would bring gRPC along.
	var data trace.TracesData
	if err = proto.Unmarshal(body, &data); err != nil {
		return
	}
	if err = unknown(data.ProtoReflect()); err != nil {
		return
	}
	for _, resource := range data.ResourceSpans {
		about, err := values(resource.Resource.GetAttributes())
		service, named := about["service.name"].(string)
		if err != nil || !named {
			return nil, fmt.Errorf("a resource without service.name: %v", err)
		}
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				l, err := lineOf(service, span)
				if err != nil {
					return nil, err
				}
				if r.seen[l.Trace+l.Span] {
					return nil, fmt.Errorf("span %q has the id of another one", span.Name)
				}
				r.seen[l.Trace+l.Span] = true
				lines = append(lines, l)
			}
		}
	}
	return
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.lock.Lock()
	defer r.lock.Unlock()
	body, err := io.ReadAll(io.LimitReader(request.Body, longest))
	var lines []line
	if err == nil && (request.Method != "POST" || request.URL.Path != "/v1/traces" ||
		request.Header.Get("Content-Type") != "application/x-protobuf") {
		err = fmt.Errorf("%s %s with %s", request.Method, request.URL.Path, request.Header.Get("Content-Type"))
	}
	if err == nil {
		lines, err = r.decode(body)
	}
	if err != nil {
		lines = []line{{Fault: err.Error()}}
	}
	encoder := json.NewEncoder(r.file)
	for _, l := range lines {
		if encoder.Encode(l) != nil {
			os.Exit(1)
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf") // an empty body is an empty answer
}

func main() {
	file, err := os.OpenFile(os.Args[1], os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	_ = http.Serve(listener, &receiver{file: file, seen: map[string]bool{}})
}
