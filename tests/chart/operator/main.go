// operator reads YAML documents from standard input as the Prometheus operator would: its own kinds, with its own
// fields and nothing besides. It prints each of them as a line of JSON, and names what it does not know.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	stream "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// known are the operator's kinds, by name.
func known(kind string) any {
	switch kind {
	case "ServiceMonitor":
		return &monitoring.ServiceMonitor{}
	case "PrometheusRule":
		return &monitoring.PrometheusRule{}
	}
	return nil
}

func decode(text []byte) (any, error) {
	var what metav1.TypeMeta
	if err := yaml.Unmarshal(text, &what); err != nil {
		return nil, err
	}
	object := known(what.Kind)
	if object == nil || what.APIVersion != "monitoring.coreos.com/v1" {
		return nil, nil // somebody else's
	}
	return object, yaml.UnmarshalStrict(text, object)
}

func run() error {
	documents := stream.NewYAMLReader(bufio.NewReader(os.Stdin))
	for {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		object, err := decode(text)
		if err != nil {
			return err
		}
		if object != nil {
			if err := json.NewEncoder(os.Stdout).Encode(object); err != nil {
				return err
			}
		}
	}
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "operator:", err)
		os.Exit(1)
	}
}
