module berth/tests/traces/receiver

go 1.24.0

require (
	go.opentelemetry.io/proto/otlp v1.10.0
	google.golang.org/protobuf v1.36.12-0.20260120151049-f2248ac996af
)
